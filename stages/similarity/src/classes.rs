//! This module estimates how likely two nodes are of one class.

use veilgraph_contract::{Progress, StageRng};
use veilgraph_graph::{Construction, Labels, Nodes, Split, WeightedGraph};
use veilgraph_nn::{
    Architecture, Dataset, Device, Failure, GraphOperator, InputFeatures, NetworkOptions, Schedule, Setting, train,
};

use crate::compared::HeldFeatures;

/// Holds the probability of every class at every node.
pub(crate) struct Classes {
    /// The shape is `[n_classes][n_nodes]`, so that one class is added to many nodes at once.
    by_class: Vec<Vec<f32>>,
    /// The same as `[n_nodes, n_classes]`, row-major, for one pair at a time.
    by_node: Vec<f32>,
}

impl Classes {
    /// Takes these probabilities.
    ///
    /// # Shapes
    /// `probabilities`: `[n_nodes, n_classes]`, row-major.
    pub(crate) fn new(n_classes: usize, probabilities: &[f32]) -> Self {
        let column = |class: usize| probabilities.iter().skip(class).step_by(n_classes).copied().collect();
        Self { by_class: (0..n_classes).map(column).collect(), by_node: probabilities.to_vec() }
    }

    /// Predicts the classes of all nodes where there are labels of at least two; warns where that fails.
    pub(crate) fn predicted(
        nodes: &Nodes,
        features: &HeldFeatures,
        labels: Option<Labels>,
        rng: &StageRng,
        progress: &Progress,
    ) -> Option<Self> {
        let labels = labels.filter(|labels| labels.n_classes() > 1)?;
        let predicted = Self::predict(nodes, features.input(), &labels, rng, progress);
        predicted.inspect_err(|reason| tracing::warn!("classes are left out of similarity: {reason}")).ok()
    }

    /// Predicts the classes of all nodes by a perceptron on the features. It is trained on the labels of training
    /// nodes, and the labels of validation nodes say when to stop.
    ///
    /// Training nodes get predicted classes too, not their true labels. Otherwise estimated links near training nodes
    /// would follow the labels better than links near test nodes, and training would not reflect the conditions of the
    /// test.
    ///
    /// # Errors
    /// Fails when there is nothing to train on.
    fn predict(
        nodes: &Nodes,
        features: InputFeatures,
        labels: &Labels,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self, Failure> {
        let n_nodes = nodes.splits.len();
        let no_links = WeightedGraph::undirected(Construction::Hard, n_nodes, Vec::new());
        let options = NetworkOptions { gat_double_weight: false, ..NetworkOptions::default() };
        let [training, validation] = [Split::Train, Split::Validation].map(|split| nodes.members(split));
        let graph = GraphOperator::explicit(&no_links);
        let dataset = Dataset::new(features, graph, Architecture::Mlp, options, labels, &training, &validation)?;
        let settings = [1e-3, 1e-4].map(|weight_decay| Setting {
            learning_rate: 0.01,
            weight_decay,
            dropout: 0.5,
            initial_seed: 0,
        });
        let schedule = Schedule { patience: Some(30), ..Schedule::default() };
        let trained = train(&dataset, &settings, schedule, Device::Cpu, rng, progress);
        let mut best: Option<(f64, Vec<f32>)> = None;
        for model in trained {
            let model = model?;
            let loss = model.curve[model.best_epoch].validation_loss;
            if best.as_ref().is_none_or(|best| loss < best.0) {
                best = Some((loss, model.probabilities));
            }
        }
        let (loss, probabilities) = best.unwrap_or_default();
        tracing::debug!(loss, "classes predicted from features");
        Ok(Self::new(labels.n_classes(), &probabilities))
    }

    /// Returns the probability that two nodes are of one class: `Σ_c P(c | a) P(c | b)`.
    pub(crate) fn same_class(&self, a: usize, b: usize) -> f32 {
        let row = |node: usize| &self.by_node[node * self.by_class.len()..][..self.by_class.len()];
        row(a).iter().zip(row(b)).fold(0.0, |sum, (a, b)| sum + a * b)
    }

    /// Writes the probability that `node` and a later node are of one class: `Σ_c P(c | node) P(c | later node)`.
    ///
    /// # Shapes
    /// `same_class`: `[n_nodes − node − 1]`; entry `k` belongs to node `node + 1 + k`.
    pub(crate) fn same_class_with_later(&self, node: usize, same_class: &mut [f32]) {
        same_class.fill(0.0);
        for class in &self.by_class {
            let (probability, later) = (class[node], &class[node + 1..]);
            same_class.iter_mut().zip(later).for_each(|(sum, &later)| *sum += probability * later);
        }
    }
}
