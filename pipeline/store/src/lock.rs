//! One writer per key, and no removal while a run goes on.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::entry::Store;
use crate::error::StoreError;
use crate::files;
use crate::manifest::Recipe;

/// Held while an entry is made, or while a run goes on; the kernel releases it when the process ends, however it ends.
pub struct KeyLock(#[expect(dead_code, reason = "the open file is the lock")] File);

impl KeyLock {
    /// Waits for the lock `name` in `folder`, after a call of `tell` if another process holds it.
    pub(crate) fn acquire(folder: &Path, name: &str, tell: impl FnOnce()) -> Result<Self, StoreError> {
        let (file, path) = Self::open(folder, name)?;
        let wrong = |error| StoreError::io("lock", &path, error);
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                tell();
                file.lock().map_err(wrong)?;
            }
            Err(TryLockError::Error(error)) => return Err(wrong(error)),
        }
        Ok(Self(file))
    }

    /// Waits for the lock `name` in `folder`, which any number of processes may share.
    pub(crate) fn share(folder: &Path, name: &str) -> Result<Self, StoreError> {
        let (file, path) = Self::open(folder, name)?;
        file.lock_shared().map_err(|error| StoreError::io("lock", &path, error))?;
        Ok(Self(file))
    }

    /// The lock `name` in `folder`, or nothing if another process holds it.
    pub(crate) fn try_acquire(folder: &Path, name: &str) -> Result<Option<Self>, StoreError> {
        let (file, path) = Self::open(folder, name)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(StoreError::io("lock", &path, error)),
        }
    }

    fn open(folder: &Path, name: &str) -> Result<(File, PathBuf), StoreError> {
        // The names of locks are keys, which are made from digests of private data.
        files::create_folder(folder, true)?;
        let path = folder.join(format!("{name}.lock"));
        // Another's file must not be opened through a link, nor emptied.
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).custom_flags(libc::O_NOFOLLOW).open(&path);
        let file = file.map_err(|error| StoreError::io("open the lock", &path, error))?;
        Ok((file, path))
    }
}

/// The lock that every run shares.
const RUNS: &str = "runs";

impl Store {
    /// Waits for the right to make the entry of this recipe, after a call of `tell` if another process makes it.
    ///
    /// # Errors
    /// When the store is not writable.
    pub fn lock(&self, recipe: &Recipe, tell: impl FnOnce()) -> Result<KeyLock, StoreError> {
        self.write_layout()?;
        KeyLock::acquire(&self.root.join("locks"), &format!("{}-{}", recipe.stage, recipe.key()), tell)
    }

    /// Waits for the lock `name` of this store, which is that of no single entry, after a call of `tell` if another process holds it.
    ///
    /// # Errors
    /// When the store is not writable.
    pub fn lock_name(&self, name: &str, tell: impl FnOnce()) -> Result<KeyLock, StoreError> {
        self.write_layout()?;
        KeyLock::acquire(&self.root.join("locks"), name, tell)
    }

    /// Says, as long as the lock is held, that a run uses this store.
    ///
    /// # Errors
    /// When the store is not writable.
    pub fn lock_for_run(&self) -> Result<KeyLock, StoreError> {
        self.write_layout()?;
        KeyLock::share(&self.root.join("locks"), RUNS)
    }

    /// Keeps all runs out of this store as long as the lock is held; nothing if a run uses it.
    ///
    /// # Errors
    /// When the store is not writable.
    pub fn lock_for_removal(&self) -> Result<Option<KeyLock>, StoreError> {
        KeyLock::try_acquire(&self.root.join("locks"), RUNS)
    }
}
