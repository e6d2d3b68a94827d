//! What nodes do in a simulation in place of what they should: some send nothing, and some send whatever they like.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::{NodeNoise, NodeView};

/// What a lying node sends. No lie looks at the node's own list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lie {
    /// The list has every bit set, and the degree is `n - 1`.
    #[default]
    AllOnes,
    /// Each bit of the list is set with probability 1/2, and each degree from 0 to `n - 1` is equally likely.
    RandomList,
}

/// What one node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conduct {
    /// The node reports as the mechanism says.
    Honest,
    /// The node sends nothing.
    Silent,
    /// The node sends whatever it likes.
    Lying(Lie),
}

impl Lie {
    /// The list that a lying node sends.
    pub(super) fn list(self, node: NodeView, noise: NodeNoise) -> Vec<u32> {
        match self {
            Self::AllOnes => node.others().collect(),
            Self::RandomList => {
                let mut bits = noise.simulated("lied list");
                node.others().filter(|_| bits.random::<bool>()).collect()
            }
        }
    }

    /// The degree that a lying node sends.
    pub(super) fn degree(self, node: NodeView, noise: NodeNoise) -> f64 {
        let degree = match self {
            Self::AllOnes => node.n_nodes() - 1,
            Self::RandomList => noise.simulated("lied degree").random_range(0..node.n_nodes()),
        };
        degree as f64
    }
}
