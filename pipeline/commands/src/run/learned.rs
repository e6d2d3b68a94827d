//! What a deployment has told each side.

use veilgraph_privacy::composition::totals;
use veilgraph_runner::config::Config;
use veilgraph_runner::costs::in_words;
use veilgraph_runner::output;
use veilgraph_runner::task::Task;

/// Says what a deployment has told each side.
pub(super) fn who_learned_what(config: &Config, tasks: &[Task]) {
    let cost = in_words(&totals(tasks.iter().flat_map(|task| &task.releases)));
    let population = config.population(None);
    output::line(&format!(
        "what each side has learned: the nodes of `{population}` nothing, at a cost of {cost} to each; the server the noisy \
         reports and what follows from them, beside what is public; the auditor, if there is one, the scores in its folder"
    ));
}
