//! Entries of a cache: put after their files, and compared with their digests when they are taken.

use std::path::Path;

use veilgraph_store::{Entry, OutputRecord, Store, StoreError};

use crate::error::CacheError;
use crate::objects::Cache;

impl Cache {
    /// Puts what a server may see of an entry: its files first, each under its digest, then its manifest.
    ///
    /// # Errors
    /// When a file is not what the manifest says, or the cache refuses; then the entry is not seen.
    pub fn put_entry(&self, entry: &Entry) -> Result<(), CacheError> {
        let name = name(&entry.manifest.recipe.stage, &entry.manifest.key);
        if self.is_read_only() {
            return Ok(());
        }
        // Files of an entry that is there may have been removed by a rule of the storage. Those of one that is not there may be
        // what is left of a damaged one.
        let is_there = self.has(&name)?;
        for output in entry.manifest.outputs.values().filter(|output| output.is_public()) {
            if is_there && self.has(&file_name(output))? {
                continue;
            }
            let file = entry.check(output)?;
            self.put_file(&file_name(output), file, &entry.path(output))?;
        }
        self.create(&name, entry.manifest.to_bytes())
    }

    /// Whether the cache has the entry `key` of `stage`.
    ///
    /// # Errors
    /// When the cache refuses.
    pub fn has_entry(&self, stage: &str, key: &str) -> Result<bool, CacheError> {
        self.has(&name(stage, key))
    }

    /// Takes an entry over into `store`, with every file compared with its digest; none if the cache has no such entry. One that
    /// is damaged is forgotten, if this machine may write to the cache, so that whoever makes it again puts it anew.
    ///
    /// # Errors
    /// When the cache refuses, or holds something else under that name.
    pub fn take_entry(&self, store: &Store, stage: &str, key: &str) -> Result<Option<Entry>, CacheError> {
        let name = name(stage, key);
        let Some((manifest, meta)) = self.get_with_meta(&name)? else { return Ok(None) };
        let place = self.place(&name);
        let damaged = |problem: String| CacheError::Damaged { place: place.clone(), problem, is_forgotten: false };
        let fetch = |output: &OutputRecord, to: &Path| {
            let file = file_name(output);
            if self.get_file(&file, output.bytes, to)? {
                Ok(())
            } else {
                Err(damaged(format!("its file {} is gone", self.place(&file))))
            }
        };
        let problem = match store.take_over(&manifest, stage, key, &place, fetch) {
            // The store speaks of a draft that is gone by now.
            Err(
                CacheError::Store(StoreError::Corrupt { problem, .. } | StoreError::Manifest { problem, .. })
                | CacheError::Damaged { problem, .. },
            ) => problem,
            taken => return taken.map(Some),
        };
        let is_forgotten = !self.is_read_only() && self.remove_if_unchanged(&name, &meta).is_ok();
        Err(CacheError::Damaged { place, problem, is_forgotten })
    }
}

fn name(stage: &str, key: &str) -> String {
    format!("entries/{stage}/{key}.json")
}

fn file_name(output: &OutputRecord) -> String {
    format!("files/{}", output.digest)
}

#[cfg(test)]
mod tests;
