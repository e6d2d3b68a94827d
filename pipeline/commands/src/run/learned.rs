//! What a deployment has told each side.

use veilgraph_contract::Randomness;
use veilgraph_privacy::composition::totals;
use veilgraph_runner::config::Config;
use veilgraph_runner::costs::in_words;
use veilgraph_runner::ledger::Ledger;
use veilgraph_runner::output;
use veilgraph_runner::task::Task;
use veilgraph_store::Store;

/// Says what a deployment has told each side, if it has released anything.
///
/// # Errors
/// When the ledger cannot be read.
pub(super) fn who_learned_what(store: &Store, config: &Config, tasks: &[Task]) -> anyhow::Result<()> {
    let population = config.population(None);
    let spent = Ledger::open(store)?.spent(population, &[], Randomness::Os)?.releases;
    if spent.is_empty() || tasks.iter().all(|task| task.releases.is_empty()) {
        return Ok(());
    }
    output::line(&format!(
        "what each side has learned: the nodes of `{population}` nothing; the server the noisy reports and what follows from them, \
         beside what is public (all releases so far cost each node {}); the auditor, if there is one, the scores in its folder",
        in_words(&totals(&spent))
    ));
    Ok(())
}
