//! What features and training labels say about the classes of all nodes, before any report about links is read.

use rand::seq::SliceRandom;
use rayon::prelude::*;
use veilgraph_contract::{Draws, NoParams, Progress, Server, Stage, StageRng};
use veilgraph_graph::{ClassBeliefs, EstimatedFeatures, Features, Labels, Nodes, Split, WeightedGraph};
use veilgraph_nn::{
    Architecture, Dataset, Device, Failure, GraphOperator, NetworkOptions, models_at_a_time, on_threads, train,
};

use crate::Error;
use crate::bins::AllPairs;
use crate::class_network::{Purpose, schedule, setting};
use crate::classes::Classes;
use crate::compared::HeldFeatures;
use crate::labelled_sample::{LabelledSample, ask_perceptron, without_links};
use crate::neighbours::nearest_neighbours;
use crate::similar_graph::{NEIGHBOURS, most_alike};

/// Predicts the classes of all nodes from features and training labels alone.
///
/// Three networks predict: a perceptron, GraphSAGE over the graph of nearest neighbours, and GCN over the graph of the pairs
/// with the largest scores. A score rises with the cosine and with the probability that both nodes are of one class, as the
/// perceptron predicts. Each is trained five times, without a fifth of the training nodes. A training node is predicted
/// by the networks that did not see its label, and every other node by the mean of all five. The logarithms of the
/// predictions are added with weights and divided by a temperature, which make the labels of validation nodes likeliest.
///
/// Where there are more than 131,072 nodes, or 32,768 training nodes, the perceptron alone predicts, and is trained on at most
/// 32,768 of them, because to find the nearest neighbours of all nodes and to train on all of them takes too long there.
///
/// # Source
/// Stone (1974) for cross-validated predictions; Guo et al. (2017), On calibration of modern neural networks, for the
/// temperature.
pub struct BelieveClasses;

/// Parts of the training nodes.
const FOLDS: usize = 5;

impl Stage for BelieveClasses {
    const STAGE: &'static str = "similarity";
    const TASK: &'static str = "class-beliefs";
    /// The noise of training is a part of what every trial shows, at a floor as elsewhere.
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Server;
    type Params = NoParams;
    /// Features are public, or estimated from reports where nodes keep them private. Without features, and where classes
    /// cannot be learned, every node has the frequencies of the classes.
    type Inputs = (Nodes, Option<Features>, Option<EstimatedFeatures>, Labels);
    type Outputs = (ClassBeliefs,);
    type Error = Error;

    fn run(
        (nodes, public, estimated, labels): Self::Inputs,
        _: &NoParams,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let n_nodes = nodes.splits.len();
        if labels.n_classes() < 2 || (public.is_none() && estimated.is_none()) {
            return Ok((frequencies(&nodes, &labels)?,));
        }
        let features = HeldFeatures::new(public, estimated)?.with_length()?;
        let sample = LabelledSample::of(&nodes, &features, &labels, rng);
        let fit = CrossFit::new(&nodes, &features, &labels, sample.as_ref(), rng, progress);
        let unlinked = without_links(fit.nodes.splits.len());
        let perceptron = (Architecture::Mlp, &unlinked);
        if sample.is_some() {
            return believed(&nodes, &labels, fit.predict([perceptron]).map(Vec::from));
        }
        let directions = features.directions()?;
        let neighbours = nearest_neighbours(&directions, n_nodes, NEIGHBOURS)?;
        let without_links = match fit.predict([perceptron]) {
            Ok([without_links]) => without_links,
            Err(failure) => return believed(&nodes, &labels, Err(failure)),
        };
        // These classes are the believed ones, with which the graph and its network were measured; flatter ones were not tried.
        // GraphSAGE predicts classes a little better, but with them the networks on both graphs make the same mistakes, so
        // that it gains less to blend them.
        let classes = Some(Classes::new(labels.n_classes(), &without_links));
        let alike = most_alike(&AllPairs { directions, classes, n_nodes }, 4 * n_nodes)?;
        let networks = [(Architecture::GraphSage, &neighbours), (Architecture::Gcn, &alike)];
        let with_links = fit.predict(networks);
        let predicted = with_links.map(|[by_neighbours, by_score]| vec![without_links, by_neighbours, by_score]);
        believed(&nodes, &labels, predicted)
    }
}

/// Blends what networks predict; where they failed, the frequencies of the classes are believed.
fn believed(
    nodes: &Nodes,
    labels: &Labels,
    predicted: Result<Vec<Vec<f32>>, Failure>,
) -> Result<(ClassBeliefs,), Error> {
    match predicted {
        Ok(predicted) => Ok((blended(nodes, labels, &predicted)?,)),
        Err(too_large @ Failure::TooLarge { .. }) => Err(Error::TooLarge(too_large)),
        Err(reason) => {
            tracing::warn!("every node is believed to have the frequencies of the classes: {reason}");
            Ok((frequencies(nodes, labels)?,))
        }
    }
}

/// Divides the training nodes at random into parts with about equally many nodes of every class. The only training node of
/// a class is in no part, because networks without it would not know the class.
fn folds(nodes: &Nodes, labels: &Labels, rng: &StageRng) -> Vec<Vec<u32>> {
    let mut training = labels.of_nodes(&nodes.members(Split::Train));
    training.shuffle(&mut rng.fast_stream("folds", 0));
    training.sort_by_key(|&(_, class)| class);
    let training: Vec<(u32, u16)> =
        training.chunk_by(|a, b| a.1 == b.1).filter(|of_class| of_class.len() > 1).flatten().copied().collect();
    let part = |fold: usize| training.iter().skip(fold).step_by(FOLDS).map(|&(node, _)| node).collect();
    (0..FOLDS).map(part).collect()
}

/// Gives every node the frequencies of the classes among the training nodes, with one node more of each class.
fn frequencies(nodes: &Nodes, labels: &Labels) -> Result<ClassBeliefs, Error> {
    let mut counts = vec![1.0_f32; labels.n_classes()];
    for class in nodes.members(Split::Train).into_iter().filter_map(|node| labels.class(node)) {
        counts[usize::from(class)] += 1.0;
    }
    let total: f32 = counts.iter().sum();
    counts.iter_mut().for_each(|count| *count /= total);
    let beliefs = std::iter::repeat_n(counts, nodes.splits.len()).flatten().collect();
    Ok(ClassBeliefs::new(labels.n_classes(), beliefs)?)
}

/// Holds what all networks of a cross-fit have in common.
struct CrossFit<'a> {
    /// These nodes are asked about.
    asked: &'a HeldFeatures,
    /// The networks are trained on these.
    features: &'a HeldFeatures,
    nodes: &'a Nodes,
    labels: &'a Labels,
    /// Which of all nodes the networks are trained on, if not on all.
    members: Option<&'a [u32]>,
    folds: Vec<Vec<u32>>,
    rng: &'a StageRng,
    progress: &'a Progress<'a>,
}

impl<'a> CrossFit<'a> {
    /// Divides the training nodes of the graph, or of its sample, into parts.
    fn new(
        nodes: &'a Nodes,
        asked: &'a HeldFeatures,
        labels: &'a Labels,
        sample: Option<&'a LabelledSample>,
        rng: &'a StageRng,
        progress: &'a Progress<'a>,
    ) -> Self {
        let (nodes, features, labels, members) = match sample {
            Some(sample) => (&sample.nodes, &sample.features, &sample.labels, Some(sample.members.as_slice())),
            None => (nodes, asked, labels, None),
        };
        Self { asked, features, nodes, labels, members, folds: folds(nodes, labels, rng), rng, progress }
    }

    /// Predicts the classes of all nodes by networks on these graphs, of each architecture by one network for each fold.
    ///
    /// # Shapes
    /// Each prediction is `[n_nodes, n_classes]`, row-major.
    ///
    /// # Errors
    /// Fails when there is nothing to train on, the networks do not fit into memory, or one of them fails.
    fn predict<const N: usize>(&self, networks: [(Architecture, &WeightedGraph); N]) -> Result<[Vec<f32>; N], Failure> {
        let mut fold_of: Vec<Option<usize>> = vec![None; self.nodes.splits.len()];
        for (fold, nodes) in self.folds.iter().enumerate() {
            nodes.iter().for_each(|&node| fold_of[node as usize] = Some(fold));
        }
        let (training, validation) = (self.nodes.members(Split::Train), self.nodes.members(Split::Validation));
        let options = NetworkOptions::default();
        let dataset = |(architecture, graph)| {
            let (features, operator) = (self.features.input(), GraphOperator::explicit(graph));
            Dataset::new(features, operator, architecture, options, self.labels, &training, &validation)
        };
        let datasets: Vec<Dataset> = networks.into_iter().map(dataset).collect::<Result<_, Failure>>()?;
        // All of them side by side, so that few threads are idle at the end.
        let n_folds = self.folds.len();
        let at_a_time = models_at_a_time(&datasets, n_folds, self.asked.n_nodes(), self.progress)?;
        let trained = on_threads(N * n_folds, at_a_time, |number| {
            self.progress.report(number as u64, (N * n_folds) as u64);
            let (dataset, fold) = (&datasets[number / n_folds], number % n_folds);
            self.train(fold, &dataset.without(|node| fold_of[node as usize] == Some(fold))?)
        });
        let trained: Vec<Vec<f32>> = trained.into_iter().collect::<Result<_, Failure>>()?;
        Ok(std::array::from_fn(|number| self.cross_fitted(&trained[number * n_folds..][..n_folds], &fold_of)))
    }

    /// What the networks that did not see a node's label say about the node, on average.
    ///
    /// # Shapes
    /// `trained`: what the network without each fold says, `[n_nodes, n_classes]`; `fold_of`: the folds of the nodes that
    /// the networks are trained on. Returns `[n_nodes, n_classes]`, row-major.
    fn cross_fitted(&self, trained: &[Vec<f32>], fold_of: &[Option<usize>]) -> Vec<f32> {
        let n_classes = self.labels.n_classes();
        // Of nodes outside of a sample, no network has seen the label.
        let fold_of = match self.members {
            Some(members) => {
                let mut fold_of_all = vec![None; self.asked.n_nodes()];
                members.iter().zip(fold_of).for_each(|(&node, &fold)| fold_of_all[node as usize] = fold);
                fold_of_all
            }
            None => fold_of.to_vec(),
        };
        let mut predicted = vec![0.0; fold_of.len() * n_classes];
        for (row, (node, fold)) in predicted.chunks_exact_mut(n_classes).zip(fold_of.into_iter().enumerate()) {
            let unaware: Vec<&[f32]> = match fold {
                Some(fold) => vec![&trained[fold]],
                None => trained.iter().map(Vec::as_slice).collect(),
            };
            for probabilities in &unaware {
                let own = &probabilities[node * n_classes..][..n_classes];
                row.iter_mut().zip(own).for_each(|(sum, p)| *sum += p / unaware.len() as f32);
            }
        }
        predicted
    }

    /// Trains the network that does not see the labels of `fold`, and predicts the classes of all nodes.
    fn train(&self, fold: usize, dataset: &Dataset) -> Result<Vec<f32>, Failure> {
        let setting = setting(Purpose::Belief, self.folds.iter().map(Vec::len).sum(), fold as u64);
        let progress = self.progress.of_part();
        let mut models = train(dataset, &[setting], schedule(), Device::Cpu, self.rng, &progress);
        let model = models.remove(0)?;
        if self.members.is_none() {
            return Ok(model.probabilities);
        }
        ask_perceptron(model.parameters, NetworkOptions::default(), self.labels.n_classes(), self.asked)
    }
}

/// Adds the logarithms of predictions with the weights and the temperature that make the labels of validation nodes
/// likeliest.
///
/// # Shapes
/// `predicted`: each is `[n_nodes, n_classes]`, row-major.
fn blended(nodes: &Nodes, labels: &Labels, predicted: &[Vec<f32>]) -> Result<ClassBeliefs, Error> {
    const TEMPERATURES: [f64; 5] = [0.6, 0.8, 1.0, 1.25, 1.6];
    let n_classes = labels.n_classes();
    // Logarithms take longer than all else, and those of a node are the same for all weights and temperatures.
    let logs_of = |node: usize| -> Vec<f64> {
        let own = predicted.iter().flat_map(|predicted| &predicted[node * n_classes..][..n_classes]);
        own.map(|&probability| libm::log(f64::from(probability) + 1e-9)).collect()
    };
    let row = |logs_of_networks: &[f64], weights: &[f64], temperature: f64| -> Vec<f32> {
        let mut logs = vec![0.0; n_classes];
        for (of_network, weight) in logs_of_networks.chunks_exact(n_classes).zip(weights) {
            logs.iter_mut().zip(of_network).for_each(|(log, &own)| *log += weight * own / temperature);
        }
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let exponentials: Vec<f64> = logs.iter().map(|log| libm::exp(log - most)).collect();
        let total: f64 = exponentials.iter().sum();
        exponentials.into_iter().map(|exponential| (exponential / total) as f32).collect()
    };
    let validation: Vec<(Vec<f64>, u16)> = labels
        .of_nodes(&nodes.members(Split::Validation))
        .into_par_iter()
        .map(|(node, class)| (logs_of(node as usize), class))
        .collect();
    let loss = |weights: &[f64], temperature: f64| -> f64 {
        let of = |(logs, class): &(Vec<f64>, u16)| {
            -libm::log(f64::from(row(logs, weights, temperature)[usize::from(*class)]).max(1e-30))
        };
        validation.iter().map(of).sum()
    };
    let all_weights = in_quarters(predicted.len(), 4).into_iter();
    let blends: Vec<(Vec<f64>, f64)> =
        all_weights.flat_map(|weights| TEMPERATURES.map(|temperature| (weights.clone(), temperature))).collect();
    let losses: Vec<f64> = blends.par_iter().map(|(weights, temperature)| loss(weights, *temperature)).collect();
    let equal = (vec![1.0 / predicted.len() as f64; predicted.len()], 1.0);
    let mut best = (f64::INFINITY, &equal);
    for (&loss, blend) in losses.iter().zip(&blends) {
        if loss < best.0 {
            best = (loss, blend);
        }
    }
    let (loss, (weights, temperature)) = best;
    tracing::debug!(loss = loss / validation.len() as f64, ?weights, temperature, "classes believed from features");
    let of_node = |node| row(&logs_of(node), weights, *temperature);
    Ok(ClassBeliefs::new(n_classes, (0..nodes.splits.len()).into_par_iter().flat_map_iter(of_node).collect())?)
}

/// Returns every way to divide so many quarters among `n` weights, from those with the least first weight on.
fn in_quarters(n: usize, quarters: u32) -> Vec<Vec<f64>> {
    if n <= 1 {
        return vec![vec![f64::from(quarters) / 4.0; n]];
    }
    let with_first = |first: u32| {
        let rests = in_quarters(n - 1, quarters - first).into_iter();
        rests.map(move |rest| std::iter::once(f64::from(first) / 4.0).chain(rest).collect())
    };
    (0..=quarters).flat_map(with_first).collect()
}
