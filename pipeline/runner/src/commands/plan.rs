//! `plan`: what `run` would do and why, and what it would spend.

use std::collections::BTreeMap;

use serde_json::json;
use veilgraph_contract::{Cost, Relation, Release};
use veilgraph_privacy::composition::totals;
use veilgraph_store::Store;

use super::run::{bring, prepare_all, read_published, spent_json, stages_json};
use crate::cli::RunArguments;
use crate::commands::believed;
use crate::commands::costs::in_words;
use crate::config::Config;
use crate::ledger::Ledger;
use crate::output;
use crate::progress::Display;
use crate::task::Task;

/// Says what would run and why, and what it would spend.
pub(crate) fn plan(store: &Store, arguments: &RunArguments) -> anyhow::Result<()> {
    for (config, tasks) in prepare_all(arguments, read_published(arguments)?.as_ref())? {
        if !arguments.json {
            print_cost(&config, &tasks);
            print_total(store, &config, &tasks)?;
            if config.is_deployment() {
                believed(&Ledger::open(store)?, &config, &tasks)?.iter().for_each(|line| output::line(line));
            }
        }
        let display = Display::new(&tasks, 1, arguments.json);
        let done = bring(store, &config, &tasks, arguments, true, &display)?;
        if arguments.json {
            let document = json!({"stages": stages_json(&tasks, &done), "spent": spent_json(&tasks, &done)});
            output::line(&serde_json::to_string_pretty(&document)?);
        }
    }
    Ok(())
}

/// What one run of the experiment costs a node, before any data is read.
fn print_cost(config: &Config, tasks: &[Task]) {
    let mut costs: BTreeMap<&str, BTreeMap<Relation, Cost>> = BTreeMap::new();
    for task in tasks.iter().filter(|task| !task.releases.is_empty()) {
        costs.insert(&task.cell, totals(&task.releases));
    }
    for (cell, totals) in costs {
        let cell = if cell.is_empty() { String::new() } else { format!(" [{cell}]") };
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
    let mut releases: BTreeMap<&str, Vec<&Release>> = BTreeMap::new();
    for task in tasks.iter().filter(|task| !task.releases.is_empty()) {
        releases.entry(&task.population).or_default().extend(&task.releases);
    }
    for (population, releases) in releases {
        let cost = in_words(&totals(releases));
        let spent = ledger.spent(population, &[], config.privacy.randomness)?;
        let budget = config.privacy.budget.in_words(&spent);
        output::line(&format!(
            "budget of `{population}`: {budget}; all releases of this config cost {cost}, less what is fresh"
        ));
    }
    Ok(())
}
