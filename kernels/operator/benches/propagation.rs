//! How long do features of a large graph take: propagated once, and in every product of a training step?

use std::sync::Arc;

use divan::{Bencher, black_box};
use veilgraph_graph::{
    Aggregator, Construction, DenseMatrix, EstimatedFeatures, FeatureMatrix, Propagation, Rescale, SparseMatrix,
    WeightedGraph,
};
use veilgraph_operator::{FeatureMap, GraphOperator, PropagationStep, propagated};

fn main() {
    divan::main();
}

/// The sizes of the Facebook graph: nodes, links, and features of its pages.
const NODES: usize = 22_470;
const LINKS: usize = 170_823;
const FEATURES: usize = 4_714;

/// Numbers without pattern.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

fn graph() -> Arc<GraphOperator> {
    let mut state = 1;
    let mut links = std::collections::BTreeSet::new();
    while links.len() < LINKS {
        let (i, j) = ((next(&mut state) % NODES) as u32, (next(&mut state) % NODES) as u32);
        if i < j {
            links.insert((i, j));
        }
    }
    let links = links.into_iter().map(|(i, j)| (i, j, 1.0)).collect();
    Arc::new(GraphOperator::explicit(&WeightedGraph::undirected(Construction::Given, NODES, links)))
}

/// One report per node, as the multi-bit encoder sends at a small budget.
fn reports() -> FeatureMatrix {
    let mut state = 2;
    let rows = (0..NODES).map(|_| vec![((next(&mut state) % FEATURES) as u32, 1.0)]);
    let entries = SparseMatrix::from_rows(FEATURES, rows);
    FeatureMatrix::Sparse { fill: 0.5, entries: entries.expect("columns are in range") }
}

const HOPS: Propagation = Propagation { hops: 16, aggregator: Aggregator::KProp, rescale: Rescale::None };

/// 16 steps on every column.
#[divan::bench(sample_count = 1)]
fn all_columns_once(bencher: Bencher) {
    let (step, features) = (PropagationStep::new(&graph()), reports());
    bencher.bench(|| propagated(black_box(&features), &step, HOPS));
}

/// Forward and adjoint product with 16 columns, with 16 steps in each.
#[divan::bench(sample_count = 10)]
fn lazily_in_a_step_of_training(bencher: Bencher) {
    let map = FeatureMap::new(&EstimatedFeatures { values: reports(), propagation: HOPS }, &graph());
    let map = map.expect("finite");
    assert!(map.dense().is_none(), "this is the cheaper way");
    let (x, y) = (vec![0.5; FEATURES * 16], vec![0.5; NODES * 16]);
    bencher.bench(|| (map.apply(black_box(&x), 16, false), map.apply(black_box(&y), 16, true)));
}

/// Forward and adjoint product of a dense matrix of the size of CiteSeer's features with this many columns.
#[divan::bench(args = [7, 16, 32], sample_count = 20)]
fn dense_in_a_step_of_training(bencher: Bencher, width: usize) {
    let (rows, columns) = (3_327, 3_703);
    let values = (0..rows * columns).map(|k| (k % 17) as f32 - 8.0).collect();
    let matrix = DenseMatrix::new(rows, columns, values).expect("finite");
    let (x, y) = (vec![0.5; columns * width], vec![0.5; rows * width]);
    bencher.bench(|| (matrix.multiply(black_box(&x), width), matrix.multiply_adjoint(black_box(&y), width)));
}

/// The same for a sparse matrix with a tenth of the entries: what an entry of either kind takes.
#[divan::bench(args = [16], sample_count = 20)]
fn sparse_in_a_step_of_training(bencher: Bencher, width: usize) {
    let (rows, columns) = (3_327, 3_703);
    let row = |i: usize| {
        (0..columns as u32).filter(|c| (i as u32 * 7 + c * 13).is_multiple_of(10)).map(|c| (c, 1.0)).collect()
    };
    let matrix = SparseMatrix::from_rows(columns, (0..rows).map(row)).expect("columns ascend");
    let transposed = matrix.transposed();
    let (x, y) = (vec![0.5; columns * width], vec![0.5; rows * width]);
    bencher.bench(|| (matrix.multiply(black_box(&x), width), transposed.multiply(black_box(&y), width)));
}
