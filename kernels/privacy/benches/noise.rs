//! What exactness costs: each exact sampler beside the usual one in floating point. `make bench`.

use divan::{Bencher, black_box};
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use veilgraph_privacy::count_noise::{CountNoise, DegreeNoise};
use veilgraph_privacy::randomized_response::{RandomizedResponse, flip_probability, flips, threshold};

fn main() {
    divan::main();
}

const BITS: u32 = 1 << 20;

/// A million bits, 64 lanes at a time, compared with a threshold of 64 bits.
#[divan::bench(args = [0.9, 3.6], sample_count = 10)]
fn dense_flips_exact(bencher: Bencher, epsilon: f64) {
    let (mut rng, threshold) = (ChaCha20Rng::seed_from_u64(1), threshold(epsilon));
    bencher.bench_local(|| (0..BITS / 64).map(|_| flips(threshold, &mut rng).count_ones()).sum::<u32>());
}

/// A million bits, one float each.
#[divan::bench(args = [0.9, 3.6], sample_count = 10)]
fn dense_flips_float(bencher: Bencher, epsilon: f64) {
    let (mut rng, flip) = (ChaCha20Rng::seed_from_u64(1), flip_probability(epsilon));
    bencher.bench_local(|| (0..BITS).filter(|_| rng.random::<f64>() < flip).count());
}

/// Rare flips of a million bits by binomial counts in integers.
#[divan::bench(args = [3.6, 7.2, 10.0], sample_count = 10)]
fn rare_flips_exact(bencher: Bencher, epsilon: f64) {
    let (mut rng, response) = (ChaCha20Rng::seed_from_u64(1), RandomizedResponse::new(epsilon, BITS as usize));
    bencher.bench_local(|| response.noisy_list(0, black_box(&[]), &mut rng).len());
}

/// Rare flips of a million bits by geometric gaps from logarithms.
#[divan::bench(args = [3.6, 7.2, 10.0], sample_count = 10)]
fn rare_flips_float(bencher: Bencher, epsilon: f64) {
    let (mut rng, keep) = (ChaCha20Rng::seed_from_u64(1), (1.0 - flip_probability(epsilon)).ln());
    bencher.bench_local(|| {
        let (mut list, mut at) = (Vec::new(), 0.0);
        loop {
            at += ((1.0 - rng.random::<f64>()).ln() / keep).floor() + 1.0;
            if at > f64::from(BITS) {
                return list.len();
            }
            list.push(at as u32 - 1);
        }
    });
}

#[divan::bench(args = [DegreeNoise::DiscreteLaplace, DegreeNoise::Laplace], sample_count = 10)]
fn thousand_degrees(bencher: Bencher, noise: DegreeNoise) {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let noise = CountNoise::new(0.4, noise, 1).unwrap_or(CountNoise::None);
    bencher.bench_local(|| (0..1000).map(|degree| noise.add(degree, &mut rng)).sum::<f64>());
}
