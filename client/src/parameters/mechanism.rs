//! How nodes report.

use core::str::FromStr;

use alloc::borrow::ToOwned;

use super::ParameterError;

/// How a node protects its list: one of the mechanisms of the stage `privatize` in which a node asks nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Randomized response on the list, and integer noise on the degree.
    Blink,
    /// Randomized response on the list.
    Rr,
    /// Randomized response on the bits about nodes of smaller numbers, so that each pair is reported once.
    SymRr,
}

impl Mechanism {
    /// Every mechanism.
    pub const ALL: [Self; 3] = [Self::Blink, Self::Rr, Self::SymRr];

    /// Name as in a parameter file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Blink => "blink",
            Self::Rr => "rr",
            Self::SymRr => "symrr",
        }
    }

    /// Whether a node sends its degree beside its list.
    #[must_use]
    pub fn sends_degree(self) -> bool {
        self == Self::Blink
    }

    /// In how many of the reported lists a link stands.
    #[must_use]
    pub fn lists_per_link(self) -> f64 {
        match self {
            Self::Blink | Self::Rr => 2.0,
            Self::SymRr => 1.0,
        }
    }

    /// The bits that `node` sends are those about nodes below this number.
    #[must_use]
    pub fn list_length(self, n_nodes: u32, node: u32) -> u32 {
        match self {
            Self::Blink | Self::Rr => n_nodes,
            Self::SymRr => node.min(n_nodes),
        }
    }
}

impl FromStr for Mechanism {
    type Err = ParameterError;

    fn from_str(name: &str) -> Result<Self, ParameterError> {
        let found = Self::ALL.into_iter().find(|mechanism| mechanism.name() == name);
        found.ok_or_else(|| ParameterError::Mechanism(name.to_owned()))
    }
}
