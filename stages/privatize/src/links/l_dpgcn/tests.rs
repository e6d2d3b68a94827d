use super::*;
use crate::tests::{nats, ring};

/// Chance of a false alarm: 1e-3 for each of four comparisons.
#[test]
fn entries_are_the_bits_with_noise_of_the_right_size() {
    let graph = ring(900);
    for noise in [DegreeNoise::DiscreteLaplace, DegreeNoise::Laplace] {
        let params = Params { epsilon: nats(2.0), degree_noise: noise };
        let (entries,) = crate::tests::run::<LDpGcn>(&graph, &params, 5).expect("valid");
        let entries = entries.collect().expect("valid");
        assert_eq!(entries.pairs.len(), 900 * 899 / 2, "all pairs are there");
        let noise = |&(i, j, from_i, from_j): &(u32, u32, f32, f32)| {
            let bit = if graph.contains(i as usize, j) { 1.0 } else { 0.0 };
            [f64::from(from_i) - bit, f64::from(from_j) - bit]
        };
        let values: Vec<f64> = entries.pairs.iter().flat_map(noise).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let square = values.iter().map(|value| value * value).sum::<f64>() / n;
        // Laplace with scale 1/2: variance 1/2, variance of the square 5/4.
        assert!(mean.abs() < 3.3 * (0.5 / n).sqrt(), "{mean}");
        assert!((square - 0.5).abs() < 3.3 * (1.25 / n).sqrt() + 1e-3, "{square}");
        let sum: f64 = entries.pairs.iter().map(|pair| f64::from(pair.2) + f64::from(pair.3)).sum();
        assert!((entries.sum - sum).abs() < 1e-6);
        assert!(entries.pairs.is_sorted_by(|a, b| a.2 + a.3 >= b.2 + b.3));
    }
}

#[test]
fn entries_survive_their_table() {
    use veilgraph_contract::Artifact;
    let params = Params { epsilon: nats(1.0), degree_noise: DegreeNoise::DiscreteLaplace };
    let (entries,) = crate::tests::run::<LDpGcn>(&ring(40), &params, 5).expect("valid");
    let entries = entries.collect().expect("valid");
    assert_eq!(NoisyEntries::from_blocks(&entries.facts(), &mut entries.blocks()).expect("valid"), entries);
}
