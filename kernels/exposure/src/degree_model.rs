//! The degrees of a graph of which only little is known.

/// What everybody knows about a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublicKnowledge {
    /// Number of nodes, from 3 on.
    pub nodes: u64,
    /// Mean number of links of a node, positive and at most a quarter of the other nodes: the model is one of sparse graphs.
    pub mean_degree: f64,
    /// Standard deviation of the degrees over their mean; 0 where all nodes have equal degrees.
    pub degree_spread: f64,
}

/// Public knowledge that no graph has.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImpossibleKnowledge {
    /// Too few nodes, or too many to count pairs.
    #[error("a graph has from 3 to 2^32 nodes, not {0}")]
    Nodes(u64),
    /// No link, or more than a sparse graph has.
    #[error(
        "the mean degree of {nodes} nodes is positive and at most {:.1} (a quarter of the other nodes), not {mean_degree}",
        (*nodes - 1) as f64 / 4.0
    )]
    MeanDegree {
        /// Number of nodes.
        nodes: u64,
        /// What was given.
        mean_degree: f64,
    },
    /// Degrees cannot spread like that.
    #[error(
        "the spread of degrees (their standard deviation over their mean) lies between 0 and {most:.1} here, not {spread}"
    )]
    DegreeSpread {
        /// Largest spread of a graph of this size and mean degree.
        most: f64,
        /// What was given.
        spread: f64,
    },
}

/// Share of the nodes that are called hubs: those with most links.
pub(crate) const HUBS: f64 = 0.05;

/// Expected degrees of nodes, as a few kinds of nodes.
#[derive(Clone, Debug)]
pub struct DegreeModel {
    knowledge: PublicKnowledge,
    /// Expected degree of each kind, `[kinds]`, in links, ascending.
    pub(crate) degrees: Vec<f64>,
    /// Share of the nodes that are of each kind, `[kinds]`; they sum to 1.
    pub(crate) shares: Vec<f64>,
}

impl PublicKnowledge {
    /// The same knowledge, if a graph can be so.
    ///
    /// # Errors
    /// When no graph has this number of nodes, mean degree or spread.
    pub fn checked(self) -> Result<Self, ImpossibleKnowledge> {
        let Self { nodes, mean_degree, degree_spread: spread } = self;
        if !(3..=1 << 32).contains(&nodes) {
            return Err(ImpossibleKnowledge::Nodes(nodes));
        }
        if !(mean_degree > 0.0 && mean_degree <= (nodes - 1) as f64 / 4.0) {
            return Err(ImpossibleKnowledge::MeanDegree { nodes, mean_degree });
        }
        // Degrees between 0 and n − 1 with this mean have at most the variance of mean · (n − 1 − mean).
        let most = ((nodes - 1) as f64 / mean_degree - 1.0).sqrt();
        if !(spread >= 0.0 && spread <= most) {
            return Err(ImpossibleKnowledge::DegreeSpread { most, spread });
        }
        Ok(self)
    }

    /// Share of the pairs that are linked, which is the belief about a pair before any report.
    #[must_use]
    pub fn base_rate(&self) -> f64 {
        self.mean_degree / (self.nodes - 1) as f64
    }
}

impl DegreeModel {
    /// Number of kinds of nodes.
    const KINDS: u32 = 32;
    /// Squared variation of expected degrees where degrees spread no more than by chance.
    const LEAST_VARIATION: f64 = 0.02;

    /// Log-normal expected degrees. A degree is Poisson about its expectation, which gives a squared spread of
    /// `1 / mean` by itself, so the expectations have the rest.
    ///
    /// # Errors
    /// When no graph is so.
    pub fn new(knowledge: PublicKnowledge) -> Result<Self, ImpossibleKnowledge> {
        let PublicKnowledge { nodes, mean_degree, degree_spread } = knowledge.checked()?;
        let variation = (degree_spread * degree_spread - 1.0 / mean_degree).max(Self::LEAST_VARIATION);
        let deviation = libm::log1p(variation).sqrt();
        // Links see nodes in proportion to their degree, which moves a normal law up by its deviation.
        let (lowest, highest) = (-4.0, 4.0 + deviation);
        let step = (highest - lowest) / f64::from(Self::KINDS);
        let normal = |kind: u32| lowest + step * (f64::from(kind) + 0.5);
        // A node has fewer links than half of the others, or odds would no longer be small.
        let most = nodes as f64 / 2.0;
        let kinds = (0..Self::KINDS).map(normal);
        let (mut degrees, mut shares): (Vec<f64>, Vec<f64>) = kinds
            .map(|z| {
                ((mean_degree * libm::exp(deviation * z - lowering_of(deviation))).min(most), libm::exp(-z * z / 2.0))
            })
            .unzip();
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= total);
        let mean: f64 = degrees.iter().zip(&shares).map(|(degree, share)| degree * share).sum();
        degrees.iter_mut().for_each(|degree| *degree = (*degree * mean_degree / mean).min(most));
        Ok(Self { knowledge, degrees, shares })
    }

    /// The expected degree in the middle of the hubs.
    pub(crate) fn typical_hub(&self) -> f64 {
        let mut below = 0.0;
        let kind = self.shares.iter().position(|share| {
            below += share;
            below >= 1.0 - HUBS / 2.0
        });
        self.degrees[kind.unwrap_or(self.degrees.len() - 1)]
    }

    /// What the model was made of.
    #[must_use]
    pub fn knowledge(&self) -> &PublicKnowledge {
        &self.knowledge
    }
}

/// What a log-normal variable of this deviation has to be lowered by, in logarithms, for a mean of 1.
fn lowering_of(deviation: f64) -> f64 {
    deviation * deviation / 2.0
}
