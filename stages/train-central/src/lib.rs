//! A trusted curator, who holds links, features and labels, trains a model and releases nothing else.
//!
//! One file per learner. A learner says what its noise costs before any data are read, and learns with that noise. What
//! all share is here: the data, the released model, and the stage function that charges and runs a learner.

mod aggregation;
mod data;
mod dp_mlp;
mod dpar;
mod error;
mod fitting;
mod gap;
mod guarantee;
mod known;
mod model;
mod params;
mod progap;
mod sage;

use std::marker::PhantomData;

use veilgraph_contract::{Draws, HeldOut, Owner, Private, Progress, Release, Stage, StageRng};
use veilgraph_dp_sgd::Shape;
use veilgraph_graph::{AdjacencyList, Features, Labels, ModelPredictions, Nodes, Predictions, Split};

pub use data::Data;
pub use dp_mlp::DpMlp;
pub use dpar::Dpar;
pub use error::Error;
pub use gap::Gap;
pub use guarantee::Guarantee;
pub use known::guarantee;
pub use model::ReleasedModel;
pub use params::{Accounting, Level, Params, VectorRelease};
pub use progap::ProGap;
pub use sage::Sage;

/// A way to learn under central differential privacy.
pub trait Learner: Send + Sync + 'static {
    /// `[train] task`, and the name of the stage function.
    const NAME: &'static str;

    /// The parameters with this learner's defaults, and without what it does not read.
    #[must_use]
    fn complete(params: Params) -> Params;

    /// What the noise costs that [`Learner::learn`] adds. Pure: known before any data are read.
    ///
    /// # Errors
    /// When a parameter makes no sense, or no noise keeps the budget.
    fn guarantee(params: &Params) -> Result<Guarantee, Error>;

    /// Columns that the widest of its networks reads, where nodes have so many features.
    #[must_use]
    fn most_inputs(_params: &Params, n_features: usize) -> usize {
        n_features
    }

    /// Learns, with the noise of [`Learner::guarantee`].
    ///
    /// # Errors
    /// When the data admit no training.
    fn learn(data: &Data, training: &Training) -> Result<Learned, Error>;
}

/// One training of a learner.
pub struct Training<'a> {
    /// The learner's parameters.
    pub params: &'a Params,
    /// Noise multipliers, in the learner's own order: those of its guarantee.
    pub noise: &'a [f64],
    /// Source of random words that serve this learner and these parameters alone.
    pub rng: &'a StageRng,
    /// Shows steps and keeps checkpoints.
    pub progress: &'a Progress<'a>,
}

/// What a learner comes to.
pub struct Learned {
    /// What is released.
    pub model: ReleasedModel,
    /// Class probabilities of every node, `[n_nodes, n_classes]`. Each is for the node itself: it follows from the released
    /// model, from the node's features, and from what its neighbours have or from noisy sums over them. It is no part of the
    /// release.
    pub probabilities: Vec<f32>,
}

/// Most parameters of one network. With its gradient and Adam's moments, it takes 20 bytes for each of them.
const MOST_PARAMETERS: usize = 1 << 28;

/// Trains with the learner `L`.
///
/// # Privacy
/// [`Learner::guarantee`] bounds what the released model tells about one node or one link. The predictions are handed to the
/// auditor alone: each is for the node that it is about.
pub struct TrainCentral<L>(PhantomData<L>);

impl<L: Learner> Stage for TrainCentral<L> {
    const STAGE: &'static str = "train";
    const TASK: &'static str = L::NAME;
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = Params;
    type Inputs = (Nodes, Private<AdjacencyList>, Private<Features>, Private<Labels>);
    type Outputs = (ReleasedModel, HeldOut<Predictions>);
    type Error = Error;

    fn releases(params: &Params) -> Vec<Release> {
        known::guarantee::<L>(params)
            .map_or_else(|error| vec![guarantee::refused(&error)], |guarantee| guarantee.releases())
    }

    const CHECKS: bool = true;

    fn check((nodes, _, Private(features), _): &Self::Inputs, params: &Params) -> Result<(), Error> {
        let n_training = nodes.members(Split::Train).len();
        params.check_delta(n_training, nodes.splits.len())?;
        params.check_sizes(n_training)?;
        let inputs = L::most_inputs(params, features.0.n_columns());
        let shape = Shape { inputs, hidden: params.hidden, classes: nodes.n_classes };
        if shape.n_parameters() > MOST_PARAMETERS {
            return Err(Error::Params(format!(
                "hidden = {} makes a network of {} parameters, and at most {MOST_PARAMETERS} are trained; lower it",
                params.hidden,
                shape.n_parameters()
            )));
        }
        Ok(())
    }

    fn run(
        (nodes, Private(links), Private(features), Private(labels)): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let data = Data::new(nodes, links, &features.0, &labels)?;
        let noise = known::guarantee::<L>(params)?.multipliers;
        // Learners and budgets share no random word, or two releases would tell more than both cost.
        let rng = rng.for_release(&known::name_of::<L>(params));
        let learned = L::learn(&data, &Training { params, noise: &noise, rng: &rng, progress })?;
        if !learned.probabilities.iter().all(|probability| probability.is_finite()) {
            return Err(Error::NoNumber);
        }
        let predictions = Predictions {
            n_classes: data.n_classes,
            settings: vec![String::new()],
            models: vec![ModelPredictions { model: 0, probabilities: learned.probabilities }],
        };
        Ok((learned.model, HeldOut(predictions)))
    }
}

#[cfg(test)]
mod tests;
