//! How near do epochs of training come to the speed at which this machine reads memory? Every benchmark trains one network on a graph
//! of the size of Cora, of which all pairs have a weight, and prints bytes per second. Bytes are those that have to be moved at
//! least: what a layer multiplies by, once for every product in the rows that are read. `memory_read` of the benchmark `products`
//! (crate `veilgraph-graph`) measures the speed of memory.

use divan::Bencher;
use divan::counter::BytesCount;
use veilgraph_contract::{Progress, StageRng};
use veilgraph_graph::{BitMatrix, Construction, Features, Labels, SparseMatrix, WeightedGraph};
use veilgraph_nn::{
    Architecture, Dataset, Device, GraphOperator, LinkLearning, NetworkOptions, ReportedLinks, Schedule, Setting,
    TrainingGraph, train,
};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior, SoftOperator};

fn main() {
    divan::main();
}

const NODES: usize = 2_708;
const FEATURES: u64 = 1_433;
const EPOCHS: usize = 40;
/// Numbers of a matrix of all pairs.
const PAIRS: usize = NODES * NODES;

/// A number without pattern.
fn mixed(seed: usize) -> u64 {
    let mut x = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ x >> 29
}

/// Features with 18 words per node, seven classes, and the published split: half of the nodes for training, a quarter for validation.
fn dataset(graph: impl Into<TrainingGraph>, architecture: Architecture) -> Dataset {
    let row = |node: usize| {
        let words: std::collections::BTreeSet<u32> =
            (0..18).map(|word| (mixed(18 * node + word) % FEATURES) as u32).collect();
        words.into_iter().map(|word| (word, 1.0)).collect()
    };
    let features = Features(SparseMatrix::from_rows(FEATURES as usize, (0..NODES).map(row)).expect("columns ascend"));
    let labels = Labels::new(7, (0..NODES as u32).map(|node| (node, (node % 7) as u16)).collect()).expect("valid");
    let (training, validation): (Vec<u32>, Vec<u32>) =
        ((0..NODES as u32 / 2).collect(), (NODES as u32 / 2..NODES as u32 * 3 / 4).collect());
    Dataset::new(&features, graph, architecture, NetworkOptions::default(), &labels, &training, &validation)
        .expect("valid")
}

/// The probabilities of all pairs, after reports with 47 % ones (0.12 nats on links).
fn soft() -> GraphOperator {
    let bits = BitMatrix::from_rows(NODES, |i, row| {
        for j in (0..NODES).filter(|&j| j != i && mixed(i * NODES + j) % 1024 < 480) {
            row[j / 64] |= 1 << (j % 64);
        }
    });
    let beta = (0..NODES).map(|i| -6.0 + 4.0 * ((i + 1) as f64 / NODES as f64).powi(8)).collect();
    let degrees = vec![1.0; NODES];
    let model = LinkModel { degrees, beta, epsilon_links: (544.0_f64 / 480.0).ln(), ..LinkModel::default() };
    let posterior = Posterior::new(&model, LinkEvidence::from_reports(bits)).expect("same size");
    GraphOperator::Soft(SoftOperator::new(&posterior))
}

/// Trains one network, and counts this many numbers for every epoch.
fn epochs(bencher: Bencher, dataset: &Dataset, numbers: usize) {
    let setting = Setting { learning_rate: 0.01, weight_decay: 1e-3, dropout: 0.1, initial_seed: 0 };
    let schedule = Schedule { epochs: EPOCHS, ..Schedule::default() };
    let rng = StageRng::new(1, "train", 0);
    bencher.counter(BytesCount::of_many::<f32>(EPOCHS * numbers)).bench_local(|| {
        let trained = train(dataset, &[setting], schedule, Device::Cpu, &rng, &Progress::none());
        assert!(trained[0].is_ok(), "{:?}", trained[0]);
    });
}

/// Numbers that the layers of an epoch read, where the first one multiplies by this many. The first layer makes a product and one
/// with the transposed matrix. The second one makes both for the rows of training nodes, and a product for those of validation nodes.
fn read(first_layer: usize) -> usize {
    2 * first_layer + PAIRS / 2 + PAIRS / 2 + PAIRS / 4
}

/// The first layer multiplies by the features after one step of propagation, `[nodes, features]`, which are made once.
#[divan::bench(sample_count = 5)]
fn gcn_on_a_soft_graph(bencher: Bencher) {
    epochs(bencher, &dataset(soft(), Architecture::Gcn), read(NODES * FEATURES as usize));
}

/// Every layer weighs all pairs by attention, and an exponential is computed for each.
#[divan::bench(sample_count = 3)]
fn gat_on_a_soft_graph(bencher: Bencher) {
    epochs(bencher, &dataset(soft(), Architecture::Gat), read(PAIRS));
}

/// Every second epoch reads and writes the weights and two moments of each, and divides twice for every weight.
#[divan::bench(sample_count = 5)]
fn gcn_that_learns_links(bencher: Bencher) {
    let reported = (0..NODES as u32).flat_map(|i| (1..4).map(move |k| (i, (i + 331 * k) % NODES as u32, 1.0)));
    let links = reported.map(|(i, j, weight)| (i.min(j), i.max(j), weight)).collect::<Vec<_>>();
    let links = WeightedGraph::undirected(Construction::Learned, NODES, links);
    let links = ReportedLinks::new(&links, LinkLearning::default());
    epochs(bencher, &dataset(links, Architecture::Gcn), read(PAIRS) + 6 * PAIRS / 2);
}
