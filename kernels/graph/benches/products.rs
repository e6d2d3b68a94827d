//! How near do products come to the speed at which this machine reads memory? `memory_read` measures that speed, with all cores
//! as the products do, and every benchmark prints bytes per second. Bytes are those that have to be moved at least: each factor
//! and the product once.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use rayon::prelude::*;
use veilgraph_graph::{ProductRows, SparseMatrix, Sums, dense_adjoint_product, dense_product};

fn main() {
    divan::main();
}

/// A soft graph of the size of Cora has so many nodes, and so has the matrix that Solitude learns.
const NODES: usize = 2_708;
/// A long part of a matrix, which one core reads at a time.
const PART: usize = 1 << 16;

fn bytes(numbers: usize) -> BytesCount {
    BytesCount::of_many::<f32>(numbers)
}

fn matrix() -> Vec<f32> {
    (0..NODES * NODES).map(|k| (k % 17) as f32 - 8.0).collect()
}

/// Every second node, as half of the nodes of a published split are trained on.
fn half() -> Vec<u32> {
    (0..NODES as u32).step_by(2).collect()
}

/// Sixteen sums, which stay in registers, so that the loop waits for memory alone.
fn sums(numbers: &[f32]) -> [f32; 16] {
    let mut sums = [0.0; 16];
    for line in numbers.as_chunks::<16>().0 {
        sums.iter_mut().zip(line).for_each(|(sum, number)| *sum += number);
    }
    sums
}

/// Reads the matrix.
#[divan::bench(sample_count = 40)]
fn memory_read(bencher: Bencher) {
    let matrix = matrix();
    bencher.counter(bytes(matrix.len())).bench(|| {
        matrix.par_chunks(PART).for_each(|part| {
            black_box(sums(black_box(part)));
        });
    });
}

/// Reads and writes three such matrices, as a step of Adam does with weights and their moments.
#[divan::bench(sample_count = 40)]
fn memory_read_and_written(bencher: Bencher) {
    let mut matrices = [matrix(), matrix(), matrix()];
    let counter = bytes(2 * 3 * NODES * NODES);
    bencher.counter(counter).bench_local(|| {
        let [a, b, c] = black_box(&mut matrices);
        let parts = (a.par_chunks_mut(PART), b.par_chunks_mut(PART), c.par_chunks_mut(PART));
        parts.into_par_iter().for_each(|(a, b, c)| {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                (*a, *b, *c) = (*b, *c, *a);
            }
        });
    });
}

/// Sixteen columns are a hidden layer, and eight the logits of seven classes.
#[divan::bench(args = [8, 16], sample_count = 40)]
fn dense(bencher: Bencher, width: usize) {
    let (matrix, x) = (matrix(), vec![0.5; NODES * width]);
    let counter = bytes(matrix.len() + 2 * x.len());
    bencher.counter(counter).bench(|| dense_product(&matrix, black_box(&x), width, Sums::Single, ProductRows::All));
}

/// Half of the rows of the product, as in the last layer, of which a step reads the training nodes alone.
#[divan::bench(args = [8, 16], sample_count = 40)]
fn dense_half_of_rows(bencher: Bencher, width: usize) {
    let (matrix, x, half) = (matrix(), vec![0.5; NODES * width], half());
    let counter = bytes(matrix.len() / 2 + x.len() / 2 + x.len());
    let rows = ProductRows::Read(&half);
    bencher.counter(counter).bench(|| dense_product(&matrix, black_box(&x), width, Sums::Single, rows));
}

#[divan::bench(args = [8, 16], sample_count = 40)]
fn dense_transposed(bencher: Bencher, width: usize) {
    let (matrix, y) = (matrix(), vec![0.5; NODES * width]);
    let counter = bytes(matrix.len() + 2 * y.len());
    bencher.counter(counter).bench(|| dense_adjoint_product(&matrix, black_box(&y), width, ProductRows::All));
}

/// A number that seems to be drawn at random, the same in every run.
fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// A row with a one in each of these columns, which may come twice.
fn ones(mut columns: Vec<u32>) -> Vec<(u32, f32)> {
    columns.sort_unstable();
    columns.dedup();
    columns.into_iter().map(|column| (column, 1.0)).collect()
}

/// A graph of a million nodes and 7.5 million links between any two of them. Each entry reads a row of the other factor that lies
/// anywhere. A row is as long as a line of the cache, and is counted once for each entry, because caches hold few of them.
#[divan::bench(sample_count = 5)]
fn sparse_million_nodes(bencher: Bencher) {
    const WIDTH: usize = 16;
    let (nodes, neighbours) = (1_000_000_u64, 15_u64);
    let row = |node: u64| ones((0..neighbours).map(|k| (mixed(node * neighbours + k) % nodes) as u32).collect());
    let matrix = SparseMatrix::from_rows(nodes as usize, (0..nodes).map(row)).expect("columns ascend");
    let (x, links) = (vec![0.5; nodes as usize * WIDTH], (nodes * neighbours) as usize);
    let counter = bytes(2 * links + links * WIDTH + x.len());
    bencher.counter(counter).bench(|| matrix.multiply(black_box(&x), WIDTH));
}

/// Features of 34,493 nodes with up to 33 of 8,415 words each. A word is the likelier the lower its number is.
fn features() -> SparseMatrix {
    let (nodes, words, words_of_node) = (34_493_u64, 8_415_f64, 33);
    let row = |node: u64| {
        let word = |k| {
            let share = f64::from((mixed(node * words_of_node + k) >> 32) as u32) / f64::from(u32::MAX);
            ((words + 1.0).powf(share) - 1.0).min(words - 1.0) as u32
        };
        ones((0..words_of_node).map(word).collect())
    };
    SparseMatrix::from_rows(words as usize, (0..nodes).map(row)).expect("columns ascend")
}

/// The first layer of a network, with 16 hidden units. Rows of the other factor are few enough for caches and are counted once.
#[divan::bench(sample_count = 20)]
fn sparse_features(bencher: Bencher) {
    times_hidden_units(bencher, &features());
}

/// The gradient of its weights.
#[divan::bench(sample_count = 20)]
fn sparse_features_transposed(bencher: Bencher) {
    times_hidden_units(bencher, &features().transposed());
}

fn times_hidden_units(bencher: Bencher, matrix: &SparseMatrix) {
    const WIDTH: usize = 16;
    let x = vec![0.5; matrix.n_columns() * WIDTH];
    let counter = bytes(2 * matrix.n_entries() + x.len() + matrix.n_rows() * WIDTH);
    bencher.counter(counter).bench(|| matrix.multiply(black_box(&x), WIDTH));
}
