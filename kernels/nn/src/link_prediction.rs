//! A variational graph auto-encoder: nodes become vectors, and pairs of similar vectors are links.
//!
//! The encoder is one graph convolution with batch normalization and `ReLU`, then one more that gives the mean and the
//! logarithm of the standard deviation of every node's vector. The decoder is the inner product. Training sees the links
//! of the graph alone. It runs on the CPU: the whole network is narrow, and its first product is all that takes time.

mod encoder;
mod loss;
mod sampler;

use std::sync::Arc;

use burn::backend::Flex;
use burn::tensor::{Tensor, TensorPrimitive};
use rand::Rng;
use veilgraph_contract::{Progress, StageRng};
use veilgraph_graph::{Construction, DenseMatrix, Embeddings, LinkSample, Ranking, WeightedGraph};
use veilgraph_operator::GraphOperator;

use crate::adam::{Corrections, Moments, Rates};
use crate::differentiable::Tracked;
use crate::dropout::Dropout;
use crate::failure::Failure;
use crate::grid::Setting;
use crate::input_features::InputFeatures;
use crate::ops::{DeviceOps, from_host, to_host};
use crate::training::on_threads;
use encoder::Encoder;
use loss::{Pairs, variational_loss};
use sampler::Sampler;

/// How a model of links is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkTraining {
    /// Width of the first layer.
    pub hidden: usize,
    /// Width of a node's vector.
    pub embedding: usize,
    /// Hyperparameters.
    pub setting: Setting,
    /// Most steps.
    pub epochs: usize,
    /// Steps from one evaluation to the next.
    pub check_every: usize,
    /// Evaluations in a row that are no better after which training stops.
    pub patience: Option<usize>,
    /// Steps before the first that counts for the patience.
    pub min_epochs: usize,
}

/// One evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRecord {
    /// Position of the step, from 0.
    pub epoch: usize,
    /// Loss of that step, in nats.
    pub train_loss: f64,
    /// Area under the ROC curve on the validation pairs after it.
    pub area_under_curve: f64,
}

/// Vectors of all nodes at the best evaluation, and all evaluations.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedLinks {
    /// Mean vectors.
    pub embeddings: Embeddings,
    /// Every evaluation.
    pub curve: Vec<LinkRecord>,
}

/// Trains a model of the links of `graph` and keeps it at its largest area under the ROC curve on `validation`.
///
/// The loss is that of PyTorch Geometric's VGAE: the mean of `−ln σ(z_i · z_j)` over links, plus that of
/// `−ln(1 − σ(z_i · z_j))` over as many pairs without a link, drawn anew for every step, plus the mean over nodes of the
/// divergence of their vector from a standard normal one, divided by the number of nodes.
///
/// # Errors
/// When sizes differ, graph or validation pairs lack what they need, or a loss is no finite number.
///
/// # Source
/// Kipf, Welling (2016), "Variational graph auto-encoders".
pub fn train_links<'f>(
    features: impl Into<InputFeatures<'f>>,
    graph: &WeightedGraph,
    validation: &LinkSample,
    training: &LinkTraining,
    rng: &StageRng,
    progress: &Progress,
) -> Result<TrainedLinks, Failure> {
    if matches!(graph.construction, Construction::Soft | Construction::Learned) {
        return Err(Failure::UnlistedLinks(graph.construction));
    }
    if validation.n_nodes != graph.n_nodes {
        return Err(Failure::Mismatch(graph.n_nodes, validation.n_nodes));
    }
    let sampler = Sampler::new(graph)?;
    let encoder = Encoder::new(features.into(), &Arc::new(GraphOperator::explicit(graph)), training)?;
    encoder.host_footprint().at_a_time(1, 1, progress.memory())?;
    // Not on a thread of rayon's, which might take up another model while it waits for a part of a product.
    let run = |_| fit(&encoder, &sampler, validation, training, &Streams { rng, setting: training.setting }, progress);
    on_threads(1, 1, run).remove(0)
}

/// Steps and evaluations of one model.
///
/// # Errors
/// As [`train_links`].
fn fit(
    encoder: &Encoder,
    sampler: &Sampler,
    validation: &LinkSample,
    training: &LinkTraining,
    stream: &Streams,
    progress: &Progress,
) -> Result<TrainedLinks, Failure> {
    let mut model = Model::new(encoder, training, stream);
    let (mut curve, mut best): (Vec<LinkRecord>, Option<(f64, usize, Embeddings)>) = (Vec::new(), None);
    for epoch in 0..training.epochs {
        let train_loss = model.step(epoch, sampler, stream);
        if !train_loss.is_finite() {
            return Err(Failure::Diverged(epoch));
        }
        progress.report(epoch as u64 + 1, training.epochs as u64);
        if (epoch + 1) % training.check_every != 0 && epoch + 1 != training.epochs {
            continue;
        }
        let embeddings = model.embeddings().ok_or(Failure::Diverged(epoch))?;
        let scores: Vec<_> = validation.pairs.iter().map(|&(i, j, is)| (embeddings.score(i, j), is)).collect();
        let area_under_curve = Ranking::of(scores).ok_or(Failure::NoValidationLinks)?.area_under_curve;
        curve.push(LinkRecord { epoch, train_loss, area_under_curve });
        if best.as_ref().is_none_or(|best| area_under_curve > best.0) {
            best = Some((area_under_curve, epoch, embeddings));
        }
        let best_epoch = best.as_ref().map_or(epoch, |best| best.1);
        let since = epoch.saturating_sub(best_epoch.max(training.min_epochs.saturating_sub(1))) / training.check_every;
        if training.patience.is_some_and(|patience| since >= patience) {
            break;
        }
    }
    let (.., embeddings) = best.ok_or(Failure::Diverged(0))?;
    Ok(TrainedLinks { embeddings, curve })
}

/// Random streams of one model: initial weights, dropout, noise of vectors and sampled pairs.
struct Streams<'a> {
    rng: &'a StageRng,
    setting: Setting,
}

impl Streams<'_> {
    /// Numbers for one purpose and one step.
    fn of(&self, part: &str, step: u64) -> rand::rngs::ChaCha8Rng {
        let Setting { learning_rate, weight_decay, dropout, initial_seed } = self.setting;
        self.rng.fast_stream(&format!("links {part} {learning_rate} {weight_decay} {dropout} {initial_seed}"), step)
    }
}

/// Parameters in training.
struct Model<'a> {
    encoder: &'a Encoder,
    embedding: usize,
    n_nodes: usize,
    parameters: Vec<burn::tensor::ops::FloatTensor<Flex>>,
    moments: Vec<Moments<Flex>>,
    rates: <Flex as DeviceOps>::AllRates,
    dropout: Option<<Flex as DeviceOps>::Dropouts>,
}

impl<'a> Model<'a> {
    fn new(encoder: &'a Encoder, training: &LinkTraining, stream: &Streams) -> Self {
        let device = Default::default();
        let initial = encoder.initial_values(&mut stream.of("weights", 0));
        let place =
            |values: Vec<f32>, [rows, columns]: [usize; 2]| from_host::<Flex>(values, [1, rows, columns], &device);
        let zeros = |[rows, columns]: [usize; 2]| place(vec![0.0; rows * columns], [rows, columns]);
        let Setting { learning_rate, weight_decay, dropout, .. } = training.setting;
        let rates = Rates { learning_rate: learning_rate as f32, weight_decay: weight_decay as f32 };
        let key = stream.of("dropout", 0).next_u64();
        Self {
            encoder,
            embedding: training.embedding,
            n_nodes: encoder.n_nodes(),
            moments: initial.iter().map(|(_, shape)| Moments { first: zeros(*shape), second: zeros(*shape) }).collect(),
            parameters: initial.into_iter().map(|(values, shape)| place(values, shape)).collect(),
            rates: Flex::all_rates(&[rates], &device),
            dropout: (dropout > 0.0).then(|| Flex::dropouts(&[Dropout::new(dropout, key)], &device)),
        }
    }

    /// One step of Adam; returns the loss before it.
    fn step(&mut self, epoch: usize, sampler: &Sampler, stream: &Streams) -> f64 {
        let parameters: Vec<Tracked<Flex>> =
            self.parameters.drain(..).map(|values| tracked(values).require_grad()).collect();
        let encoded = self.encoder.encode(&parameters, self.dropout.as_ref(), epoch as u32);
        let others = sampler.others(&mut stream.of("pairs", epoch as u64));
        let noise = sampler::normal(self.n_nodes * self.embedding, &mut stream.of("noise", epoch as u64));
        let pairs = Pairs { links: sampler.links(), others: &others };
        let loss = variational_loss(encoded, &noise, pairs);
        let value = to_host::<Flex>(loss.clone().inner().into_primitive().tensor())[0];
        let mut gradients = loss.sum().backward();
        let corrections = Corrections::at(epoch as u32 + 1);
        for (parameter, moments) in parameters.into_iter().zip(&mut self.moments) {
            let gradient = parameter.grad_remove(&mut gradients);
            let gradient = gradient.unwrap_or_else(|| unreachable!("every parameter has a gradient"));
            let [parameter, gradient] = [parameter.inner(), gradient].map(|tensor| tensor.into_primitive().tensor());
            self.parameters.push(Flex::adam(parameter, gradient, moments, &self.rates, corrections));
        }
        value.into()
    }

    /// Mean vectors at the present parameters; none if one is not finite.
    fn embeddings(&self) -> Option<Embeddings> {
        let parameters: Vec<Tracked<Flex>> = self.parameters.iter().cloned().map(tracked).collect();
        let encoded = self.encoder.encode(&parameters, None, 0);
        let encoded = to_host::<Flex>(encoded.inner().into_primitive().tensor());
        let means = encoded.chunks_exact(2 * self.embedding).flat_map(|row| &row[..self.embedding]).copied().collect();
        DenseMatrix::new(self.n_nodes, self.embedding, means).ok().map(Embeddings)
    }
}

/// A tensor as part of a computation whose gradient may be asked for.
fn tracked(values: burn::tensor::ops::FloatTensor<Flex>) -> Tracked<Flex> {
    Tensor::from_inner(Tensor::<Flex, 3>::from_primitive(TensorPrimitive::Float(values)))
}

#[cfg(test)]
mod tests;
