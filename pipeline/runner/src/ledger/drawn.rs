//! Whether noise was drawn: a charge alone does not tell, for its process may have been killed before.

use std::path::PathBuf;

use veilgraph_store::{Entry, Part, Readable, Store, StoreError, create_private_folder, write_private_file};

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
/// When neither is known and what the server has is damaged, so that it may be the release.
pub(crate) fn was_drawn(store: &Store, stage: &str, entry: &str) -> anyhow::Result<bool> {
    let (is_known, damage) = evidence(store, stage, entry)?;
    if is_known { Ok(true) } else { damage.map_or(Ok(false), |damage| Err(damage.into())) }
}

/// Whether noise is known to be drawn for an entry that the ledger does not have. What is damaged in the server's part tells
/// nothing, and stands in nobody's way: only a run that ends mends it.
pub(crate) fn is_known_to_be_drawn(store: &Store, stage: &str, entry: &str) -> anyhow::Result<bool> {
    Ok(evidence(store, stage, entry)?.0)
}

/// Whether a mark or the server's part says that noise was drawn for an entry, and what is damaged in that part.
fn evidence(store: &Store, stage: &str, entry: &str) -> anyhow::Result<(bool, Option<StoreError>)> {
    if is_marked(store, entry) {
        return Ok((true, None));
    }
    let is_of_entry =
        |found: &Entry| found.manifest.release.as_ref().is_some_and(|release| release.charged_as == entry);
    let Readable { entries, damage } = store.server().readable(&[stage])?;
    Ok((entries.iter().any(is_of_entry), damage.into_iter().next()))
}
