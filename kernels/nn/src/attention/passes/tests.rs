use veilgraph_operator::rows::matrix;

use super::super::NEGATIVE_SLOPE;
use super::*;

const N: usize = 23;
/// Some of so many nodes have more links than are passed back over together.
const MANY: usize = 130;
/// Narrower than a block, one block, parts of blocks, two blocks, and more than two.
const WIDTHS: [usize; 6] = [3, 8, 11, 16, 20, 40];
/// A node whose logits nobody reads.
const UNREAD: usize = 4;

fn values(size: usize, seed: usize) -> Vec<f32> {
    (0..size).map(|k| ((k * 37 + seed * 11) % 23) as f32 / 10.0 - 1.1).collect()
}

fn graph(n: usize, double_weight: bool) -> AttentionGraph {
    // Some nodes have more links than a block has lanes, and one has none.
    let rows = (0..n).map(|i| {
        let others = (0..n).filter(move |&j| j != i && i != 7 && (5 * i + 3 * j * j) % 7 < 1 + i % 5);
        others.map(|j| (j as u32, 0.2 + ((i + j) % 4) as f32 / 4.0)).collect()
    });
    AttentionGraph::new(&matrix(n, rows), double_weight)
}

/// Features, scores of sources and targets, and the gradient by the output.
fn given(n: usize, width: usize) -> [Vec<f32>; 4] {
    let mut g = values(n * width, 4);
    g[UNREAD * width..(UNREAD + 1) * width].fill(0.0);
    // No sum of two scores is zero, where LeakyReLU has a kink.
    let targets = values(n, 3).into_iter().map(|score| score + 0.05).collect();
    [values(n * width, 1), values(n, 2), targets, g]
}

/// The inner product of the output and `g`, in double precision.
fn objective(graph: &AttentionGraph, [x, sources, targets]: [&[f64]; 3], g: &[f32], width: usize) -> f64 {
    let mut total = 0.0;
    for node in 0..graph.links.n_rows() {
        let (neighbours, weights) = graph.links.row(node);
        let score = |j: u32| sources[j as usize] + targets[node];
        let leaky = |score: f64| if score > 0.0 { score } else { f64::from(NEGATIVE_SLOPE) * score };
        let links = neighbours.iter().zip(weights);
        let shares: Vec<f64> = links.map(|(&j, &weight)| f64::from(weight) * leaky(score(j)).exp()).collect();
        let sum: f64 = shares.iter().sum();
        for ((&j, &weight), share) in neighbours.iter().zip(weights).zip(shares) {
            let coefficient = share / sum * f64::from(graph.factor(weight));
            for k in 0..width {
                total += coefficient * x[j as usize * width + k] * f64::from(g[node * width + k]);
            }
        }
    }
    total
}

#[test]
fn both_passes_are_those_of_the_formulas() {
    let narrow = [false, true].into_iter().flat_map(|double| WIDTHS.map(|width| (N, double, width)));
    for (n, double_weight, width) in narrow.chain([(MANY, true, 11)]) {
        let graph = graph(n, double_weight);
        let [x, sources, targets, g] = given(n, width);
        let attended = graph.attend([&x, &sources, &targets], width, None);
        let exact =
            [&x, &sources, &targets].map(|values| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>());
        let wanted = objective(&graph, exact.each_ref().map(Vec::as_slice), &g, width);
        let found: f64 = attended.iter().zip(&g).map(|(out, g)| f64::from(*out) * f64::from(*g)).sum();
        assert!((found - wanted).abs() < 1e-4 * wanted.abs().max(1.0), "width {width}: {found} for {wanted}");
        let gradients = graph.gradient([&x, &sources, &targets], &g, width);
        for (part, gradient) in gradients.iter().enumerate() {
            // All scores, and some of the features.
            for at in (0..gradient.len()).step_by(if part == 0 { 5 } else { 1 }) {
                let shifted = |by: f64| {
                    let mut inputs = exact.clone();
                    inputs[part][at] += by;
                    objective(&graph, inputs.each_ref().map(Vec::as_slice), &g, width)
                };
                let slope = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
                let off = (f64::from(gradient[at]) - slope).abs();
                assert!(off < 1e-4 * slope.abs().max(1.0), "width {width}, {part}, {at}: {} for {slope}", gradient[at]);
            }
        }
    }
}

#[test]
fn every_width_of_vectors_gives_the_same_bits() {
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
    // Beside a score of 500 all rows but those that read it are worked out link by link.
    let cases = WIDTHS.into_iter().flat_map(|width| [(N, width, 0.5), (N, width, 500.0), (MANY, width, 0.5)]);
    for (n, width, first) in cases {
        let graph = graph(n, true);
        let [x, mut sources, targets, g] = given(n, width);
        sources[0] = first;
        let wide = graph.attend([&x, &sources, &targets], width, None);
        let call = Attend { graph: &graph, x: &x, scores: [&sources, &targets], width, read: None };
        let narrow = pulp::Scalar::new().vectorize(call);
        assert_eq!(bits(&wide), bits(&narrow), "width {width}");
        let inputs: [&[f32]; 3] = [&x, &sources, &targets];
        let of_wide = graph.gradient(inputs, &g, width);
        let call = Gradient { graph: &graph, inputs, g: &g, width };
        let of_narrow = pulp::Scalar::new().vectorize(call);
        assert_eq!(of_wide.map(|values| bits(&values)), of_narrow.map(|values| bits(&values)), "width {width}");
    }
}

/// Scores of hundreds overflow every exponential unless the largest is subtracted, wherever it stands in the row.
#[test]
fn large_scores_do_not_overflow() {
    let width = 3;
    for largest in 0..N {
        // Node 0 attends to all; so many links are two whole blocks and a part of one.
        let rows = (0..N).map(|i| (1..N).filter(|_| i == 0).map(|j| (j as u32, 1.0)).collect());
        let graph = AttentionGraph::new(&matrix(N, rows), false);
        let mut sources = vec![300.0; N];
        sources[largest] = 400.0;
        let (column, _) = graph.links.row(0);
        let mut attention = AttentionOfNodes::new(&graph, [&sources, &[0.0; N]]);
        let Attention { shares, .. } = attention.of_node(0);
        let place = column.iter().position(|&j| j as usize == largest).expect("linked");
        assert!(
            shares.iter().enumerate().all(|(at, &share)| share == if at == place { 1.0 } else { 0.0 }),
            "{shares:?}"
        );
        sources[largest] = f32::NAN;
        let attended = graph.attend([&values(N * width, 1), &sources, &[0.0; N]], width, None);
        assert!(attended[..width].iter().all(|value| value.is_nan()), "a row with a NaN");
        let others = (1..N).filter(|&node| node != largest);
        assert!(others.flat_map(|node| &attended[node * width..][..width]).all(|value| value.is_finite()));
    }
}

/// Beside such a score, factors of other nodes become small, and then zero, so that their shares need exponentials of their own.
#[test]
fn a_score_that_nobody_reads_changes_nothing() {
    let width = 8;
    let rows = (0..N).map(|i| (1..N).filter(|&j| j != i).map(|j| (j as u32, 1.0)).collect());
    let graph = AttentionGraph::new(&matrix(N, rows), false);
    let [x, mut sources, targets, mut g] = given(N, width);
    // Node 0 attends to itself, and nobody else does.
    g[..width].fill(0.0);
    let near = graph.attend([&x, &sources, &targets], width, None);
    let gradients_near = graph.gradient([&x, &sources, &targets], &g, width);
    for score in [30.0, 46.0, 60.0, 80.0, 87.0, 95.0, 120.0, 500.0, f32::INFINITY] {
        sources[0] = score;
        let far = graph.attend([&x, &sources, &targets], width, None);
        let gradients_far = graph.gradient([&x, &sources, &targets], &g, width);
        close(&near[width..], &far[width..], 1e-5);
        let first = [width, 1, 1];
        for (part, first) in first.into_iter().enumerate() {
            close(&gradients_near[part][first..], &gradients_far[part][first..], 1e-4);
        }
    }
}

fn close(expected: &[f32], found: &[f32], most: f32) {
    for (expected, found) in expected.iter().zip(found) {
        assert!((expected - found).abs() < most * expected.abs().max(1.0), "{found} for {expected}");
    }
}

/// Where features are zero, all scores are, and LeakyReLU has a kink there. Its slope is that below zero, as on a GPU.
#[test]
fn a_score_of_zero_has_the_slope_below_zero() {
    for other in [0.3, 1.7, 11.0, 40.0] {
        let rows = (0..N).map(|i| (0..N).filter(|&j| j != i).map(|j| (j as u32, 1.0)).collect());
        let graph = AttentionGraph::new(&matrix(N, rows), false);
        let mut sources: Vec<f32> = (0..N).map(|node| node as f32 * 0.37 - 3.0).collect();
        sources[0] = other;
        for node in 1..N {
            let targets: Vec<f32> = sources.iter().map(|score| -score).collect();
            let mut attention = AttentionOfNodes::new(&graph, [&sources, &targets]);
            let (neighbours, _) = graph.links.row(node);
            let place = neighbours.iter().position(|&j| j as usize == node).expect("a loop");
            assert_eq!(attention.of_node(node).slopes[place], NEGATIVE_SLOPE, "node {node}");
        }
    }
}

/// The features of a node that only unread nodes attend to matter to nobody.
#[test]
fn nodes_without_a_gradient_are_not_read() {
    let width = 11;
    let rows = (0..N).map(|i| if i == UNREAD { vec![(9, 1.0)] } else { Vec::new() });
    let graph = AttentionGraph::new(&matrix(N, rows), true);
    let [mut x, sources, targets, mut g] = given(N, width);
    x[9 * width..10 * width].fill(f32::INFINITY);
    g[9 * width..10 * width].fill(0.0);
    let gradients = graph.gradient([&x, &sources, &targets], &g, width);
    assert!(gradients.iter().flatten().all(|gradient| gradient.is_finite()));
}

#[test]
fn nodes_that_are_read_do_not_depend_on_the_others() {
    for width in WIDTHS {
        let graph = graph(N, true);
        let [x, sources, targets, _] = given(N, width);
        let all = graph.attend([&x, &sources, &targets], width, None);
        let read: Vec<u32> = (0..N as u32).filter(|node| node % 3 == 1).collect();
        let some = graph.attend([&x, &sources, &targets], width, Some(&read));
        for node in 0..N {
            let row = node * width..(node + 1) * width;
            if read.contains(&(node as u32)) {
                assert_eq!(some[row.clone()], all[row]);
            } else {
                assert!(some[row].iter().all(|&value| value == 0.0), "node {node}");
            }
        }
    }
}
