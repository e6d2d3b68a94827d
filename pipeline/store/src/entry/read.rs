//! Artifacts of an entry, read whole or row by row.

use std::io::Read;
use std::path::{Path, PathBuf};

use veilgraph_contract::{Artifact, Blocks, Invalid, Stored};

use super::Entry;
use crate::error::StoreError;
use crate::manifest::OutputRecord;
use crate::memory::MemoryLimit;
use crate::shared::read_once;
use crate::table::{ArtifactType, Table};

impl Entry {
    /// Reads an artifact after checking its digest. Tasks that read a large one at the same time share its value
    /// ([`Artifact::IS_SHARED`]).
    ///
    /// # Errors
    /// When it is missing, not what the manifest says, or would take too much memory.
    pub fn read<A: Artifact>(&self, name: &str, memory: MemoryLimit) -> Result<A, StoreError> {
        let (table, path, digest) = self.table(ArtifactType::of::<A>(), name)?;
        let beside = A::ATTACHMENT.and_then(|name| self.manifest.outputs.get(name)).map_or(0, |output| output.bytes);
        memory.check::<A>(table.facts(), table.stored_bytes().saturating_add(beside), &path)?;
        let attachment = self.attachment_of(ArtifactType::of::<A>(), &path)?;
        let read = || table.read(attachment.as_deref()).map_err(|invalid| corrupt(&path, invalid));
        read_once(digest, read)
    }

    /// Opens an artifact after checking its digest; its rows are read when they are asked for. Artifacts with an attachment
    /// are read whole instead.
    ///
    /// # Errors
    /// When it is missing or not what the manifest says.
    pub fn open<A: Artifact>(&self, name: &str, memory: MemoryLimit) -> Result<Stored<A>, StoreError> {
        const { assert!(A::ATTACHMENT.is_none(), "an attachment would be lost") };
        let (table, path, digest) = self.table(ArtifactType::of::<A>(), name)?;
        let digest = digest.to_owned();
        let (facts, whole, place) = (table.facts().clone(), table.clone(), path.clone());
        let load = move || {
            memory
                .check::<A>(whole.facts(), whole.stored_bytes(), &place)
                .map_err(|error| Invalid(error.to_string()))?;
            read_once(&digest, || whole.read(None).map_err(|invalid| named(&place, invalid)))
        };
        let rows = move |rows| -> Blocks {
            let path = path.clone();
            Box::new(table.rows(rows).map(move |block| block.map_err(|invalid| named(&path, invalid))))
        };
        Ok(Stored::new(facts, load, rows))
    }

    /// The open table of an artifact, its path, and the digest that was compared.
    fn table(&self, artifact: ArtifactType, name: &str) -> Result<(Table, PathBuf, &str), StoreError> {
        let missing = || StoreError::Missing { path: self.folder().join(name) };
        let output = self.manifest.outputs.get(name).ok_or_else(missing)?;
        let path = self.path(output);
        let zone = artifact.zone.name();
        let is_asked_for = name == artifact.name && output.zone == zone && output.file == artifact.file();
        if !is_asked_for {
            let problem = format!(
                "its manifest calls it `{}` of the zone {}, and `{}` of the zone {zone} was asked for",
                output.file, output.zone, artifact.name,
            );
            return Err(corrupt(&path, Invalid(problem)));
        }
        let table = Table::open(artifact, self.check(output)?).map_err(|invalid| corrupt(&path, invalid))?;
        table.check_name().map_err(|invalid| corrupt(&path, invalid))?;
        Ok((table, path, &output.digest))
    }

    /// The file beside the table of an artifact, if it has one.
    fn attachment_of(&self, artifact: ArtifactType, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(name) = artifact.attachment else { return Ok(None) };
        let Some(output) = self.manifest.outputs.get(name) else { return Ok(None) };
        if output.zone != artifact.zone.name() || output.file != *name {
            let problem = format!("its manifest calls `{name}` the file `{}` of the zone {}", output.file, output.zone);
            return Err(corrupt(path, Invalid(problem)));
        }
        self.bytes(output).map(Some)
    }

    /// The bytes of a file, if they are what the manifest says.
    fn bytes(&self, output: &OutputRecord) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        let read = self.check(output)?.read_to_end(&mut bytes);
        read.map_err(|error| StoreError::io("read", &self.path(output), error))?;
        Ok(bytes)
    }
}

/// The same problem with the file and the remedy.
fn named(path: &Path, invalid: Invalid) -> Invalid {
    Invalid(corrupt(path, invalid).to_string())
}

fn corrupt(path: &Path, invalid: Invalid) -> StoreError {
    StoreError::Corrupt { path: path.to_owned(), problem: invalid.0 }
}
