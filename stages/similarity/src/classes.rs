//! How likely are two nodes of one class?

use veilgraph_contract::{Progress, StageRng};
use veilgraph_graph::{Construction, Features, Labels, Nodes, Split, WeightedGraph};
use veilgraph_nn::{
    Architecture, Dataset, Device, Failure, GraphOperator, NetworkOptions, SageNorm, Schedule, Setting, train,
};

/// Probability of every class at every node.
pub(crate) struct Classes {
    /// One row per class, so that a class is added to many nodes at once.
    by_class: Vec<Vec<f32>>,
}

impl Classes {
    /// What a perceptron on the features says, trained on the labels of training nodes and stopped by those of
    /// validation nodes. Its own training nodes are not given their labels: the graph would be purer around them
    /// than around the nodes that a network is tested on.
    ///
    /// # Errors
    /// When there is nothing to train on.
    pub(crate) fn predict(
        nodes: &Nodes,
        features: &Features,
        labels: &Labels,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self, Failure> {
        let n_nodes = nodes.splits.len();
        let no_links = WeightedGraph::undirected(Construction::Hard, n_nodes, Vec::new());
        let options = NetworkOptions { layers: 2, hidden: 16, sage_norm: SageNorm::Clamp1, gat_double_weight: false };
        let [training, validation] = [Split::Train, Split::Validation].map(|split| nodes.members(split));
        let graph = GraphOperator::explicit(&no_links);
        let dataset = Dataset::new(features, graph, Architecture::Mlp, options, labels, &training, &validation)?;
        let settings = [1e-3, 1e-4].map(|weight_decay| Setting {
            learning_rate: 0.01,
            weight_decay,
            dropout: 0.5,
            initial_seed: 0,
        });
        let schedule = Schedule { epochs: 300, patience: Some(30) };
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
        let n_classes = labels.n_classes();
        let of = |class: usize| probabilities.iter().skip(class).step_by(n_classes).copied().collect();
        Ok(Self { by_class: (0..n_classes).map(of).collect() })
    }

    /// Probability that `node` and every node after it are of one class.
    pub(crate) fn with_later(&self, node: usize, shared: &mut [f32]) {
        shared.fill(0.0);
        for class in &self.by_class {
            let (own, others) = (class[node], &class[node + 1..]);
            shared.iter_mut().zip(others).for_each(|(shared, &other)| *shared += own * other);
        }
    }
}
