//! `gc`: what nobody needs any more.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use bytesize::ByteSize;
use serde::Serialize;
use serde_json::{Value, json};
use veilgraph_runner::live;
use veilgraph_runner::order;
use veilgraph_runner::output;
use veilgraph_runner::runs::{self, RunRecord};
use veilgraph_runner::task::STAGES;
use veilgraph_store::{Entry, Part, Store, StoreKind};

use super::verify::refuse_foreign;

/// What `gc` may remove.
#[derive(Clone, Copy)]
pub(crate) struct GarbageRule<'a> {
    /// Whether it only says what it would remove.
    pub dry_run: bool,
    /// Whether it says so as one JSON object.
    pub as_json: bool,
    /// Whether the entries that runs use go as well, however young.
    pub all: bool,
    /// The age in days from which an unused entry may go.
    pub older_than: f64,
    /// The number of the last runs of each config whose entries stay, however old.
    pub keep_last: u32,
    /// The bytes that unused entries may take together: old ones stay while there is room beside the young ones.
    pub keep_size: Option<ByteSize>,
    /// A config whose runs count no more, and whose names go.
    pub forget: Option<&'a str>,
}

/// Removes old entries that no config's last runs use (or, if `all`, all entries), and what killed processes left.
/// Releases of deployments always stay.
pub(crate) fn collect_garbage(store: &Store, rule: GarbageRule) -> anyhow::Result<()> {
    if !store.root().exists() {
        if rule.as_json {
            let none = Sum::default();
            return print_json(rule, &[], [&none, &none, &none]);
        }
        output::line("0 entries; there is no store yet");
        return Ok(());
    }
    refuse_foreign(store)?;
    // Entries that a run has made and not yet named look unused, and its drafts look left over.
    let _alone = match store.lock_for_removal() {
        Ok(Some(alone)) => Some(alone),
        Ok(None) => {
            bail!("{}: a run uses this store, and nothing was removed; wait until it ends", store.root().display())
        }
        // A store that cannot be written is looked at all the same.
        Err(_) if rule.dry_run => None,
        Err(error) => return Err(error.into()),
    };
    let mut forgotten = BTreeSet::new();
    if let Some(name) = rule.forget {
        forgotten = forget(store, name, rule.dry_run)?;
        for place in runs::folders(store) {
            if runs::name_of(&place) != name {
                let of_others = used_by(&place, usize::MAX)?;
                forgotten.retain(|entry| !of_others.contains(entry));
            }
        }
        if !rule.as_json {
            let verb = if rule.dry_run { "would forget" } else { "forgot" };
            output::line(&format!("{verb} the names, the scores and the history of `{name}`"));
        }
    }
    let used = if rule.all { BTreeSet::new() } else { used(store, rule)? };
    let least_age = Duration::from_secs_f64(if rule.all { 0.0 } else { rule.older_than * 86_400.0 });
    let mut unused = Vec::new();
    for entry in store.entries(&STAGES)? {
        let recipe = &entry.manifest.recipe;
        if !used.contains(&(recipe.stage.clone(), entry.manifest.key.clone())) && recipe.is_computed() {
            unused.push(entry);
        }
    }
    unused.sort_by_cached_key(|entry| (Reverse(entry.written()), entry.manifest.key.clone()));
    let (mut removed, mut kept, mut young) = (Sum::default(), Sum::default(), Sum::default());
    let mut rows = Vec::new();
    for entry in unused {
        let is_forgotten = forgotten.contains(&(entry.manifest.recipe.stage.clone(), entry.manifest.key.clone()));
        if entry.age() < least_age && !is_forgotten {
            young.add(&entry);
            continue;
        }
        // The youngest come first, so what is young was counted before.
        let with_it = young.bytes + kept.bytes + entry.size();
        if rule.keep_size.is_some_and(|most| with_it <= most.as_u64()) {
            kept.add(&entry);
            continue;
        }
        let (stage, key, bytes) = (&entry.manifest.recipe.stage, &entry.manifest.key, entry.size());
        if rule.as_json {
            rows.push(json!({"stage": stage, "key": key, "bytes": bytes}));
        } else {
            let verb = if rule.dry_run { "would remove" } else { "removed" };
            output::line(&format!("{verb} {stage} {key} ({})", ByteSize(bytes)));
        }
        removed.add(&entry);
        if !rule.dry_run {
            store.remove(stage, key)?;
        }
    }
    if !rule.dry_run {
        remove_what_runs_left(store, rule.all, least_age)?;
    }
    if rule.as_json {
        return print_json(rule, &rows, [&removed, &kept, &young]);
    }
    let which = if rule.all { "" } else { "unused " };
    output::line(&format!("{}; releases of deployments and the privacy ledger are never touched", removed.of(which)));
    if kept.entries > 0 {
        output::line(&format!("{} stay, as --keep-size says", kept.of("old unused ")));
    }
    if young.entries > 0 {
        let days = rule.older_than;
        output::line(&format!(
            "{} are younger than {days} days and stay, so that an earlier or interrupted run can go on; \
             --older-than 0 takes them too",
            young.of("unused ")
        ));
    }
    Ok(())
}

/// What was removed, or would be, and how much stays of what no run uses.
fn print_json(rule: GarbageRule, entries: &[Value], [removed, kept, young]: [&Sum; 3]) -> anyhow::Result<()> {
    let document = json!({
        "dry_run": rule.dry_run, "forgotten": rule.forget, "removed": removed, "removed_entries": entries,
        "kept_by_size": kept, "kept_by_age": young,
    });
    output::data(&serde_json::to_string_pretty(&document)?);
    Ok(())
}

/// Stage and key of the entries that the last runs of every config use.
fn used(store: &Store, rule: GarbageRule) -> anyhow::Result<BTreeSet<(String, String)>> {
    let mut used = BTreeSet::new();
    for place in runs::folders(store) {
        if rule.forget.is_none_or(|name| name != runs::name_of(&place)) {
            // A run of a part of an experiment does not free what the whole of it used.
            used.extend(used_by(&place, rule.keep_last as usize)?);
        }
    }
    Ok(used)
}

/// Stage and key of the entries that the last runs of a config use.
fn used_by(place: &Path, keep_last: usize) -> anyhow::Result<BTreeSet<(String, String)>> {
    let last = runs::last_records(place, keep_last).chain([RunRecord::read(place)?]);
    let keys = |record: RunRecord| -> Vec<(String, String)> {
        record.all().map(|(stage, key)| (stage.to_owned(), key.to_owned())).collect()
    };
    Ok(last.flat_map(keys).collect())
}

/// Removes the names, the scores and the history of a config, and returns the entries that its runs used.
fn forget(store: &Store, name: &str, is_dry: bool) -> anyhow::Result<BTreeSet<(String, String)>> {
    ensure!(
        store.kind() == StoreKind::Whole,
        "{}: a server's store finds what was handed over to it by the name of its config, so nothing was removed",
        store.root().display()
    );
    let mut places = runs::folders(store);
    places.retain(|place| runs::has_run(place) && runs::name_of(place) == name);
    ensure!(
        !places.iter().any(|place| place.starts_with(store.part(Part::Server))),
        "`{name}` is a deployment, whose server finds what was handed over to it by that name, so nothing was removed"
    );
    if places.is_empty() {
        return Err(runs::unknown(store, name));
    }
    let mut used = BTreeSet::new();
    for place in &places {
        used.extend(used_by(place, usize::MAX)?);
        if !is_dry {
            runs::remove(place).with_context(|| format!("{}: cannot remove the names", place.display()))?;
        }
    }
    Ok(used)
}

/// Removes drafts, checkpoints, orders and names that killed runs left. All but names stay as long as entries do.
fn remove_what_runs_left(store: &Store, all: bool, least_age: Duration) -> anyhow::Result<()> {
    store.remove_leftovers(least_age)?;
    // Whoever asks which runs go on removes the states of those that were killed.
    let _ = live::states(store);
    order::remove_old(store, least_age)?;
    let of_no_entry = runs::folders(store).into_iter().filter(|place| all && has_no_entry(store, place));
    for place in runs::half_written(store).into_iter().chain(of_no_entry) {
        runs::remove(&place).with_context(|| format!("{}: cannot remove what runs left", place.display()))?;
    }
    Ok(())
}

/// A number of entries and their bytes.
#[derive(Default, Serialize)]
struct Sum {
    entries: usize,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, entry: &Entry) {
        self.entries += 1;
        self.bytes += entry.size();
    }

    /// `3 unused entries (1.2 MiB)`.
    fn of(&self, which: &str) -> String {
        let size = if self.bytes == 0 { String::new() } else { format!(" ({})", ByteSize(self.bytes)) };
        format!("{} {which}entries{size}", self.entries)
    }
}

/// Whether no entry is left of those that a folder of readable names leads to.
fn has_no_entry(store: &Store, place: &Path) -> bool {
    let record = RunRecord::read(place).unwrap_or_default();
    !record.all().any(|(stage, key)| matches!(store.find(stage, key), Ok(Some(_))))
}
