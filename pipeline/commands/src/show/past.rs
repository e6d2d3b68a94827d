//! What an earlier run made, by the name of the run: `demo@2/estimate/trial-0/link_model`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Error;
use veilgraph_runner::runs;
use veilgraph_store::{Entry, OutputRecord, Store};

/// The file of an artifact, and the entry that holds it.
struct Made {
    file: PathBuf,
    entry: Entry,
}

/// The files of the run with whose name `wanted` begins, by their names; none where it begins with no `NAME@NUMBER`. What nobody
/// uses any more may have been removed (`gc`).
///
/// # Errors
/// When the history does not have the run.
pub(super) fn files(store: &Store, wanted: &Path) -> anyhow::Result<BTreeMap<PathBuf, PathBuf>> {
    let called = wanted.iter().next().and_then(OsStr::to_str).unwrap_or_default();
    let Some((name, number)) = runs::name_and_number(called) else { return Ok(BTreeMap::new()) };
    let run = runs::run_numbered(store, name, number).map_err(Error::msg)?;
    let mut all: BTreeMap<PathBuf, Made> = BTreeMap::new();
    for used in run.record.named() {
        // A damaged entry hides no other one.
        let found = store.find(used.stage, used.key).inspect_err(|error| tracing::warn!("{error}"));
        let Some(entry) = found.ok().flatten() else { continue };
        for output in entry.manifest.outputs.values() {
            let place = Path::new(called).join(used.stage).join(used.label).join(&output.file);
            // Two functions of a stage may write artifacts of one name; the one that was made from the other counts.
            let is_replaced = all.get(&place).is_some_and(|other| is_made_from(&other.entry, &entry, output));
            if !is_replaced && entry.path(output).is_file() {
                all.insert(place, Made { file: entry.path(output), entry: entry.clone() });
            }
        }
    }
    Ok(all.into_iter().map(|(place, made)| (place, made.file)).collect())
}

/// Whether an entry was made from an artifact of another one.
fn is_made_from(entry: &Entry, other: &Entry, artifact: &OutputRecord) -> bool {
    let digest = other.manifest.digest_of(artifact);
    entry.manifest.recipe.inputs.values().flatten().any(|read| *read == digest)
}
