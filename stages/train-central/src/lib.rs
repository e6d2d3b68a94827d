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
mod model;
mod params;
mod progap;
mod sage;

use std::marker::PhantomData;

use veilgraph_contract::{Draws, HeldOut, Owner, Private, Progress, Release, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, Features, Labels, ModelPredictions, Nodes, Predictions};

pub use data::Data;
pub use dp_mlp::DpMlp;
pub use dpar::Dpar;
pub use error::Error;
pub use gap::Gap;
pub use guarantee::Guarantee;
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

    /// Learns, with the noise of [`Learner::guarantee`].
    ///
    /// # Errors
    /// When the data admit no training.
    fn learn(data: &Data, params: &Params, rng: &StageRng) -> Result<Learned, Error>;
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
        L::guarantee(params).map_or_else(|error| vec![guarantee::refused(&error)], |guarantee| guarantee.releases())
    }

    fn run(
        (nodes, Private(links), Private(features), Private(labels)): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let data = Data::new(nodes, links, &features.0, &labels)?;
        params.check_delta(data.training.len(), data.n_nodes())?;
        let learned = L::learn(&data, params, rng)?;
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
