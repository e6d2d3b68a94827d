//! A draft that was complete when its process was killed.

use std::path::Path;

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
        self.root.join("tmp").join(format!("{stage}-{key}")).join(Part::Owner.name()).join(MANIFEST).is_file()
    }

    /// Publishes the entry `key` of `stage` of the owner's part, if a killed process left it complete. Whoever calls this
    /// holds the lock of the entry.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn recover(&self, stage: &str, key: &str) -> Result<Option<Entry>, StoreError> {
        let folder = self.root.join("tmp").join(format!("{stage}-{key}"));
        let from = folder.join(Part::Owner.name());
        if !self.has_draft(stage, key) {
            return Ok(None);
        }
        let bytes = files::read(&from.join(MANIFEST))?;
        let manifest: Option<Manifest> = serde_json::from_slice(&bytes).ok();
        let is_sound = |manifest: &Manifest| manifest.to_bytes() == bytes && manifest.key == key;
        let Some(manifest) = manifest.filter(is_sound) else { return Ok(None) };
        for output in manifest.outputs.values() {
            let path = from.join(Path::new(&output.file).file_name().unwrap_or_default());
            let Ok(file) = std::fs::File::open(&path) else { return Ok(None) };
            if files::digest(&file, &path, self.hasher(&output.zone)?)? != output.digest {
                return Ok(None);
            }
        }
        place_folder(self, &from, Part::Owner, stage, key)?;
        files::remove_folder(&folder)?;
        self.find(stage, key)
    }
}
