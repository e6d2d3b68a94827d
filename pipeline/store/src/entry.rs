//! Entries: found by key, compared with their digests.

mod read;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use veilgraph_contract::Zone;

use crate::draft::Draft;
use crate::error::StoreError;
use crate::files;
use crate::lock::KeyLock;
use crate::manifest::{Manifest, OutputRecord, Recipe};
use crate::places::{Part, StoreKind, is_key};

pub(crate) const MANIFEST: &str = "manifest.json";
/// Private data live below these, apart from what the server may see.
pub(crate) const APART: [Zone; 2] = [Zone::Owner, Zone::Auditor];

/// A folder of entries.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) root: PathBuf,
    pub(crate) kind: StoreKind,
}

/// What stands where an entry should stand.
#[derive(Debug)]
pub enum Found {
    /// Nothing, or not all of it.
    Absent,
    /// An entry, every file as its manifest says.
    Whole(Box<Entry>),
    /// An entry that is not what it was: it must be made anew.
    Damaged(StoreError),
}

/// The entries of some stages.
#[derive(Debug)]
pub struct Readable {
    /// Those whose manifest can be read.
    pub entries: Vec<Entry>,
    /// Why others cannot be read.
    pub damage: Vec<StoreError>,
}

/// A published entry.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(crate) store: Store,
    /// Folder of the part that holds the manifest.
    pub(crate) home: PathBuf,
    /// What it holds.
    pub manifest: Manifest,
}

impl Store {
    /// The store below `root`, which need not exist yet.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), kind: StoreKind::Whole }
    }

    /// Its folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The entry `key` of `stage`, if it is complete. Owner files may be elsewhere.
    ///
    /// # Errors
    /// When its manifest is unreadable.
    pub fn find(&self, stage: &str, key: &str) -> Result<Option<Entry>, StoreError> {
        let mut homes = self.homes().into_iter();
        let Some(home) = homes.find(|home| has_manifest(&home.join(stage).join(key))) else {
            return Ok(None);
        };
        let path = home.join(stage).join(key).join(MANIFEST);
        let wrong = |problem: String| StoreError::Manifest { path: path.clone(), problem };
        if files::is_no_plain_file(&path) {
            return Err(wrong("it is no plain file".to_owned()));
        }
        let bytes = files::read(&path)?;
        let manifest = Manifest::parse(&bytes, stage, key).map_err(wrong)?;
        Ok(Some(Entry { store: self.clone(), home, manifest }))
    }

    /// The entry `key` of `stage`, with every file compared with its digest.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn sound(&self, stage: &str, key: &str) -> Result<Found, StoreError> {
        let is_damage = |error: &StoreError| matches!(error, StoreError::Corrupt { .. } | StoreError::Manifest { .. });
        let entry = match self.find(stage, key) {
            Ok(Some(entry)) => entry,
            Ok(None) => return Ok(Found::Absent),
            Err(error) if is_damage(&error) => return Ok(Found::Damaged(error)),
            Err(error) => return Err(error),
        };
        for output in entry.manifest.outputs.values() {
            match entry.check(output) {
                Ok(_) => {}
                Err(StoreError::Missing { .. }) => return Ok(Found::Absent),
                Err(error) if is_damage(&error) => return Ok(Found::Damaged(error)),
                Err(error) => return Err(error),
            }
        }
        Ok(Found::Whole(Box::new(entry)))
    }

    /// All entries of these stages, by stage and key.
    ///
    /// # Errors
    /// When a folder or manifest is unreadable.
    pub fn entries(&self, stages: &[&str]) -> Result<Vec<Entry>, StoreError> {
        let Readable { entries, damage } = self.readable(stages)?;
        damage.into_iter().next().map_or(Ok(entries), Err)
    }

    /// The entries of these stages whose manifest can be read, by stage and key, and why others cannot.
    ///
    /// # Errors
    /// When a folder is unreadable.
    pub fn readable(&self, stages: &[&str]) -> Result<Readable, StoreError> {
        let mut readable = Readable { entries: Vec::new(), damage: Vec::new() };
        for (stage, key) in self.keys(stages)? {
            match self.find(&stage, &key) {
                Ok(entry) => readable.entries.extend(entry),
                Err(error) => readable.damage.push(error),
            }
        }
        Ok(readable)
    }

    /// Stage and key of everything that stands where entries of these stages stand, whole or damaged.
    ///
    /// # Errors
    /// When a folder is unreadable.
    pub fn keys(&self, stages: &[&str]) -> Result<Vec<(String, String)>, StoreError> {
        let mut keys = BTreeSet::new();
        for home in self.homes() {
            for stage in stages {
                let all = home.join(stage);
                let is_entry = |key: &String| {
                    let folder = all.join(key);
                    is_key(&folder) && folder.is_dir() && !folder.is_symlink()
                };
                keys.extend(names(&all)?.into_iter().filter(is_entry).map(|key| ((*stage).to_owned(), key)));
            }
        }
        // What no part holds a manifest of is private files whose manifest is elsewhere.
        let is_named =
            |(stage, key): &(String, String)| self.homes().iter().any(|home| has_manifest(&home.join(stage).join(key)));
        let is_private_alone = |(stage, key): &(String, String)| {
            [Part::Owner, Part::Auditor].iter().any(|part| self.place(*part, stage, key).is_dir())
        };
        Ok(keys.into_iter().filter(|entry| is_named(entry) || !is_private_alone(entry)).collect())
    }

    /// Begins an entry; what an earlier, killed process left of it is removed.
    ///
    /// # Errors
    /// When the store is not writable.
    pub fn draft(&self, recipe: Recipe, lock: KeyLock) -> Result<Draft, StoreError> {
        let folder = self.root.join("tmp").join(format!("{}-{}", recipe.stage, recipe.key()));
        Draft::begin(self.clone(), recipe, folder, lock)
    }

    /// Removes an entry, its manifest first. What somebody else put into its folders stays there.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn remove(&self, stage: &str, key: &str) -> Result<(), StoreError> {
        let manifest = self.find(stage, key).ok().flatten().map(|entry| entry.manifest);
        let names: Option<BTreeSet<PathBuf>> =
            manifest.map(|manifest| manifest.outputs.into_values().map(|output| output.file.into()).collect());
        // Nobody can read what a damaged manifest names: then its files are known by their endings.
        let is_ours = |inside: &Path| match &names {
            Some(names) => names.contains(inside) || inside == Path::new(MANIFEST),
            None => is_name_of_entry(inside),
        };
        let folders: Vec<PathBuf> = self.homes().iter().map(|home| home.join(stage).join(key)).collect();
        // What is left without a manifest is no entry.
        let is_manifest = |inside: &Path| inside == Path::new(MANIFEST);
        folders.iter().try_for_each(|folder| files::remove_ours_if_there(folder, &is_manifest))?;
        folders.iter().try_for_each(|folder| files::remove_ours_if_there(folder, &is_ours))
    }
}

impl Entry {
    /// When it was published.
    #[must_use]
    pub fn written(&self) -> Option<SystemTime> {
        self.folder().join(MANIFEST).metadata().and_then(|metadata| metadata.modified()).ok()
    }

    /// The time since it was published.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.written().and_then(|written| SystemTime::now().duration_since(written).ok()).unwrap_or_default()
    }

    /// The bytes of all its files that are here. A manifest does not say how large private files are.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.manifest.outputs.values().filter_map(|output| Some(self.path(output).metadata().ok()?.len())).sum()
    }

    /// Folder with the manifest.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.home.join(&self.manifest.recipe.stage).join(&self.manifest.key)
    }

    /// Path of an artifact's file.
    #[must_use]
    pub fn path(&self, output: &OutputRecord) -> PathBuf {
        let part = match output.zone.as_str() {
            "owner" => self.store.part(Part::Owner),
            "auditor" => self.store.part(Part::Auditor),
            _ => self.home.clone(),
        };
        part.join(&self.manifest.recipe.stage).join(&self.manifest.key).join(&output.file)
    }

    /// Whether every file is there (its content is checked when it is read).
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.manifest.outputs.values().all(|output| self.path(output).is_file())
    }

    /// Whether every file that a server may see is there and is what the manifest says.
    #[must_use]
    pub fn is_sound_for_server(&self) -> bool {
        self.manifest.outputs.values().filter(|output| output.is_public()).all(|output| self.check(output).is_ok())
    }

    /// Opens a file, if it is what the manifest says.
    ///
    /// # Errors
    /// When the file is missing or differs.
    pub fn check(&self, output: &OutputRecord) -> Result<File, StoreError> {
        let path = self.path(output);
        let mut file = match files::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(StoreError::Missing { path }),
            // A link leads elsewhere, and a pipe never ends.
            Err(_) if files::is_no_plain_file(&path) => {
                return Err(StoreError::Corrupt { path, problem: "it is no plain file".to_owned() });
            }
            opened => opened.map_err(|error| StoreError::io("read", &path, error))?,
        };
        let digest = files::digest(&file, &path, self.store.hasher(&output.zone)?)?;
        if digest != output.digest {
            let recorded = output.digest.get(..12).unwrap_or("none");
            let problem = format!("digest {}, manifest {recorded}", &digest[..12]);
            return Err(StoreError::Corrupt { path, problem });
        }
        file.rewind().map_err(|error| StoreError::io("read", &path, error))?;
        Ok(file)
    }
}

/// Whether something stands where an entry has its manifest. A link or a pipe there is damage, and no file that is absent.
fn has_manifest(entry: &Path) -> bool {
    entry.join(MANIFEST).symlink_metadata().is_ok()
}

/// Whether a path inside the folder of an entry is that of a manifest, a table, or a file beside a table.
pub(crate) fn is_name_of_entry(inside: &Path) -> bool {
    let is_alone = inside.parent() == Some(Path::new(""));
    let ending = inside.extension().and_then(|ending| ending.to_str());
    is_alone
        && (inside == Path::new(MANIFEST) || ending.is_some_and(|ending| ["parquet", "safetensors"].contains(&ending)))
}

/// Names in a folder, sorted; none if it does not exist.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>, StoreError> {
    let wrong = |error| StoreError::io("list", folder, error);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for item in fs::read_dir(folder).map_err(wrong)? {
        names.push(item.map_err(wrong)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests;
