//! The `[privatize.links]` table, and what it costs.

use serde::{Deserialize, Serialize};
use veilgraph_contract::Randomness;
use veilgraph_privacy::{Budget, DegreeFraction, DegreeNoise, Epsilon, Mechanism, Relation, Release, ReportFacts};

/// The `[privatize.links]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How links are protected.
    #[serde(default)]
    pub mechanism: Mechanism,
    /// Whole budget of each node, in nats per bit of its list.
    pub epsilon: Epsilon,
    /// Share of the budget spent on the degree; 0 sends no degree, 1 sends no list; `"auto"`: by the budget alone.
    /// Only Blink and DPRR send one.
    #[serde(default = "default_degree_fraction")]
    pub degree_fraction: DegreeFraction,
    /// Noise on degrees, counts and entries.
    #[serde(default)]
    pub degree_noise: DegreeNoise,
    /// Share of nodes, in `[0, 1)`, that send nothing: a simulation of devices that are out of reach.
    #[serde(default)]
    pub missing_share: f64,
    /// Which pairs a node reports in symmetric randomized response.
    #[serde(default)]
    pub triangle: Triangle,
}

/// Which pairs a node reports in symmetric randomized response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Triangle {
    /// Those with nodes of smaller numbers, so that each pair is reported once.
    #[default]
    Strict,
    /// That with the next number too, as the published code does: such pairs are reported twice, and cost twice.
    PublishedCode,
}

impl Triangle {
    /// Whether `node` reports its pair with `other`.
    pub(crate) fn holds(self, node: u32, other: u32) -> bool {
        other < node || (self == Self::PublishedCode && other == node + 1)
    }
}

fn default_degree_fraction() -> DegreeFraction {
    DegreeFraction::try_from(0.1).unwrap_or_else(|_| unreachable!("0.1 lies in [0, 1]"))
}

impl Params {
    /// Both parts of a node's budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.mechanism.budget(self.epsilon, self.degree_fraction)
    }

    /// How many bits of the lists differ, at most, when a link is removed.
    fn lists_per_link(&self) -> f64 {
        let is_symmetric = self.mechanism == Mechanism::SymmetricRandomizedResponse;
        if is_symmetric && self.triangle == Triangle::PublishedCode { 2.0 } else { self.mechanism.reports_per_link() }
    }

    /// What the reports say about themselves.
    pub(crate) fn facts(&self, randomness: Randomness) -> ReportFacts {
        let budget = self.budget();
        let fraction = if self.mechanism.sends_degree() { self.degree_fraction.share(self.epsilon) } else { 0.0 };
        let epsilon = if self.mechanism.sends_degree() { self.epsilon.nats() } else { budget.links };
        ReportFacts {
            mechanism: self.mechanism,
            epsilon,
            epsilon_edge: if epsilon == 0.0 { 0.0 } else { self.lists_per_link() * epsilon },
            degree_fraction: fraction,
            budget,
            degree_noise: self.degree_noise,
            randomness,
        }
    }

    /// Why no deployment may use these parameters, if so.
    #[must_use]
    pub fn refused_in_deployment(&self) -> Option<&'static str> {
        if !self.degree_noise.is_sound() {
            Some("degree_noise = \"laplace\" leaks through its floating-point bits; use \"discrete-laplace\"")
        } else if self.budget().links.is_infinite() || self.epsilon.nats().is_infinite() {
            Some("the links themselves are released; choose a finite epsilon and a mechanism that protects")
        } else if self.missing_share > 0.0 {
            Some("missing_share simulates missing nodes; remove it")
        } else {
            None
        }
    }

    /// What one run of `privatize` releases: its rows in the ledger. No data is needed to know it.
    ///
    /// LDPGen runs it twice, at half the budget each time.
    #[must_use]
    pub fn releases(&self) -> Vec<Release> {
        let Budget { links, degree } = self.budget();
        let (noise, is_sound) = (self.degree_noise.name(), self.degree_noise.is_sound());
        // Without noise nothing can leak through its bits.
        let counted = |epsilon: f64| is_sound || epsilon.is_infinite();
        let parts = match self.mechanism {
            Mechanism::LocalDpGcn => vec![("link", format!("{noise} noise on entries"), links, counted(links))],
            Mechanism::LdpGen => {
                vec![("link", format!("{noise} noise on counts of neighbours"), links / 2.0, counted(links))]
            }
            Mechanism::NonPrivate => vec![("link", "none".to_owned(), links, true)],
            _ => vec![
                ("link", "randomized response".to_owned(), links, true),
                ("degree", format!("{noise} noise"), degree, is_sound),
            ],
        };
        let lists = self.lists_per_link();
        let rows = parts.into_iter().filter(|&(_, _, epsilon, _)| epsilon > 0.0);
        rows.flat_map(|(target, mechanism, epsilon, sound)| {
            [(Relation::ListBit, 1.0), (Relation::Edge, lists)].map(|(relation, lists)| Release {
                mechanism: mechanism.clone(),
                target: target.to_owned(),
                model: "local".to_owned(),
                relation,
                epsilon: lists * epsilon,
                dp_delta: 0.0,
                sound,
            })
        })
        .collect()
    }
}
