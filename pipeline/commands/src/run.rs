//! `run`: brings every stage of an experiment to its end, and prints the scores.

mod failures;
mod in_json;
mod learned;
mod locked;
mod refusals;

use serde_json::json;
use veilgraph_runner::measured::Measurements;
use veilgraph_runner::progress::Display;
use veilgraph_runner::task::Status;
use veilgraph_runner::{build, output, runs};
use veilgraph_store::Store;

use failures::Failures;
pub(crate) use in_json::{spent_json, stages_json};
use learned::who_learned_what;
use refusals::refuse_to_send_away;
pub(crate) use refusals::warn_of_large;

use crate::cli::{OtherMachinesArguments, RunArguments, RunRules};
use crate::experiment::{Doing, bring, bring_with, is_whole, jobs, prepare_all, read_metrics, read_published};
use crate::{checks, scores, summary};

/// Runs what is not fresh, then prints the scores.
pub(crate) fn run(
    store: &Store,
    arguments: &RunArguments,
    rules: RunRules,
    others: &OtherMachinesArguments,
    quiet: bool,
) -> anyhow::Result<()> {
    // A mistake in any config is found before anything runs.
    let experiments = prepare_all(arguments, read_published(arguments)?.as_ref())?;
    experiments.iter().try_for_each(|(config, _)| refuse_to_send_away(store, config, arguments, others))?;
    if rules.locked {
        experiments.iter().try_for_each(|(config, tasks)| locked::refuse_changes(store, config, tasks, arguments))?;
    }
    if arguments.memory_limit.is_some() {
        let measurements = Measurements::of(store);
        for (config, tasks) in &experiments {
            let planned = bring(store, config, tasks, arguments, true, &Display::new(tasks, 1, true))?;
            warn_of_large(&measurements, tasks, &planned, arguments.memory_limit);
        }
    }
    let names: Vec<String> = experiments.iter().map(|(config, _)| config.name.clone()).collect();
    let others = others.open(store, names.clone(), arguments.memory_limit)?;
    let width = others.width().max(jobs(arguments, false));
    let display = Display::new(experiments.iter().flat_map(|(_, tasks)| tasks), width, quiet);
    let display = display.of_experiments(experiments.iter().map(|(_, tasks)| tasks.as_slice())).watched(store, names);
    let doing = if rules.keep_going { Doing::KeepGoing } else { Doing::Run };
    let (mut outcomes, mut failures) = (Vec::new(), Failures::default());
    // Until the entries have names, `gc` would take them for unused.
    let _running = store.lock_for_run()?;
    for (config, tasks) in &experiments {
        let done = bring_with(store, config, tasks, arguments, &others, doing, &display)?;
        let is_complete = failures.add(config, tasks, &done);
        if done.iter().any(|done| matches!(done.status, Status::Queued { .. })) {
            continue;
        }
        let metrics = read_metrics(&done)?;
        let rows = summary::rows(&metrics, config.trials)?;
        // The scores of a long run are printed even where its names cannot be written.
        let named = runs::publish(store, config, tasks, &done, |folder| scores::write(&metrics, folder));
        // A part of an experiment has a part of its scores, of which nothing is asked.
        let is_checked = is_whole(arguments) && is_complete;
        let checked = if is_checked { checks::outcomes(&config.checks, &rows, tasks, &done) } else { Vec::new() };
        if arguments.json {
            let document = json!({
                "name": config.name, "store": store.root(), "stages": stages_json(tasks, &done), "metrics": summary::json(&rows), "spent": spent_json(config, tasks, &done),
                "checks": checked, "program": {"version": env!("CARGO_PKG_VERSION"), "commit": build::commit()},
            });
            output::data(&serde_json::to_string_pretty(&document)?);
        } else {
            output::line(&summary::tables(&rows));
            checks::words(&checked).iter().for_each(|line| output::line(line));
        }
        named?;
        if !arguments.json && config.is_deployment() && is_complete {
            who_learned_what(store, config, tasks)?;
        }
        outcomes.extend(checked);
    }
    if let Some(next) = others.finish()? {
        // Only one document may stand on standard output.
        if arguments.json { output::error_line(&next) } else { output::line(&next) }
    }
    failures.ensure_none()?;
    checks::ensure_passed(&outcomes)
}
