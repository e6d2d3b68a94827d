//! Which layout a store has: entries of a newer one are left alone.

use std::path::PathBuf;
use std::{fs, io};

use crate::entry::Store;
use crate::error::StoreError;
use crate::files;
use crate::lock::KeyLock;
use crate::manifest::LAYOUT_VERSION;

/// Holds the version of the layout of the store.
const LAYOUT: &str = "layout";

impl Store {
    /// The same, after a look at its layout.
    ///
    /// # Errors
    /// When a newer version wrote it: nothing there is touched.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let store = Self::new(root);
        let path = store.root.join(LAYOUT);
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(store),
            Err(error) => Err(StoreError::io("read", &path, error)),
            Ok(text) => match text.trim().parse::<u32>() {
                Ok(version) if version <= LAYOUT_VERSION => Ok(store),
                _ => Err(StoreError::Layout { path, found: text.trim().to_owned() }),
            },
        }
    }

    /// Says which layout the store has from now on: an earlier version must not read what this one writes.
    pub(crate) fn write_layout(&self) -> Result<(), StoreError> {
        let (path, layout) = (self.root.join(LAYOUT), format!("{LAYOUT_VERSION}\n"));
        let is_written = || fs::read_to_string(&path).ok().as_ref() == Some(&layout);
        if !is_written() {
            files::create_folder(&self.root, false)?;
            let _lock = KeyLock::acquire(&self.root.join("locks"), LAYOUT)?;
            if !is_written() {
                files::write_whole(&path, layout.as_bytes(), false)?;
            }
        }
        Ok(())
    }
}
