//! Full-batch training, with the model chosen at the lowest validation loss.

use std::sync::Arc;

use burn::backend::{Autodiff, Flex};
use burn::module::AutodiffModule;
use burn::optim::decay::WeightDecayConfig;
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::activation::log_softmax;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Int, Tensor, TensorData};
use rand::{Rng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};
use veilgraph_contract::StageRng;
use veilgraph_graph::{Features, Labels, SparseMatrix};

use crate::backend::GraphBackend;
use crate::device::Device;
use crate::network::{Aggregation, Architecture, Network, NetworkOptions};
use crate::operator::{GraphOperator, LinearMap, SparseMap};

/// Hyperparameters of one model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Step size of Adam.
    pub learning_rate: f64,
    /// L2 penalty on all parameters, inside Adam.
    pub weight_decay: f64,
    /// Share of hidden units dropped in each step.
    pub dropout: f64,
}

/// What all models of a grid have in common.
pub struct Dataset {
    features: Arc<dyn LinearMap>,
    aggregation: Aggregation,
    architecture: Architecture,
    options: NetworkOptions,
    n_classes: usize,
    training: Vec<(u32, u16)>,
    validation: Vec<(u32, u16)>,
}

/// One epoch of a model, measured after its step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochRecord {
    /// Mean cross-entropy on the training nodes, with dropout, before the step; in nats.
    pub train_loss: f64,
    /// Mean cross-entropy on the validation nodes; in nats.
    pub validation_loss: f64,
    /// Share of validation nodes that are classified correctly.
    pub validation_accuracy: f64,
}

/// A named parameter of a trained network.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Layer and role.
    pub name: String,
    /// Rows and columns.
    pub shape: [usize; 2],
    /// Row-major values.
    pub values: Vec<f32>,
}

/// A trained model at its best epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// Every epoch.
    pub curve: Vec<EpochRecord>,
    /// Epoch with the lowest validation loss (the first, if several).
    pub best_epoch: usize,
    /// Class probabilities at that epoch, row-major `[n_nodes, n_classes]`.
    pub probabilities: Vec<f32>,
    /// Parameters at that epoch.
    pub parameters: Vec<Parameter>,
}

/// Why a model was not trained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The loss was never a number.
    #[error("the validation loss was not a number in any epoch; lower the learning rate")]
    Diverged,
    /// GAT over all pairs would not fit.
    #[error(
        "soft attention lists all {0} pairs of nodes, more than {1}; use construct.variant = \"hybrid\" or another model"
    )]
    TooManyPairs(usize, usize),
    /// Labels and features speak of different graphs.
    #[error("{0} nodes in the graph, {1} in the features")]
    Mismatch(usize, usize),
}

impl Dataset {
    /// Prepares the maps that every model of a grid shares.
    ///
    /// # Errors
    /// When features and graph differ in size, or attention would list too many pairs.
    pub fn new(
        features: &Features,
        graph: GraphOperator,
        architecture: Architecture,
        options: NetworkOptions,
        labels: &Labels,
        training: &[u32],
        validation: &[u32],
    ) -> Result<Self, Failure> {
        let n_nodes = graph.n_nodes();
        if features.0.n_rows() != n_nodes {
            return Err(Failure::Mismatch(n_nodes, features.0.n_rows()));
        }
        let graph = if architecture == Architecture::Gat { all_pairs(graph)? } else { graph };
        let labelled = |nodes: &[u32]| nodes.iter().filter_map(|&node| Some((node, labels.class(node)?))).collect();
        Ok(Self {
            features: Arc::new(SparseMap::new(features.0.clone())),
            aggregation: architecture.aggregation(&Arc::new(graph), options),
            architecture,
            options,
            n_classes: labels.n_classes(),
            training: labelled(training),
            validation: labelled(validation),
        })
    }

    fn sizes(&self) -> [usize; 3] {
        [self.features.n_columns(), self.options.hidden, self.n_classes]
    }
}

/// Soft weights as explicit links, where that is affordable.
fn all_pairs(graph: GraphOperator) -> Result<GraphOperator, Failure> {
    const MOST: usize = 64_000_000;
    const BLOCK: usize = 64;
    let GraphOperator::Soft(operator) = graph else { return Ok(graph) };
    let n = operator.n_nodes();
    if n * n > MOST {
        return Err(Failure::TooManyPairs(n * n, MOST));
    }
    // A few columns of the identity at a time give the rows of the symmetric matrix.
    let mut rows: Vec<Vec<(u32, f32)>> = vec![Vec::with_capacity(n); n];
    for start in (0..n).step_by(BLOCK) {
        let width = BLOCK.min(n - start);
        let mut unit = vec![0.0; n * width];
        for column in 0..width {
            unit[(start + column) * width + column] = 1.0;
        }
        for (row, values) in operator.apply(&unit, width).chunks_exact(width).enumerate() {
            // Rounding can leave a tiny negative number where the probability is nearly zero.
            let entries = values.iter().enumerate().filter(|&(column, _)| start + column != row);
            rows[row].extend(entries.map(|(column, &value)| ((start + column) as u32, value.max(0.0))));
        }
    }
    let matrix = SparseMatrix::from_rows(n, rows);
    Ok(GraphOperator::Sparse(matrix.unwrap_or_else(|invalid| unreachable!("rows were filled in order: {invalid}"))))
}

/// Trains one model. Its result depends on `setting`, `epochs` and `rng` alone.
///
/// # Errors
/// When the validation loss was never a number.
pub fn train(
    dataset: &Dataset,
    setting: Setting,
    epochs: usize,
    device: Device,
    rng: &StageRng,
) -> Result<Trained, Failure> {
    match device {
        Device::Cpu => run::<Autodiff<Flex>>(dataset, setting, epochs, rng),
        #[cfg(feature = "cuda")]
        Device::Cuda => run::<Autodiff<burn::backend::Cuda>>(dataset, setting, epochs, rng),
        #[cfg(not(feature = "cuda"))]
        Device::Cuda => unreachable!("the stage asks `Device::check` first"),
    }
}

fn run<B: AutodiffBackend + GraphBackend>(
    dataset: &Dataset,
    setting: Setting,
    epochs: usize,
    rng: &StageRng,
) -> Result<Trained, Failure>
where
    B::InnerBackend: GraphBackend,
{
    let device: B::Device = Default::default();
    let purpose = |part: &str| format!("{part} {} {setting:?}", dataset.architecture.name());
    let mut network =
        Network::<B>::new(dataset.architecture, dataset.sizes(), &mut rng.fast_stream(&purpose("weights"), 0), &device);
    let mut dropout_stream = rng.fast_stream(&purpose("dropout"), 0);
    let mut optimizer = AdamConfig::new()
        .with_epsilon(1e-8)
        .with_weight_decay((setting.weight_decay > 0.0).then(|| WeightDecayConfig::new(setting.weight_decay as f32)))
        .init();
    let targets = Targets::<B>::new(&dataset.training, &device);
    let hidden_shape = [dataset.features.n_rows(), dataset.options.hidden];
    let mut curve = Vec::with_capacity(epochs);
    let mut best: Option<(usize, Vec<f32>, Vec<Vec<f32>>)> = None;
    for epoch in 0..epochs {
        let mask = dropout_mask(setting.dropout, hidden_shape, &mut dropout_stream)
            .map(|mask| Tensor::from_data(TensorData::new(mask, hidden_shape), &device));
        let logits = network.forward(dataset.architecture, &dataset.features, &dataset.aggregation, mask);
        let loss = targets.cross_entropy(logits);
        let train_loss = f64::from(host(loss.clone())[0]);
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        network = optimizer.step(setting.learning_rate, network, gradients);

        let fixed = network.valid();
        let logits = host(fixed.forward(dataset.architecture, &dataset.features, &dataset.aggregation, None));
        let (validation_loss, validation_accuracy) = score(&logits, dataset.n_classes, &dataset.validation);
        let lowest = best.as_ref().map_or(f64::INFINITY, |(epoch, ..)| {
            let record: &EpochRecord = &curve[*epoch];
            record.validation_loss
        });
        if validation_loss < lowest {
            best = Some((epoch, logits, fixed.values()));
        }
        curve.push(EpochRecord { train_loss, validation_loss, validation_accuracy });
    }
    let (best_epoch, logits, values) = best.ok_or(Failure::Diverged)?;
    let named = dataset.architecture.parameters(dataset.sizes()).into_iter().zip(values);
    Ok(Trained {
        curve,
        best_epoch,
        probabilities: softmax(&logits, dataset.n_classes),
        parameters: named.map(|((name, shape), values)| Parameter { name, shape, values }).collect(),
    })
}

fn host<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f32> {
    tensor.into_data().into_vec().unwrap_or_else(|error| unreachable!("tensors hold f32: {error:?}"))
}

/// The nodes whose loss is minimized.
struct Targets<B: Backend> {
    nodes: Tensor<B, 1, Int>,
    classes: Tensor<B, 2, Int>,
}

impl<B: Backend> Targets<B> {
    fn new(labelled: &[(u32, u16)], device: &B::Device) -> Self {
        let nodes: Vec<i32> = labelled.iter().map(|&(node, _)| node.cast_signed()).collect();
        let classes: Vec<i32> = labelled.iter().map(|&(_, class)| class.into()).collect();
        let n = labelled.len();
        Self {
            nodes: Tensor::from_data(TensorData::new(nodes, [n]), device),
            classes: Tensor::from_data(TensorData::new(classes, [n, 1]), device),
        }
    }

    fn cross_entropy(&self, logits: Tensor<B, 2>) -> Tensor<B, 1> {
        let log_probabilities = log_softmax(logits.select(0, self.nodes.clone()), 1);
        log_probabilities.gather(1, self.classes.clone()).mean().neg()
    }
}

/// Zero with probability `dropout`, else `1 / (1 - dropout)`.
fn dropout_mask(dropout: f64, shape: [usize; 2], rng: &mut ChaCha8Rng) -> Option<Vec<f32>> {
    if dropout == 0.0 {
        return None;
    }
    let threshold = (dropout * 2.0_f64.powi(32)).round() as u64;
    let kept = (1.0 / (1.0 - dropout)) as f32;
    Some((0..shape[0] * shape[1]).map(|_| if u64::from(rng.next_u32()) < threshold { 0.0 } else { kept }).collect())
}

/// Mean cross-entropy in nats, and accuracy, on labelled nodes.
fn score(logits: &[f32], n_classes: usize, labelled: &[(u32, u16)]) -> (f64, f64) {
    let (mut loss, mut correct) = (0.0, 0_u32);
    for &(node, class) in labelled {
        let row = &logits[node as usize * n_classes..(node as usize + 1) * n_classes];
        let most = row.iter().fold(f32::NEG_INFINITY, |most, &logit| most.max(logit));
        let total: f64 = row.iter().map(|&logit| libm::exp(f64::from(logit - most))).sum();
        loss += libm::log(total) - f64::from(row[usize::from(class)] - most);
        // The first of equal logits wins, as in argmax.
        correct += u32::from(row.iter().position(|&logit| logit == most) == Some(usize::from(class)));
    }
    let n = labelled.len() as f64;
    (loss / n, f64::from(correct) / n)
}

fn softmax(logits: &[f32], n_classes: usize) -> Vec<f32> {
    let row = |row: &[f32]| -> Vec<f32> {
        let most = row.iter().fold(f32::NEG_INFINITY, |most, &logit| most.max(logit));
        let terms: Vec<f64> = row.iter().map(|&logit| libm::exp(f64::from(logit - most))).collect();
        let total: f64 = terms.iter().sum();
        terms.into_iter().map(|term| (term / total) as f32).collect()
    };
    logits.chunks_exact(n_classes).flat_map(row).collect()
}

#[cfg(test)]
mod tests;
