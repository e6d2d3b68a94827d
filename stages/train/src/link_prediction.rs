//! The server learns which nodes are linked: vectors of nodes whose inner products predict links.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Draws, Invalid, Progress, Server, Stage, StageRng};
use veilgraph_graph::{Curves, Embeddings, EstimatedFeatures, Features, LinkSample, Nodes, WeightedGraph};
use veilgraph_nn::{Device, LinkTraining, Setting, train_links};

use crate::checks::{check_patience, check_setting};
use crate::params::OneOrMany;
use crate::{Error, given_features};

/// Trains a variational graph auto-encoder on the links of one graph (Kipf, Welling 2016).
///
/// The curve has one row for each evaluation. Its `validation_loss` is one minus the area under the ROC curve on the
/// validation pairs, which is its `validation_accuracy`: what is lowest is best, as for classes.
pub struct LinkPrediction;

/// The `[train]` table of link prediction. One setting is trained: lists are refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkPredictionParams {
    /// Width of the first layer.
    pub hidden: usize,
    /// Width of a node's vector.
    pub embedding: usize,
    /// Most steps of full-batch training.
    pub epochs: usize,
    /// Steps from one evaluation to the next.
    pub check_every: usize,
    /// Evaluations in a row that are no better after which training stops; all epochs if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<usize>,
    /// Steps before the first that the patience counts.
    pub min_epochs: usize,
    /// Step size of Adam.
    pub learning_rate: OneOrMany<f64>,
    /// L2 penalty.
    pub weight_decay: OneOrMany<f64>,
    /// Dropout rate of the hidden layer.
    pub dropout: OneOrMany<f64>,
    /// Draw of initial weights, masks, noise and sampled pairs.
    pub initial_seed: OneOrMany<u64>,
    /// Where to train: on the CPU.
    pub device: Device,
}

impl Default for LinkPredictionParams {
    /// What the private graph convolution was published with, without early stopping.
    fn default() -> Self {
        Self {
            hidden: 32,
            embedding: 16,
            epochs: 500,
            check_every: 10,
            patience: None,
            min_epochs: 0,
            learning_rate: OneOrMany::One(0.01),
            weight_decay: OneOrMany::One(0.01),
            dropout: OneOrMany::One(0.0),
            initial_seed: OneOrMany::One(0),
            device: Device::Cpu,
        }
    }
}

impl LinkPredictionParams {
    /// The one setting and how it is trained, if every field makes sense.
    ///
    /// # Errors
    /// Names the field, its value and its range.
    pub fn training(&self) -> Result<LinkTraining, String> {
        let setting = Setting {
            learning_rate: one("learning_rate", &self.learning_rate)?,
            weight_decay: one("weight_decay", &self.weight_decay)?,
            dropout: one("dropout", &self.dropout)?,
            initial_seed: one("initial_seed", &self.initial_seed)?,
        };
        check_setting(setting)?;
        let Self { hidden, embedding, epochs, check_every, patience, min_epochs, .. } = *self;
        if [hidden, embedding, epochs, check_every].contains(&0) || patience == Some(0) {
            return Err("hidden, embedding, epochs, check_every and patience must be at least 1".into());
        }
        check_patience(patience, min_epochs)?;
        if self.device != Device::Cpu {
            return Err("link prediction trains on the processor; use device = \"cpu\"".into());
        }
        Ok(LinkTraining { hidden, embedding, setting, epochs, check_every, patience, min_epochs })
    }
}

/// The only value of a field.
///
/// # Errors
/// When there are several, or none.
fn one<T: Copy>(field: &str, values: &OneOrMany<T>) -> Result<T, String> {
    match values.values() {
        [value] => Ok(*value),
        values => Err(format!("{field} has {} values; link prediction trains one setting, so give one", values.len())),
    }
}

impl Stage for LinkPrediction {
    const STAGE: &'static str = "train";
    const TASK: &'static str = "link-prediction";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Server;
    type Params = LinkPredictionParams;
    /// Messages pass over the links of the graph, and these are what is learned. Features are public or estimated: one
    /// of the two is given.
    type Inputs = (Nodes, Option<Features>, Option<EstimatedFeatures>, WeightedGraph, LinkSample);
    type Outputs = (Embeddings, Curves);
    type Error = Error;

    fn run(
        (nodes, public, estimated, graph, validation): Self::Inputs,
        params: &LinkPredictionParams,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let training = params.training().map_err(Error::Params)?;
        if nodes.splits.len() != graph.n_nodes {
            let (listed, linked) = (nodes.splits.len(), graph.n_nodes);
            return Err(Invalid(format!("{listed} nodes are listed, the graph has {linked}")).into());
        }
        let features = given_features(public.as_ref(), estimated.as_ref())?;
        let trained = train_links(features, &graph, &validation, &training, rng, progress)?;
        let mut curves = Curves::default();
        for record in trained.curve {
            curves.model.push(0);
            curves.epoch.push(record.epoch as u32);
            curves.train_loss.push(record.train_loss);
            curves.validation_loss.push(1.0 - record.area_under_curve);
            curves.validation_accuracy.push(record.area_under_curve);
        }
        Ok((trained.embeddings, curves))
    }
}

#[cfg(test)]
mod tests {
    use veilgraph_graph::{Construction, Split};

    use super::*;

    /// Two rings of twenty nodes, of which every seventh link is kept back.
    fn inputs() -> <LinkPrediction as Stage>::Inputs {
        let splits = vec![Split::Train; 40];
        let nodes =
            Nodes { dataset: "rings".into(), n_classes: 2, splits, nodes_from_links: false, class_names: Vec::new() };
        let rows = (0..40_u32).map(|node| vec![(node % 2, 1.0), (2 + node / 8, 1.0)]);
        let features = veilgraph_graph::SparseMatrix::from_rows(7, rows).expect("valid");
        let pairs = (0..40_u32).flat_map(|i| [(i, i + 2), (i, i + 4)]).filter(|pair| pair.1 < 40);
        let (held, links): (Vec<_>, Vec<_>) = pairs.partition(|(i, j)| (i + j) % 7 == 0);
        let mut sample: Vec<_> = held.iter().map(|&(i, j)| (i, j, true)).collect();
        sample.extend((0..20).map(|i| (i, i + 19, false)));
        let graph = links.into_iter().map(|(i, j)| (i, j, 1.0)).collect();
        let graph = WeightedGraph::undirected(Construction::Given, 40, graph);
        (nodes, Some(Features(features)), None, graph, LinkSample { n_nodes: 40, pairs: sample })
    }

    fn run(params: &LinkPredictionParams) -> Result<(Embeddings, Curves), Error> {
        LinkPrediction::run(inputs(), params, &StageRng::new(1, "train", 0), &Progress::none())
    }

    #[test]
    fn every_node_has_a_vector_and_every_evaluation_a_row() {
        let params = LinkPredictionParams { epochs: 60, ..LinkPredictionParams::default() };
        let (embeddings, curves) = run(&params).expect("trains");
        assert_eq!((embeddings.0.n_rows(), embeddings.0.n_columns()), (40, 16));
        assert_eq!(curves.epoch, [9, 19, 29, 39, 49, 59]);
        assert!(curves.kept_validation_loss(0) < 0.25, "{:?}", curves.validation_loss);
    }

    #[test]
    fn fields_of_link_prediction_are_checked() {
        let default = LinkPredictionParams::default;
        for (params, word) in [
            (LinkPredictionParams { learning_rate: OneOrMany::Many(vec![0.1, 0.2]), ..default() }, "learning_rate"),
            (LinkPredictionParams { dropout: OneOrMany::One(1.0), ..default() }, "dropout"),
            (LinkPredictionParams { embedding: 0, ..default() }, "embedding"),
            (LinkPredictionParams { min_epochs: 5, patience: None, ..default() }, "give patience"),
            (LinkPredictionParams { device: Device::Cuda, ..default() }, "cpu"),
        ] {
            let error = run(&params).expect_err(word);
            assert!(error.to_string().contains(word), "{error}");
        }
        let text = serde_json::to_string(&default()).expect("JSON");
        assert_eq!(serde_json::from_str::<LinkPredictionParams>(&text).expect("round trip"), default());
    }
}
