//! One writer per key.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::StoreError;
use crate::files;

/// Held while an entry is made; the kernel releases it when the process ends, however it ends.
pub struct KeyLock(#[expect(dead_code, reason = "the open file is the lock")] File);

impl KeyLock {
    /// Waits for the lock `name` in `folder`.
    pub(crate) fn acquire(folder: &Path, name: &str) -> Result<Self, StoreError> {
        // The names of locks are keys, which are made from digests of private data.
        files::create_folder(folder, true)?;
        let path = folder.join(format!("{name}.lock"));
        // Another's file must not be opened through a link, nor emptied.
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).custom_flags(libc::O_NOFOLLOW).open(&path);
        let file = file.map_err(|error| StoreError::io("open the lock", &path, error))?;
        file.lock().map_err(|error| StoreError::io("lock", &path, error))?;
        Ok(Self(file))
    }
}
