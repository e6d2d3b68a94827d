//! The near-linear algorithms against a dense computation in double precision, on real graphs.

use std::path::Path;

use veilgraph_contract::Artifact;
use veilgraph_graph::WeightedGraph;
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior, SoftOperator};
use veilgraph_store::read_table;

use crate::support::{Lab, data_dir, rows};

/// An artifact of the last run.
fn artifact<A: Artifact>(lab: &Lab, run: &str) -> A {
    let path = lab.path("artifacts/runs/config").join(run).join(format!("{}.parquet", A::NAME));
    read_table(std::fs::read(path).expect("readable")).expect("valid")
}

/// All pairs `(i, j, P)` with `i < j`.
fn dense(posterior: &Posterior) -> Vec<(u32, u32, f64)> {
    let n = posterior.n_nodes() as u32;
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    pairs.map(|(i, j)| (i, j, posterior.probability(i, j))).collect()
}

/// Sum over ordered pairs, with the rounding errors carried along (Kahan).
fn ordered_sum(pairs: &[(u32, u32, f64)]) -> f64 {
    let (mut sum, mut carry) = (0.0, 0.0);
    for &(_, _, p) in pairs {
        let term = 2.0 * p - carry;
        let next: f64 = sum + term;
        carry = (next - sum) - term;
        sum = next;
    }
    sum
}

fn check(folder: &Path, dataset: &str, epsilon: f64, fraction: f64) {
    let name = format!("{dataset}, epsilon {epsilon}, fraction {fraction}");
    let lab = Lab::with(
        "config.toml",
        format!(
            "[ingest]\ndataset = \"{dataset}\"\n[privatize.links]\nepsilon = {epsilon}\ndegree_fraction = {fraction}\n\
             [construct]\nvariant = [\"hard\", \"hybrid\"]\n[evaluate]\nmetrics = [\"link-error\"]\n[train]\nepochs = 1\n"
        ),
    );
    let document = lab.json(&["--data-dir", folder.to_str().expect("UTF-8")]);
    let metric = |metric: &str| {
        rows(&document["metrics"]).find(|score| score["metric"] == metric).expect(metric)["mean"]
            .as_f64()
            .expect("a number")
    };
    let model: LinkModel = artifact(&lab, "estimate/trial-0");
    let evidence: LinkEvidence = artifact(&lab, "estimate/trial-0");
    let posterior = Posterior::new(&model, evidence).expect("same size");
    let pairs = dense(&posterior);
    assert!(metric("prior_residual") < 1e-9, "{name}: residual {}", metric("prior_residual"));

    let hard: Vec<(u32, u32)> = pairs.iter().filter(|pair| pair.2 > 0.5).map(|pair| (pair.0, pair.1)).collect();
    let found: WeightedGraph = artifact(&lab, "construct/variant-hard,trial-0");
    assert!(found.links.iter().map(|link| (link.0, link.1)).eq(hard), "{name}: hard links");

    let sum = ordered_sum(&pairs);
    let relative = (metric("expected_entries") / sum - 1.0).abs();
    assert!(relative < 1e-12, "{name}: sum of P off by {relative:e}");
    let mut sorted: Vec<f64> = pairs.iter().map(|pair| pair.2).collect();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let least = sorted[(sum.floor() as usize).div_ceil(2) - 1];
    let hybrid = pairs.iter().filter(|pair| pair.2 >= least).map(|&(i, j, p)| (i, j, p as f32));
    let found: WeightedGraph = artifact(&lab, "construct/variant-hybrid,trial-0");
    assert!(found.links.into_iter().eq(hybrid), "{name}: hybrid links");

    let (n, width) = (posterior.n_nodes(), 16);
    let x: Vec<f32> = (0..n * width).map(|k| (k as f32 * 0.37).sin()).collect();
    let mut direct = vec![(0.0, 0.0); n * width];
    for &(i, j, p) in &pairs {
        for (row, other) in [(i as usize, j as usize), (j as usize, i as usize)] {
            for column in 0..width {
                let term = p * f64::from(x[other * width + column]);
                let sum: &mut (f64, f64) = &mut direct[row * width + column];
                *sum = (sum.0 + term, sum.1 + term.abs());
            }
        }
    }
    let product = SoftOperator::new(&posterior).apply(&x, width);
    let worst =
        product.iter().zip(&direct).map(|(found, sum)| (f64::from(*found) - sum.0).abs() / sum.1).fold(0.0, f64::max);
    assert!(worst < 1e-6, "{name}: P X off by {worst:e}");
}

#[test]
fn cora_equals_the_dense_oracle() {
    let Some(folder) = data_dir("cora_equals_the_dense_oracle") else { return };
    for epsilon in [1.0, 2.0, 4.0, 8.0] {
        for fraction in [0.1, 0.9] {
            check(&folder, "cora", epsilon, fraction);
        }
    }
}

#[test]
fn lastfm_equals_the_dense_oracle() {
    let Some(folder) = data_dir("lastfm_equals_the_dense_oracle") else { return };
    for (epsilon, fraction) in [(1.0, 0.1), (2.0, 0.9), (4.0, 0.1), (8.0, 0.9)] {
        check(&folder, "lastfm", epsilon, fraction);
    }
}
