//! How long does a model of links train?

use divan::Bencher;
use veilgraph_contract::{Progress, StageRng};
use veilgraph_graph::{
    Construction, DenseMatrix, EstimatedFeatures, FeatureMatrix, Features, LinkSample, SparseMatrix, WeightedGraph,
};
use veilgraph_nn::{InputFeatures, LinkTraining, Setting, train_links};

fn main() {
    divan::main();
}

/// Numbers without pattern.
fn next(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as u32
}

fn graph(n_nodes: u32, n_links: usize) -> (WeightedGraph, LinkSample) {
    let (mut state, mut links) = (1, std::collections::BTreeSet::new());
    while links.len() < n_links {
        let (i, j) = (next(&mut state) % n_nodes, next(&mut state) % n_nodes);
        if i < j {
            links.insert((i, j));
        }
    }
    let (n_nodes, links) = (n_nodes as usize, links.into_iter().map(|(i, j)| (i, j, 1.0)).collect());
    let pairs = (0..500).map(|i| (i, i + 500, i % 2 == 0)).collect();
    (WeightedGraph::undirected(Construction::Given, n_nodes, links), LinkSample { n_nodes, pairs })
}

fn train(features: InputFeatures, (graph, sample): &(WeightedGraph, LinkSample), epochs: usize) {
    let training = LinkTraining {
        hidden: 32,
        embedding: 16,
        setting: Setting { learning_rate: 0.01, weight_decay: 0.01, dropout: 0.0, initial_seed: 0 },
        epochs,
        check_every: 10,
        patience: None,
        min_epochs: 0,
    };
    let trained = train_links(features, graph, sample, &training, &StageRng::new(1, "train", 0), &Progress::none());
    trained.expect("trains");
}

/// The size of Cora: 500 epochs on features with 18 words per node.
#[divan::bench(sample_count = 1)]
fn five_hundred_epochs_on_words(bencher: Bencher) {
    let mut state = 2;
    let rows = (0..2_708).map(|_| {
        let words: std::collections::BTreeSet<u32> = (0..18).map(|_| next(&mut state) % 1_433).collect();
        words.into_iter().map(|word| (word, 1.0)).collect()
    });
    let features = Features(SparseMatrix::from_rows(1_433, rows.collect::<Vec<_>>()).expect("valid"));
    let graph = graph(2_708, 4_500);
    bencher.bench_local(|| train((&features).into(), &graph, 500));
}

/// The size of `CiteSeer` with every feature reported: 100 epochs.
#[divan::bench(sample_count = 1)]
fn hundred_epochs_on_reports(bencher: Bencher) {
    let values = (0..3_327 * 3_703).map(|k| (k % 17) as f32 - 8.0).collect();
    let values = DenseMatrix::new(3_327, 3_703, values).expect("finite");
    let features = EstimatedFeatures::unpropagated(FeatureMatrix::Dense(values));
    let graph = graph(3_327, 3_900);
    bencher.bench_local(|| train((&features).into(), &graph, 100));
}
