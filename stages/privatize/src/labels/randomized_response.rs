//! Randomized response on the class of each node.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Cost, Draws, Owner, Private, Progress, Relation, Release, Stage, StageRng, Subject, Trust};
use veilgraph_graph::Labels;
use veilgraph_privacy::generalized_response::GeneralizedResponse;
use veilgraph_privacy::{Epsilon, LabelReportFacts, NoisyLabels};

use crate::Error;

/// Each node whose class the server is to learn from (training and validation nodes) sends it with probability
/// `e^ε / (e^ε + c - 1)`, and each of the other classes equally often. An infinite budget sends the class itself.
///
/// # Privacy
/// `epsilon`-differentially private for the class of one node. Which nodes send one is public. See
/// [`GeneralizedResponse`] for the probabilities as executed.
///
/// # Source
/// Sajadmanesh, Gatica-Perez (2021), Locally private graph neural networks (LPGNN), CCS.
pub struct LocalLabels;

/// The table `[privatize.labels]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Budget in nats of the label of a node.
    pub epsilon: Epsilon,
}

impl LocalLabels {
    /// Name of the mechanism, as in `[privatize.labels] mechanism` and in the facts of the reports.
    pub const NAME: &'static str = "randomized-response";
}

impl Stage for LocalLabels {
    const STAGE: &'static str = "privatize";
    const TASK: &'static str = "labels-randomized-response";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = Params;
    type Inputs = (Private<Labels>,);
    type Outputs = (NoisyLabels,);
    type Error = Error;

    fn releases(params: &Params) -> Vec<Release> {
        let epsilon = params.epsilon.nats();
        let noise = if epsilon.is_infinite() { "none" } else { "randomized response on classes" };
        let row = |relation| Release {
            noise: noise.to_owned(),
            subject: Subject::Labels,
            trust: Trust::Local,
            relation,
            cost: Cost::Pure(epsilon),
            sound: true,
            claimed_epsilon: None,
            why: String::new(),
        };
        // A label is a part of features and label, which together cost the sum of what each costs.
        vec![row(Relation::Label), row(Relation::NodeAttrs)]
    }

    fn run(
        (Private(labels),): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let (epsilon, n_classes) = (params.epsilon.nats(), labels.n_classes());
        let response = GeneralizedResponse::new(epsilon, n_classes).ok_or(Error::Classes { n_classes, epsilon })?;
        let purpose = format!("labels {} {epsilon:?} of {n_classes} classes", Self::NAME);
        let answer =
            |&(node, class): &(u32, u16)| (node, response.respond(class, &mut rng.stream(&purpose, u64::from(node))));
        let sent = labels.classes().par_iter().map(answer).collect();
        let facts = LabelReportFacts {
            mechanism: Self::NAME.to_owned(),
            epsilon,
            truth_probability: response.truth_probability(),
            randomness: rng.randomness(),
        };
        Ok((NoisyLabels { facts, labels: Labels::new(n_classes, sent)? },))
    }
}

#[cfg(test)]
mod tests;
