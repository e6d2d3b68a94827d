//! `diff`: how two runs differ, in settings, code, data and scores.

mod scores;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::ensure;
use serde::Serialize;
use serde_json::json;
use veilgraph_runner::config::Config;
use veilgraph_runner::output;
use veilgraph_runner::runs::{self, RunRecord};
use veilgraph_runner::task::position;
use veilgraph_runner::why;
use veilgraph_store::Store;

use scores::Compared;

/// The entries of a run: stage, function and label, and key.
type Entries = BTreeMap<(String, String, String), String>;

/// Stage runs of one stage.
#[derive(Serialize)]
struct StageRuns {
    stage: String,
    /// What they are called.
    runs: Vec<String>,
    /// Why they are not the same; left out where only one of the two runs has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
}

/// Prints how a run of `after` differs from one of `before`. Each is the name of an experiment, or its config, with the
/// number of the run behind `@`, or without where the last run is meant.
pub(crate) fn diff(store: &Store, before: &str, after: &str, as_json: bool) -> anyhow::Result<()> {
    let (before, after) = (Named::of(before)?, Named::of(after)?);
    let (ours, theirs) = (entries(store, &after)?, entries(store, &before)?);
    let (before, after) = (before.to_string(), after.to_string());
    let (same, changed) = compare(store, &theirs, &ours)?;
    let (only_before, only_after) = (only(&theirs, &ours), only(&ours, &theirs));
    let scores = Compared::of(store, &theirs, &ours)?;
    if as_json {
        let document = json!({
            "before": before, "after": after, "same_stage_runs": same, "changed": changed, "only_before": only_before,
            "only_after": only_after, "same_scores": scores.same, "scores": scores.json(),
        });
        output::data(&serde_json::to_string_pretty(&document)?);
        return Ok(());
    }
    for StageRuns { stage, runs, reasons } in &changed {
        output::line(&format!("{stage:<10} {:<40} {}", several(runs), reasons.join(", ")));
    }
    for (name, only) in [(&before, &only_before), (&after, &only_after)] {
        for StageRuns { stage, runs, .. } in only {
            output::line(&format!("{stage:<10} {:<40} only in {name}", several(runs)));
        }
    }
    output::line(&format!("{same} stage runs are the same"));
    if let Some(table) = scores.table(&before, &after) {
        output::line(&table.to_string());
    }
    output::line(&format!("{} scores are the same", scores.same));
    Ok(())
}

/// How many stage runs are the same, and those that are not, in the order of the stages, together where they have the same
/// reasons.
fn compare(store: &Store, before: &Entries, after: &Entries) -> anyhow::Result<(usize, Vec<StageRuns>)> {
    let (mut same, mut changed) = (0, BTreeMap::<(usize, String, Vec<String>), Vec<String>>::new());
    for (name @ (stage, _, label), key) in after {
        let Some(earlier) = before.get(name) else { continue };
        let reasons = if earlier == key { Vec::new() } else { reasons(store, stage, earlier, key)? };
        if reasons.is_empty() {
            same += 1;
            continue;
        }
        changed.entry((position(stage), stage.clone(), reasons)).or_default().push(label.clone());
    }
    let changed = changed.into_iter().map(|((_, stage, reasons), runs)| StageRuns { stage, runs, reasons });
    Ok((same, changed.collect()))
}

/// The stage runs of one run that the other one does not have.
fn only(all: &Entries, others: &Entries) -> Vec<StageRuns> {
    let mut labels: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (stage, _, label) in all.keys().filter(|name| !others.contains_key(*name)) {
        labels.entry(stage).or_default().push(label.clone());
    }
    let of_stage =
        |(stage, runs): (&str, Vec<String>)| StageRuns { stage: stage.to_owned(), runs, reasons: Vec::new() };
    labels.into_iter().map(of_stage).collect()
}

/// A run by its experiment and its number: 1 is the last.
struct Named {
    name: String,
    number: Option<usize>,
}

impl Named {
    fn of(given: &str) -> anyhow::Result<Self> {
        let (given, number) = runs::name_and_number(given).map_or((given, None), |(name, number)| (name, Some(number)));
        let path = Path::new(given);
        let is_config = path.extension().is_some_and(|extension| extension == "toml");
        let name = if is_config { Config::load(path, &[])?.name } else { given.to_owned() };
        Ok(Self { name, number })
    }
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.number {
            Some(number) => write!(f, "{}@{number}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// What a run used.
fn entries(store: &Store, run: &Named) -> anyhow::Result<Entries> {
    let name = run.name.as_str();
    let mut places = runs::folders(store);
    places.retain(|place| runs::name_of(place) == name);
    let records: Vec<RunRecord> = match run.number {
        Some(number) => match runs::run_numbered(store, name, number) {
            Ok(run) => vec![run.record],
            Err(problem) => {
                ensure!(!places.iter().any(|place| runs::has_run(place)), "{problem}");
                Vec::new()
            }
        },
        None => places.iter().map(|place| RunRecord::read(place)).collect::<anyhow::Result<_>>()?,
    };
    let mut entries = Entries::new();
    for record in &records {
        for entry in record.named() {
            // The record also holds what earlier runs used; the last one has names.
            if run.number.is_none() && !runs::is_named(store, name, entry.stage, entry.label) {
                continue;
            }
            let key = (entry.stage.to_owned(), entry.function.to_owned(), entry.label.to_owned());
            entries.insert(key, entry.key.to_owned());
        }
    }
    if entries.is_empty() {
        return Err(runs::unknown(store, name));
    }
    Ok(entries)
}

/// Why two entries of one name are not the same.
fn reasons(store: &Store, stage: &str, before: &str, now: &str) -> anyhow::Result<Vec<String>> {
    Ok(match (store.find(stage, before)?, store.find(stage, now)?) {
        (Some(before), Some(now)) => {
            let mut reasons = why::reasons(Some(&before.manifest.recipe), &now.manifest.recipe);
            // Scores bear the name of their experiment, which is no difference.
            reasons.retain(|reason| !reason.starts_with("cell.experiment changed"));
            reasons
        }
        _ => vec!["an entry was removed from the store".to_owned()],
    })
}

/// The first of some labels, and how many others there are.
fn several(labels: &[String]) -> String {
    match labels {
        [] => String::new(),
        [label] => label.clone(),
        [label, others @ ..] => format!("{label} and {} more", others.len()),
    }
}
