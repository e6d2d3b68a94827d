//! Whether noise was drawn: a charge alone does not tell, for its process may have been killed before.

use veilgraph_store::{Entry, Part, Store, create_private_folder, write_private_file};

use super::{Program, RELEASING_STAGES};

/// Remembers that noise was drawn, and by which program, just before it is published: from then on its loss may be the loss of a
/// release that somebody has seen.
pub(crate) fn mark_drawn(store: &Store, entry: &str, program: &Program) -> anyhow::Result<()> {
    let folder = store.part(Part::Owner).join("drawn");
    create_private_folder(&folder)?;
    Ok(write_private_file(&folder.join(entry), &serde_json::to_vec(program)?)?)
}

/// Forgets that noise was drawn: it could not be published, so nobody has seen it.
pub(crate) fn unmark_drawn(store: &Store, entry: &str) {
    // Where the mark stays, the release counts as lost, which costs a question and no privacy.
    let _ = std::fs::remove_file(store.part(Part::Owner).join("drawn").join(entry));
}

/// Whether there is a mark that noise was drawn for an entry.
pub(super) fn is_marked(store: &Store, entry: &str) -> bool {
    store.part(Part::Owner).join("drawn").join(entry).exists()
}

/// Whether noise was drawn for an entry of this layout: there is a mark, or the server has the release. A charge alone
/// is no release, for a process may have been killed before it drew.
pub(crate) fn was_drawn(store: &Store, entry: &str) -> anyhow::Result<bool> {
    if is_marked(store, entry) {
        return Ok(true);
    }
    let is_of_entry =
        |found: &Entry| found.manifest.release.as_ref().is_some_and(|release| release.charged_as == entry);
    Ok(store.server().entries(&RELEASING_STAGES)?.iter().any(is_of_entry))
}
