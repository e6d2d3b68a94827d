//! What can go wrong with files.

use std::io;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use parquet::errors::ParquetError;
use veilgraph_contract::Invalid;

/// What can go wrong with files. Every message names the file and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("{path}: cannot {action} ({source}); {remedy}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What to do.
        remedy: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// A file is not what its manifest says.
    #[error("{path}: corrupt artifact ({problem}); `veilgraph verify` says what mends it")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// How it differs.
        problem: String,
    },
    /// The secret of the store is not what was written.
    #[error(
        "{path}: the secret of the store is damaged ({problem}), so that private files cannot be compared with their digests; \
         restore this file from a copy"
    )]
    Secret {
        /// The file.
        path: PathBuf,
        /// How it differs.
        problem: &'static str,
    },
    /// An artifact is not where its manifest says.
    #[error(
        "{path}: the artifact is missing; run the stage again where its inputs are (owner data never leave the owner)"
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// An artifact would take more memory than it may.
    #[error(
        "{path}: {artifact} would take {} of memory, the limit is {}; \
         raise --memory-limit, or make it smaller (docs/config.md, Memory)",
        ByteSize(*needed), ByteSize(*limit)
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Name of the artifact.
        artifact: &'static str,
        /// Bytes that it would take.
        needed: u64,
        /// Bytes that it may take.
        limit: u64,
    },
    /// Private data that others may read.
    #[error("{path}: private data may be read by others (mode {mode:o}); close it with `chmod 700`")]
    Open {
        /// The folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A link where a folder of the store should be.
    #[error(
        "{path}: a link stands where this program keeps a folder of its own; remove the link, or choose another --store"
    )]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// The secret of a store with releases is gone.
    #[error(
        "{path}: the secret of this store is gone although releases were charged, so nobody can tell whether the data are \
         still those that were released; restore the file from a copy (another --store would release again, and no ledger would \
         count both)"
    )]
    SecretGone {
        /// Where it was.
        path: PathBuf,
    },
    /// A report without a charge.
    #[error("{path}: {artifact} tells of protected data, and nothing was charged for it; this is a bug in a mechanism")]
    Uncharged {
        /// The file.
        path: PathBuf,
        /// Name of the artifact.
        artifact: &'static str,
    },
    /// A store of another version.
    #[error(
        "{path}: this store has the layout `{found}`, which this version does not know; \
         use the version of veilgraph that wrote it, or another --store"
    )]
    Layout {
        /// The file that tells.
        path: PathBuf,
        /// What it tells.
        found: String,
    },
    /// The rows of an artifact are made while they are written, and could not be made.
    #[error("rows could not be made ({0}); run again, and report this if it stays")]
    Rows(#[from] Invalid),
    /// A manifest cannot be read.
    #[error("{path}: not a manifest of this version ({problem}); `veilgraph verify` says what mends it")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
}

impl StoreError {
    /// A table that could not be written: mostly the file system's doing.
    pub(crate) fn parquet(path: &Path, error: ParquetError) -> Self {
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(source) => Self::io("write", path, *source),
                Err(other) => Self::Corrupt { path: path.to_owned(), problem: other.to_string() },
            },
            other => Self::Corrupt { path: path.to_owned(), problem: other.to_string() },
        }
    }

    /// An error of the file system, with a remedy that fits its kind.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let remedy = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free space (`veilgraph gc`) and run again",
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "make it writable, or choose another --store"
            }
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::NotADirectory => "a file stands where a folder is meant; check the path",
            _ => "check the disk and run again",
        };
        Self::Io { action, path: path.to_owned(), remedy, source }
    }
}
