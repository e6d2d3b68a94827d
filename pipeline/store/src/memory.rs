//! How much memory an artifact may take.

use std::path::Path;

use veilgraph_contract::{Artifact, Facts};

use crate::error::StoreError;

/// Most bytes that one artifact may take in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit(pub u64);

impl MemoryLimit {
    /// Refuses an artifact that would take more, as far as its facts and the bytes of its stored values tell.
    pub(crate) fn check<A: Artifact>(self, facts: &Facts, stored: u64, path: &Path) -> Result<(), StoreError> {
        let needed = A::footprint(facts, stored)
            .map_err(|invalid| StoreError::Corrupt { path: path.to_owned(), problem: invalid.0 })?;
        if needed > self.0 {
            return Err(StoreError::TooLarge { path: path.to_owned(), artifact: A::NAME, needed, limit: self.0 });
        }
        Ok(())
    }
}
