//! `diff`: how two runs differ, in settings, code, data and scores.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::ensure;
use comfy_table::{Table, presets};
use veilgraph_evaluate::Metrics;
use veilgraph_evaluate::metric;
use veilgraph_statistics::{Difference, Summary};
use veilgraph_store::{MemoryLimit, Store};

use super::summary::with_interval;
use crate::config::Config;
use crate::output;
use crate::runs::{self, RunRecord};
use crate::task::STAGES;
use crate::why;

/// The entries of a run: stage, function and label, and key.
type Entries = BTreeMap<(String, String, String), String>;

/// Scores by run, score and trial.
type Scores = BTreeMap<(String, String), BTreeMap<u32, f64>>;

/// Prints how a run of `after` differs from one of `before`. Each is the name of an experiment, or its config, with the
/// number of the run behind `@`, or without where the last run is meant.
pub(crate) fn diff(store: &Store, before: &str, after: &str) -> anyhow::Result<()> {
    let (before, after) = (Named::of(before)?, Named::of(after)?);
    let (ours, theirs) = (entries(store, &after)?, entries(store, &before)?);
    let (before, after) = (before.to_string(), after.to_string());
    let (mut same, mut changed) = (0, BTreeMap::<(String, Vec<String>), Vec<&str>>::new());
    for (name @ (stage, _, label), key) in &ours {
        match theirs.get(name) {
            Some(earlier) if earlier == key => same += 1,
            Some(earlier) => {
                let reasons = reasons(store, stage, earlier, key)?;
                if reasons.is_empty() {
                    same += 1;
                    continue;
                }
                changed.entry((stage.clone(), reasons)).or_default().push(label);
            }
            None => {}
        }
    }
    for at in STAGES {
        for ((stage, reasons), labels) in changed.iter().filter(|((stage, _), _)| stage == at) {
            output::line(&format!("{stage:<10} {:<40} {}", several(labels), reasons.join(", ")));
        }
    }
    let only = |all: &Entries, others: &Entries, name: &str| {
        let mut labels: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (stage, function, label) in all.keys() {
            if !others.contains_key(&(stage.clone(), function.clone(), label.clone())) {
                labels.entry(stage).or_default().push(label);
            }
        }
        for (stage, labels) in labels {
            output::line(&format!("{stage:<10} {:<40} only in {name}", several(&labels)));
        }
    };
    only(&theirs, &ours, &before);
    only(&ours, &theirs, &after);
    output::line(&format!("{same} stage runs are the same"));
    print_scores(&scores(store, &theirs)?, &scores(store, &ours)?, &before, &after);
    Ok(())
}

/// A run by its experiment and its number: 1 is the last.
struct Named {
    name: String,
    number: Option<usize>,
}

impl Named {
    fn of(given: &str) -> anyhow::Result<Self> {
        let numbered = given.rsplit_once('@').and_then(|(name, number)| Some((name, number.parse::<usize>().ok()?)));
        let (given, number) = numbered.map_or((given, None), |(name, number)| (name, Some(number)));
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
        Some(number) => {
            let past = runs::runs_of(store, name);
            let n_runs = past.len();
            let found = past.into_iter().nth(number.wrapping_sub(1));
            ensure!(
                found.is_some() || !places.iter().any(|place| runs::has_run(place)),
                "{run}: the history of `{name}` has {n_runs} runs here (`veilgraph ls {name} --runs`)"
            );
            found.into_iter().map(|run| run.record).collect()
        }
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
fn several(labels: &[&str]) -> String {
    match labels {
        [] => String::new(),
        [label] => (*label).to_owned(),
        [label, others @ ..] => format!("{label} and {} more", others.len()),
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

/// Prints the scores that both runs have, with the differences over the trials that both have.
fn print_scores(before: &Scores, after: &Scores, before_name: &str, after_name: &str) {
    let mut table = Table::new();
    let heading = format!("{after_name} − {before_name} (95 %)");
    table.load_preset(presets::ASCII_MARKDOWN).set_header(["run", "score", before_name, after_name, &heading]);
    let (mut n_rows, mut same) = (0, 0);
    for ((label, metric), ours) in after {
        let Some(theirs) = before.get(&(label.clone(), metric.clone())) else { continue };
        let Some(known) = metric::named(metric).filter(|known| known.is_printed) else { continue };
        let differs = |(trial, score): (&u32, &f64)| {
            theirs.get(trial).is_some_and(|other| (score - other).abs() > 1e-12 * score.abs().max(other.abs()))
        };
        if !ours.iter().any(differs) {
            same += 1;
            continue;
        }
        let mean = |scores: &BTreeMap<u32, f64>| {
            let values: Vec<f64> = scores.values().copied().collect();
            Summary::of(&values).map_or_else(String::new, |summary| with_interval(&summary, known))
        };
        let difference = Difference::of(ours, theirs).map_or_else(String::new, |difference| {
            let (mean, half_width) = (known.written(difference.mean), known.written(difference.half_width));
            if difference.trials > 1 { format!("{mean} ± {half_width}") } else { mean }
        });
        table.add_row([label.clone(), known.heading.to_owned(), mean(theirs), mean(ours), difference]);
        n_rows += 1;
    }
    if n_rows > 0 {
        output::line(&table.to_string());
    }
    output::line(&format!("{same} scores are the same"));
}
