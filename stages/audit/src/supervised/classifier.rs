//! A perceptron that tells linked pairs from others by their descriptions.

use std::sync::Arc;

use rand::seq::SliceRandom;
use veilgraph_attack::pair_descriptors::Standard;
use veilgraph_contract::{Invalid, Progress, StageRng};
use veilgraph_graph::{Construction, DenseMatrix, EstimatedFeatures, FeatureMatrix, Labels, WeightedGraph};
use veilgraph_nn::{
    Architecture, Dataset, Device, GraphOperator, GridDescription, NetworkOptions, SavedModel, Schedule, Setting, train,
};

use crate::Error;

/// A trained perceptron with the scale of its inputs.
pub(super) struct Classifier {
    standard: Standard,
    network: SavedModel,
}

/// Width of its hidden layer, as in the published attack.
const HIDDEN: usize = 64;

impl Classifier {
    /// Learns from descriptions and whether each is of a link. A fifth of them chooses the epoch.
    ///
    /// # Errors
    /// When there are too few pairs of either kind.
    pub(super) fn learn(described: &[(Vec<f64>, bool)], rng: &StageRng, progress: &Progress) -> Result<Self, Error> {
        let of_links = described.iter().filter(|pair| pair.1).count();
        if of_links < LEAST_OF_A_KIND || described.len() - of_links < LEAST_OF_A_KIND {
            return Err(Error::ShadowPairs(of_links, described.len() - of_links));
        }
        let rows: Vec<Vec<f64>> = described.iter().map(|pair| pair.0.clone()).collect();
        let standard = Standard::of(&rows);
        let features = features(&standard, &rows)?;
        let classes = (0..).zip(described).map(|(pair, described)| (pair, u16::from(described.1)));
        let labels = Labels::new(2, classes.collect())?;
        let mut order: Vec<u32> = (0..described.len() as u32).collect();
        order.shuffle(&mut rng.fast_stream("split of the shadow's pairs", 0));
        let (validation, training) = order.split_at(order.len() / 5);
        let sorted = |part: &[u32]| {
            let mut part = part.to_vec();
            part.sort_unstable();
            part
        };
        let setting = Setting { learning_rate: 0.01, weight_decay: 1e-5, dropout: 0.0, initial_seed: 0 };
        let options = NetworkOptions { hidden: HIDDEN, ..NetworkOptions::default() };
        let graph = without_links(described.len())?;
        let (training, validation) = (sorted(training), sorted(validation));
        let dataset = Dataset::new(&features, graph, Architecture::Mlp, options, &labels, &training, &validation)
            .map_err(Error::Shadow)?;
        let schedule = Schedule { epochs: 200, patience: Some(40), ..Schedule::default() };
        let trained = train(&dataset, &[setting], schedule, Device::Cpu, rng, &progress.of_part());
        let trained = trained.into_iter().next().ok_or_else(|| Invalid("no classifier was trained".to_owned()))?;
        let trained = trained.map_err(Error::Shadow)?;
        let loss = trained.curve[trained.best_epoch].validation_loss;
        let models = vec![(0, setting, loss)];
        let grid =
            GridDescription { architecture: Architecture::Mlp, options, n_classes: 2, models, class_names: Vec::new() };
        let network = SavedModel { grid, model: 0, parameters: trained.parameters };
        Ok(Self { standard, network })
    }

    /// The log odds that each description is of a link.
    ///
    /// # Errors
    /// When a description is not finite.
    pub(super) fn log_odds(&self, rows: &[Vec<f64>]) -> Result<Vec<f64>, Error> {
        let features = features(&self.standard, rows)?;
        let answers =
            self.network.probabilities(&features, &Arc::new(without_links(rows.len())?)).map_err(Error::Answer)?;
        // A probability that is zero in single precision is as small as one can be.
        let log = |probability: f32| libm::log(f64::from(probability.max(f32::MIN_POSITIVE)));
        Ok(answers.chunks_exact(2).map(|answer| log(answer[1]) - log(answer[0])).collect())
    }
}

/// Fewest pairs of a kind that a classifier learns anything from.
const LEAST_OF_A_KIND: usize = 20;

fn features(standard: &Standard, rows: &[Vec<f64>]) -> Result<EstimatedFeatures, Invalid> {
    let width = rows.first().map_or(0, Vec::len);
    let values = rows.iter().flat_map(|row| standard.applied(row)).collect();
    Ok(EstimatedFeatures::unpropagated(FeatureMatrix::Dense(DenseMatrix::new(rows.len(), width, values)?)))
}

fn without_links(n_nodes: usize) -> Result<GraphOperator, Invalid> {
    let graph = WeightedGraph::undirected(Construction::Given, n_nodes, Vec::new());
    GraphOperator::of(&graph, None, None)
}
