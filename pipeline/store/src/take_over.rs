//! An entry that another machine made, taken over with every file compared with its digest.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::draft::Draft;
use crate::entry::{Entry, Store};
use crate::error::StoreError;
use crate::files;
use crate::manifest::{Manifest, OutputRecord};
use crate::places::Part;

impl Store {
    /// Takes over the entry whose manifest another machine wrote. `fetch` writes each file that a server may see to the
    /// path that it is given; files of owners and auditors are not asked for. `place` is what messages call the manifest.
    ///
    /// # Errors
    /// When the manifest is damaged or that of another entry, when a file is not what the manifest says, or when `fetch`
    /// or the file system refuses: then nothing is taken over.
    pub fn take_over<E: From<StoreError>>(
        &self,
        manifest: &[u8],
        stage: &str,
        key: &str,
        place: &str,
        mut fetch: impl FnMut(&OutputRecord, &Path) -> Result<(), E>,
    ) -> Result<Entry, E> {
        let wrong = |problem: String| StoreError::Manifest { path: PathBuf::from(place), problem };
        let found = Manifest::parse(manifest, stage, key).map_err(wrong)?;
        // Whoever can write to a cache could make the ledger disagree with the store.
        if found.release.is_some() && found.recipe.side == "server" {
            return Err(wrong("it says that it holds a release, and its stage makes none".to_owned()).into());
        }
        let lock = self.lock(&found.recipe, || {})?;
        // What stands there may be damaged, which is why it is asked for.
        if let Ok(Some(entry)) = self.find(stage, key)
            && entry.is_sound_for_server()
        {
            return Ok(entry);
        }
        let mut draft: Draft = self.draft(found.recipe.clone(), lock)?;
        draft.set_release(found.release.clone());
        for (name, output) in &found.outputs {
            let path = draft.promise(name, output)?;
            if output.is_public() {
                fetch(output, &path)?;
                self.compare(output, &path)?;
            }
        }
        Ok(draft.publish()?)
    }

    /// Refuses a file that is not what its record says.
    fn compare(&self, output: &OutputRecord, path: &Path) -> Result<(), StoreError> {
        let file = File::open(path).map_err(|error| StoreError::io("read", path, error))?;
        if files::digest(&file, path, self.hasher(&output.zone)?)? == output.digest {
            return Ok(());
        }
        let problem = "it is not what its manifest says".to_owned();
        Err(StoreError::Corrupt { path: path.to_owned(), problem })
    }
}

impl Draft {
    /// Records a file that somebody else writes to the path that is returned, or that stays where it is.
    fn promise(&mut self, name: &str, output: &OutputRecord) -> Result<PathBuf, StoreError> {
        let folder = self.folder_of(Part::of_zone(self.recipe(), &output.zone));
        if output.is_public() {
            files::create_folder(&folder, true)?;
        }
        self.record(name, output);
        Ok(folder.join(&output.file))
    }
}
