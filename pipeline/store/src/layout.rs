//! Which layout a store has: entries of a newer one are left alone.

use std::path::PathBuf;
use std::{fs, io};

use crate::entry::Store;
use crate::error::StoreError;
use crate::files;
use crate::lock::KeyLock;
use crate::manifest::LAYOUT_VERSION;
use crate::places::{Part, StoreKind};

/// Holds the version of the layout of the store, and the word `server` where the store is a server's.
pub(crate) const LAYOUT: &str = "layout";

impl Store {
    /// The store at `root`, after a look at its layout and at who may enter its private parts.
    ///
    /// # Errors
    /// When a newer version wrote it, or when others may enter a private part: nothing there is touched.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let mut store = Self::new(root);
        let path = store.root.join(LAYOUT);
        match files::open(&path).and_then(io::read_to_string) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("read", &path, error)),
            Ok(text) => {
                let mut words = text.split_whitespace();
                let version = words.next().and_then(|version| version.parse::<u32>().ok());
                store.kind = match (version, words.next()) {
                    (Some(version), None) if version <= LAYOUT_VERSION => StoreKind::Whole,
                    (Some(version), Some("server")) if version <= LAYOUT_VERSION => StoreKind::ServerAlone,
                    _ => return Err(StoreError::Layout { path, found: text.trim().to_owned() }),
                };
            }
        }
        store.refuse_open_parts()?;
        store.refuse_links()?;
        Ok(store)
    }

    /// A new server's store at `root`.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn new_server(root: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let store = Self { root: root.into(), kind: StoreKind::ServerAlone };
        store.write_layout()?;
        Ok(store)
    }

    /// Refuses a link where this program keeps a folder: whoever put it there would have files written, replaced or
    /// removed elsewhere.
    fn refuse_links(&self) -> Result<(), StoreError> {
        for home in self.homes() {
            if home != self.root && home.is_symlink() {
                return Err(StoreError::Link { path: home });
            }
            for item in fs::read_dir(&home).into_iter().flatten().flatten() {
                let path = item.path();
                if path.is_symlink() && path.is_dir() {
                    return Err(StoreError::Link { path });
                }
            }
        }
        Ok(())
    }

    /// Whether this program made the store: nothing is removed from another folder.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.root.join(LAYOUT).is_file()
    }

    /// What the store is for.
    #[must_use]
    pub fn kind(&self) -> StoreKind {
        self.kind
    }

    /// Refuses private parts that others may enter.
    fn refuse_open_parts(&self) -> Result<(), StoreError> {
        let private = Part::ALL.into_iter().filter(|part| part.is_private()).map(|part| self.part(part));
        private.filter(|folder| folder.is_dir()).try_for_each(|folder| files::refuse_if_open(&folder))
    }

    /// Says which layout the store has from now on: an earlier version must not read what this one writes.
    pub(crate) fn write_layout(&self) -> Result<(), StoreError> {
        let suffix = if self.kind == StoreKind::Whole { "" } else { " server" };
        let (path, layout) = (self.root.join(LAYOUT), format!("{LAYOUT_VERSION}{suffix}\n"));
        let is_written = || fs::read_to_string(&path).ok().as_ref() == Some(&layout);
        if !is_written() {
            files::create_lasting_folder(&self.root, true)?;
            let _lock = KeyLock::acquire(&self.root.join("locks"), LAYOUT, || {})?;
            if !is_written() {
                files::write_whole(&path, layout.as_bytes(), false)?;
            }
        }
        Ok(())
    }
}
