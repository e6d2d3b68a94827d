use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use super::*;

/// A network of few units on three rows, two of which a sample adds up.
fn small() -> (Network, Vec<f32>, Samples) {
    let shape = Shape { inputs: 4, hidden: 3, classes: 3 };
    let network = Network::new(shape, 4.0, &mut ChaCha8Rng::seed_from_u64(7));
    let mut samples = Samples::default();
    samples.push(&[(0, 1.0)], 1);
    samples.push(&[(1, 0.4), (2, 0.7), (0, -0.2)], 2);
    (network, vec![0.5, 0.0, -1.0, 2.0, 0.1, 0.2, 0.0, -0.3, 1.5, -0.7, 0.4, 0.9], samples)
}

fn gradient(network: &Network, inputs: &Inputs, samples: &Samples, sample: usize, bound: f32) -> Vec<f32> {
    let mut gradient = vec![0.0; network.parameters.len()];
    network.add_clipped_gradient(inputs, (samples, sample), &[], bound, &mut Workspace::default(), &mut gradient);
    gradient
}

#[test]
fn a_gradient_is_that_of_finite_differences() {
    let (network, values, samples) = small();
    let inputs = Inputs::Dense { width: 4, values: &values };
    for sample in 0..2 {
        let mut alone = Samples::default();
        alone.push(samples.terms(sample), samples.class(sample));
        let found = gradient(&network, &inputs, &samples, sample, f32::INFINITY);
        for (at, found) in found.iter().enumerate() {
            let moved = |by: f32| {
                let mut network = network.clone();
                network.parameters[at] += by;
                network.loss(&inputs, &alone)
            };
            let expected = (moved(1e-2) - moved(-1e-2)) / 2e-2;
            let tolerance = 5e-3 * expected.abs().max(1.0);
            assert!((f64::from(*found) - expected).abs() < tolerance, "{sample} {at}: {found} {expected}");
        }
    }
}

/// A gradient that no factor brings down to the bound counts for nothing, so that a step is never changed by more.
#[test]
fn a_gradient_without_a_norm_is_left_out() {
    let (mut network, values, samples) = small();
    network.parameters.iter_mut().for_each(|parameter| *parameter *= 1e30);
    let inputs = Inputs::Dense { width: 4, values: &values };
    for sample in 0..2 {
        let whole = gradient(&network, &inputs, &samples, sample, f32::INFINITY);
        let norm = whole.iter().map(|entry| entry * entry).sum::<f32>().sqrt();
        assert!(!norm.is_finite(), "{norm}");
        let clipped = gradient(&network, &inputs, &samples, sample, 1.0);
        assert!(clipped.iter().all(|&entry| entry == 0.0), "{clipped:?}");
    }
}

#[test]
fn a_clipped_gradient_has_the_direction_of_the_whole_and_the_norm_of_the_bound() {
    let (network, values, samples) = small();
    let inputs = Inputs::Dense { width: 4, values: &values };
    for sample in 0..2 {
        let whole = gradient(&network, &inputs, &samples, sample, f32::INFINITY);
        let norm = whole.iter().map(|entry| entry * entry).sum::<f32>().sqrt();
        for bound in [norm / 10.0, norm / 2.0, norm * 2.0] {
            let clipped = gradient(&network, &inputs, &samples, sample, bound);
            let factor = (bound / norm).min(1.0);
            let is_scaled =
                whole.iter().zip(&clipped).all(|(whole, clipped)| (whole * factor - clipped).abs() < 1e-5 * norm);
            assert!(is_scaled, "{sample}: {norm} {bound}");
        }
    }
}

#[test]
fn sparse_and_dense_rows_are_the_same() {
    let (network, values, samples) = small();
    let rows = values.chunks(4).map(|row| (0..).zip(row.iter().copied()).filter(|entry| entry.1 != 0.0).collect());
    let sparse = veilgraph_graph::SparseMatrix::from_rows(4, rows).expect("a matrix");
    let [a, b] = [Inputs::Dense { width: 4, values: &values }, Inputs::Sparse(&sparse)];
    for sample in 0..2 {
        assert_eq!(gradient(&network, &a, &samples, sample, 0.1), gradient(&network, &b, &samples, sample, 0.1));
    }
}
