//! `run --locked`: what the recorded run of an experiment has is not computed again.

use veilgraph_runner::config::Config;
use veilgraph_runner::progress::Display;
use veilgraph_runner::runs::{self, RunRecord};
use veilgraph_runner::task::{Done, Status, Task};
use veilgraph_store::Store;

use crate::cli::RunArguments;
use crate::experiment::bring;
use crate::partial::errors_behind;

/// How many stage runs the message names.
const NAMED: usize = 5;

/// Refuses an experiment of which something would be computed anew that the recorded run has. What that run does not have,
/// such as what failed in it, may run.
pub(super) fn refuse_changes(
    store: &Store,
    config: &Config,
    tasks: &[Task],
    arguments: &RunArguments,
) -> anyhow::Result<()> {
    let record = RunRecord::of(store, config, arguments.side())?;
    anyhow::ensure!(
        record.all().next().is_some(),
        "--locked: {} has no recorded run of `{}` to which this one could be held; run it once without --locked",
        store.root().display(),
        config.name
    );
    let done = bring(store, config, tasks, arguments, true, &Display::new(tasks, 1, true))?;
    // The record keeps what earlier runs made under the name of a task that failed, and of what reads from it.
    let errors = errors_behind(tasks, &done, &runs::failures(store, config));
    let may_change = tasks.iter().zip(&done).zip(errors).filter(|(_, error)| error.is_none());
    let changed: Vec<String> = may_change.filter_map(|((task, done), _)| change(store, &record, task, done)).collect();
    let further = changed.len().saturating_sub(NAMED);
    anyhow::ensure!(
        changed.is_empty(),
        "--locked: {} stage runs of the recorded run of `{}` would be computed anew, and nothing ran:\n{}{}\nbring code, data \
         and config back to what they were then, or run without --locked",
        changed.len(),
        config.name,
        changed[..changed.len() - further].join("\n"),
        if further > 0 { format!("\n  and {further} more (`veilgraph plan` lists them)") } else { String::new() }
    );
    Ok(())
}

/// Why a task that the recorded run has would be computed anew; none where it would not, or where that run does not have it.
fn change(store: &Store, record: &RunRecord, task: &Task, done: &Done) -> Option<String> {
    let key = task.labels.iter().find_map(|label| record.key(task, label))?;
    let is_gone = || store.find(task.stage, key).ok().flatten().is_none();
    let why = match &done.status {
        Status::WouldRun { .. } if is_gone() => "its result is gone".to_owned(),
        Status::WouldRun { why } => why.join(", "),
        Status::MayRun => "what it reads from may change".to_owned(),
        _ => return None,
    };
    Some(format!("  {} {}: {why}", task.stage, task.label()))
}
