//! What a long task must not lose when it is killed.

use std::path::PathBuf;

use crate::entry::Store;
use crate::error::StoreError;
use crate::files;
use crate::manifest::Recipe;
use crate::places::Part;

/// Checkpoints of one task, kept under its key: another code, input or parameter never sees them.
pub struct Checkpoints {
    folder: PathBuf,
}

/// Bytes of the digest that each file begins with.
const DIGEST: usize = blake3::OUT_LEN;

impl Store {
    /// Checkpoints of the task that makes the entry of this recipe.
    #[must_use]
    pub fn checkpoints(&self, recipe: &Recipe) -> Checkpoints {
        let all = self.part(Part::of(recipe)).join("checkpoints");
        Checkpoints { folder: all.join(format!("{}-{}", recipe.stage, recipe.key())) }
    }
}

impl Checkpoints {
    /// What was kept under `name`; a damaged file counts as none.
    #[must_use]
    pub fn load(&self, name: &str) -> Option<Vec<u8>> {
        let bytes = files::read(&self.folder.join(name)).ok()?;
        let (digest, state) = bytes.split_at_checked(DIGEST)?;
        (blake3::hash(state).as_bytes() == digest).then(|| state.to_vec())
    }

    /// Keeps `state` under `name`, in place of what was kept there.
    ///
    /// # Errors
    /// When the file system refuses; the earlier state stays.
    pub fn save(&self, name: &str, state: &[u8]) -> Result<(), StoreError> {
        files::create_folder(&self.folder, false)?;
        files::write_whole(&self.folder.join(name), &[blake3::hash(state).as_bytes(), state].concat(), false)
    }

    /// Removes them: the task is done.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn remove(&self) -> Result<(), StoreError> {
        files::remove_folder(&self.folder)
    }
}
