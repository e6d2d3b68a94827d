//! A draft that was complete when its process was killed.

use std::path::PathBuf;

use crate::draft::place_folder;
use crate::entry::{Entry, MANIFEST, Store};
use crate::error::StoreError;
use crate::files;
use crate::manifest::Manifest;
use crate::places::Part;

impl Store {
    /// Whether a draft of the entry `key` is there that was complete when its process ended, so that [`Store::recover`] may
    /// publish it.
    #[must_use]
    pub fn has_draft(&self, stage: &str, key: &str) -> bool {
        matches!(self.is_whole_draft(stage, key), Ok(true))
    }

    /// Publishes the entry `key` of `stage` of the owner's part, if a killed process left it complete. Whoever calls this
    /// holds the lock of the entry.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn recover(&self, stage: &str, key: &str) -> Result<Option<Entry>, StoreError> {
        if !self.is_whole_draft(stage, key)? {
            return Ok(None);
        }
        let folder = self.draft_folder(stage, key);
        place_folder(self, &folder.join(Part::Owner.name()), Part::Owner, stage, key)?;
        files::remove_folder(&folder)?;
        self.find(stage, key)
    }

    /// Whether a killed process left the owner's part of the entry `key` complete: a sound manifest, and every file that it names.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn is_whole_draft(&self, stage: &str, key: &str) -> Result<bool, StoreError> {
        let from = self.draft_folder(stage, key).join(Part::Owner.name());
        if !from.join(MANIFEST).is_file() {
            return Ok(false);
        }
        let bytes = files::read(&from.join(MANIFEST))?;
        let Ok(manifest) = Manifest::parse(&bytes, stage, key) else { return Ok(false) };
        for output in manifest.outputs.values() {
            let path = from.join(&output.file);
            let Ok(file) = std::fs::File::open(&path) else { return Ok(false) };
            if files::digest(&file, &path, self.hasher(&output.zone)?)? != output.digest {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn draft_folder(&self, stage: &str, key: &str) -> PathBuf {
        self.root.join("tmp").join(format!("{stage}-{key}"))
    }
}
