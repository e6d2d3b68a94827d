//! What a node sends.

mod bits;
mod decode;
mod encode;
mod golomb;
mod varint;

use alloc::vec::Vec;
use core::fmt;

pub use self::decode::{DecodeError, Defect, decode};
pub use self::encode::encode;
use crate::PublicParameters;

/// The noisy list and the noisy degree of one node. A value of this type fits the parameters that it was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    parameters: [u8; 16],
    is_simulated: bool,
    node: u32,
    ones: Vec<u32>,
    degree: Option<i64>,
}

/// Why a list or a degree is no report of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportError {
    /// There is no node of this number.
    NoSuchNode {
        /// Number of the node.
        node: u32,
        /// Number of all nodes.
        n_nodes: u32,
    },
    /// The list names this node after one of the same or a larger number.
    NotAscending(u32),
    /// The list names the node itself.
    NamesItself(u32),
    /// The list names a node that it has no bit about.
    OutOfRange {
        /// The number that it names.
        other: u64,
        /// Number of bits of the list.
        length: u32,
    },
    /// There is a list, and the parameters give none a budget.
    ListUnasked,
    /// There is a degree, and the parameters give none a budget.
    DegreeUnasked,
    /// There is no degree, and the parameters ask for one.
    DegreeMissing,
}

impl Report {
    /// The report of `node`: `ones` are the nodes whose noisy bit is set, ascending, and `degree` is the noisy degree,
    /// which may be negative.
    ///
    /// # Errors
    /// When the values do not fit the parameters.
    pub fn new(
        parameters: &PublicParameters,
        node: u32,
        ones: Vec<u32>,
        degree: Option<i64>,
    ) -> Result<Self, ReportError> {
        check_list(&ones, node, parameters.n_nodes(), parameters.list_length(node))?;
        match (parameters.epsilon_links() > 0.0, parameters.epsilon_degree() > 0.0) {
            (false, _) if !ones.is_empty() => Err(ReportError::ListUnasked),
            (_, false) if degree.is_some() => Err(ReportError::DegreeUnasked),
            (_, true) if degree.is_none() => Err(ReportError::DegreeMissing),
            _ => Ok(Self { parameters: parameters.digest(), is_simulated: false, node, ones, degree }),
        }
    }

    /// The same report, marked as one whose noise comes from a seed and protects nothing.
    #[must_use]
    pub fn simulated(self) -> Self {
        Self { is_simulated: true, ..self }
    }

    /// Digest of the parameters that it was made for: see [`PublicParameters::digest`].
    #[must_use]
    pub fn parameters(&self) -> [u8; 16] {
        self.parameters
    }

    /// Whether its noise comes from a seed, so that it protects nothing.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.is_simulated
    }

    /// Number of the node that reports.
    #[must_use]
    pub fn node(&self) -> u32 {
        self.node
    }

    /// The nodes whose noisy bit is set, ascending.
    #[must_use]
    pub fn ones(&self) -> &[u32] {
        &self.ones
    }

    /// The noisy degree where one is sent. It may be negative or exceed the number of nodes.
    #[must_use]
    pub fn degree(&self) -> Option<i64> {
        self.degree
    }
}

/// Checks that `list` ascends, stays below `length`, and does not name `node`, which is one of `n_nodes`.
pub(crate) fn check_list(list: &[u32], node: u32, n_nodes: u32, length: u32) -> Result<(), ReportError> {
    if node >= n_nodes {
        return Err(ReportError::NoSuchNode { node, n_nodes });
    }
    if let Some(pair) = list.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(ReportError::NotAscending(pair[1]));
    }
    if let Some(&other) = list.last().filter(|&&other| other >= length) {
        return Err(ReportError::OutOfRange { other: u64::from(other), length });
    }
    if list.binary_search(&node).is_ok() { Err(ReportError::NamesItself(node)) } else { Ok(()) }
}

impl fmt::Display for ReportError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NoSuchNode { node, n_nodes } => {
                write!(formatter, "node {node} does not exist: the numbers of {n_nodes} nodes begin with 0")
            }
            Self::NotAscending(other) => write!(formatter, "the list does not ascend at node {other}"),
            Self::NamesItself(node) => write!(formatter, "the list of node {node} names the node itself"),
            Self::OutOfRange { other, length } => {
                write!(formatter, "the list names node {other}, and has bits about nodes below {length} alone")
            }
            Self::ListUnasked => write!(formatter, "there is a list, and epsilon_links is 0"),
            Self::DegreeUnasked => write!(formatter, "there is a degree, and epsilon_degree is 0"),
            Self::DegreeMissing => write!(formatter, "there is no degree, and epsilon_degree is not 0"),
        }
    }
}

impl core::error::Error for ReportError {}

#[cfg(test)]
mod tests;
