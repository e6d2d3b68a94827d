//! An entry while it is made, and its publication.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use veilgraph_contract::{Artifact, Column, Facts, Saver, Zone};

use crate::entry::{APART, Entry, MANIFEST, Store};
use crate::error::StoreError;
use crate::files::{self, NewFile};
use crate::lock::KeyLock;
use crate::manifest::{Manifest, OutputRecord, Recipe};
use crate::memory::MemoryLimit;
use crate::table;

/// An entry being made: private to this process until published.
pub struct Draft {
    store: Store,
    recipe: Recipe,
    key: String,
    folder: PathBuf,
    outputs: BTreeMap<String, OutputRecord>,
    is_release: bool,
    _lock: KeyLock,
}

/// Writes artifacts into a draft.
pub struct StoreSaver<'a> {
    /// The entry that they become part of.
    pub draft: &'a mut Draft,
    /// How much memory a reader may use.
    pub memory: MemoryLimit,
}

impl Draft {
    /// Begins the entry of `recipe` in `folder`; what an earlier, killed process left there is removed.
    pub(crate) fn begin(store: Store, recipe: Recipe, folder: PathBuf, lock: KeyLock) -> Result<Self, StoreError> {
        files::remove_folder(&folder)?;
        files::create_folder(&folder, true)?;
        let key = recipe.key();
        Ok(Self { store, recipe, key, folder, outputs: BTreeMap::new(), is_release: false, _lock: lock })
    }

    /// Says whether the entry holds a release of protected data.
    pub fn is_release(&mut self, is_release: bool) {
        self.is_release = is_release;
    }

    /// Publishes the entry: private files first, the manifest with the rest last.
    ///
    /// # Errors
    /// When the file system refuses; then nothing is published.
    pub fn publish(mut self) -> Result<Entry, StoreError> {
        let (stage, key) = (self.recipe.stage.clone(), self.key.clone());
        let outputs = std::mem::take(&mut self.outputs);
        let (recipe, is_release) = (self.recipe.clone(), self.is_release);
        let manifest = Manifest { key: key.clone(), recipe, outputs, is_release, checksum: String::new() };
        let main = self.folder.join("main");
        files::create_folder(&main, false)?;
        files::write_synced(&main.join(MANIFEST), &manifest.to_bytes(), false)?;
        for zone in APART {
            let from = self.folder.join(zone.name());
            if from.is_dir() {
                Self::place(&from, &self.store.folder(zone.name(), &stage, &key), true)?;
            }
        }
        Self::place(&main, &self.store.folder("server", &stage, &key), false)?;
        Ok(Entry { store: self.store.clone(), manifest })
    }

    /// Moves a folder to its place; what stands there belongs to no complete entry.
    fn place(from: &Path, to: &Path, private: bool) -> Result<(), StoreError> {
        let parent = to.parent().unwrap_or(Path::new("."));
        if private && let Some(zone) = parent.parent() {
            files::create_folder(zone, true)?;
        }
        files::create_folder(parent, private)?;
        files::remove_folder(to)?;
        files::publish_folder(from, to)
    }

    /// Adds the file that `write` fills.
    fn add<E>(
        &mut self,
        zone: Zone,
        name: &str,
        file: String,
        write: impl FnOnce(&mut BufWriter<NewFile>) -> Result<(), E>,
        wrong: impl Fn(&Path, E) -> StoreError,
    ) -> Result<(), StoreError> {
        let apart = APART.contains(&zone);
        let folder = self.folder.join(if apart { zone.name() } else { "main" });
        files::create_folder(&folder, apart)?;
        let path = folder.join(&file);
        let mut sink = BufWriter::new(NewFile::create(&path, apart, self.store.hasher(zone.name())?)?);
        write(&mut sink).map_err(|error| wrong(&path, error))?;
        let written = sink.into_inner().map_err(|error| StoreError::io("write", &path, error.into_error()))?;
        let (digest, length) = written.finish(&path)?;
        let bytes = if apart { 0 } else { length };
        self.outputs.insert(name.to_owned(), OutputRecord { file, zone: zone.name().to_owned(), digest, bytes });
        Ok(())
    }
}

impl Drop for Draft {
    /// Leaves nothing half-written behind; after publishing, the folder holds nothing of worth.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Saver for StoreSaver<'_> {
    type Error = StoreError;

    fn save<A: Artifact>(
        &mut self,
        facts: &Facts,
        blocks: &mut dyn Iterator<Item = Vec<Column>>,
        attachment: Option<Vec<u8>>,
    ) -> Result<(), StoreError> {
        let draft = &mut *self.draft;
        let file = format!("{}.parquet", A::NAME);
        // Nobody here could read it back.
        self.memory.check::<A>(facts, &draft.folder.join(&file))?;
        // Nothing here may change while the content stays: key, parameters and inputs stand in the manifest.
        let metadata = BTreeMap::from([
            ("artifact".to_owned(), A::NAME.to_owned()),
            ("schema_version".to_owned(), "1".to_owned()),
            ("stage".to_owned(), draft.recipe.stage.clone()),
            ("zone".to_owned(), A::ZONE.name().to_owned()),
        ]);
        let write = |sink: &mut BufWriter<NewFile>| table::write_table::<A>(facts, blocks, &metadata, sink);
        draft.add(A::ZONE, A::NAME, file, write, StoreError::parquet)?;
        if let Some((name, bytes)) = A::ATTACHMENT.zip(attachment) {
            let write = |sink: &mut BufWriter<NewFile>| sink.write_all(&bytes);
            draft.add(A::ZONE, name, name.to_owned(), write, |path, error| StoreError::io("write", path, error))?;
        }
        Ok(())
    }
}
