//! `export`: what a deployment released, for the server.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use veilgraph_store::{Store, metadata_of};

use crate::config::Config;
use crate::ledger::Ledger;
use crate::output;
use crate::runs::RunRecord;

/// Copies the reports of the last run, if nobody can draw their noise again, with their rows of the ledger.
pub(crate) fn export(store: &Store, config: &Path, to: &Path) -> anyhow::Result<()> {
    let config = Config::load(config, &[])?;
    let record = RunRecord::load(store, &config.name)?;
    let keys: BTreeSet<&str> = record.all().filter(|(stage, _)| *stage == "privatize").map(|(_, key)| key).collect();
    ensure!(!keys.is_empty(), "{} has released nothing yet; run it until privatize first", config.name);
    ensure!(!to.exists(), "{}: exists already; name a folder that does not", to.display());
    let mut files = Vec::new();
    for key in &keys {
        let entry = store.find("privatize", key)?.with_context(|| format!("the release {key} is gone; run again"))?;
        for output in entry.manifest.outputs.values() {
            entry.check(output)?;
            let path = entry.path(output);
            let deployable = metadata_of(&path)?.get("deployable").is_some_and(|value| value == "true");
            ensure!(
                deployable,
                "{}: its noise is drawn from a seed, so whoever knows the seed can remove it; set [privacy] randomness = \"os\" \
                 for a release that may leave the laboratory",
                path.display()
            );
            files.push((path, to.join(key).join(&output.file)));
        }
    }
    let rows = Ledger::open(store)?.rows();
    let rows: Vec<_> = rows.iter().filter(|row| keys.contains(row.entry.as_str())).map(|row| &row.release).collect();
    let wrong = || format!("{}: cannot write the release", to.display());
    for (from, to) in &files {
        fs::create_dir_all(to.parent().unwrap_or(to)).with_context(wrong)?;
        fs::copy(from, to).with_context(wrong)?;
    }
    fs::write(to.join("cost.json"), serde_json::to_vec_pretty(&rows)?).with_context(wrong)?;
    output::line(&format!("{}: {} files of {} releases, and cost.json", to.display(), files.len(), keys.len()));
    Ok(())
}
