//! Whether noise was drawn: a charge alone does not tell, for its process may have been killed before.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use veilgraph_store::{Part, Readable, Store, create_private_folder, write_private_file};

use super::Program;

/// Remembers that noise was drawn, and by which program, just before it is published: from then on its loss may be the loss of a
/// release that somebody has seen.
pub(crate) fn mark_drawn(store: &Store, entry: &str, program: &Program) -> anyhow::Result<()> {
    let folder = folder(store);
    create_private_folder(&folder)?;
    Ok(write_private_file(&folder.join(entry), &serde_json::to_vec(program)?)?)
}

/// Forgets that noise was drawn: it could not be published, so nobody has seen it.
pub(crate) fn unmark_drawn(store: &Store, entry: &str) {
    // Where the mark stays, the release counts as lost, which costs a question and no privacy.
    let _ = fs::remove_file(folder(store).join(entry));
}

/// Whether there is a mark that noise was drawn for an entry.
pub(super) fn is_marked(store: &Store, entry: &str) -> bool {
    folder(store).join(entry).exists()
}

/// The folder of the marks.
fn folder(store: &Store) -> PathBuf {
    store.part(Part::Owner).join("drawn")
}

/// Whether noise was drawn for an entry of this layout: there is a mark, or the server has the release. A charge alone
/// is no release, for a process may have been killed before it drew.
///
/// # Errors
/// When neither is known, and something in the server's part is damaged that may be the release.
pub(crate) fn was_drawn(store: &Store, stage: &str, entry: &str) -> anyhow::Result<bool> {
    if is_marked(store, entry) {
        return Ok(true);
    }
    let mut damage = Vec::new();
    let server = store.server();
    for (_, key) in server.keys(&[stage])? {
        match server.find(stage, &key) {
            Ok(Some(found)) if found.manifest.release.as_ref().is_some_and(|release| release.charged_as == entry) => {
                return Ok(true);
            }
            Ok(_) => {}
            Err(error) => damage.push((key, error)),
        }
    }
    if damage.is_empty() {
        return Ok(false);
    }
    // A copy of what the owner can read is no other release; a run that uses this release mends the copy.
    let Readable { entries, .. } = store.readable(&[stage])?;
    let outputs = entries.iter().flat_map(|entry| entry.manifest.outputs.values());
    let known: BTreeSet<&str> =
        outputs.filter(|output| output.is_public()).map(|output| output.digest.as_str()).collect();
    let folder = |key: &str| server.root().join(stage).join(key);
    let unknown = damage.into_iter().find(|(key, _)| !is_copy(&folder(key), &known));
    unknown.map_or(Ok(false), |(_, error)| Err(error.into()))
}

/// Whether a folder has files beside its manifest, all of which have one of these digests.
fn is_copy(folder: &Path, known: &BTreeSet<&str>) -> bool {
    let Ok(items) = fs::read_dir(folder) else { return false };
    let mut n_known = 0;
    for item in items {
        let Ok(path) = item.map(|item| item.path()) else { return false };
        if path.ends_with("manifest.json") {
            continue;
        }
        let digest = fs::read(&path).map(|bytes| blake3::hash(&bytes).to_hex().to_string());
        if !digest.is_ok_and(|digest| known.contains(digest.as_str())) {
            return false;
        }
        n_known += 1;
    }
    n_known > 0
}
