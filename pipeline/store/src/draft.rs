//! An entry while it is made, and its publication.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use veilgraph_contract::{Artifact, Column, Facts, Saver, Zone};

use crate::content::ContentHasher;
use crate::entry::{APART, Entry, MANIFEST, Store};
use crate::error::StoreError;
use crate::files::{self, NewFile};
use crate::lock::KeyLock;
use crate::manifest::{Manifest, OutputRecord, Recipe, ReleaseRecord};
use crate::memory::MemoryLimit;
use crate::places::Part;
use crate::table::{self, ArtifactType};

/// An entry being made: private to this process until published.
pub struct Draft {
    store: Store,
    recipe: Recipe,
    key: String,
    folder: PathBuf,
    outputs: BTreeMap<String, OutputRecord>,
    release: Option<ReleaseRecord>,
    _lock: KeyLock,
}

/// An entry of which only the place is left to find: if its process is killed now, [`Store::recover`] publishes it.
pub struct CompleteDraft {
    draft: Draft,
    manifest: Manifest,
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
        Ok(Self { store, recipe, key, folder, outputs: BTreeMap::new(), release: None, _lock: lock })
    }

    /// Says which release of protected data the entry holds.
    pub fn set_release(&mut self, release: Option<ReleaseRecord>) {
        self.release = release;
    }

    /// Writes the manifest, so that nothing but publishing is left to do.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn complete(mut self) -> Result<CompleteDraft, StoreError> {
        let (recipe, key) = (self.recipe.clone(), self.key.clone());
        let (outputs, release) = (std::mem::take(&mut self.outputs), self.release.take());
        let main = Part::of(&recipe);
        let manifest = Manifest { key, recipe, outputs, is_release: false, release, checksum: String::new() };
        let folder = self.folder.join(main.name());
        files::create_folder(&folder, true)?;
        files::write_synced(&folder.join(MANIFEST), &manifest.to_bytes(), main.is_private())?;
        files::sync_folder(&folder)?;
        Ok(CompleteDraft { draft: self, manifest })
    }

    /// Publishes the entry.
    ///
    /// # Errors
    /// Those of [`Self::complete`] and of [`CompleteDraft::publish`].
    pub fn publish(self) -> Result<Entry, StoreError> {
        self.complete()?.publish()
    }

    /// Takes over a file of another entry, which lies at `from`, with its record.
    pub(crate) fn adopt(
        &mut self,
        name: &str,
        output: &OutputRecord,
        mut file: File,
        from: &Path,
    ) -> Result<(), StoreError> {
        let folder = self.folder_of(Part::of_zone(&self.recipe, &output.zone));
        files::create_folder(&folder, true)?;
        let path = folder.join(&output.file);
        let mut copy = NewFile::create(&path, false, self.store.hasher(&output.zone)?)?;
        io::copy(&mut file, &mut copy).map_err(|error| StoreError::io("write", &path, error))?;
        let (digest, _) = copy.finish(&path)?;
        if digest != output.digest {
            return Err(StoreError::Corrupt {
                path: from.to_owned(),
                problem: "it changed while it was copied".to_owned(),
            });
        }
        self.record(name, output);
        Ok(())
    }

    /// Where files of a part stand until they are published.
    pub(crate) fn folder_of(&self, part: Part) -> PathBuf {
        self.folder.join(part.name())
    }

    /// What the entry is made from.
    pub(crate) fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Says which file holds the artifact `name`.
    pub(crate) fn record(&mut self, name: &str, output: &OutputRecord) {
        self.outputs.insert(name.to_owned(), output.clone());
    }

    /// Writes an artifact: its table, and the file beside it.
    fn save(
        &mut self,
        artifact: ArtifactType,
        facts: &Facts,
        blocks: &mut dyn Iterator<Item = Vec<Column>>,
        attachment: Option<Vec<u8>>,
    ) -> Result<(), StoreError> {
        let ArtifactType { name, zone, .. } = artifact;
        let file = artifact.file();
        if artifact.is_report && self.release.is_none() {
            return Err(StoreError::Uncharged { path: self.folder.join(&file), artifact: name });
        }
        // Nothing here may change while the content stays: key, parameters and inputs stand in the manifest.
        let metadata = BTreeMap::from([
            ("artifact".to_owned(), name.to_owned()),
            ("schema_version".to_owned(), "1".to_owned()),
            ("stage".to_owned(), self.recipe.stage.clone()),
            ("zone".to_owned(), zone.name().to_owned()),
        ]);
        let secret = if APART.contains(&zone) { Some(self.store.secret()?) } else { None };
        let mut hasher = secret.map(|secret| ContentHasher::new(artifact, facts, &secret));
        let mut read = blocks.inspect(|block| {
            if let Some(hasher) = &mut hasher {
                hasher.take(block);
            }
        });
        let write =
            |sink: &mut BufWriter<NewFile>| table::write_table(artifact.columns, facts, &mut read, &metadata, sink);
        self.add(zone, name, file, write, StoreError::parquet)?;
        drop(read);
        if let Some(record) = self.outputs.get_mut(name) {
            record.content = hasher.map(ContentHasher::finish);
        }
        if let Some((beside, bytes)) = artifact.attachment.zip(attachment) {
            let write = |sink: &mut BufWriter<NewFile>| sink.write_all(&bytes);
            self.add(zone, beside, beside.to_owned(), write, |path, error| StoreError::io("write", path, error))?;
            if let Some(record) = self.outputs.get_mut(name) {
                record.attachment = Some(beside.to_owned());
            }
        }
        Ok(())
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
        let part = Part::of_zone(&self.recipe, zone.name());
        let folder = self.folder.join(part.name());
        files::create_folder(&folder, true)?;
        let path = folder.join(&file);
        let mut sink = BufWriter::new(NewFile::create(&path, part.is_private(), self.store.hasher(zone.name())?)?);
        write(&mut sink).map_err(|error| wrong(&path, error))?;
        let written = sink.into_inner().map_err(|error| StoreError::io("write", &path, error.into_error()))?;
        let (digest, length) = written.finish(&path)?;
        let is_secret = APART.contains(&zone);
        let bytes = if is_secret { 0 } else { length };
        let record =
            OutputRecord { file, zone: zone.name().to_owned(), digest, bytes, content: None, attachment: None };
        self.outputs.insert(name.to_owned(), record);
        Ok(())
    }
}

impl CompleteDraft {
    /// Publishes the entry: the files of other parts first, then the folder with the manifest.
    ///
    /// # Errors
    /// When the file system refuses; the entry may then be in its place or not.
    pub fn publish(self) -> Result<Entry, StoreError> {
        let Self { draft, manifest } = self;
        let main = Part::of(&manifest.recipe);
        for part in Part::ALL.into_iter().filter(|part| *part != main).chain([main]) {
            let from = draft.folder.join(part.name());
            if from.is_dir() {
                place_folder(&draft.store, &from, part, &manifest.recipe.stage, &manifest.key)?;
            }
        }
        Ok(Entry { store: draft.store.clone(), home: draft.store.part(main), manifest })
    }
}

/// Moves the folder of an entry to its place in a part; what stands there belongs to no complete entry.
pub(crate) fn place_folder(store: &Store, from: &Path, part: Part, stage: &str, key: &str) -> Result<(), StoreError> {
    let whole = store.part(part);
    files::create_lasting_folder(&store.root, true)?;
    files::create_lasting_folder(&whole, part.is_private())?;
    if part.is_private() {
        files::refuse_if_open(&whole)?;
    } else {
        files::open_folder(from)?;
        store.server().write_layout()?;
    }
    let to = store.place(part, stage, key);
    files::create_lasting_folder(to.parent().unwrap_or(&whole), part.is_private())?;
    files::publish_folder(from, &to)
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
        // Nobody here could read it back.
        let artifact = ArtifactType::of::<A>();
        let known = attachment.as_ref().map_or(0, |bytes| bytes.len() as u64);
        self.memory.check::<A>(facts, known, &self.draft.folder.join(artifact.file()))?;
        self.draft.save(artifact, facts, blocks, attachment)
    }
}

/// Compares what would be written with the memory of whoever reads it, and writes nothing.
pub struct Rehearsal {
    /// How much memory a reader may use.
    pub memory: MemoryLimit,
    /// What messages call the place.
    pub place: PathBuf,
}

impl Saver for Rehearsal {
    type Error = StoreError;

    fn save<A: Artifact>(
        &mut self,
        facts: &Facts,
        _: &mut dyn Iterator<Item = Vec<Column>>,
        _: Option<Vec<u8>>,
    ) -> Result<(), StoreError> {
        self.memory.check::<A>(facts, 0, &self.place.join(A::NAME))
    }
}
