//! How long does it take to ask a network of Cora's size about 500 targets?

use divan::{Bencher, black_box};
use veilgraph_attack::influence::{Influence, Output};
use veilgraph_graph::{BitMatrix, Construction, Features, Links, SparseMatrix, WeightedGraph};
use veilgraph_nn::{Architecture, GridDescription, NetworkOptions, Parameter, SavedModel};

fn main() {
    divan::main();
}

const NODES: usize = 2_708;
const FEATURES: usize = 1_433;
const CLASSES: usize = 7;
const HIDDEN: usize = 16;
const TARGETS: usize = 500;

/// Numbers without pattern, in [0, 1).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, most: usize) -> u32 {
        (self.next() * most as f64) as u32
    }
}

fn saved(architecture: Architecture) -> SavedModel {
    let mut numbers = Numbers(1);
    let mut parameters = Vec::new();
    for (number, inputs, outputs) in [(1, FEATURES, HIDDEN), (2, HIDDEN, CLASSES)] {
        let mut parameter = |role: &str, shape: [usize; 2]| {
            let values = (0..shape[0] * shape[1]).map(|_| numbers.next() as f32 - 0.5).collect();
            parameters.push(Parameter { name: format!("layer{number}.{role}"), shape, values });
        };
        parameter("weight", [inputs, outputs]);
        parameter("bias", [1, outputs]);
        if architecture == Architecture::Gat {
            parameter("attention_source", [outputs, 1]);
            parameter("attention_target", [outputs, 1]);
        }
    }
    let grid = GridDescription {
        architecture,
        options: NetworkOptions::default(),
        n_classes: CLASSES,
        class_names: Vec::new(),
        models: Vec::new(),
    };
    SavedModel { grid, model: 0, parameters }
}

fn features() -> Features {
    let mut numbers = Numbers(2);
    let rows = (0..NODES).map(|_| {
        let mut columns: Vec<u32> = (0..18).map(|_| numbers.below(FEATURES)).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.into_iter().map(|column| (column, 0.06)).collect()
    });
    Features(SparseMatrix::from_rows(FEATURES, rows).expect("valid"))
}

/// Cora's number of links, or the quarter of all pairs that randomized response reports at one nat.
fn graph(is_dense: bool) -> WeightedGraph {
    let mut numbers = Numbers(3);
    let mut bits = BitMatrix::from_rows(NODES, |_, _| {});
    for _ in 0..if is_dense { NODES * NODES / 6 } else { 5_278 } {
        let (i, j) = (numbers.below(NODES), numbers.below(NODES));
        if i != j {
            bits.set(i as usize, j);
            bits.set(j as usize, i);
        }
    }
    let links = Links::Bits(bits);
    WeightedGraph { construction: Construction::Given, n_nodes: NODES, directed: false, links }
}

#[divan::bench(args = ["gcn sparse", "gat sparse", "gcn dense", "gat dense"], sample_count = 5)]
fn targets(bencher: Bencher, case: &str) {
    let architecture = if case.starts_with("gcn") { Architecture::Gcn } else { Architecture::Gat };
    let (saved, features, graph) = (saved(architecture), features(), graph(case.ends_with("dense")));
    let targets: Vec<u32> = (0..TARGETS as u32).map(|k| k * 5).collect();
    bencher.bench_local(|| {
        let influence = Influence::new(&saved, (&features).into(), &graph, None).expect("they fit");
        influence.of(black_box(&targets), 1e-4, Output::Logits)
    });
}
