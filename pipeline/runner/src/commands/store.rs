//! `ls`, `verify` and `gc`.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use comfy_table::Table;
use comfy_table::presets;
use serde_json::json;
use veilgraph_store::{Store, StoreError};

use crate::engine::DEPLOYED;
use crate::output;
use crate::runs::{self, RunRecord};

/// Prints every entry.
pub(crate) fn list(store: &Store, as_json: bool) -> anyhow::Result<()> {
    let entries = store.entries()?;
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
    let (mut files, mut elsewhere, mut damaged) = (0, 0, Vec::new());
    for (stage, key) in store.keys()? {
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
                        Err(error) => problems.push(error),
                    }
                }
            }
            Ok(None) => {}
            Err(error) => problems.push(error),
        }
        problems.iter().for_each(|problem| output::error_line(&problem.to_string()));
        if !problems.is_empty() {
            damaged.push((stage, key));
        }
    }
    if remove {
        damaged.iter().try_for_each(|(stage, key)| store.remove(stage, key))?;
        output::line(&format!("{files} files are as recorded; removed {} damaged entries", damaged.len()));
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

/// Removes entries that no config's last run uses (or, if `all`, those too), and what killed processes left.
pub(crate) fn collect_garbage(store: &Store, dry_run: bool, all: bool) -> anyhow::Result<()> {
    let mut used = BTreeSet::new();
    for name in runs::names(store).into_iter().filter(|_| !all) {
        let record = RunRecord::load(store, &name)?;
        used.extend(record.all().map(|(stage, key)| (stage.to_owned(), key.to_owned())));
    }
    let mut removed = 0;
    for entry in store.entries()? {
        let (stage, key) = (entry.manifest.recipe.stage.clone(), entry.manifest.key.clone());
        // Nobody can draw a deployed release again.
        if used.contains(&(stage.clone(), key.clone())) || entry.manifest.recipe.code == DEPLOYED {
            continue;
        }
        output::line(&format!("{} {stage} {key}", if dry_run { "would remove" } else { "removed" }));
        removed += 1;
        if !dry_run {
            store.remove(&stage, &key)?;
        }
    }
    let left_behind =
        ["tmp", "checkpoints"].map(|name| store.root().join(name)).into_iter().chain(runs::leftovers(store));
    let left_over = if all { without_entries(store)? } else { Vec::new() };
    for folder in left_behind.chain(left_over).filter(|folder| !dry_run && folder.is_dir()) {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("{}: cannot remove what killed runs left", folder.display()))?;
    }
    let which = if all { "" } else { "unused " };
    output::line(&format!(
        "{removed} {which}entries; releases of deployments and the privacy ledger are never touched"
    ));
    Ok(())
}

/// Folders of readable names of which no entry is left.
fn without_entries(store: &Store) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for name in runs::names(store) {
        let record = RunRecord::load(store, &name)?;
        let has_entry = record.all().any(|(stage, key)| matches!(store.find(stage, key), Ok(Some(_))));
        if !has_entry {
            folders.push(runs::folder(store, &name));
        }
    }
    Ok(folders)
}
