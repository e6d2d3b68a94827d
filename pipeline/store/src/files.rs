//! Small steps on the file system that either happen wholly or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::error::StoreError;

/// Creates `path` and its parents; `private` folders admit nobody but their owner.
pub(crate) fn create_folder(path: &Path, private: bool) -> Result<(), StoreError> {
    let mode = if private { 0o700 } else { 0o755 };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(path)
        .map_err(|error| StoreError::io("create the folder", path, error))
}

/// Writes a new file and waits until it is on the disk.
pub(crate) fn write_synced(path: &Path, bytes: &[u8], private: bool) -> Result<(), StoreError> {
    let wrong = |error| StoreError::io("write", path, error);
    let mode = if private { 0o600 } else { 0o644 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map_err(wrong)?;
    file.write_all(bytes).map_err(wrong)?;
    file.sync_all().map_err(wrong)
}

/// Moves a folder into place and waits until both folders know it.
pub(crate) fn publish_folder(from: &Path, to: &Path) -> Result<(), StoreError> {
    let parent = to.parent().unwrap_or(Path::new("."));
    sync_folder(from)?;
    fs::rename(from, to).map_err(|error| StoreError::io("publish", to, error))?;
    sync_folder(parent)
}

/// Waits until the names in a folder are on the disk.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| StoreError::io("sync the folder", path, error))
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, StoreError> {
    fs::read(path).map_err(|error| StoreError::io("read", path, error))
}

/// Removes a folder with all it holds, if it is there.
pub(crate) fn remove_folder(path: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("remove", path, error)),
        _ => Ok(()),
    }
}
