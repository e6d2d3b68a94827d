//! `ls`: the entries of the store, by the names of the runs that use them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytesize::ByteSize;
use comfy_table::{Table, presets};
use serde_json::json;
use veilgraph_runner::output;
use veilgraph_runner::runs::{self, RunRecord};
use veilgraph_runner::task::STAGES;
use veilgraph_runner::why::changed_settings;
use veilgraph_store::{Readable, Store};

/// Prints every entry whose name begins with one of `wanted`, or every entry. What cannot be read is an error after all others were
/// printed.
pub(crate) fn list(store: &Store, wanted: &[String], as_json: bool) -> anyhow::Result<()> {
    let names = names(store)?;
    let unnamed = Vec::new();
    let names_of = |stage: &str, key: &str| names.get(&(stage.to_owned(), key.to_owned())).unwrap_or(&unnamed);
    // The name of an experiment is whole; that of a run may be begun.
    let is_meant = |name: &str, wanted: &str| {
        if wanted.contains('/') { name.starts_with(wanted) } else { name.split('/').next() == Some(wanted) }
    };
    let begins = |name: &String| wanted.iter().any(|wanted| is_meant(name, wanted));
    let Readable { mut entries, damage } = store.readable(&STAGES)?;
    entries.retain(|entry| {
        let names = names_of(&entry.manifest.recipe.stage, &entry.manifest.key);
        wanted.is_empty() || names.iter().any(begins)
    });
    anyhow::ensure!(
        wanted.is_empty() || !entries.is_empty(),
        "{}: no run has such a name; `veilgraph ls` lists all",
        wanted.join(", ")
    );
    if as_json {
        let rows: Vec<_> = entries.iter().map(|entry| json!(entry.manifest)).collect();
        output::data(&serde_json::to_string_pretty(&rows)?);
        return damage.into_iter().next().map_or(Ok(()), |error| Err(error.into()));
    }
    let mut rows = Vec::new();
    for entry in &entries {
        let (stage, key) = (&entry.manifest.recipe.stage, &entry.manifest.key);
        let artifacts: Vec<&str> = entry.manifest.outputs.keys().map(String::as_str).collect();
        let mut shown: Vec<String> =
            names_of(stage, key).iter().filter(|name| wanted.is_empty() || begins(name)).cloned().collect();
        if shown.is_empty() {
            shown.push(format!("({stage}, used by no last run)"));
        }
        for name in shown {
            let (size, age) = (ByteSize(entry.size()).to_string(), in_words(entry.age()));
            rows.push([name, artifacts.join(" "), size, age, key.clone()]);
        }
    }
    rows.sort();
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN).set_header(["run", "artifacts", "size", "age", "key"]);
    rows.into_iter().for_each(|row| {
        table.add_row(row);
    });
    output::line(&table.to_string());
    damage.into_iter().next().map_or(Ok(()), |error| Err(error.into()))
}

/// Prints the runs so far of the experiments `wanted`, or of all.
pub(crate) fn list_runs(store: &Store, wanted: &[String], as_json: bool) -> anyhow::Result<()> {
    let mut table = Table::new();
    let headings = ["run", "age", "stage runs", "failed", "peak memory", "changed settings"];
    table.load_preset(presets::ASCII_MARKDOWN).set_header(headings);
    let mut rows = Vec::new();
    let names: BTreeSet<String> = runs::folders(store).iter().map(|place| runs::name_of(place)).collect();
    for name in names.iter().filter(|name| wanted.is_empty() || wanted.contains(name)) {
        let all = runs::runs_of(store, name);
        for (at, run) in all.iter().enumerate() {
            let before = all.get(at + 1);
            let changed = before.map_or_else(Vec::new, |before| changed_settings(&before.config, &run.config));
            let (called, stage_runs) = (format!("{name}@{}", at + 1), run.record.all().count());
            let age = runs::now().saturating_sub(Duration::from_millis(run.time));
            let memory = run.peak_memory.map_or("-".to_owned(), |bytes| ByteSize(bytes).to_string());
            table.add_row([
                called.clone(),
                in_words(age),
                stage_runs.to_string(),
                run.failed.len().to_string(),
                memory,
                if before.is_none() { "-".to_owned() } else { first_of(&changed) },
            ]);
            let seconds = run.time / 1000;
            rows.push(json!({
                "run": called, "time": seconds, "stage_runs": stage_runs, "config": run.config, "failed": run.failed,
                "peak_memory": run.peak_memory, "changed_settings": changed,
            }));
        }
    }
    anyhow::ensure!(
        wanted.is_empty() || !rows.is_empty(),
        "{}: no such experiment has run; `veilgraph ls --runs` lists all",
        wanted.join(", ")
    );
    if as_json {
        output::data(&serde_json::to_string_pretty(&rows)?);
    } else {
        output::line(&table.to_string());
    }
    Ok(())
}

/// The first of the settings that changed, and how many others did.
fn first_of(changed: &[String]) -> String {
    const MOST: usize = 3;
    let shown = changed.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match changed.len() {
        0 => "none; data, code or results changed".to_owned(),
        count if count > MOST => format!("{shown} and {} more", count - MOST),
        _ => shown,
    }
}

/// The names of every entry, as `show` takes them, by stage and key.
fn names(store: &Store) -> anyhow::Result<BTreeMap<(String, String), Vec<String>>> {
    let mut names: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for place in &runs::folders(store) {
        let config = runs::name_of(place);
        for entry in RunRecord::read(place)?.named() {
            if !runs::is_named(store, &config, entry.stage, entry.label) {
                continue;
            }
            let name = format!("{config}/{}/{}", entry.stage, entry.label);
            let of_entry = names.entry((entry.stage.to_owned(), entry.key.to_owned())).or_default();
            if !of_entry.contains(&name) {
                of_entry.push(name);
            }
        }
    }
    Ok(names)
}

/// A time in its largest unit.
fn in_words(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}
