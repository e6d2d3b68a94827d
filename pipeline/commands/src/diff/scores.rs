//! The scores that two runs have in common, and how they differ.

use std::collections::BTreeMap;

use comfy_table::{Table, presets};
use serde_json::{Value, json};
use veilgraph_evaluate::Metrics;
use veilgraph_evaluate::metric::{self, Metric};
use veilgraph_statistics::{Difference, Summary};
use veilgraph_store::{MemoryLimit, Store};

use super::Entries;
use crate::summary::with_interval;

/// Scores by run, score and trial.
type Scores = BTreeMap<(String, String), BTreeMap<u32, f64>>;

/// The scores of two runs.
pub(super) struct Compared {
    /// Those that differ in a trial that both have.
    different: Vec<Row>,
    /// How many are the same.
    pub same: usize,
}

/// A score that differs.
struct Row {
    /// What the run is called, without its trial.
    run: String,
    metric: &'static Metric,
    before: Option<Summary>,
    after: Option<Summary>,
    /// Over the trials that both have.
    difference: Option<Difference>,
}

impl Compared {
    /// Compares the scores of the entries of two runs.
    pub(super) fn of(store: &Store, before: &Entries, after: &Entries) -> anyhow::Result<Self> {
        let (before, after) = (scores(store, before)?, scores(store, after)?);
        let mut compared = Self { different: Vec::new(), same: 0 };
        for (name @ (run, metric), ours) in &after {
            let Some(theirs) = before.get(name) else { continue };
            let Some(metric) = metric::named(metric).filter(|known| known.is_printed) else { continue };
            let differs = |(trial, score): (&u32, &f64)| {
                theirs.get(trial).is_some_and(|other| (score - other).abs() > 1e-12 * score.abs().max(other.abs()))
            };
            if !ours.iter().any(differs) {
                compared.same += 1;
                continue;
            }
            let summary = |scores: &BTreeMap<u32, f64>| Summary::of(&scores.values().copied().collect::<Vec<f64>>());
            let (before, after, difference) = (summary(theirs), summary(ours), Difference::of(ours, theirs));
            compared.different.push(Row { run: run.clone(), metric, before, after, difference });
        }
        Ok(compared)
    }

    /// The scores that differ, for programs. Interval halves are null for one trial.
    pub(super) fn json(&self) -> Vec<Value> {
        let mean = |summary: Option<Summary>| {
            summary.map(
                |Summary { trials, mean, half_width, .. }| json!({"trials": trials, "mean": mean, "half_width": half_width}),
            )
        };
        let difference = |difference: Option<Difference>| {
            difference.map(|Difference { trials, mean, half_width, p_value }| {
                json!({"trials": trials, "mean": mean, "half_width": half_width, "p_value": p_value})
            })
        };
        let row = |row: &Row| {
            json!({
                "run": row.run, "metric": row.metric.name, "before": mean(row.before), "after": mean(row.after),
                "difference": difference(row.difference),
            })
        };
        self.different.iter().map(row).collect()
    }

    /// The scores that differ, as a table; none where all are the same.
    pub(super) fn table(&self, before: &str, after: &str) -> Option<Table> {
        let mut table = Table::new();
        let heading = format!("{after} − {before} (95 %)");
        table.load_preset(presets::ASCII_MARKDOWN).set_header(["run", "score", before, after, &heading]);
        for Row { run, metric, before, after, difference } in &self.different {
            let mean =
                |summary: Option<Summary>| summary.map_or_else(String::new, |summary| with_interval(&summary, metric));
            let difference = difference.map_or_else(String::new, |difference| {
                let (mean, half_width) = (metric.written(difference.mean), metric.written(difference.half_width));
                if difference.trials > 1 { format!("{mean} ± {half_width}") } else { mean }
            });
            table.add_row([run.clone(), metric.heading.to_owned(), mean(*before), mean(*after), difference]);
        }
        (!self.different.is_empty()).then_some(table)
    }
}

/// The scores of a run. A label tells runs apart by what is swept, so that a setting that is not swept may differ.
fn scores(store: &Store, entries: &Entries) -> anyhow::Result<Scores> {
    let mut scores = Scores::new();
    for ((stage, _, label), key) in entries.iter().filter(|((stage, ..), _)| stage == "evaluate") {
        let Some(entry) = store.find(stage, key)? else { continue };
        if !entry.manifest.outputs.contains_key("metrics") || !entry.is_complete() {
            continue;
        }
        let metrics: Metrics = entry.read("metrics", MemoryLimit(u64::MAX))?;
        let label: Vec<&str> = label.split(',').filter(|part| !part.starts_with("trial-")).collect();
        for score in metrics.rows {
            let name = (label.join(","), score.metric);
            scores.entry(name).or_default().insert(score.trial, score.value);
        }
    }
    Ok(scores)
}
