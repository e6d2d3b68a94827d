//! The nodes whose links are attacked.

use std::fmt;

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use veilgraph_attack::{PairScores, Record};
use veilgraph_contract::{Invalid, StageRng};
use veilgraph_graph::{AdjacencyList, Nodes, Split};

use crate::Error;

/// Which nodes are attacked: an attack scores all pairs of them.
///
/// They are drawn by the trial alone, so that attacks on several mechanisms and models are about the same pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Targets {
    /// How many nodes; where absent, 500, or half of a pool of fewer than 1000, because some attackers learn from the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<usize>,
    /// Of which nodes.
    pub pool: Pool,
}

/// Nodes by their true number of links, or by their use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// Every node.
    #[default]
    All,
    /// Those with at most as many links as the median node.
    Low,
    /// The others.
    High,
    /// Test nodes, whatever links they have.
    Test,
}

/// How many nodes are attacked where nobody says it (Wu, Long, Zhang, Li 2022, LinkTeller, section VII).
const USUAL: usize = 500;

/// How many nodes are attacked of a pool of so many.
pub(crate) fn number_of(targets: Option<usize>, n_pool: usize) -> usize {
    targets.unwrap_or_else(|| USUAL.min((n_pool / 2).max(2)))
}

/// Whether so many nodes may be attacked, which has to be known before anything is released.
pub(crate) fn check_number(targets: Option<usize>) -> Result<(), Error> {
    targets.filter(|targets| *targets < 2).map_or(Ok(()), |targets| Err(Error::TooFew(targets)))
}

impl fmt::Display for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Self::All => "all",
            Self::Low => "low",
            Self::High => "high",
            Self::Test => "test",
        })
    }
}

impl Pool {
    /// Its nodes, ascending.
    fn nodes(self, links: &AdjacencyList, nodes: &Nodes) -> Vec<u32> {
        let mut degrees: Vec<usize> = (0..links.n_nodes()).map(|node| links.degree(node)).collect();
        degrees.sort_unstable();
        let median = degrees.get(degrees.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        let is_in = |node: &u32| match self {
            Self::All => true,
            Self::Low => links.degree(*node as usize) <= median,
            Self::High => links.degree(*node as usize) > median,
            Self::Test => nodes.splits.get(*node as usize) == Some(&Split::Test),
        };
        (0..links.n_nodes() as u32).filter(is_in).collect()
    }
}

impl Targets {
    /// Draws the nodes; ascending.
    ///
    /// # Errors
    /// When the pool has fewer nodes, or one node is no pair.
    pub(crate) fn draw(self, links: &AdjacencyList, nodes: &Nodes, rng: &StageRng) -> Result<Vec<u32>, Error> {
        let Self { targets, pool } = self;
        check_number(targets)?;
        let mut nodes = pool.nodes(links, nodes);
        let targets = number_of(targets, nodes.len());
        if targets > nodes.len() {
            return Err(Error::Pool { pool, wanted: targets, found: nodes.len() });
        }
        nodes.shuffle(&mut rng.fast_stream(&format!("targets {pool}"), 0));
        nodes.truncate(targets);
        nodes.sort_unstable();
        Ok(nodes)
    }
}

/// All pairs of so many places, in the order of [`scored`].
pub(crate) fn pairs_of(n_places: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n_places).flat_map(move |a| (a + 1..n_places).map(move |b| (a, b)))
}

/// All pairs of targets, each with the score of its two places among them.
pub(crate) fn scored(n_nodes: usize, targets: &[u32], mut score: impl FnMut(usize, usize) -> f64) -> PairScores {
    let pairs = pairs_of(targets.len());
    PairScores {
        record: Record::Link,
        n_nodes,
        pairs: pairs.map(|(a, b)| (targets[a], targets[b], score(a, b))).collect(),
    }
}

/// Whether artifacts are of the graph that is attacked.
pub(crate) fn same_size(found: usize, links: &AdjacencyList) -> Result<(), Invalid> {
    if found == links.n_nodes() {
        Ok(())
    } else {
        Err(Invalid(format!("what is attacked is of {found} nodes, and the true graph has {}", links.n_nodes())))
    }
}
