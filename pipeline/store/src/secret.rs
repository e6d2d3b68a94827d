//! The secret of a store: digests of private data are keyed with it, since a plain hash of private data can be guessed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::entry::{APART, Store};
use crate::error::StoreError;
use crate::files;
use crate::layout::LAYOUT;
use crate::lock::KeyLock;
use crate::places::Part;

/// Name of the privacy ledger in the owner's part.
pub const LEDGER: &str = "ledger.jsonl";

/// Name of the secret in the owner's part.
const KEY: &str = ".key";

impl Store {
    /// The privacy ledger, if there is one. Before layout 3 it stood beside the folders.
    #[must_use]
    pub fn ledger(&self) -> Option<PathBuf> {
        let places = [self.part(Part::Owner).join(LEDGER), self.root.join(LEDGER)];
        places.into_iter().find(|path| path.is_file())
    }

    /// A keyed digest of private bytes, as hexadecimal text. A plan leaves nothing behind: where nothing was ever kept, the digest
    /// is keyed with a secret of this process. A run says first that it uses the store ([`Store::lock_for_run`]), so that all its
    /// digests are keyed with the secret of the store.
    ///
    /// # Errors
    /// When the secret of the store cannot be read or made.
    pub fn keyed_digest(&self, bytes: &[u8]) -> Result<String, StoreError> {
        let secret = if self.was_never_used() { self.secret_of_this_process()? } else { self.secret()? };
        Ok(blake3::keyed_hash(&secret, bytes).to_hex().to_string())
    }

    /// Whether there is neither a layout nor a secret nor a ledger. A folder that cannot be looked into may have them, and so may
    /// one behind a link whose disk is away.
    fn was_never_used(&self) -> bool {
        let marks = [self.root.join(LAYOUT), self.part(Part::Owner).join(KEY)];
        !self.root.is_symlink()
            && marks.iter().all(|mark| matches!(mark.try_exists(), Ok(false)))
            && self.ledger().is_none()
    }

    fn secret_of_this_process(&self) -> Result<[u8; 32], StoreError> {
        static SECRET: OnceLock<[u8; 32]> = OnceLock::new();
        if let Some(secret) = SECRET.get() {
            return Ok(*secret);
        }
        let drawn = draw_secret(&self.root)?;
        Ok(*SECRET.get_or_init(|| drawn))
    }

    /// The secret that keys digests of private data; made at first use.
    pub(crate) fn secret(&self) -> Result<[u8; 32], StoreError> {
        let folder = self.part(Part::Owner);
        let path = folder.join(KEY);
        if !path.exists() {
            files::create_lasting_folder(&folder, true)?;
            let _lock = KeyLock::acquire(&self.root.join("locks"), "secret", || {})?;
            if !path.exists() {
                // Under another secret nobody could tell whether private data are those of an earlier release.
                if self.ledger().is_some_and(|ledger| fs::metadata(ledger).is_ok_and(|file| file.len() > 0)) {
                    return Err(StoreError::SecretGone { path });
                }
                let secret = draw_secret(&path)?;
                files::write_whole(&path, &[&secret[..], &checksum(&secret)].concat(), true)?;
            }
        }
        files::refuse_if_open(&folder)?;
        let bytes = files::read(&path)?;
        let Some((secret, sum)) = bytes.split_first_chunk::<32>() else {
            return Err(StoreError::Secret { path, problem: "it is cut short" });
        };
        // Earlier versions wrote no checksum.
        if !sum.is_empty() && sum != checksum(secret) {
            return Err(StoreError::Secret { path, problem: "its checksum is wrong" });
        }
        Ok(*secret)
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

/// What stands behind a secret in its file: from a changed one, private data would seem to have changed.
fn checksum(secret: &[u8; 32]) -> [u8; 8] {
    let digest = blake3::derive_key("veilgraph 2026-11 checksum of the secret of a store", secret);
    std::array::from_fn(|at| digest[at])
}

fn draw_secret(path: &Path) -> Result<[u8; 32], StoreError> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|error| StoreError::io("draw a secret for", path, error.into()))?;
    Ok(secret)
}
