//! What a server publishes before nodes report, and what a report then costs.

mod error;
mod mechanism;
mod text;

use alloc::borrow::ToOwned;
use alloc::string::String;

use veilgraph_noise::discrete_laplace::Rate;
use veilgraph_noise::randomized_response::flip_probability;

pub use self::error::ParameterError;
pub use self::mechanism::Mechanism;
#[cfg(feature = "std")]
pub use self::text::ParameterTextError;

/// The largest budget of one part of a report, in nats.
///
/// At 20 nats a bit is flipped with probability `2e-9`, so the report of almost every node is its list itself. Whoever
/// asks for more asks for no privacy, and a device should say so instead of calling it a budget.
pub const MOST_NATS_PER_PART: f64 = 20.0;

/// The largest number of nodes: the samplers count positions in 32 bits, and may look a block beyond the last node.
pub const MOST_NODES: u32 = 1 << 30;

/// Longest name of a population, in bytes.
const LONGEST_POPULATION: usize = 200;

/// What every node of a population is told before it reports, and nothing about any node. A value of this type can be
/// used: it was checked when it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicParameters {
    population: String,
    mechanism: Mechanism,
    n_nodes: u32,
    epsilon_links: f64,
    epsilon_degree: f64,
    release: u32,
    numbering: Option<[u8; 32]>,
}

impl PublicParameters {
    /// The parameters of one release: `n_nodes` nodes spend `epsilon_links` nats on each bit of their list and
    /// `epsilon_degree` nats on their degree. A part of 0 nats is not sent. Another `release` of equal parameters is
    /// another report, which costs anew.
    ///
    /// # Errors
    /// When a value cannot be used, or the mechanism does not send the degree for which there is a budget.
    pub fn new(
        population: &str,
        mechanism: Mechanism,
        n_nodes: u32,
        epsilon_links: f64,
        epsilon_degree: f64,
        release: u32,
    ) -> Result<Self, ParameterError> {
        if population.is_empty() || population.len() > LONGEST_POPULATION || population.chars().any(char::is_control) {
            return Err(ParameterError::Population);
        }
        if !(3..=MOST_NODES).contains(&n_nodes) {
            return Err(ParameterError::Nodes(n_nodes));
        }
        for (name, nats) in [("epsilon_links", epsilon_links), ("epsilon_degree", epsilon_degree)] {
            if !(0.0..=MOST_NATS_PER_PART).contains(&nats) {
                return Err(ParameterError::Budget { name, nats });
            }
        }
        if epsilon_degree > 0.0 && !mechanism.sends_degree() {
            return Err(ParameterError::DegreeUnsent(mechanism));
        }
        if release == 0 {
            return Err(ParameterError::Release);
        }
        if epsilon_links == 0.0 && epsilon_degree == 0.0 {
            return Err(ParameterError::NothingSent);
        }
        if epsilon_degree > 0.0 && Rate::at_most(epsilon_degree).is_none() {
            return Err(ParameterError::SmallDegreeBudget(epsilon_degree));
        }
        let population = population.to_owned();
        // A budget of -0 is written as 0, so that equal parameters have one text.
        let (epsilon_links, epsilon_degree) = (epsilon_links + 0.0, epsilon_degree + 0.0);
        Ok(Self { population, mechanism, n_nodes, epsilon_links, epsilon_degree, release, numbering: None })
    }

    /// The same parameters, bound to who has which number: `numbering` is the blake3 digest of the file that lists the
    /// numbers. Reports that were made under another numbering are then refused, for their parameters are others.
    #[must_use]
    pub fn with_numbering(self, numbering: [u8; 32]) -> Self {
        Self { numbering: Some(numbering), ..self }
    }

    /// The name of the population of nodes.
    #[must_use]
    pub fn population(&self) -> &str {
        &self.population
    }

    /// How nodes report.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    /// Number of nodes, whose numbers begin with 0.
    #[must_use]
    pub fn n_nodes(&self) -> u32 {
        self.n_nodes
    }

    /// Budget of each bit of a list, in nats.
    #[must_use]
    pub fn epsilon_links(&self) -> f64 {
        self.epsilon_links
    }

    /// Budget of a degree, in nats.
    #[must_use]
    pub fn epsilon_degree(&self) -> f64 {
        self.epsilon_degree
    }

    /// Which release of the population this is.
    #[must_use]
    pub fn release(&self) -> u32 {
        self.release
    }

    /// Digest of the file that lists the number of every node, if the parameters are bound to one.
    #[must_use]
    pub fn numbering(&self) -> Option<[u8; 32]> {
        self.numbering
    }

    /// What one report costs for any one bit of the list, in nats: the bit is sent, and it moves the degree by one.
    #[must_use]
    pub fn list_bit_cost(&self) -> f64 {
        self.epsilon_links + self.epsilon_degree
    }

    /// What the reports of both ends of a link cost together for that link, in nats.
    #[must_use]
    pub fn edge_cost(&self) -> f64 {
        self.mechanism.lists_per_link() * self.list_bit_cost()
    }

    /// Probability that a bit of a list is flipped: `1 / (1 + e^epsilon_links)`.
    #[must_use]
    pub fn flip_probability(&self) -> f64 {
        flip_probability(self.epsilon_links)
    }

    /// Number of bits that the list of `node` has in its report: those about nodes below this number are sent.
    #[must_use]
    pub fn list_length(&self, node: u32) -> u32 {
        self.mechanism.list_length(self.n_nodes, node)
    }

    /// Entropy of the noise on the list of `node`, in bits: no code for reports is shorter on average.
    #[must_use]
    pub fn list_entropy(&self, node: u32) -> f64 {
        if self.epsilon_links == 0.0 {
            return 0.0;
        }
        let flip = self.flip_probability();
        let per_bit = -flip * libm::log2(flip) - (1.0 - flip) * libm::log2(1.0 - flip);
        f64::from(self.list_length(node)) * per_bit
    }

    /// The first 16 bytes of a digest of [`to_text`](Self::to_text), by which a report names its parameters.
    #[must_use]
    pub fn digest(&self) -> [u8; 16] {
        let digest = blake3::derive_key("veilgraph 2026-11 parameters of reports v1", self.to_text().as_bytes());
        core::array::from_fn(|at| digest[at])
    }
}

#[cfg(test)]
mod tests;
