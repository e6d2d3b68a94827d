//! Numbers that queries find in artifacts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use polars::prelude::{AnyValue, LazyFrame};
use veilgraph_contract::Zone;
use veilgraph_runner::config::{Asks, Bound, Config, ConfigError};
use veilgraph_runner::nearest::nearest;
use veilgraph_runner::registry;
use veilgraph_runner::task::{Done, Task};

use crate::scan::scan_parquet;
use crate::show;

/// An artifact of a run.
pub(super) struct Found {
    /// The cell that made it.
    label: String,
    path: PathBuf,
}

/// Zones that a query may read.
const OPEN: [Zone; 2] = [Zone::Server, Zone::Public];

/// Refuses a check of an artifact that no task makes, before hours of work end with it, and one of an artifact that the
/// server may not see.
pub(crate) fn refuse_unknown(config: &Config, tasks: &[Task]) -> anyhow::Result<()> {
    let mut asked = Vec::new();
    for check in &config.checks {
        if let Asks::Artifact { artifact, .. } = &check.asks {
            asked.push(artifact.as_str());
        }
    }
    if asked.is_empty() {
        return Ok(());
    }
    let (mut open, mut closed) = (BTreeSet::new(), BTreeSet::new());
    for task in tasks {
        for output in registry::find(task.stage, task.function)?.outputs() {
            let known = if OPEN.contains(&output.zone) { &mut open } else { &mut closed };
            known.insert(output.artifact);
        }
    }
    match asked.into_iter().find(|artifact| !open.contains(artifact)) {
        Some(artifact) => Err(refusal(config, artifact, &open, &closed).into()),
        None => Ok(()),
    }
}

/// What is wrong with a check of this artifact.
fn refusal(config: &Config, artifact: &str, open: &BTreeSet<&str>, closed: &BTreeSet<&str>) -> ConfigError {
    let known: Vec<&str> = open.iter().copied().collect();
    let problem = match nearest(artifact, &known) {
        _ if closed.contains(artifact) => format!(
            "the server may not see `{artifact}`, and what a query says of it would be a release; a check may ask {}",
            known.join(", ")
        ),
        Some(hint) => {
            format!("nothing in this experiment makes an artifact `{artifact}`; did you mean `{hint}`?")
        }
        None => {
            format!("nothing in this experiment makes an artifact `{artifact}`; a check may ask {}", known.join(", "))
        }
    };
    config.error("check", &problem)
}

/// All artifacts of a name that the server may see. What a query says of others would be a release.
pub(super) fn named(artifact: &str, tasks: &[Task], done: &[Done]) -> Vec<Found> {
    let mut found = Vec::new();
    for (task, done) in tasks.iter().zip(done) {
        let Some(entry) = &done.entry else { continue };
        let Some(output) = entry.manifest.outputs.get(artifact) else { continue };
        let path = entry.path(output);
        let is_open = OPEN.iter().any(|zone| zone.name() == output.zone);
        if is_open && path.is_file() {
            found.push(Found { label: task.label().to_owned(), path });
        }
    }
    found
}

/// Number of the artifacts, and what is wrong with them.
pub(super) fn judged(found: &[Found], artifact: &str, query: &str, bound: Bound) -> (usize, Vec<String>) {
    let mut problems = Vec::new();
    for Found { label, path } in found {
        match number(path, query) {
            Ok(value) if bound.holds(value) => {}
            Ok(value) => problems.push(format!("{label}: {value}")),
            Err(error) => problems.push(format!("{label}: {error:#}")),
        }
    }
    if found.is_empty() {
        problems.push(format!(
            "this run has no artifact `{artifact}` that the server may see (`veilgraph show RUN` lists all)"
        ));
    }
    (found.len(), problems)
}

/// The one number that a query finds.
fn number(path: &Path, query: &str) -> anyhow::Result<f64> {
    let unreadable = || format!("{}: not a readable Parquet file; run `veilgraph verify`", path.display());
    let frame: LazyFrame = scan_parquet(path).with_context(unreadable)?;
    let answer = show::answer(frame, query, None)?;
    ensure!(
        answer.shape() == (1, 1),
        "`{query}` finds {} rows and {} columns, and not one number",
        answer.height(),
        answer.width()
    );
    let value = answer.get(0).and_then(|row| row.first().and_then(AnyValue::extract::<f64>));
    value.with_context(|| format!("`{query}` finds no number"))
}
