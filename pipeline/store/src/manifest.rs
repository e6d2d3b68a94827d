//! What an entry was made from, and what it holds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the layout of the store; part of every key.
pub const LAYOUT_VERSION: u32 = 2;

/// Everything that a run of a stage function depends on.
///
/// | in the key | why |
/// |---|---|
/// | stage and task | two functions never take each other's results for their own |
/// | side | the same function on another side reads other zones |
/// | code and dependencies | an edited function runs again, and so does one whose packages changed |
/// | params, seed, trial | they decide the result; seed and trial only where the function draws |
/// | inputs, by content | an input that is made anew with the same bytes changes nothing |
///
/// Not in the key: names of configs, labels, paths, times, the machine, and the number of threads. In recipes of
/// deployed releases a constant stands for code and dependencies, because nobody can draw such a release again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Version of the layout of the store.
    pub layout: u32,
    /// Name of the stage.
    pub stage: String,
    /// Name of the function among those of its stage. Entries of layout 1 have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Who runs it.
    pub side: String,
    /// Digest of the workspace crates that the function is made of.
    pub code: String,
    /// Digest of the reachable part of `Cargo.lock`.
    pub dependencies: String,
    /// The parameters that the function reads, with defaults filled in.
    pub params: Value,
    /// Seed of the experiment, for functions that draw.
    pub seed: Option<u64>,
    /// Trial, for functions that draw in every trial.
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
    /// Whether the entry holds a release of protected data, so that a ledger must exist beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_release: bool,
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
