//! What a release costs, for the ledger.

use serde::{Deserialize, Serialize};

/// When two inputs are neighbours (specs: section 0.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// One bit of one node's list differs.
    ListBit,
    /// One undirected link is there or not: one bit in each of two lists.
    Edge,
}

/// One release of protected data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Release {
    /// Mechanism, with the noise it draws.
    pub mechanism: String,
    /// What it protects: `link` or `degree`.
    pub target: String,
    /// `local` (each node randomizes its own data) or `central`.
    pub model: String,
    /// Neighbouring relation of `epsilon`.
    pub relation: Relation,
    /// Cost in nats.
    #[serde(with = "nats")]
    pub epsilon: f64,
    /// The delta of (epsilon, delta)-differential privacy.
    pub dp_delta: f64,
    /// Whether the guarantee holds as executed (false for floating-point noise).
    pub sound: bool,
}

/// Nats as a number, or as `"inf"`: JSON has no infinity.
mod nats {
    use serde::{Deserialize, Deserializer, Serializer, de};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Word(String),
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
    pub(super) fn serialize<S: Serializer>(nats: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if nats.is_infinite() { serializer.serialize_str("inf") } else { serializer.serialize_f64(*nats) }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(nats) => Ok(nats),
            Written::Word(word) if word == "inf" => Ok(f64::INFINITY),
            Written::Word(word) => Err(de::Error::custom(format!("`{word}` is no number of nats"))),
        }
    }
}
