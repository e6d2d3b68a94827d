//! What one report takes on its device, at a million nodes.

use divan::{Bencher, black_box};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use veilgraph_client::{Mechanism, PublicParameters, decode, draw, encode};

fn main() {
    divan::main();
}

const NEIGHBOURS: [u32; 5] = [3, 1_000, 20_000, 500_000, 999_999];

fn parameters(epsilon: f64) -> PublicParameters {
    PublicParameters::new("town", Mechanism::Blink, 1_000_000, epsilon, 0.5, 1).expect("usable parameters")
}

/// A report from its list to its bytes, as the program makes one.
#[divan::bench(args = [1.0, 10.0], sample_count = 20)]
fn draw_and_encode(bencher: Bencher, epsilon: f64) {
    let (parameters, [mut links, mut degree]) = (parameters(epsilon), [1, 2].map(ChaCha20Rng::seed_from_u64));
    bencher.bench_local(|| {
        let report = draw(&parameters, 7, black_box(&NEIGHBOURS), &mut links, &mut degree).expect("a report");
        encode(&report, &parameters).len()
    });
}

/// What the server does with it.
#[divan::bench(args = [1.0, 10.0], sample_count = 20)]
fn decode_one(bencher: Bencher, epsilon: f64) {
    let (parameters, [mut links, mut degree]) = (parameters(epsilon), [1, 2].map(ChaCha20Rng::seed_from_u64));
    let report = draw(&parameters, 7, &NEIGHBOURS, &mut links, &mut degree).expect("a report");
    let bytes = encode(&report, &parameters);
    bencher.bench_local(|| decode(black_box(&bytes), &parameters).map(|report| report.ones().len()));
}
