//! What an attack is about.

use std::fmt;
use std::str::FromStr;

use veilgraph_contract::{Invalid, Relation};

/// The kind of fact that an attacker wants to know. A fact is written as two numbers, `(row, column)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// Two nodes are linked: the nodes, the smaller number first.
    Link,
    /// A feature of a node lies above its mean: the node and the feature.
    Feature,
    /// All features of a node lie at the upper end of their range, and not at the lower one: the node, and 0.
    Features,
    /// A node has a class: the node and the class.
    Label,
    /// A network was trained on the label of a node: the node, and 0.
    Membership,
    /// A node had a class when a curator's model was trained, and not another one: the node and the class.
    TrainingLabel,
}

impl Record {
    const NAMES: [(Self, &'static str); 6] = [
        (Self::Link, "link"),
        (Self::Feature, "feature"),
        (Self::Features, "features"),
        (Self::Label, "label"),
        (Self::Membership, "membership"),
        (Self::TrainingLabel, "training-label"),
    ];

    /// Under which relation the ledger states what such a fact costs. None states it for membership, and what it states for
    /// a node under one of two relations bounds a training label.
    #[must_use]
    pub fn relation(self) -> Option<Relation> {
        match self {
            Self::Link => Some(Relation::Edge),
            Self::Feature => Some(Relation::FeatureCoord),
            Self::Features => Some(Relation::NodeFeatures),
            Self::Label => Some(Relation::Label),
            Self::Membership | Self::TrainingLabel => None,
        }
    }

    /// Whether two numbers can be such a fact in a graph of `n_nodes`.
    pub(crate) fn has(self, n_nodes: usize, row: u32, column: u32) -> bool {
        match self {
            Self::Link => row < column && (column as usize) < n_nodes,
            Self::Feature | Self::Label | Self::TrainingLabel => (row as usize) < n_nodes,
            Self::Features | Self::Membership => (row as usize) < n_nodes && column == 0,
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(record, _)| record == self).map_or("", |(_, name)| name);
        formatter.write_str(name)
    }
}

impl FromStr for Record {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let found = Self::NAMES.iter().find(|(_, name)| *name == text);
        found.map(|(record, _)| *record).ok_or_else(|| Invalid(format!("`{text}` is nothing that an attack is about")))
    }
}
