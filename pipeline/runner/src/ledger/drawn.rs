//! Whether noise was drawn: a charge alone does not tell, for its process may have been killed before.

use std::collections::BTreeSet;
use std::path::PathBuf;

use veilgraph_store::{Entry, Part, Readable, Store, create_private_folder, write_private_file};

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
    let _ = std::fs::remove_file(folder(store).join(entry));
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
    // What was handed over of an entry that the owner can read is no other release; a run that uses this entry mends the copy.
    let Readable { entries, .. } = store.readable(&[stage])?;
    let known: BTreeSet<String> = entries.iter().map(Entry::key_for_server).collect();
    let unknown = damage.into_iter().find(|(key, _)| !known.contains(key));
    unknown.map_or(Ok(false), |(_, error)| Err(error.into()))
}
