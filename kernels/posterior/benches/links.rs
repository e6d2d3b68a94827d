//! These benchmarks time what the server computes from claims; `make bench` runs them. Those that read claims print bytes per second
//! beside, of the claims, or of the entries that are kept, once each. `memory_read` of the benchmark `products` (crate
//! `veilgraph-graph`) measures the speed of memory.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use veilgraph_graph::BitMatrix;
use veilgraph_posterior::{DistinctParameters, LinkEvidence, LinkModel, LogisticKernel, Posterior, Real, SoftOperator};

fn main() {
    divan::main();
}

/// Cora, `LastFM` and Facebook have this many nodes.
const SIZES: [usize; 3] = [2708, 7624, 22470];

/// Returns a posterior with power-law parameters and a share of ones in every report.
fn posterior(n: usize, ones_per_1024: u64, in_planes: bool) -> Posterior {
    let random = |i: usize, j: usize| {
        let mut x = (i as u64) << 32 ^ j as u64 ^ 0x9e37_79b9_7f4a_7c15;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    let bits = BitMatrix::from_rows(n, |i, row| {
        for j in (0..n).filter(|&j| j != i && random(i, j) % 1024 < ones_per_1024) {
            row[j / 64] |= 1 << (j % 64);
        }
    });
    let evidence = LinkEvidence::from_reports(bits);
    let evidence = if in_planes {
        evidence
    } else {
        LinkEvidence::from_rows((0..n).map(|i| evidence.claims(i).collect())).expect("valid")
    };
    let beta = (0..n).map(|i| -6.0 + 4.0 * ((i + 1) as f64 / n as f64).powi(8)).collect();
    let epsilon_links = ((1024 - ones_per_1024) as f64 / ones_per_1024 as f64).ln();
    let model = LinkModel { degrees: vec![1.0; n], beta, epsilon_links, ..LinkModel::default() };
    Posterior::new(&model, evidence).expect("same size")
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn kernel_sums(bencher: Bencher, n: usize) {
    let beta: Vec<f64> = (0..n).map(|i| -6.0 + 6.0 * ((i + 1) as f64 / n as f64).powi(8)).collect();
    let distinct = DistinctParameters::new(&beta);
    bencher.bench_local(|| distinct.sums(LogisticKernel::Logistic, 0.0, black_box(distinct.counts())));
}

#[divan::bench(args = SIZES, sample_count = 5)]
fn sum_of_p_planes(bencher: Bencher, n: usize) {
    let posterior = posterior(n, 296, true);
    bencher.counter(in_planes(n)).bench_local(|| posterior.pair_sum(LogisticKernel::Logistic));
}

/// The width is 16; every report has 47 % ones (0.12 nats on links), and 72 % of all pairs are claimed. In single precision all entries
/// are kept up to 8,192 nodes; above, and in double precision, they are formed from the claims.
#[divan::bench(types = [f32, f64], args = [2708, 7624, 10_000], sample_count = 10)]
fn soft_every_entry<T: Real>(bencher: Bencher, n: usize) {
    soft::<T>(bencher, n, 480, true);
}

/// The claims are those of `soft_every_entry`, in lists, and are corrections.
#[divan::bench(types = [f32, f64], args = [2708, 7624], sample_count = 10)]
fn soft_low_rank<T: Real>(bencher: Bencher, n: usize) {
    soft::<T>(bencher, n, 480, false);
}

/// Every report has 3 % ones (3.5 nats on links), where reports change their form; 6 % of all pairs are claimed.
#[divan::bench(types = [f32, f64], args = [2708, 7624], sample_count = 10)]
fn soft_low_rank_few_claims<T: Real>(bencher: Bencher, n: usize) {
    soft::<T>(bencher, n, 31, false);
}

fn soft<T: Real>(bencher: Bencher, n: usize, ones_per_1024: u64, is_in_planes: bool) {
    let posterior = posterior(n, ones_per_1024, is_in_planes);
    let operator = SoftOperator::<T>::new(&posterior);
    let x: Vec<T> = (0..n * 16).map(|k| T::from_f64((k % 17) as f64 - 8.0)).collect();
    let read = if is_in_planes && size_of::<T>() == size_of::<f32>() && n <= 8192 {
        BytesCount::of_many::<T>(n * n)
    } else if is_in_planes {
        in_planes(n)
    } else {
        // The number of the other node and a correction, at both nodes of a claimed pair.
        BytesCount::new(2 * posterior.evidence().n_claimed() * (size_of::<u32>() + size_of::<T>()))
    };
    bencher.counter(read).bench_local(|| operator.apply(black_box(&x), 16));
}

/// Two bits for each ordered pair of `n` nodes.
fn in_planes(n: usize) -> BytesCount {
    BytesCount::new(n * n / 4)
}
