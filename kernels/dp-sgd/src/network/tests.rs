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

/// Terms of a norm that overflow one by one may cancel each other, or overflow downwards: two nearly equal rows with opposite
/// weights.
#[test]
fn no_weights_are_so_large_that_a_gradient_escapes_the_bound() {
    let (network, _, _) = small();
    let values = [0.5, 0.0, -1.0, 2.0, 1.0, 2.0, 0.5, -0.3, 0.9, 1.8, 0.45, -0.27];
    let inputs = Inputs::Dense { width: 4, values: &values };
    let mut n_clipped = 0;
    for (class, power) in (0..3).flat_map(|class| (0..240).map(move |power| (class, power))) {
        let mut samples = Samples::default();
        samples.push(&[(1, 1.0), (2, -1.0)], class);
        let mut network = network.clone();
        let scale = 1e13 * 1.1_f32.powi(power);
        let last = network.shape.second()..network.shape.last();
        network.parameters[last].iter_mut().for_each(|weight| *weight *= scale);
        let added = gradient(&network, &inputs, &samples, 0, 1.0);
        let norm = added.iter().map(|&entry| f64::from(entry).powi(2)).sum::<f64>().sqrt();
        assert!(norm < 1.001, "class {class}, scale {scale}: {norm}");
        n_clipped += u32::from(norm > 0.9);
    }
    assert!(n_clipped > 50, "{n_clipped} gradients are longer than the bound and have a norm");
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
