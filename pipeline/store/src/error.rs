//! What can go wrong with files.

use std::io;
use std::path::{Path, PathBuf};

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
    #[error(
        "{path}: corrupt artifact ({problem}); run `veilgraph verify --remove`, then run again: the stage is made anew"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// How it differs.
        problem: String,
    },
    /// An artifact is not where its manifest says.
    #[error(
        "{path}: the artifact is missing; run the stage again where its inputs are (owner data never leave the owner)"
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A manifest cannot be read.
    #[error("{path}: not a manifest of this version ({problem}); run `veilgraph verify --remove`, then run again")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
}

impl StoreError {
    /// An error of the file system, with a remedy that fits its kind.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let remedy = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free space (`veilgraph gc`) and run again",
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "make it writable, or choose another --store"
            }
            io::ErrorKind::NotFound => "check the path",
            _ => "check the disk and run again",
        };
        Self::Io { action, path: path.to_owned(), remedy, source }
    }
}
