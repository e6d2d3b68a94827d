//! This module estimates how likely two nodes are of one class.

use veilgraph_contract::{Progress, StageRng};
use veilgraph_graph::{Labels, Nodes, Split};
use veilgraph_nn::{Architecture, Dataset, Device, Failure, GraphOperator, NetworkOptions, train};

use crate::Error;
use crate::class_network::{Purpose, schedule, setting};
use crate::compared::HeldFeatures;
use crate::labelled_sample::{LabelledSample, ask_perceptron, without_links};

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
    ///
    /// # Errors
    /// Fails where the network does not fit into memory.
    pub(crate) fn predicted(
        nodes: &Nodes,
        features: HeldFeatures,
        labels: Option<Labels>,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Option<Self>, Error> {
        let Some(labels) = labels.filter(|labels| labels.n_classes() > 1) else { return Ok(None) };
        let predicted = match features.with_length() {
            Ok(features) => match Self::predict(nodes, &features, &labels, rng, progress) {
                Err(too_large @ Failure::TooLarge { .. }) => return Err(Error::TooLarge(too_large)),
                predicted => predicted.map_err(|reason| reason.to_string()),
            },
            Err(invalid) => Err(invalid.0),
        };
        Ok(predicted.inspect_err(|reason| tracing::warn!("classes are left out of similarity: {reason}")).ok())
    }

    /// Predicts the classes of all nodes by a perceptron on the features. It is trained on the labels of training
    /// nodes, and the labels of validation nodes say when to stop; in large graphs on those of a sample.
    ///
    /// Training nodes get predicted classes too, not their true labels. Otherwise estimated links near training nodes
    /// would follow the labels better than links near test nodes, and training would not reflect the conditions of the
    /// test.
    ///
    /// # Errors
    /// Fails when there is nothing to train on.
    fn predict(
        nodes: &Nodes,
        features: &HeldFeatures,
        labels: &Labels,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self, Failure> {
        let sample = LabelledSample::of(nodes, features, labels, rng);
        let (nodes, known, labels) = match &sample {
            Some(sample) => (&sample.nodes, &sample.features, &sample.labels),
            None => (nodes, features, labels),
        };
        let options = NetworkOptions { gat_double_weight: false, ..NetworkOptions::default() };
        let [training, validation] = [Split::Train, Split::Validation].map(|split| nodes.members(split));
        let graph = GraphOperator::explicit(&without_links(nodes.splits.len()));
        let dataset = Dataset::new(known.input(), graph, Architecture::Mlp, options, labels, &training, &validation)?;
        let settings = [setting(Purpose::Listing, labels.of_nodes(&training).len(), 0)];
        let model = train(&dataset, &settings, schedule(), Device::Cpu, rng, progress).remove(0)?;
        let loss = model.curve[model.best_epoch].validation_loss;
        tracing::debug!(loss, "classes predicted from features");
        let probabilities = match &sample {
            Some(_) => ask_perceptron(model.parameters, options, labels.n_classes(), features)?,
            None => model.probabilities,
        };
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
