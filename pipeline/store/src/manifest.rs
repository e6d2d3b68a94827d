//! What an entry was made from, and what it holds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the layout of the store; part of every key.
pub const LAYOUT_VERSION: u32 = 1;

/// Everything that a stage run depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Version of the layout of the store.
    pub layout: u32,
    /// Name of the stage.
    pub stage: String,
    /// Who runs it.
    pub side: String,
    /// Digest of the workspace crates that the stage is made of.
    pub code: String,
    /// Digest of the reachable part of `Cargo.lock`.
    pub dependencies: String,
    /// The stage's config table, with defaults filled in.
    pub params: Value,
    /// Seed of the experiment, for stages that draw.
    pub seed: Option<u64>,
    /// Trial, for stages that draw.
    pub trial: Option<u32>,
    /// Digests of what each slot was filled with.
    pub inputs: BTreeMap<String, Vec<String>>,
}

/// One file of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputRecord {
    /// Name of the file.
    pub file: String,
    /// `owner`, `server`, `auditor` or `public`.
    pub zone: String,
    /// blake3 of the file: keyed for owner and auditor files, since a plain hash of private data can be guessed.
    pub digest: String,
    /// Size in bytes; 0 for owner files, whose size is private too.
    pub bytes: u64,
}

/// The record of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Hash of the recipe.
    pub key: String,
    /// What it was made from.
    pub recipe: Recipe,
    /// Files by artifact name.
    pub outputs: BTreeMap<String, OutputRecord>,
    /// blake3 of the manifest with an empty checksum; filled in when it is written.
    pub checksum: String,
}

impl Manifest {
    /// The file: the same content gives the same bytes, and any other bytes are damage.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let json = |manifest: &Self| {
            serde_json::to_vec_pretty(manifest)
                .unwrap_or_else(|error| unreachable!("a manifest is plain data: {error}"))
        };
        let unsigned = Self { checksum: String::new(), ..self.clone() };
        let checksum = blake3::hash(&json(&unsigned)).to_hex().to_string();
        json(&Self { checksum, ..unsigned })
    }
}

impl Recipe {
    /// The key: a hash of the whole recipe, as hexadecimal text.
    #[must_use]
    pub fn key(&self) -> String {
        let json = serde_json::to_vec(self).unwrap_or_else(|error| unreachable!("a recipe is plain data: {error}"));
        let mut hasher = blake3::Hasher::new_derive_key("veilgraph 2026-11 stage key v1");
        hasher.update(&json);
        hasher.finalize().to_hex()[..32].to_owned()
    }
}
