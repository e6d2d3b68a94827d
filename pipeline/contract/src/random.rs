//! Random streams that depend on seed, stage, trial, purpose and index, and on nothing else.

use std::str::FromStr;

use rand::SeedableRng;
use rand::rngs::{ChaCha8Rng, ChaCha20Rng};
use serde::Deserialize;

use crate::artifact::Invalid;

/// Source of the random streams of one stage run.
///
/// Editing a stage, changing the number of threads or the order of blocks redraws nothing: a stream
/// is named by what it is for.
#[derive(Clone)]
pub struct StageRng {
    key: [u8; 32],
    randomness: Randomness,
}

/// Where the noise of a release comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Randomness {
    /// From the seed of the experiment: reproducible, so whoever knows the seed can remove it.
    #[default]
    Seeded,
    /// From the operating system: never to be drawn again.
    Os,
}

impl Randomness {
    /// Name, as in a config and in facts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Seeded => "seeded",
            Self::Os => "os",
        }
    }
}

impl FromStr for Randomness {
    type Err = Invalid;

    fn from_str(name: &str) -> Result<Self, Invalid> {
        [Self::Seeded, Self::Os]
            .into_iter()
            .find(|randomness| randomness.name() == name)
            .ok_or_else(|| Invalid(format!("`{name}` is neither `seeded` nor `os`")))
    }
}

impl StageRng {
    /// Source for one `stage` and `trial` of an experiment with this `seed`.
    #[must_use]
    pub fn new(seed: u64, stage: &str, trial: u32) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("veilgraph 2026-11 random streams v1");
        hasher.update(&seed.to_le_bytes()).update(&trial.to_le_bytes()).update(stage.as_bytes());
        Self { key: *hasher.finalize().as_bytes(), randomness: Randomness::Seeded }
    }

    /// Source for one release of a deployment, from 32 bytes that the operating system has just drawn.
    #[must_use]
    pub fn from_os(entropy: &[u8; 32]) -> Self {
        let key = blake3::derive_key("veilgraph 2026-11 noise of a deployment v1", entropy);
        Self { key, randomness: Randomness::Os }
    }

    /// Where its words come from.
    #[must_use]
    pub fn randomness(&self) -> Randomness {
        self.randomness
    }

    /// Source for one of the releases that this run might make, named by all that distinguishes it: no word of it serves
    /// another one.
    #[must_use]
    pub fn for_release(&self, name: &str) -> Self {
        Self { key: self.purpose_key(&format!("release: {name}")), randomness: self.randomness }
    }

    /// Cryptographic stream `index` for `purpose`: the noise of one node, say.
    ///
    /// Everything that distinguishes two releases (mechanism, epsilon) belongs into `purpose`, so
    /// that no random word serves at two budgets.
    #[must_use]
    pub fn stream(&self, purpose: &str, index: u64) -> ChaCha20Rng {
        let mut rng = ChaCha20Rng::from_seed(self.purpose_key(purpose));
        rng.set_stream(index);
        rng
    }

    /// Faster stream for what protects nobody: initial weights, dropout, splits.
    #[must_use]
    pub fn fast_stream(&self, purpose: &str, index: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::from_seed(self.purpose_key(purpose));
        rng.set_stream(index);
        rng
    }

    fn purpose_key(&self, purpose: &str) -> [u8; 32] {
        *blake3::keyed_hash(&self.key, purpose.as_bytes()).as_bytes()
    }
}
