//! What the server receives.

mod counts;
mod degrees;
mod entries;
mod features;
mod groups;
mod labels;
mod links;

use veilgraph_contract::{Facts, Invalid, Randomness};
use veilgraph_graph::{nodes_from_links, with_nodes_from_links};

use crate::budget::Budget;
use crate::count_noise::DegreeNoise;

pub use counts::NoisyCounts;
pub use degrees::NoisyDegrees;
pub use entries::NoisyEntries;
pub use features::{FeatureReportFacts, NoisyFeatures};
pub use groups::Groups;
pub use labels::{LabelReportFacts, NoisyLabels};
pub use links::{NoisyLinks, ReportedOnes};

/// Under which mechanism and budget the reports were made. The server learns it from the reports.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportFacts {
    /// Name of the mechanism that protects the links. It is there for people; no code decides by it.
    pub mechanism: String,
    /// Whole budget of a node, in nats per list bit.
    pub epsilon: f64,
    /// What an undirected link costs, in nats: it may stand in two lists.
    pub epsilon_edge: f64,
    /// Share spent on the degree.
    pub degree_fraction: f64,
    /// Both parts, in nats.
    pub budget: Budget,
    /// Noise on degrees, counts and entries.
    pub degree_noise: DegreeNoise,
    /// Where the noise came from.
    pub randomness: Randomness,
    /// Whether the set of nodes was taken from the links, so that a link can show in it.
    pub nodes_from_links: bool,
    /// Share of nodes that sent whatever they liked: a simulation.
    pub lying_share: f64,
}

/// This fact is there only where nodes lie, so that all other reports keep their bytes.
const LYING_SHARE: &str = "lying_share";

impl ReportFacts {
    /// Whether the reports may leave the laboratory: nobody can draw their noise again, it protects as
    /// executed, there is some, the set of nodes tells of no link, and every node reports for itself.
    #[must_use]
    pub fn are_deployable(&self) -> bool {
        let is_noise_sound = self.randomness == Randomness::Os && self.degree_noise.is_sound();
        is_noise_sound && self.epsilon.is_finite() && !self.nodes_from_links && self.lying_share == 0.0
    }

    /// As facts of an artifact.
    fn to_facts(&self) -> Facts {
        let facts = Facts::default()
            .with("mechanism", &self.mechanism)
            .with("epsilon", self.epsilon)
            .with("epsilon_edge", self.epsilon_edge)
            .with("degree_fraction", self.degree_fraction)
            .with("epsilon_links", self.budget.links)
            .with("epsilon_degree", self.budget.degree)
            .with("degree_noise", self.degree_noise.name())
            .with("randomness", self.randomness.name())
            .with("deployable", self.are_deployable());
        let facts = with_nodes_from_links(facts, self.nodes_from_links);
        if self.lying_share == 0.0 { facts } else { facts.with(LYING_SHARE, self.lying_share) }
    }

    /// The facts of a report from those of its artifact.
    ///
    /// # Errors
    /// When one is absent or unreadable.
    pub fn from_facts(facts: &Facts) -> Result<Self, Invalid> {
        let budget = Budget { links: facts.get("epsilon_links")?, degree: facts.get("epsilon_degree")? };
        let epsilon: f64 = facts.get("epsilon")?;
        let parts = budget.links + budget.degree;
        // The server weighs the bits by these numbers, so they must make sense together.
        let adds_up = parts == epsilon || (parts / epsilon - 1.0).abs() < 1e-12;
        if !(budget.links >= 0.0 && budget.degree >= 0.0 && adds_up) {
            return Err(Invalid(format!(
                "epsilon_links {} and epsilon_degree {} are not the parts of epsilon {epsilon}",
                budget.links, budget.degree
            )));
        }
        Ok(Self {
            mechanism: facts.get("mechanism")?,
            epsilon,
            epsilon_edge: facts.get("epsilon_edge")?,
            degree_fraction: facts.get("degree_fraction")?,
            budget,
            degree_noise: facts.get("degree_noise")?,
            randomness: facts.get("randomness")?,
            nodes_from_links: nodes_from_links(facts)?,
            lying_share: lying_share(facts)?,
        })
    }
}

/// Share of nodes that sent whatever they liked; 0 where the facts say nothing about it.
fn lying_share(facts: &Facts) -> Result<f64, Invalid> {
    let share = if facts.0.contains_key(LYING_SHARE) { facts.get(LYING_SHARE)? } else { 0.0 };
    if (0.0..1.0).contains(&share) { Ok(share) } else { Err(Invalid(format!("lying_share {share} is not in [0, 1)"))) }
}

#[cfg(test)]
mod tests;
