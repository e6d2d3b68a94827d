//! What a deployment has told each side.

use veilgraph_contract::Randomness;
use veilgraph_privacy::composition::totals;
use veilgraph_runner::config::Config;
use veilgraph_runner::costs::in_words;
use veilgraph_runner::ledger::Ledger;
use veilgraph_runner::output;
use veilgraph_runner::task::Task;
use veilgraph_store::{Store, StoreKind};

/// Says what a deployment has told each side, if it has released anything.
///
/// # Errors
/// When the ledger cannot be read.
pub(super) fn who_learned_what(store: &Store, config: &Config, tasks: &[Task]) -> anyhow::Result<()> {
    let population = config.population(None);
    let spent = Ledger::open(store)?.spent(population, &[], Randomness::Os)?.releases;
    // A server keeps no account, and was handed something over where it runs.
    let is_server = store.kind() == StoreKind::ServerAlone;
    if !is_server && (spent.is_empty() || tasks.iter().all(|task| task.releases.is_empty())) {
        return Ok(());
    }
    let cost = if is_server {
        String::new()
    } else {
        format!(" (all releases under this name so far cost each node {})", in_words(&totals(&spent)))
    };
    output::line(&format!(
        "what each side has learned: the nodes of `{population}` nothing; the server the noisy reports and what follows from them, \
         beside what is public{cost}; the auditor, if there is one, the scores in its folder"
    ));
    Ok(())
}
