//! What the nodes send about their classes.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Randomness, Zone};
use veilgraph_graph::Labels;

/// Noisy classes of the training and validation nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyLabels {
    /// How the reports were made.
    pub facts: LabelReportFacts,
    /// The class that each node sent.
    pub labels: Labels,
}

/// Under which mechanism and budget classes were reported.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelReportFacts {
    /// Name of the mechanism. It is there for people; no code decides by it.
    pub mechanism: String,
    /// What a report costs, in nats, if the class is replaced.
    pub epsilon: f64,
    /// Probability that a node sends its true class; every other class has an equal share of the rest.
    pub truth_probability: f64,
    /// Where the noise came from.
    pub randomness: Randomness,
}

impl LabelReportFacts {
    /// Whether the reports may leave the laboratory: nobody can draw their noise again, and there is some.
    #[must_use]
    pub fn are_deployable(&self) -> bool {
        self.randomness == Randomness::Os && self.epsilon.is_finite()
    }
}

// Every class is randomized by the node itself; the cost stands in the facts and in the ledger.
impl Public for NoisyLabels {}

impl Artifact for NoisyLabels {
    const NAME: &'static str = "noisy_labels";
    const ZONE: Zone = Zone::Server;
    const IS_REPORT: bool = true;
    const COLUMNS: &'static [(&'static str, ColumnType)] = Labels::COLUMNS;

    fn facts(&self) -> Facts {
        let LabelReportFacts { mechanism, epsilon, truth_probability, randomness } = &self.facts;
        self.labels
            .facts()
            .with("mechanism", mechanism)
            .with("epsilon", epsilon)
            .with("truth_probability", truth_probability)
            .with("randomness", randomness.name())
            .with("deployable", self.facts.are_deployable())
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        self.labels.blocks()
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let labels = Labels::from_blocks(facts, blocks)?;
        let read = LabelReportFacts {
            mechanism: facts.get("mechanism")?,
            epsilon: facts.get("epsilon")?,
            truth_probability: facts.get("truth_probability")?,
            randomness: facts.get("randomness")?,
        };
        let blind = 1.0 / labels.n_classes().max(1) as f64;
        if !(read.epsilon > 0.0 && (blind..=1.0).contains(&read.truth_probability)) {
            return Err(Invalid(format!("the facts of the reports about classes make no sense: {read:?}")));
        }
        Ok(Self { facts: read, labels })
    }
}
