//! Privacy budgets.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Privacy budget in nats, positive; `inf` means no privacy.
///
/// For links the unit is one bit of one node's list of neighbours (Blink, definition 3.1). An undirected link
/// stands in two lists, so it costs twice as much. A mechanism of features or labels says itself what its budget pays for.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Epsilon(f64);

/// Share of the budget that a node spends on its degree, in `[0, 1]`.
///
/// The paper calls it delta. It is unrelated to the delta of approximate differential privacy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct DegreeFraction(Choice);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    Share(f64),
    Auto,
    AutoWithBits,
    PublicRule,
    Advised,
}

/// A fraction as a config writes it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Share(f64),
    Name(String),
}

/// The two parts of a node's budget, in nats; a part of 0 means that nothing is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Spent on the list of neighbours.
    pub links: f64,
    /// Spent on the degree.
    pub degree: f64,
}

/// A budget that cannot be spent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BudgetError {
    /// Not a positive number.
    #[error("epsilon must be a positive number of nats (or inf for no privacy), not {0}")]
    Epsilon(f64),
    /// Outside the unit interval.
    #[error(
        "degree_fraction must lie in [0, 1] (or be \"auto\", \"auto-with-bits\", \"public-rule\" or \"advised\"), not {0}"
    )]
    DegreeFraction(String),
}

impl Epsilon {
    /// No privacy.
    pub const INFINITE: Self = Self(f64::INFINITY);

    /// The budget in nats.
    #[must_use]
    pub fn nats(self) -> f64 {
        self.0
    }

    /// Splits the budget between the degree and the list of neighbours.
    ///
    /// An infinite budget gives both parts an infinite share, unless a part gets none.
    #[must_use]
    pub fn split(self, fraction: DegreeFraction) -> Budget {
        let share = |fraction: f64| if fraction == 0.0 { 0.0 } else { self.0 * fraction };
        let fraction = fraction.share(self, None);
        let degree = share(fraction);
        let links = if self.0.is_infinite() { share(1.0 - fraction) } else { self.0 - degree };
        Budget { links, degree }
    }
}

impl DegreeFraction {
    /// A share that depends on the budget alone, never on data: 0.2 nats for the degree, at most 35 % of the whole.
    ///
    /// # Source
    /// docs/benchmarks/degrees.md: simulations of graphs with a public number of nodes and an assumed mean degree give
    /// almost the same nats at every budget, for several shapes and a threefold error in the mean.
    pub const AUTO: Self = Self(Choice::Auto);

    /// For a server that reads degrees off the bits too: nothing from `ln(1 + √n / 10)` nats on, where the bits alone
    /// do better; below, as [`Self::AUTO`].
    ///
    /// Double claims tell a small degree with a standard deviation of `√n p / (1 − 2p) = √n / (e^ε − 1)` links, where
    /// `p` is the probability of a flipped bit, so they suffice where this is at most 10 links. The rule looks at the
    /// budget and at the number of nodes `n`, which is public (docs/benchmarks/estimators.md).
    pub const AUTO_WITH_BITS: Self = Self(Choice::AutoWithBits);

    /// Nine tenths up to 3 nats, a tenth above: what the published search chose for most cells, as a rule that costs
    /// nothing because it looks at no data.
    pub const PUBLIC_RULE: Self = Self(Choice::PublicRule);

    /// The share with which a server finds most links, computed from public knowledge about the graph alone. Whoever has
    /// that knowledge replaces this choice by a number; until then it is [`Self::AUTO_WITH_BITS`].
    pub const ADVISED: Self = Self(Choice::Advised);

    /// Whether the share is still to be chosen by public knowledge.
    #[must_use]
    pub fn is_advised(self) -> bool {
        self.0 == Choice::Advised
    }

    /// Number of nodes that [`Self::AUTO_WITH_BITS`] assumes where it is not known; bits then suffice from 3 nats on.
    /// A degree that was not needed costs little, and a degree that is missing costs much.
    const ASSUMED_NODES: usize = 36_500;

    /// Whole budget in nats from which on the bits alone do better.
    fn bits_suffice(n_nodes: Option<usize>) -> f64 {
        libm::log(1.0 + (n_nodes.unwrap_or(Self::ASSUMED_NODES) as f64).sqrt() / 10.0)
    }

    /// The same share of this budget, as a number instead of a rule. `n_nodes` is the number of nodes, where it is
    /// known.
    #[must_use]
    pub fn resolved(self, epsilon: Epsilon, n_nodes: Option<usize>) -> Self {
        Self(Choice::Share(self.share(epsilon, n_nodes)))
    }

    /// The share of this budget, in `[0, 1]`. `n_nodes` is the number of nodes, where it is known.
    #[must_use]
    pub fn share(self, epsilon: Epsilon, n_nodes: Option<usize>) -> f64 {
        match self.0 {
            Choice::Share(share) => share,
            Choice::PublicRule if epsilon.0 <= 3.0 => 0.9,
            Choice::PublicRule => 0.1,
            Choice::AutoWithBits | Choice::Advised if epsilon.0 >= Self::bits_suffice(n_nodes) => 0.0,
            Choice::Auto | Choice::AutoWithBits | Choice::Advised => (0.2 / epsilon.0).min(0.35),
        }
    }
}

impl TryFrom<f64> for Epsilon {
    type Error = BudgetError;
    fn try_from(nats: f64) -> Result<Self, BudgetError> {
        if nats > 0.0 { Ok(Self(nats)) } else { Err(BudgetError::Epsilon(nats)) }
    }
}

impl TryFrom<f64> for DegreeFraction {
    type Error = BudgetError;
    fn try_from(share: f64) -> Result<Self, BudgetError> {
        let is_share = (0.0..=1.0).contains(&share);
        if is_share { Ok(Self(Choice::Share(share))) } else { Err(BudgetError::DegreeFraction(share.to_string())) }
    }
}

impl TryFrom<Written> for DegreeFraction {
    type Error = BudgetError;
    fn try_from(written: Written) -> Result<Self, BudgetError> {
        match written {
            Written::Share(share) => Self::try_from(share),
            Written::Name(name) if name == "auto" => Ok(Self::AUTO),
            Written::Name(name) if name == "auto-with-bits" => Ok(Self::AUTO_WITH_BITS),
            Written::Name(name) if name == "public-rule" => Ok(Self::PUBLIC_RULE),
            Written::Name(name) if name == "advised" => Ok(Self::ADVISED),
            Written::Name(name) => Err(BudgetError::DegreeFraction(format!("`{name}`"))),
        }
    }
}

impl From<Epsilon> for f64 {
    fn from(epsilon: Epsilon) -> Self {
        epsilon.0
    }
}

impl From<DegreeFraction> for Written {
    fn from(fraction: DegreeFraction) -> Self {
        match fraction.0 {
            Choice::Share(share) => Self::Share(share),
            Choice::Auto => Self::Name("auto".to_owned()),
            Choice::AutoWithBits => Self::Name("auto-with-bits".to_owned()),
            Choice::PublicRule => Self::Name("public-rule".to_owned()),
            Choice::Advised => Self::Name("advised".to_owned()),
        }
    }
}

impl fmt::Display for Epsilon {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests;
