//! The near-linear algorithms against a dense computation in double precision, on real graphs.

use std::path::Path;

use veilgraph_contract::{Artifact, Private, Zone};
use veilgraph_graph::{AdjacencyList, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior, Real, SoftOperator};
use veilgraph_store::read_table;

use crate::support::{Lab, data_dir, rows};

/// An artifact of the last run.
fn artifact<A: Artifact>(lab: &Lab, run: &str) -> A {
    let part = if A::ZONE == Zone::Owner { "owner" } else { "simulation" };
    let path = lab.path(&format!("artifacts/{part}/runs/config")).join(run).join(format!("{}.parquet", A::NAME));
    read_table(&path).expect("valid")
}

/// All pairs `(i, j, P)` with `i < j`.
fn dense(posterior: &Posterior) -> Vec<(u32, u32, f64)> {
    let n = posterior.n_nodes() as u32;
    let mut all = Vec::with_capacity(posterior.n_nodes() * posterior.n_nodes() / 2);
    for i in 0..n {
        all.extend((i + 1..n).map(|j| (i, j, posterior.probability(i, j))));
    }
    all
}

/// Sum with the rounding errors carried along (Kahan).
fn exact_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut carry) = (0.0, 0.0);
    for term in terms {
        let term = term - carry;
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
             [estimate]\nmethod = \"published\"\n[construct]\nvariant = [\"hard\", \"hybrid\"]\n[evaluate]\nmetrics = [\"link-error\"]\n[train]\nepochs = 1\n"
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
    assert!(found.links().map(|link| (link.0, link.1)).eq(hard), "{name}: hard links");

    let sum = exact_sum(pairs.iter().map(|pair| 2.0 * pair.2));
    let relative = (metric("expected_entries") / sum - 1.0).abs();
    assert!(relative < 1e-12, "{name}: sum of P off by {relative:e}");
    let mut probabilities: Vec<f64> = pairs.iter().map(|pair| pair.2).collect();
    let last = (sum.floor() as usize).div_ceil(2) - 1;
    let &mut least = probabilities.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1;
    let hybrid = pairs.iter().filter(|pair| pair.2 >= least).map(|&(i, j, p)| (i, j, p as f32));
    let found: WeightedGraph = artifact(&lab, "construct/variant-hybrid,trial-0");
    assert!(found.links().eq(hybrid), "{name}: hybrid links");

    let links = document["stages"][0]["outputs"]["links"]["path"].as_str().expect("a path");
    let Private(truth) = read_table::<Private<AdjacencyList>>(&lab.path(links)).expect("valid");
    let n = truth.n_nodes();
    let mut linked = truth.links().peekable();
    let error = |&(i, j, p): &(u32, u32, f64)| if linked.next_if_eq(&(i, j)).is_some() { 1.0 - p } else { p };
    let mae = exact_sum(pairs.iter().map(error)) * 2.0 / (n * n) as f64;
    let relative = (metric("mae") / mae - 1.0).abs();
    assert!(relative < 1e-10, "{name}: mean absolute error off by {relative:e}");

    check_product::<f32>(&posterior, &pairs, 1e-6, &name);
    check_product::<f64>(&posterior, &pairs, 1e-12, &name);
}

/// `P X` against the dense product in double precision, relative to the sum of absolute terms.
fn check_product<T: Real>(posterior: &Posterior, pairs: &[(u32, u32, f64)], tolerance: f64, name: &str) {
    let (n, width) = (posterior.n_nodes(), 16);
    let x: Vec<T> = (0..n * width).map(|k| T::from_f64((k as f64 * 0.37).sin())).collect();
    let mut direct = vec![(0.0, 0.0); n * width];
    for &(i, j, p) in pairs {
        for (row, other) in [(i as usize, j as usize), (j as usize, i as usize)] {
            for (sum, value) in direct[row * width..(row + 1) * width].iter_mut().zip(&x[other * width..]) {
                let term = p * value.to_f64();
                let sum: &mut (f64, f64) = sum;
                *sum = (sum.0 + term, sum.1 + term.abs());
            }
        }
    }
    let product = SoftOperator::<T>::new(posterior).apply(&x, width);
    let errors = product.iter().zip(&direct).map(|(found, sum)| (found.to_f64() - sum.0).abs() / sum.1);
    let worst = errors.fold(0.0, f64::max);
    assert!(worst < tolerance, "{name}: P X off by {worst:e}, {} bytes", size_of::<T>());
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
    // Each budget and each fraction; every pair of both is tried on Cora.
    for (epsilon, fraction) in [(1.0, 0.1), (2.0, 0.9), (4.0, 0.1), (8.0, 0.9)] {
        check(&folder, "lastfm", epsilon, fraction);
    }
}
