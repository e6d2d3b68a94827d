//! What an entry was made from, and what it holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::entry::MANIFEST;

/// Version of the layout of the store; part of every key.
pub const LAYOUT_VERSION: u32 = 3;

/// Stands for the digests of code in recipes of deployed releases.
pub const DEPLOYED: &str = "deployed";

/// Stands for the digests of code in recipes of what was handed to the server.
const PUBLISHED: &str = "published";

/// Everything that a run of a stage function depends on.
///
/// | in the key | why |
/// |---|---|
/// | stage and task | two functions never take each other's results for their own |
/// | side | the same function on another side reads other zones |
/// | code and dependencies | an edited function runs again, and so does one whose packages changed |
/// | params, seed, trial | they decide the result; seed and trial only where the function draws |
/// | inputs, by content | an input that is made anew with the same bytes changes nothing |
/// | deployment | releases that nobody can draw again never share a folder with simulations |
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
    /// Whether it belongs to a deployment: entries of deployments lie apart from those of simulations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deployment: bool,
}

/// A release of protected data: what it says and to whom it belongs. Its rows stand in the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseRecord {
    /// Whose data were released.
    pub population: String,
    /// What the release says and what it costs, as text.
    pub statement: String,
    /// The first release of this statement is 1, a second one is 2.
    pub number: u32,
    /// Key under which the ledger has its rows.
    pub charged_as: String,
    /// Whether nodes drew it themselves and sent it in: then each of them keeps its own account.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collected: bool,
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
    /// Keyed digest of the rows and facts of a private file, which no encoding of the file changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Name of the file beside the table that belongs to the same artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<String>,
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
    /// Whether an entry of layout 2 holds a release of protected data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_release: bool,
    /// The release of protected data that the entry holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseRecord>,
    /// blake3 of the manifest with an empty checksum; filled in when it is written.
    pub checksum: String,
}

impl OutputRecord {
    /// Whether a server may see the file.
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.zone == "server" || self.zone == "public"
    }
}

impl Manifest {
    /// Reads the manifest of the entry `key` of `stage`, whoever wrote it. What it names lies in the folder of that entry.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(crate) fn parse(bytes: &[u8], stage: &str, key: &str) -> Result<Self, String> {
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if manifest.to_bytes() != bytes {
            return Err("its checksum is wrong".to_owned());
        }
        if manifest.recipe.stage != stage || manifest.key != key || manifest.recipe.key() != key {
            return Err("it is the manifest of another entry".to_owned());
        }
        let mut files = BTreeSet::from([MANIFEST]);
        for OutputRecord { file, .. } in manifest.outputs.values() {
            let is_name = Path::new(file).file_name().is_some_and(|name| name == file.as_str());
            if !is_name || !files.insert(file) {
                return Err(format!(
                    "it names the file {file:?}, which is no name for a file of its own in its folder"
                ));
            }
        }
        Ok(manifest)
    }

    /// A digest of everything that an artifact of this entry says: of its table, and of the file beside the table where
    /// there is one. Whatever reads the artifact is keyed by it.
    #[must_use]
    pub fn digest_of(&self, output: &OutputRecord) -> String {
        let beside = output.attachment.as_ref().and_then(|name| self.outputs.get(name));
        match beside {
            Some(beside) => {
                blake3::hash(format!("{} {}", output.digest, beside.digest).as_bytes()).to_hex().to_string()
            }
            None => output.digest.clone(),
        }
    }

    /// The file: the same content gives the same bytes, and any other bytes are damage.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
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
    /// The recipe of what the server may see of an entry: it holds the digests of what is handed over, and nothing from
    /// which private data could be guessed.
    #[must_use]
    pub fn published(&self, params: Value, outputs: Vec<String>) -> Self {
        Self {
            layout: LAYOUT_VERSION,
            code: PUBLISHED.to_owned(),
            dependencies: PUBLISHED.to_owned(),
            params,
            seed: None,
            trial: None,
            inputs: BTreeMap::from([("outputs".to_owned(), outputs)]),
            deployment: true,
            ..self.clone()
        }
    }

    /// Whether this describes the release of a deployment.
    #[must_use]
    pub fn is_deployed(&self) -> bool {
        self.code == DEPLOYED
    }

    /// Whether code computes this anew: nobody can draw a deployed release again, and a server cannot make what was handed over to
    /// it.
    #[must_use]
    pub fn is_computed(&self) -> bool {
        !self.is_deployed() && !self.is_published()
    }

    /// Whether this describes what was handed to the server.
    #[must_use]
    pub fn is_published(&self) -> bool {
        self.code == PUBLISHED
    }

    /// The key: a hash of the whole recipe, as hexadecimal text.
    #[must_use]
    pub fn key(&self) -> String {
        let json = serde_json::to_vec(self).unwrap_or_else(|error| unreachable!("a recipe is plain data: {error}"));
        let mut hasher = blake3::Hasher::new_derive_key("veilgraph 2026-11 stage key v1");
        hasher.update(&json);
        hasher.finalize().to_hex()[..32].to_owned()
    }
}
