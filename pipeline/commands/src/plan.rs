//! `plan`: what `run` would do and why, and what it would spend.

mod mermaid;
mod totals;

use std::collections::BTreeMap;

use serde_json::json;
use veilgraph_contract::{Cost, Relation, Release};
use veilgraph_privacy::composition::totals;
use veilgraph_runner::belief::believed;
use veilgraph_runner::config::Config;
use veilgraph_runner::costs::in_words;
use veilgraph_runner::ledger::{Allowance, Ledger};
use veilgraph_runner::measured::Measurements;
use veilgraph_runner::output;
use veilgraph_runner::progress::Display;
use veilgraph_runner::task::{Done, STAGES, Status, Task};
use veilgraph_store::Store;

use crate::cli::{PlanFormat, RunArguments};
use crate::experiment::{allowance, bring, jobs, prepare_all, read_published};
use crate::run::{spent_json, stages_json, warn_of_large};
use totals::Totals;

/// Says what would run and why, and what it would spend.
pub(crate) fn plan(store: &Store, format: PlanFormat, arguments: &RunArguments) -> anyhow::Result<()> {
    let experiments = prepare_all(arguments, read_published(arguments)?.as_ref())?;
    if format == PlanFormat::Mermaid {
        let [(_, tasks)] = experiments.as_slice() else {
            anyhow::bail!("--format mermaid prints one graph; name one config");
        };
        output::line(&mermaid::written(tasks));
        return Ok(());
    }
    let measurements = Measurements::of(store);
    for (config, tasks) in experiments {
        if !arguments.json {
            print_cost(&config, &tasks);
            print_total(store, &config, &tasks)?;
            if config.is_deployment() {
                believed(&Ledger::open(store)?, &config, &tasks)?.iter().for_each(|line| output::line(line));
            }
        }
        let display = Display::of_plan(&tasks, arguments.json);
        let done = bring(store, &config, &tasks, arguments, true, &display)?;
        warn_of_large(&measurements, &tasks, &done, arguments.memory_limit);
        let totals = Totals::of(&tasks, &done, &measurements, jobs(arguments, false));
        if !arguments.json {
            totals.words().iter().for_each(|line| output::line(line));
            output::line(&count(&tasks, &done));
            tell_of_refusals(store, &config, &tasks, &done, &allowance(&config, arguments))?;
        }
        if arguments.json {
            let would_spend = spent_json(&config, &tasks, &done);
            // A plan spends nothing; programs that read what a run spent find it under the same name.
            let document = json!({
                "name": config.name, "store": store.root(), "stages": stages_json(&tasks, &done),
                "would_spend": would_spend, "spent": would_spend, "totals": totals.json(),
            });
            output::data(&serde_json::to_string_pretty(&document)?);
        }
    }
    Ok(())
}

/// How many stage runs there are of each kind.
fn count(tasks: &[Task], done: &[Done]) -> String {
    let mut stages: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut fresh, mut sure, mut perhaps) = (0, 0, 0);
    for (task, done) in tasks.iter().zip(done) {
        match done.status {
            Status::WouldRun { .. } => sure += 1,
            Status::MayRun => perhaps += 1,
            Status::Fresh | Status::Fetched | Status::Ran { .. } | Status::Queued { .. } => fresh += 1,
            Status::Elsewhere | Status::Failed { .. } | Status::Skipped => {}
        }
        if done.would_run() {
            *stages.entry(task.stage).or_default() += 1;
        }
    }
    let of_stages: Vec<String> =
        STAGES.iter().filter_map(|stage| stages.get(stage).map(|count| format!("{stage} {count}"))).collect();
    let of_stages = if of_stages.is_empty() { String::new() } else { format!(": {}", of_stages.join(", ")) };
    format!(
        "in all: {fresh} stage runs are fresh, {sure} would run, and {perhaps} after them unless their inputs stay as they \
         are{of_stages}"
    )
}

/// Says where `run` would refuse to release, as far as that is known before data are read.
fn tell_of_refusals(
    store: &Store,
    config: &Config,
    tasks: &[Task],
    done: &[Done],
    allowance: &Allowance,
) -> anyhow::Result<()> {
    if !allowance.is_limited() {
        return Ok(());
    }
    let ledger = Ledger::open(store)?;
    let outstanding = tasks.iter().zip(done).filter(|(_, done)| done.would_run()).map(|(task, _)| task);
    for (population, releases) in by_population(outstanding) {
        let spent = ledger.spent(population, &[], config.privacy.randomness)?;
        let what = "all releases that would run together cost";
        if let Err(refusal) = allowance.check(what, &releases, &spent) {
            output::line(&format!("run would refuse this: {refusal}"));
        }
    }
    Ok(())
}

/// What tasks release about each population.
fn by_population<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> BTreeMap<&'a str, Vec<&'a Release>> {
    let mut releases: BTreeMap<&str, Vec<&Release>> = BTreeMap::new();
    for task in tasks.into_iter().filter(|task| !task.releases.is_empty()) {
        releases.entry(&task.population).or_default().extend(task.added_releases());
    }
    releases
}

/// What one run of the experiment costs a node, before any data is read.
pub(super) fn print_cost(config: &Config, tasks: &[Task]) {
    // Links, features and labels may be released in one cell.
    let mut costs: BTreeMap<(&str, &str), BTreeMap<Relation, Cost>> = BTreeMap::new();
    for task in tasks.iter().filter(|task| !task.releases.is_empty()) {
        costs.insert((&task.cell, task.function), totals(&task.releases));
    }
    let cells: Vec<&str> = costs.keys().map(|(cell, _)| *cell).collect();
    for ((cell, function), totals) in costs {
        let shares_its_cell = cells.iter().filter(|other| **other == cell).count() > 1;
        let parts = [(!cell.is_empty()).then_some(cell), shares_its_cell.then_some(function)];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        let cell = if parts.is_empty() { String::new() } else { format!(" [{}]", parts.join(", ")) };
        if totals.values().any(|cost| cost.epsilon().is_infinite()) {
            output::line(&format!("no protection{cell}: the true data, as a reference for simulations"));
            continue;
        }
        output::line(&format!("cost of one release{cell}: {}", in_words(&totals)));
    }
    if config.trials > 1 {
        output::line(&format!(
            "{} trials are {} releases: a simulation, not a deployment",
            config.trials, config.trials
        ));
    }
}

/// What all releases of the config cost together, and what is left of the budget, before any data is read.
fn print_total(store: &Store, config: &Config, tasks: &[Task]) -> anyhow::Result<()> {
    let ledger = Ledger::open(store)?;
    for (population, releases) in by_population(tasks) {
        let (open, protected): (Vec<&Release>, Vec<&Release>) =
            releases.into_iter().partition(|release| release.cost.epsilon().is_infinite());
        if protected.is_empty() {
            continue;
        }
        let beside = if open.is_empty() { "" } else { " (without references that protect nothing)" };
        let cost = in_words(&totals(protected));
        let spent = ledger.spent(population, &[], config.privacy.randomness)?;
        let budget = config.privacy.budget.in_words(&spent);
        output::line(&format!(
            "budget of `{population}`: {budget} under this name; all releases of this config cost {cost}{beside}, less what is \
             fresh"
        ));
    }
    Ok(())
}
