use veilgraph_graph::{Features, SparseMatrix};

use super::*;

const N: usize = 300;
const N_GROUPS: usize = 6;

/// All pairs of nodes in six groups, each group with a coordinate of its own, as reported with 3 nats for each bit. Every
/// pair is linked with probability 0.02, times `factor` between the groups 0 and 1, 2 and 3, 4 and 5.
fn drawn(factor: f64, seed: u64) -> (Vec<Vec<ListedPair>>, Coordinates) {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_add(1);
        (mixed(state) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let flip = 1.0 / (1.0 + 3.0_f64.exp());
    let mut rows: Vec<Vec<ListedPair>> = Vec::new();
    for i in 0..N {
        let mut row = Vec::new();
        for j in i + 1..N {
            let theta = 0.02 * if are_attracted(i, j) { factor } else { 1.0 };
            let linked = uniform() < theta;
            let claims: u8 = (0..2).map(|_| u8::from(linked != (uniform() < flip))).sum();
            let less_one = (6.0 * (f64::from(claims) - 1.0)).exp_m1() as f32;
            row.push(ListedPair { partner: j as u32, theta: 0.02, less_one });
        }
        rows.push(row);
    }
    let one = |node: usize| (0..RANK).map(move |at| if at == node % N_GROUPS { 1.0 } else { 0.0 });
    (rows, Coordinates::from_values((0..N).flat_map(one).collect()))
}

fn are_attracted(i: usize, j: usize) -> bool {
    let (a, b) = (i % N_GROUPS, j % N_GROUPS);
    a != b && a / 2 == b / 2
}

/// Returns the mean score of the pairs between groups that attract each other, less that of all other pairs.
fn contrast(rows: &[Vec<ListedPair>], scores: &[Vec<f32>]) -> f64 {
    let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
    for (i, (row, scores)) in rows.iter().zip(scores).enumerate() {
        for (pair, &score) in row.iter().zip(scores) {
            let side = usize::from(are_attracted(i, pair.partner as usize));
            sums[side] += f64::from(score);
            counts[side] += 1.0;
        }
    }
    sums[1] / counts[1] - sums[0] / counts[0]
}

/// About 1100 of the 7500 pairs are linked, so that the log odds have a standard deviation below 0.05, and the prior takes
/// off less than 0.1 of 2 nats. An error of half a nat is ten standard deviations.
#[test]
fn reports_tell_which_groups_attract_each_other() {
    for seed in [1, 2] {
        let (rows, coordinates) = drawn(2.0_f64.exp(), seed << 40);
        let scores = learned_scores(&rows, &coordinates).expect("held-out reports agree");
        let contrast = contrast(&rows, &scores);
        assert!((contrast - 2.0).abs() < 0.5, "{contrast}");
    }
}

/// Where coordinates say nothing, no score is used, or a small one: each of the 21 pairs of groups has at least 20 links, so
/// log odds have a standard deviation below 0.3 each, and their mean over three of them one below 0.2; 0.8 is four of these
/// (one false alarm in 15,000).
#[test]
fn nothing_large_is_learned_from_coordinates_that_say_nothing() {
    let (rows, coordinates) = drawn(1.0, 3 << 40);
    if let Some(scores) = learned_scores(&rows, &coordinates) {
        let contrast = contrast(&rows, &scores);
        assert!(contrast.abs() < 0.8, "{contrast}");
    }
}

/// The gradient is compared with differences of the likelihood, at scores that are not 0. Stored slopes have seven digits.
#[test]
fn the_gradient_is_that_of_the_likelihood() {
    let (rows, coordinates) = drawn(4.0, 5 << 40);
    let fit = Fit { rows: &rows, coordinates: &coordinates };
    // A symmetric matrix.
    let entry = |a: usize, b: usize| 0.3 * ((a * b + a + b) as f64).sin();
    let mut at: Vec<f64> = (0..RANK * RANK).map(|index| entry(index / RANK, index % RANK)).collect();
    at.push(0.2);
    let gradient = fit.likelihood(&at).gradient;
    for changed in [vec![0], vec![1, RANK], vec![2 * RANK + 3, 3 * RANK + 2], vec![RANK * RANK]] {
        let moved = |by: f64| {
            let mut moved = at.clone();
            changed.iter().for_each(|&index| moved[index] += by);
            fit.likelihood(&moved).logarithm
        };
        let difference = (moved(0.01) - moved(-0.01)) / 0.02;
        let expected: f64 = changed.iter().map(|&index| gradient[index]).sum();
        assert!((difference - expected).abs() < 0.02 * (1.0 + expected.abs()), "{difference} {expected}");
    }
}

/// Two groups of nodes with no feature in common have orthogonal coordinates, and nodes with equal features have equal ones.
#[test]
fn coordinates_keep_the_products_of_features() {
    let rows = (0..20).map(|node| if node < 10 { vec![(0, 1.0), (1, 1.0)] } else { vec![(2, 1.0)] });
    let features = Features(SparseMatrix::from_rows(4, rows).expect("valid"));
    let coordinates = Coordinates::new(&features).expect("valid");
    let product =
        |a: usize, b: usize| -> f32 { coordinates.row(a).iter().zip(coordinates.row(b)).map(|(a, b)| a * b).sum() };
    for (a, b, expected) in [(0, 0, 1.0), (0, 9, 1.0), (0, 10, 0.0), (10, 19, 1.0)] {
        assert!((product(a, b) - expected).abs() < 1e-3, "({a}, {b}): {}", product(a, b));
    }
}
