//! What a stage releases about protected data, under which relation, and at what cost.
//!
//! These are the words that cross between crates. The arithmetic on them (composition, conversion) is mathematics and
//! lives in `kernels/privacy`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// When two inputs are neighbours, that is, what a cost protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// One bit of one node's list of neighbours differs.
    ListBit,
    /// One undirected link is there or not: one bit in each of two lists.
    Edge,
    /// One coordinate of one node's features is replaced.
    FeatureCoord,
    /// All features of one node are replaced.
    NodeFeatures,
    /// The label of one node is replaced.
    Label,
    /// Features and label of one node are replaced.
    NodeAttrs,
    /// Features and own list of one node are blanked, and its label counts for nothing. Its name stays in the lists of others,
    /// and so do the set of nodes, what each is used for, and who has a label.
    OwnData,
    /// The same, and the node's name is taken out of the lists of others: all its links are gone.
    Node,
}

/// Which data a release is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Subject {
    /// The lists of neighbours.
    #[serde(rename = "link")]
    Links,
    /// The numbers of neighbours.
    #[serde(rename = "degree")]
    Degrees,
    /// The features of the nodes.
    #[serde(rename = "feature")]
    Features,
    /// The labels of the nodes.
    #[serde(rename = "label")]
    Labels,
    /// A model trained on protected data.
    #[serde(rename = "model")]
    Model,
}

/// Who has to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Nobody: each node randomizes its own data.
    Local,
    /// A curator who holds the data of all nodes.
    Central,
}

/// What a release costs, in nats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum Cost {
    /// Pure differential privacy.
    Pure(f64),
    /// `(epsilon, dp_delta)`-differential privacy.
    Approximate {
        /// The epsilon at `dp_delta`, in nats.
        epsilon: f64,
        /// The delta of `(epsilon, dp_delta)`-differential privacy; no relation to Blink's delta.
        dp_delta: f64,
        /// Points `(order, epsilon)` of the curve of Rényi differential privacy, by ascending order above 1.
        rdp: Vec<(f64, f64)>,
    },
}

/// One release of protected data, under one relation.
///
/// The names of the fields in JSON are those of the ledger since its first version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Release {
    /// Noise that protects the data, in words.
    #[serde(rename = "mechanism")]
    pub noise: String,
    /// Which data.
    #[serde(rename = "target")]
    pub subject: Subject,
    /// Who has to be trusted.
    #[serde(rename = "model")]
    pub trust: Trust,
    /// What the cost protects.
    pub relation: Relation,
    /// What it costs.
    #[serde(flatten)]
    pub cost: Cost,
    /// What the source of the method states for the same noise, in nats, where that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "optional_nats")]
    pub claimed_epsilon: Option<f64>,
    /// Whether the guarantee holds as executed (false for floating-point noise).
    pub sound: bool,
    /// Why the cost is what it is, where that is no matter of course.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// A cost as the ledger writes it.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(with = "nats")]
    epsilon: f64,
    dp_delta: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rdp: Vec<(f64, Nats)>,
}

/// A number of nats that may be infinite.
#[derive(Serialize, Deserialize)]
struct Nats(#[serde(with = "nats")] f64);

impl Relation {
    /// All relations.
    pub const ALL: [Self; 8] = [
        Self::ListBit,
        Self::Edge,
        Self::FeatureCoord,
        Self::NodeFeatures,
        Self::Label,
        Self::NodeAttrs,
        Self::OwnData,
        Self::Node,
    ];

    /// Code, as in the ledger, in JSON and in budgets.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::ListBit => "list-bit",
            Self::Edge => "edge",
            Self::FeatureCoord => "feature-coord",
            Self::NodeFeatures => "node-features",
            Self::Label => "label",
            Self::NodeAttrs => "node-attrs",
            Self::OwnData => "own-data",
            Self::Node => "node",
        }
    }

    /// What is protected, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::ListBit => "list bit",
            Self::Edge => "undirected link",
            Self::FeatureCoord => "feature of a node",
            Self::NodeFeatures => "node's features",
            Self::Label => "label",
            Self::NodeAttrs => "node's features and label",
            Self::OwnData => "node's own data",
            Self::Node => "node",
        }
    }
}

impl Subject {
    /// Name, as in the ledger.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Links => "link",
            Self::Degrees => "degree",
            Self::Features => "feature",
            Self::Labels => "label",
            Self::Model => "model",
        }
    }

    /// Names of the private artifacts that a release of this kind is about, the first that a stage reads counts.
    #[must_use]
    pub fn artifacts(self) -> &'static [&'static str] {
        match self {
            Self::Links | Self::Degrees => &["links"],
            Self::Features => &["features"],
            Self::Labels => &["labels"],
            Self::Model => &["links", "features", "labels"],
        }
    }
}

impl Cost {
    /// The epsilon, in nats.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        match self {
            Self::Pure(epsilon) | Self::Approximate { epsilon, .. } => *epsilon,
        }
    }

    /// The delta of `(epsilon, dp_delta)`-differential privacy; 0 for a pure cost.
    #[must_use]
    pub fn dp_delta(&self) -> f64 {
        match self {
            Self::Pure(_) => 0.0,
            Self::Approximate { dp_delta, .. } => *dp_delta,
        }
    }
}

impl From<Written> for Cost {
    fn from(Written { epsilon, dp_delta, rdp }: Written) -> Self {
        if dp_delta == 0.0 && rdp.is_empty() {
            Self::Pure(epsilon)
        } else {
            let rdp = rdp.into_iter().map(|(order, Nats(cost))| (order, cost)).collect();
            Self::Approximate { epsilon, dp_delta, rdp }
        }
    }
}

impl From<Cost> for Written {
    fn from(cost: Cost) -> Self {
        match cost {
            Cost::Pure(epsilon) => Self { epsilon, dp_delta: 0.0, rdp: Vec::new() },
            Cost::Approximate { epsilon, dp_delta, rdp } => {
                let rdp = rdp.into_iter().map(|(order, cost)| (order, Nats(cost))).collect();
                Self { epsilon, dp_delta, rdp }
            }
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.code())
    }
}

/// Nats as a number, or as `"inf"`, for `#[serde(with)]`: JSON has no infinity.
pub mod nats {
    use serde::{Deserialize, Deserializer, Serializer, de};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Word(String),
    }

    /// Writes nats.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(nats: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if nats.is_infinite() { serializer.serialize_str("inf") } else { serializer.serialize_f64(*nats) }
    }

    /// Reads nats.
    ///
    /// # Errors
    /// When the value is neither a number nor `inf`.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(nats) => Ok(nats),
            Written::Word(word) if word == "inf" => Ok(f64::INFINITY),
            Written::Word(word) => Err(de::Error::custom(format!("`{word}` is no number of nats"))),
        }
    }
}

/// The same for numbers that may be absent.
pub mod optional_nats {
    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    struct Some(#[serde(with = "super::nats")] f64);

    /// Writes nats.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(nats: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        match nats {
            Option::Some(nats) => super::nats::serialize(nats, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads nats.
    ///
    /// # Errors
    /// When the value is neither absent, nor a number, nor `inf`.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Some>::deserialize(deserializer)?.map(|Some(nats)| nats))
    }
}

#[cfg(test)]
mod tests;
