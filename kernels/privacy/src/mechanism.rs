//! How links are protected, by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use veilgraph_contract::Invalid;

use crate::budget::{Budget, DegreeFraction, Epsilon};

/// How links are protected (specs: sections 1 and 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mechanism {
    /// Randomized response on the list, Laplace noise on the degree (Zhu, Tan, Xiao 2023, algorithm 1).
    #[default]
    #[serde(rename = "blink")]
    Blink,
    /// Randomized response on the list; the server takes the noisy links as they are, each in its direction.
    #[serde(rename = "rr")]
    RandomizedResponse,
    /// The same, but each pair is reported once, by the node with the larger number.
    #[serde(rename = "symrr")]
    SymmetricRandomizedResponse,
    /// Laplace noise on every entry of the list; the server keeps as many pairs as it estimates links
    /// (Wu et al. 2022, `LapGraph`, made local).
    #[serde(rename = "l-dpgcn")]
    LocalDpGcn,
    /// Randomized response and a noisy degree; the server keeps as many noisy links as the degree says
    /// (Hidano, Murakami 2022).
    #[serde(rename = "dprr")]
    DegreePreserving,
    /// Noisy counts of neighbours in groups, twice; the server draws links from them (Qin et al. 2017).
    #[serde(rename = "ldpgen")]
    LdpGen,
    /// Randomized response; the server learns weights of links while it trains (Lin, Li, Wang 2022).
    #[serde(rename = "solitude")]
    Solitude,
    /// The lists themselves, at an infinite budget.
    #[serde(rename = "non-private")]
    NonPrivate,
    /// Nothing at all.
    #[serde(rename = "no-links")]
    NoLinks,
}

impl Mechanism {
    /// All of them, as the paper's figures list them.
    pub const ALL: [Self; 9] = [
        Self::Blink,
        Self::RandomizedResponse,
        Self::SymmetricRandomizedResponse,
        Self::LocalDpGcn,
        Self::DegreePreserving,
        Self::LdpGen,
        Self::Solitude,
        Self::NonPrivate,
        Self::NoLinks,
    ];

    /// Name as in a config.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Blink => "blink",
            Self::RandomizedResponse => "rr",
            Self::SymmetricRandomizedResponse => "symrr",
            Self::LocalDpGcn => "l-dpgcn",
            Self::DegreePreserving => "dprr",
            Self::LdpGen => "ldpgen",
            Self::Solitude => "solitude",
            Self::NonPrivate => "non-private",
            Self::NoLinks => "no-links",
        }
    }

    /// How many bits of the lists an undirected link stands in, hence what a link costs in units of a list bit.
    #[must_use]
    pub fn reports_per_link(self) -> f64 {
        match self {
            Self::NoLinks => 0.0,
            Self::SymmetricRandomizedResponse => 1.0,
            _ => 2.0,
        }
    }

    /// Whether a node sends its degree beside its list.
    #[must_use]
    pub fn sends_degree(self) -> bool {
        matches!(self, Self::Blink | Self::DegreePreserving)
    }

    /// What a node spends: all of it on the list, unless the mechanism asks for the degree too.
    #[must_use]
    pub fn budget(self, epsilon: Epsilon, fraction: DegreeFraction) -> Budget {
        match self {
            Self::NoLinks => Budget { links: 0.0, degree: 0.0 },
            Self::NonPrivate => Budget { links: f64::INFINITY, degree: 0.0 },
            _ if self.sends_degree() => epsilon.split(fraction),
            _ => Budget { links: epsilon.nats(), degree: 0.0 },
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Mechanism {
    type Err = Invalid;

    fn from_str(name: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.into_iter().find(|mechanism| mechanism.name() == name);
        found.ok_or_else(|| Invalid(format!("`{name}` is no mechanism")))
    }
}
