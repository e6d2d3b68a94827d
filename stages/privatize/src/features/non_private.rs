//! The features themselves: a reference, not a protection.

use veilgraph_contract::{
    Cost, Draws, NoParams, Owner, Private, Progress, Relation, Release, Stage, StageRng, Subject, Trust,
};
use veilgraph_graph::{FeatureMatrix, Features};
use veilgraph_privacy::{FeatureReportFacts, NoisyFeatures};

use crate::Error;

/// Each node sends its features as they are.
///
/// # Privacy
/// None: the cost is infinite, and no deployment accepts this mechanism.
pub struct NonPrivateFeatures;

impl Stage for NonPrivateFeatures {
    const STAGE: &'static str = "privatize";
    const TASK: &'static str = "features-non-private";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = NoParams;
    type Inputs = (Private<Features>,);
    type Outputs = (NoisyFeatures,);
    type Error = Error;

    fn releases(_: &NoParams) -> Vec<Release> {
        let row = |relation| Release {
            noise: "none".to_owned(),
            subject: Subject::Features,
            trust: Trust::Local,
            relation,
            cost: Cost::Pure(f64::INFINITY),
            sound: true,
            claimed_epsilon: None,
            why: String::new(),
        };
        vec![row(Relation::FeatureCoord), row(Relation::NodeFeatures), row(Relation::NodeAttrs)]
    }

    fn run(
        (Private(Features(entries)),): Self::Inputs,
        _: &NoParams,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let facts = FeatureReportFacts {
            mechanism: "non-private".to_owned(),
            epsilon: f64::INFINITY,
            dp_delta: 0.0,
            // Nobody declares a range where nothing is hidden; readers of the facts need one that is one.
            range: [0.0, 1.0],
            offset: 0.0,
            scale: 1.0,
            sound: true,
            randomness: rng.randomness(),
        };
        Ok((NoisyFeatures { facts, reports: FeatureMatrix::Sparse { fill: 0.0, entries } },))
    }
}
