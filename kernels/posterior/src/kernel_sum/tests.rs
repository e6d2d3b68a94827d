use super::*;

/// Returns parameters of a sparse graph with a hub, which are spread like those of Cora.
fn parameters() -> Vec<f64> {
    (0..700).map(|i| -5.0 + 6.0 * (f64::from(i) / 700.0).powi(3)).collect()
}

#[test]
fn the_series_equals_the_direct_sum() {
    let b = parameters();
    let distinct = DistinctParameters::new(&b);
    for kernel in [LogisticKernel::Logistic, LogisticKernel::LogisticSlope, LogisticKernel::Softplus] {
        for shift in [0.0, -1.8, -14.4, 3.0] {
            let fast = distinct.sums(kernel, shift, distinct.counts());
            for (g, &x) in distinct.values().iter().enumerate().step_by(97) {
                let direct: f64 = b.iter().map(|&y| kernel.at(x + y + shift)).sum();
                assert!((fast[g] / direct - 1.0).abs() < 1e-12, "{kernel:?} at {x} + {shift}: {} {direct}", fast[g]);
            }
        }
    }
}

/// Rounding errors of a hundred thousand terms are not taken for a series that does not converge, which would take minutes.
#[test]
fn the_series_of_many_nodes_equals_the_direct_sum() {
    let b: Vec<f64> = (0..100_000).map(|i| -9.0 + 6.0 * (f64::from(i) / 100_000.0).powi(3)).collect();
    let nodes = DistinctParameters::one_per_node(b.clone());
    let fast = nodes.sums(LogisticKernel::Logistic, -1.8, nodes.counts());
    for (node, &x) in b.iter().enumerate().step_by(9_973) {
        let direct: f64 = b.iter().map(|&y| LogisticKernel::Logistic.at(x + y - 1.8)).sum();
        assert!((fast[node] / direct - 1.0).abs() < 1e-11, "{node}: {} {direct}", fast[node]);
    }
}

#[test]
fn the_pair_sum_counts_every_pair_once() {
    let b = [0.3, -1.0, 0.3, 2.0];
    let distinct = DistinctParameters::new(&b);
    assert_eq!(distinct.values().len(), 3, "equal parameters share a group");
    let mut direct = 0.0;
    for i in 0..4 {
        for j in i + 1..4 {
            direct += LogisticKernel::Logistic.at(b[i] + b[j] - 0.7);
        }
    }
    assert!((distinct.pair_sum(LogisticKernel::Logistic, -0.7) - direct).abs() < 1e-14);
    assert_eq!(distinct.pair_sum(LogisticKernel::Logistic, f64::NEG_INFINITY), 0.0);
}
