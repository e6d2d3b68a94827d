//! The secret of a store: digests of private data are keyed with it, since a plain hash of private data can be guessed.

use std::fs;
use std::path::PathBuf;

use crate::entry::{APART, Store};
use crate::error::StoreError;
use crate::files;
use crate::lock::KeyLock;
use crate::places::Part;

/// Name of the privacy ledger in the owner's part.
pub const LEDGER: &str = "ledger.jsonl";

impl Store {
    /// The privacy ledger, if there is one. Before layout 3 it stood beside the folders.
    #[must_use]
    pub fn ledger(&self) -> Option<PathBuf> {
        let places = [self.part(Part::Owner).join(LEDGER), self.root.join(LEDGER)];
        places.into_iter().find(|path| path.is_file())
    }

    /// A keyed digest of private bytes, as hexadecimal text.
    ///
    /// # Errors
    /// When the secret of the store cannot be read or made.
    pub fn keyed_digest(&self, bytes: &[u8]) -> Result<String, StoreError> {
        Ok(blake3::keyed_hash(&self.secret()?, bytes).to_hex().to_string())
    }

    /// The secret that keys digests of private data; made at first use.
    pub(crate) fn secret(&self) -> Result<[u8; 32], StoreError> {
        let folder = self.part(Part::Owner);
        let path = folder.join(".key");
        if !path.exists() {
            files::create_folder(&folder, true)?;
            let _lock = KeyLock::acquire(&self.root.join("locks"), "secret", || {})?;
            if !path.exists() {
                // Under another secret nobody could tell whether private data are those of an earlier release.
                if self.ledger().is_some_and(|ledger| fs::metadata(ledger).is_ok_and(|file| file.len() > 0)) {
                    return Err(StoreError::SecretGone { path });
                }
                let mut secret = [0; 32];
                let no_entropy = |error: getrandom::Error| StoreError::io("draw a secret for", &path, error.into());
                getrandom::fill(&mut secret).map_err(no_entropy)?;
                files::write_whole(&path, &secret, true)?;
            }
        }
        files::refuse_if_open(&folder)?;
        let bytes = files::read(&path)?;
        bytes
            .try_into()
            .map_err(|_| StoreError::Corrupt { path, problem: "the secret does not have 32 bytes".to_owned() })
    }

    /// Hasher for the files of a zone, keyed if the zone is private.
    pub(crate) fn hasher(&self, zone: &str) -> Result<blake3::Hasher, StoreError> {
        if APART.iter().any(|apart| apart.name() == zone) {
            Ok(blake3::Hasher::new_keyed(&self.secret()?))
        } else {
            Ok(blake3::Hasher::new())
        }
    }
}
