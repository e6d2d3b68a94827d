//! `export`: what the server may see of a deployment, as a store of its own.

use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use veilgraph_contract::{Cost, Randomness, Relation, Release};
use veilgraph_privacy::composition::totals;
use veilgraph_runner::build;
use veilgraph_runner::config::Config;
use veilgraph_runner::confirm::confirm;
use veilgraph_runner::costs::in_words;
use veilgraph_runner::date::date;
use veilgraph_runner::ledger::Ledger;
use veilgraph_runner::output;
use veilgraph_runner::plan::rounded;
use veilgraph_runner::progress::Display;
use veilgraph_runner::runs::{self, RunRecord};
use veilgraph_runner::task::{Done, Task};
use veilgraph_store::{Store, StoreKind};

use crate::cli::{RunArguments, SideName};
use crate::experiment;
use crate::new_files::{cannot_write, write_whole_folder};

/// Writes exactly the releases of this config, whole, with what is public beside them, after showing their cost.
pub(crate) fn export(store: &Store, arguments: RunArguments, to: &Path, is_accepted: bool) -> anyhow::Result<()> {
    ensure!(!to.exists(), "{}: exists already; name a folder that does not", to.display());
    ensure!(
        store.kind() == StoreKind::Whole,
        "{}: a server's store holds no releases of its own",
        store.root().display()
    );
    // Only an owner hands over, whose ledger is compared with the releases.
    let arguments = RunArguments { until: Some("privatize".to_owned()), side: SideName::All, ..arguments };
    let (config, tasks) = experiment::prepare_one(&arguments)?;
    ensure!(
        config.is_deployment(),
        "{}: its noise is drawn from a seed, so whoever knows the seed can remove it; set [privacy] randomness = \"os\" for a \
         release that may leave the laboratory",
        config.name
    );
    let display = Display::new(&tasks, 1, true);
    let done = experiment::bring(store, &config, &tasks, &arguments, true, &display)?;
    let releases: Vec<&Release> = tasks.iter().flat_map(|task| &task.releases).collect();
    ensure!(!releases.is_empty(), "{} releases nothing, so there is nothing to hand over", config.name);
    let is_owners = |(task, _): &(&Task, &Done)| task.side == "owner";
    let missing = tasks.iter().zip(&done).filter(is_owners).filter(|(_, done)| done.entry.is_none());
    let missing: Vec<&str> = missing.map(|(task, _)| task.function).collect();
    ensure!(
        missing.is_empty(),
        "{} was not released as this config says (missing: {}); run it with --until privatize first",
        config.name,
        missing.join(", ")
    );
    output::line(&format!(
        "{}: handing this over tells the server what costs each node of `{}` {}",
        config.name,
        config.population(None),
        in_words(&totals(releases.iter().copied()))
    ));
    let spent = Ledger::open(store)?.spent(config.population(None), &[], Randomness::Os)?;
    if spent.releases.len() > releases.len() {
        output::line(&format!(
            "a server that has all releases about {}, those of other runs too, has what costs each node {}",
            spent.whose(),
            in_words(&totals(&spent.releases))
        ));
    }
    confirm("Hand it over?", is_accepted, "nothing was handed over", "--yes")?;
    let files = write_whole_folder(to, |draft| write(&config, &tasks, &done, &releases, draft))?;
    output::line(&format!(
        "{}: {files} files. Copy this folder as it is; the server goes on with `veilgraph --store {} run CONFIG --side server \
         --until train`",
        to.display(),
        output::quote(&to.display().to_string())
    ));
    Ok(())
}

/// Writes the server's store; the number of its files.
fn write(config: &Config, tasks: &[Task], done: &[Done], releases: &[&Release], to: &Path) -> anyhow::Result<usize> {
    let server = Store::new_server(to)?;
    let mut record = RunRecord::default();
    let mut files = 0;
    for (task, done) in tasks.iter().zip(done).filter(|(task, _)| task.side == "owner") {
        let Some(entry) = &done.entry else { continue };
        let public = entry.publish_to(&server, task.canonical.clone())?;
        files += public.manifest.outputs.len();
        record.note(task, &public.manifest.key);
    }
    record.write(&server, &config.name)?;
    let wrong = || cannot_write(to);
    let cost = cost(config, releases);
    std::fs::write(to.join("cost.json"), serde_json::to_vec_pretty(&cost)?).with_context(wrong)?;
    server.remove_leftovers(std::time::Duration::ZERO)?;
    Ok(files)
}

/// Who handed over what, when, and at which cost under every relation.
fn cost(config: &Config, releases: &[&Release]) -> Value {
    let total = |(relation, cost): (&Relation, &Cost)| json!({"relation": relation, "epsilon": rounded(cost.epsilon()), "dp_delta": cost.dp_delta()});
    let totals: Vec<Value> = totals(releases.iter().copied()).iter().map(total).collect();
    json!({
        "population": config.population(None), "config": config.name, "date": date(runs::now().as_secs()),
        "version": env!("CARGO_PKG_VERSION"), "commit": build::commit(), "total": totals, "releases": releases,
    })
}
