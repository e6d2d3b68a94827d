//! What is wrong with parameters.

use alloc::string::String;
use core::fmt;

use super::{LONGEST_POPULATION, MOST_NATS_PER_PART, MOST_NODES, Mechanism};

/// Why no node can report with these parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterError {
    /// The name is empty, too long, or holds control characters.
    Population,
    /// Fewer than 3 nodes or more than [`MOST_NODES`].
    Nodes(u32),
    /// No mechanism has this name.
    Mechanism(String),
    /// Not a budget between 0 and [`MOST_NATS_PER_PART`].
    Budget {
        /// The name of the parameter.
        name: &'static str,
        /// Its value.
        nats: f64,
    },
    /// Releases are numbered from 1.
    Release,
    /// Both budgets are 0, so that nothing is sent.
    NothingSent,
    /// The budget of the degree is below what integer noise can represent.
    SmallDegreeBudget(f64),
    /// Not a digest in 64 hexadecimal digits.
    Numbering(String),
    /// A budget for the degree with a mechanism that sends none.
    DegreeUnsent(Mechanism),
}

impl fmt::Display for ParameterError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Population => write!(
                formatter,
                "population must be a name of 1 to {LONGEST_POPULATION} bytes without control characters"
            ),
            Self::Nodes(n_nodes) => write!(formatter, "n_nodes must lie between 3 and {MOST_NODES}, not {n_nodes}"),
            Self::Mechanism(name) => {
                write!(formatter, "mechanism must be \"blink\", \"rr\" or \"symrr\", not {name:?}")
            }
            Self::Budget { name, nats } => write!(
                formatter,
                "{name} must be a number of nats between 0 and {MOST_NATS_PER_PART}, not {nats}; beyond that a report \
                 is practically the list itself"
            ),
            Self::Release => write!(formatter, "release must be at least 1; the first release has the number 1"),
            Self::NothingSent => write!(formatter, "epsilon_links and epsilon_degree are both 0, so nothing is sent"),
            Self::SmallDegreeBudget(nats) => write!(
                formatter,
                "epsilon_degree of {nats} nats is below 2^-20, the smallest budget that integer noise can represent; \
                 set it to 0 to send no degree"
            ),
            Self::Numbering(text) => write!(
                formatter,
                "numbering must be 64 hexadecimal digits, the blake3 digest of the file of numbers, not {text:?}"
            ),
            Self::DegreeUnsent(mechanism) => {
                write!(formatter, "epsilon_degree must be 0, for {} sends no degree", mechanism.name())
            }
        }
    }
}

impl core::error::Error for ParameterError {}
