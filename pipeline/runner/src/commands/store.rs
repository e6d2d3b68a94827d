//! `ls`, `verify` and `gc`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use comfy_table::Table;
use comfy_table::presets;
use serde_json::json;
use veilgraph_store::{Part, Store, StoreError};

use crate::engine::DEPLOYED;
use crate::ledger::Ledger;
use crate::output;
use crate::runs::{self, RunRecord};
use crate::task::STAGES;

/// Prints every entry.
pub(crate) fn list(store: &Store, as_json: bool) -> anyhow::Result<()> {
    let entries = store.entries(&STAGES)?;
    if as_json {
        let rows: Vec<_> = entries.iter().map(|entry| json!(entry.manifest)).collect();
        output::line(&serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(["stage", "key", "trial", "KiB", "artifacts"]);
    for entry in &entries {
        let manifest = &entry.manifest;
        let size: u64 = manifest.outputs.values().map(|output| output.bytes).sum();
        let trial = manifest.recipe.trial.map_or("-".to_owned(), |trial| trial.to_string());
        let names: Vec<&str> = manifest.outputs.keys().map(String::as_str).collect();
        table.add_row([&manifest.recipe.stage, &manifest.key, &trial, &(size / 1024).to_string(), &names.join(" ")]);
    }
    output::line(&table.to_string());
    Ok(())
}

/// Compares every file with its digest.
pub(crate) fn verify(store: &Store, remove: bool) -> anyhow::Result<()> {
    if remove {
        refuse_foreign(store)?;
    }
    let ledger = Ledger::open(store)?;
    let (mut files, mut elsewhere, mut damaged) = (0, 0, Vec::new());
    for (stage, key) in store.keys(&STAGES)? {
        let mut problems = Vec::new();
        match store.find(&stage, &key) {
            Ok(Some(entry)) => {
                for output in entry.manifest.outputs.values() {
                    match entry.check(output) {
                        Ok(_) => files += 1,
                        // A copy for the server has no private files; that is no damage.
                        Err(StoreError::Missing { .. }) if output.zone == "owner" || output.zone == "auditor" => {
                            elsewhere += 1;
                        }
                        Err(error) if is_damage(&error) => problems.push(error),
                        // The file may be as it was, and nobody can tell.
                        Err(error) => return Err(error.into()),
                    }
                }
            }
            Ok(None) => {}
            Err(error) if is_damage(&error) => problems.push(error),
            Err(error) => return Err(error.into()),
        }
        problems.iter().for_each(|problem| output::error_line(&problem.to_string()));
        if !problems.is_empty() {
            damaged.push((stage, key));
        }
    }
    ledger.reconcile()?;
    // Nobody can make a release of a deployment anew, nor a server what was handed over to it.
    let cannot_be_made = |(stage, key): &&(String, String)| cannot_be_made(store, stage, key);
    let (lost, mended): (Vec<_>, Vec<_>) = damaged.iter().partition(cannot_be_made);
    for (stage, key) in &lost {
        output::error_line(&format!(
            "{stage} {key}: this is a release of a deployment, which no run makes anew; restore it from a copy"
        ));
    }
    if remove {
        mended.iter().try_for_each(|(stage, key)| store.remove(stage, key))?;
        output::line(&format!("{files} files are as recorded; removed {} damaged entries", mended.len()));
        anyhow::ensure!(lost.is_empty(), "{} releases of deployments are damaged", lost.len());
        return Ok(());
    }
    output::line(&format!("{files} files are as recorded, {elsewhere} private files are elsewhere"));
    anyhow::ensure!(
        damaged.is_empty(),
        "{} entries are damaged; `veilgraph verify --remove` removes them, the next run makes them anew",
        damaged.len()
    );
    Ok(())
}

/// Whether a file is not what it was; other errors say nothing about it.
fn is_damage(error: &StoreError) -> bool {
    matches!(error, StoreError::Corrupt { .. } | StoreError::Manifest { .. } | StoreError::Missing { .. })
}

/// Refuses to remove anything from a folder that this program did not make.
fn refuse_foreign(store: &Store) -> anyhow::Result<()> {
    ensure!(
        store.is_ours(),
        "{}: there is no file `layout`, so this is no store of this program, and nothing was removed",
        store.root().display()
    );
    Ok(())
}

/// Whether an entry is a release of a deployment, or was handed over to a server.
fn cannot_be_made(store: &Store, stage: &str, key: &str) -> bool {
    let is_among = |part: Part| store.part(part).join(stage).join(key).exists();
    let of_owner = stage == "privatize" && is_among(Part::Owner) && !is_among(Part::Simulation);
    let handed_over = ["ingest", "privatize"].contains(&stage) && is_among(Part::Server);
    of_owner || handed_over
}

/// Removes entries that no config's last run uses (or, if `all`, those too), and what killed processes left.
pub(crate) fn collect_garbage(store: &Store, dry_run: bool, all: bool) -> anyhow::Result<()> {
    if !store.root().exists() {
        output::line("0 entries; there is no store yet");
        return Ok(());
    }
    refuse_foreign(store)?;
    let mut used = BTreeSet::new();
    for record in RunRecord::all_of(store)?.into_iter().filter(|_| !all) {
        used.extend(record.all().map(|(stage, key)| (stage.to_owned(), key.to_owned())));
    }
    let mut removed = 0;
    for entry in store.entries(&STAGES)? {
        let recipe = &entry.manifest.recipe;
        let (stage, key) = (recipe.stage.clone(), entry.manifest.key.clone());
        // Nobody can draw a deployed release again, and a server cannot make anew what was handed over to it.
        let cannot_be_made = recipe.code == DEPLOYED || recipe.is_published();
        if used.contains(&(stage.clone(), key.clone())) || cannot_be_made {
            continue;
        }
        output::line(&format!("{} {stage} {key}", if dry_run { "would remove" } else { "removed" }));
        removed += 1;
        if !dry_run {
            store.remove(&stage, &key)?;
        }
    }
    if !dry_run {
        store.remove_leftovers()?;
        let is_left_over = |place: &PathBuf| all && has_no_entry(store, place);
        for place in runs::folders(store).iter().filter(|place| runs::is_half_written(place) || is_left_over(place)) {
            runs::remove(place).with_context(|| format!("{}: cannot remove what runs left", place.display()))?;
        }
    }
    let which = if all { "" } else { "unused " };
    output::line(&format!(
        "{removed} {which}entries; releases of deployments and the privacy ledger are never touched"
    ));
    Ok(())
}

/// Whether no entry is left of those that a folder of readable names leads to.
fn has_no_entry(store: &Store, place: &Path) -> bool {
    let record = RunRecord::read(place).unwrap_or_default();
    !record.all().any(|(stage, key)| matches!(store.find(stage, key), Ok(Some(_))))
}
