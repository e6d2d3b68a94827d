//! How many models may train at a time in the memory that a run may use on the host.

use bytesize::ByteSize;
use veilgraph_contract::{Memory, Progress};

use crate::architecture::{Architecture, named};
use crate::dataset::Dataset;
use crate::failure::Failure;

/// Bytes of a number.
const NUMBER: u64 = 4;

/// What a model takes on the host, at least, in numbers of 4 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostFootprint {
    pub parameters: usize,
    /// What is kept beside parameters, their gradients and moments while the model trains: what layers give for nodes, and
    /// weights of links that are learned.
    pub values: usize,
    /// Class probabilities that are kept of the trained model.
    pub probabilities: usize,
    /// Whether the parameters of a trained model are kept until all are trained, and written then.
    pub keeps_parameters: bool,
}

impl HostFootprint {
    /// The footprint of a model on these data.
    pub(crate) fn of(dataset: &Dataset) -> Self {
        let sizes = named(dataset.layers()).into_iter().map(|(_, [rows, columns])| rows.saturating_mul(columns));
        let n_nodes = dataset.input.features.n_rows();
        // A square matrix of weights, and two moments of each.
        let n_learned = if dataset.learns_links() { 3 * n_nodes * n_nodes } else { 0 };
        Self {
            parameters: sizes.fold(0, usize::saturating_add),
            values: values_of_layers(dataset, n_nodes).saturating_add(n_learned),
            probabilities: if dataset.keeps_probabilities { n_nodes.saturating_mul(dataset.n_classes) } else { 0 },
            keeps_parameters: true,
        }
    }

    /// The footprint of a model that answers for so many nodes and is forgotten then.
    fn of_answers(dataset: &Dataset, n_asked: usize) -> Self {
        Self { probabilities: n_asked.saturating_mul(dataset.n_classes), keeps_parameters: false, ..Self::of(dataset) }
    }

    /// The footprint of a model that is as large as the larger of two in every regard.
    fn or_larger(self, other: Self) -> Self {
        Self {
            parameters: self.parameters.max(other.parameters),
            values: self.values.max(other.values),
            probabilities: self.probabilities.max(other.probabilities),
            keeps_parameters: self.keeps_parameters || other.keeps_parameters,
        }
    }

    /// Returns how many of `n_models` models train at a time on the host so that they take no more than the share of the memory: at
    /// least one and at most `wanted`; 0 where none is wanted, because they train on a device.
    ///
    /// Probabilities of all models are counted, and their parameters where these are kept. While models train, a gradient, two moments
    /// and the best value of each of their parameters and the values of layers come on top; when all are trained, parameters that are
    /// kept once more, as they are written.
    ///
    /// # Errors
    /// Where the models exceed the limit although they train one after the other.
    pub(crate) fn at_a_time(self, n_models: usize, wanted: usize, memory: Memory) -> Result<usize, Failure> {
        let Memory { limit, share } = memory;
        let Self { parameters, values, probabilities, keeps_parameters } = self;
        let of_all = |numbers: usize| (n_models as u64).saturating_mul(numbers as u64);
        let (kept_parameters, copies) = if keeps_parameters { (parameters, 4) } else { (0, 5) };
        let kept = of_all(kept_parameters.saturating_add(probabilities));
        let of_one = (parameters as u64).saturating_mul(copies).saturating_add(values as u64);
        let (values, while_training) = if wanted == 0 { (0, 0) } else { (values, of_one) };
        let needed = kept.saturating_add(while_training.max(of_all(kept_parameters))).saturating_mul(NUMBER);
        if needed > limit {
            return Err(Failure::TooLarge { n_models, n_parameters: parameters, n_values: values, needed, limit });
        }
        let most = (share / NUMBER).saturating_sub(kept) / of_one.max(1);
        let at_a_time = wanted.min(n_models).min(usize::try_from(most).unwrap_or(usize::MAX).max(1));
        if needed > share {
            tracing::warn!(
                "{n_models} models take at least {} of memory on the host, more than the {} that fall to each of the tasks that may train \
                 side by side; run fewer at a time (--jobs) if memory runs out",
                ByteSize(needed),
                ByteSize(share)
            );
        } else if at_a_time < wanted.min(n_models) {
            tracing::info!(
                "{at_a_time} of {wanted} models train at a time, because more do not fit into this task's share of --memory-limit"
            );
        }
        Ok(at_a_time)
    }
}

/// Returns how many models train at a time on the host, where so many are trained on each of these data, each answers for `n_asked`
/// nodes, and only the answers are kept: as many as there are threads and as fit into the memory that the task may use.
///
/// # Errors
/// Where the models do not fit although they train one after the other.
pub fn models_at_a_time(
    datasets: &[Dataset],
    n_of_each: usize,
    n_asked: usize,
    progress: &Progress,
) -> Result<usize, Failure> {
    let n_models = datasets.len() * n_of_each;
    let footprints = datasets.iter().map(|dataset| HostFootprint::of_answers(dataset, n_asked));
    let Some(footprint) = footprints.reduce(HostFootprint::or_larger) else { return Ok(0) };
    footprint.at_a_time(n_models, rayon::current_num_threads().min(n_models), progress.memory())
}

/// Numbers that the layers of a model keep at a time for all nodes, at least.
///
/// A backward pass holds the output of every hidden layer and, at its end, two more copies of one of them: activated, and as a
/// gradient. Attention holds each output before and after it. So it was measured with 2 to 5 layers for GCN and GAT, and with 2 layers
/// for the other networks (docs/benchmarks/training.md).
fn values_of_layers(dataset: &Dataset, n_nodes: usize) -> usize {
    let options = dataset.options;
    let hidden = options.hidden.saturating_mul(dataset.architecture.heads(options));
    let copies = match (options.layers, dataset.architecture) {
        (..=1, _) => 0,
        (layers, Architecture::Gat) => 2 * layers,
        (layers, _) => layers + 1,
    };
    n_nodes.saturating_mul(hidden.saturating_mul(copies).saturating_add(dataset.n_classes))
}

#[cfg(test)]
mod tests {
    use veilgraph_graph::{Construction, Features, Labels, WeightedGraph};
    use veilgraph_operator::GraphOperator;
    use veilgraph_operator::rows::matrix;

    use super::*;
    use crate::architecture::NetworkOptions;
    use crate::learned::{LinkLearning, ReportedLinks};
    use crate::training_graph::TrainingGraph;

    /// Ten models keep 10 · (5 + 2) numbers; each that trains takes 4 · 5 + 30 more.
    #[test]
    fn as_many_models_train_at_a_time_as_fit() {
        let footprint = HostFootprint { parameters: 5, values: 30, probabilities: 2, keeps_parameters: true };
        let of = |wanted, numbers: u64| footprint.at_a_time(10, wanted, Memory::of_one_task(numbers * NUMBER));
        assert_eq!(of(8, 70 + 3 * 50), Ok(3));
        assert_eq!(of(8, 70 + 3 * 50 - 1), Ok(2));
        assert_eq!(of(2, 70 + 3 * 50), Ok(2), "no more than are wanted");
        assert_eq!(of(16, u64::MAX / NUMBER), Ok(10), "no more than there are");
        assert_eq!(of(8, 70 + 50), Ok(1));
        let failure = |numbers: u64, n_values| {
            let (needed, limit) = (numbers * NUMBER, (numbers - 1) * NUMBER);
            Err(Failure::TooLarge { n_models: 10, n_parameters: 5, n_values, needed, limit })
        };
        assert_eq!(of(8, 70 + 50 - 1), failure(70 + 50, 30));
        // None trains here; all are written.
        assert_eq!(of(0, 70 + 50), Ok(0));
        assert_eq!(of(0, 70 + 50 - 1), failure(70 + 50, 0));
    }

    #[test]
    fn the_share_decides_how_many_train_at_a_time_and_the_limit_whether_they_do() {
        let footprint = HostFootprint { parameters: 5, values: 30, probabilities: 2, keeps_parameters: true };
        let of = |limit: u64, share: u64| {
            footprint.at_a_time(10, 8, Memory { limit: limit * NUMBER, share: share * NUMBER })
        };
        assert_eq!(of(1_000, 70 + 3 * 50), Ok(3));
        assert_eq!(of(1_000, 70), Ok(1), "less than one model takes");
        assert!(of(70 + 50 - 1, 70 + 50 - 1).is_err());
    }

    const NODES: usize = 20;

    fn dataset(graph: impl Into<TrainingGraph>, architecture: Architecture, layers: usize, heads: usize) -> Dataset {
        let row = |node: usize| vec![((node % 7) as u32, 1.0)];
        let features = Features(matrix(7, (0..NODES).map(row)));
        let labels = Labels::new(3, (0..NODES as u32).map(|node| (node, (node % 3) as u16)).collect()).expect("valid");
        let options = NetworkOptions { layers, hidden: 8, heads, ..NetworkOptions::default() };
        let (training, validation): (Vec<u32>, Vec<u32>) = ((0..10).collect(), (10..NODES as u32).collect());
        Dataset::new(&features, graph, architecture, options, &labels, &training, &validation).expect("valid")
    }

    fn links(construction: Construction) -> WeightedGraph {
        WeightedGraph::undirected(construction, NODES, (1..NODES as u32).map(|node| (node - 1, node, 1.0)).collect())
    }

    /// 20 nodes, 7 features, 8 hidden units and 3 classes.
    #[test]
    fn a_footprint_counts_layers_heads_learned_links_and_what_is_predicted() {
        let of = |architecture, layers, heads| {
            let graph = GraphOperator::explicit(&links(Construction::Hard));
            HostFootprint::of(&dataset(graph, architecture, layers, heads))
        };
        let gcn = of(Architecture::Gcn, 2, 1);
        assert_eq!(gcn.parameters, 7 * 8 + 8 + 8 * 3 + 3);
        assert_eq!(gcn.values, 20 * (3 * 8 + 3), "three copies of hidden values, and logits");
        assert_eq!(gcn.probabilities, 20 * 3);
        assert_eq!(of(Architecture::Gcn, 1, 1).values, 20 * 3, "logits alone");
        assert_eq!(of(Architecture::Mlp, 4, 1).values, 20 * (5 * 8 + 3));
        assert_eq!(
            of(Architecture::Gat, 3, 4).values,
            20 * (6 * 4 * 8 + 3),
            "before and after attention, of each head"
        );
        let reported = ReportedLinks::new(&links(Construction::Learned), LinkLearning::default());
        let learned = dataset(reported, Architecture::Gcn, 2, 1).without_probabilities();
        let learned = HostFootprint::of(&learned);
        assert_eq!(learned.values, gcn.values + 3 * 20 * 20, "weights of all pairs, and two moments");
        assert_eq!(learned.probabilities, 0);
    }

    /// Each dataset is counted as the larger one: 2 · 2 models keep 50 · 3 numbers each, and each that trains takes 5 · 91 + 540.
    #[test]
    fn models_of_several_datasets_train_at_a_time_as_fit() {
        let of_layers =
            |layers| dataset(GraphOperator::explicit(&links(Construction::Hard)), Architecture::Gcn, layers, 1);
        let datasets = [of_layers(1), of_layers(2)];
        let of = |threads: usize, numbers: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| models_at_a_time(&datasets, 2, 50, &Progress::within(numbers * NUMBER)))
        };
        let (kept, of_one) = (4 * 50 * 3, 5 * 91 + 540);
        assert_eq!(of(3, kept + 2 * of_one), Ok(2));
        assert_eq!(of(3, kept + 3 * of_one), Ok(3));
        assert_eq!(of(2, kept + 3 * of_one), Ok(2), "one for each thread");
        assert_eq!(of(8, u64::MAX / NUMBER), Ok(4), "no more than there are");
        assert!(of(2, kept + of_one - 1).is_err());
    }

    #[test]
    fn sizes_beyond_all_memory_are_refused() {
        let footprint = HostFootprint {
            keeps_parameters: true,
            parameters: usize::MAX,
            values: usize::MAX,
            probabilities: usize::MAX,
        };
        assert!(footprint.at_a_time(usize::MAX, 4, Memory::of_one_task(u64::MAX - 1)).is_err());
        assert_eq!(footprint.at_a_time(usize::MAX, 4, Memory::of_one_task(u64::MAX)), Ok(1), "no limit");
    }
}
