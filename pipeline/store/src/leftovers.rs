//! What killed processes leave.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::entry::{MANIFEST, Store, is_name_of_entry, names};
use crate::error::StoreError;
use crate::files;
use crate::places::{Part, is_key};

impl Store {
    /// Removes drafts and checkpoints that killed processes left and that were last written at least so long ago. Only
    /// folders that are named like a task are touched, and links and other files in them stay.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn remove_leftovers(&self, least_age: Duration) -> Result<(), StoreError> {
        let checkpoints = Part::ALL.iter().map(|part| self.part(*part).join("checkpoints"));
        let all = checkpoints.chain([self.root.join("tmp"), self.root.join("checkpoints")]);
        for all in all.filter(|folder| !folder.is_symlink()) {
            for name in names(&all)? {
                let is_of_task = name.rsplit_once('-').is_some_and(|(_, key)| is_key(Path::new(key)));
                // A release that was drawn and not yet published is found there by the next run.
                let is_release = all.join(&name).join(Part::Owner.name()).join(MANIFEST).is_file();
                let folder = all.join(&name);
                if is_of_task && !is_release && folder.is_dir() && age(&folder) >= least_age {
                    files::remove_ours_if_there(&folder, &|inside: &Path| is_leftover(&folder, inside))?;
                }
            }
            // A folder that holds something else stays.
            let _ = fs::remove_dir(&all);
        }
        Ok(())
    }
}

/// Whether a draft or the checkpoints of a task have such a file: `<part>/<file>`, or a file by itself.
fn is_leftover(folder: &Path, inside: &Path) -> bool {
    let is_file = folder.join(inside).symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    let is_of_draft = |part: &Part| inside.strip_prefix(part.name()).is_ok_and(is_name_of_entry);
    let is_checkpoint = folder.parent().is_some_and(|all| all.ends_with("checkpoints")) && inside.iter().count() == 1;
    is_file && (is_checkpoint || Part::ALL.iter().any(is_of_draft))
}

/// The time since something was written into a folder.
fn age(folder: &Path) -> Duration {
    let written = folder.metadata().and_then(|metadata| metadata.modified());
    written.ok().and_then(|written| SystemTime::now().duration_since(written).ok()).unwrap_or_default()
}
