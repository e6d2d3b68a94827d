//! What the nodes send about their features.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Randomness, Zone};
use veilgraph_graph::{FEATURE_COLUMNS, FeatureMatrix};

/// Noisy reports about private features.
///
/// A value is what the node sent: a bit, a sign or a number. Where each node reports on some features only, what is not
/// listed was not reported, and stands for the middle of the range.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyFeatures {
    /// How the reports were made, and how they are read.
    pub facts: FeatureReportFacts,
    /// One row for each node.
    pub reports: FeatureMatrix,
}

/// Under which mechanism and budget features were reported.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureReportFacts {
    /// Name of the mechanism. It is there for people; no code decides by it.
    pub mechanism: String,
    /// What the report of a node costs, in nats, if all of its features are replaced; 0 where the report does not depend
    /// on them.
    pub epsilon: f64,
    /// The delta of `(epsilon, dp_delta)`-differential privacy; 0 for a pure cost.
    pub dp_delta: f64,
    /// Least and largest value that a feature can have.
    pub range: [f64; 2],
    /// The unbiased estimate of a feature is `offset + scale · value`; of one that was not reported, `offset`.
    pub offset: f64,
    /// See `offset`.
    pub scale: f64,
    /// Whether the guarantee holds as executed.
    pub sound: bool,
    /// Where the noise came from.
    pub randomness: Randomness,
}

impl FeatureReportFacts {
    /// Whether the reports may leave the laboratory: nobody can draw their noise again, it protects as executed, and
    /// there is some.
    #[must_use]
    pub fn are_deployable(&self) -> bool {
        self.sound && self.randomness == Randomness::Os && self.epsilon.is_finite()
    }

    fn to_facts(&self) -> Facts {
        Facts::default()
            .with("mechanism", &self.mechanism)
            .with("epsilon", self.epsilon)
            .with("dp_delta", self.dp_delta)
            .with("range_least", self.range[0])
            .with("range_most", self.range[1])
            .with("rectify_offset", self.offset)
            .with("rectify_scale", self.scale)
            .with("sound", self.sound)
            .with("randomness", self.randomness.name())
            .with("deployable", self.are_deployable())
    }

    fn from_facts(facts: &Facts) -> Result<Self, Invalid> {
        let read = Self {
            mechanism: facts.get("mechanism")?,
            epsilon: facts.get("epsilon")?,
            dp_delta: facts.get("dp_delta")?,
            range: [facts.get("range_least")?, facts.get("range_most")?],
            offset: facts.get("rectify_offset")?,
            scale: facts.get("rectify_scale")?,
            sound: facts.get("sound")?,
            randomness: facts.get("randomness")?,
        };
        let are_finite = [read.offset, read.scale, read.range[0], read.range[1]].into_iter().all(f64::is_finite);
        if !(are_finite && read.epsilon >= 0.0 && read.range[0] < read.range[1]) {
            return Err(Invalid(format!("the facts of the reports about features make no sense: {read:?}")));
        }
        Ok(read)
    }
}

// Every row is randomized by the node itself; the cost stands in the facts and in the ledger.
impl Public for NoisyFeatures {}

impl Artifact for NoisyFeatures {
    const NAME: &'static str = "noisy_features";
    const ZONE: Zone = Zone::Server;
    const IS_REPORT: bool = true;
    const COLUMNS: &'static [(&'static str, ColumnType)] = FEATURE_COLUMNS;

    fn facts(&self) -> Facts {
        let mut facts = self.facts.to_facts();
        facts.0.extend(self.reports.facts().0);
        facts
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        self.reports.blocks()
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let reports = FeatureMatrix::from_blocks(facts, blocks)?;
        Ok(Self { facts: FeatureReportFacts::from_facts(facts)?, reports })
    }

    fn footprint(facts: &Facts, stored: u64) -> Result<u64, Invalid> {
        FeatureMatrix::footprint(facts, stored)
    }
}
