use veilgraph_graph::BitMatrix;

use crate::model::evidence_logits;
use crate::ranking::{first_visited, many_are_known};
use crate::{
    Known, LinkEvidence, LinkModel, LogisticKernel, PairSums, Posterior, SimilarPairs, counts_at_least, sigmoid,
};

/// Forty nodes have a third of all pairs claimed and a sixth in bins, by a fixed arithmetic rule.
pub(crate) fn posterior(epsilon_links: f64) -> Posterior {
    posterior_of(40, 3, 6, epsilon_links)
}

/// One pair in `per_claimed` is claimed and one in `per_similar` is in a bin, by a fixed arithmetic rule.
fn posterior_of(n: u32, per_claimed: u32, per_similar: u32, epsilon_links: f64) -> Posterior {
    let beta: Vec<f64> = (0..n).map(|i| f64::from(i * 7 % 13) * 0.4 - 3.0).collect();
    let rows = (0..n).map(|i| {
        (i + 1..n)
            .filter(|j| (i * 31 + j * 17) % per_claimed == 0)
            .map(|j| (j, 1 + u8::from((i + j) % 4 == 0)))
            .collect()
    });
    let similar = (0..n).map(|i| {
        (i + 1..n).filter(|j| (i * 5 + j * 11) % per_similar == 0).map(|j| (j, 1 + u8::from((i + j) % 4 > 1))).collect()
    });
    let similar = SimilarPairs::from_rows(2, similar).expect("valid");
    let evidence = LinkEvidence::from_rows(rows).expect("valid").with_similar(similar).expect("same size");
    Posterior::new(&model(beta, epsilon_links), evidence).expect("same size and bins")
}

fn model(beta: Vec<f64>, epsilon_links: f64) -> LinkModel {
    LinkModel {
        degrees: vec![0.0; beta.len()],
        beta,
        epsilon_links,
        bin_logits: vec![-0.7, 2.5],
        ..LinkModel::default()
    }
}

/// Returns the same posterior with its claims in planes of bits.
pub(crate) fn in_planes(posterior: &Posterior) -> Posterior {
    let n = posterior.n_nodes();
    let evidence = posterior.evidence();
    let bits = BitMatrix::from_rows(n, |i, row| {
        for j in (0..n as u32).filter(|&j| j as usize != i) {
            let claims = evidence.known(i as u32, j).claims;
            if claims == 2 || (claims == 1 && (i as u32) < j) {
                row[j as usize / 64] |= 1 << (j % 64);
            }
        }
    });
    let epsilon_links = posterior.evidence_logit(Known { claims: 2, bin: 0 }) / 2.0;
    let evidence = LinkEvidence::from_reports(bits).with_similar(evidence.similar().clone()).expect("same size");
    Posterior::new(&model(posterior.beta().to_vec(), epsilon_links), evidence).expect("same size and bins")
}

fn dense(posterior: &Posterior) -> Vec<(u32, u32, f64)> {
    let n = posterior.n_nodes() as u32;
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    pairs.map(|(i, j)| (i, j, posterior.logit(i, j, posterior.evidence().known(i, j)))).collect()
}

#[test]
fn enumeration_finds_what_a_dense_scan_finds() {
    for epsilon in [0.0, 0.3, 2.0, 9.0] {
        let posterior = posterior(epsilon);
        for threshold in [-30.0, -3.0, 0.0, 1.5, 40.0] {
            let mut found = Vec::new();
            posterior.visit_pairs(|logit| logit > threshold, |i, j, logit| found.push((i, j, logit)));
            found.sort_by_key(|&(i, j, _)| (i, j));
            let expected: Vec<_> = dense(&posterior).into_iter().filter(|pair| pair.2 > threshold).collect();
            assert_eq!(found, expected, "ε {epsilon}, threshold {threshold}");
        }
    }
}

#[test]
fn pair_sums_equal_the_dense_ones() {
    for epsilon in [0.0, 0.3, 2.0, 9.0, 200.0, 400.0] {
        for posterior in [posterior(epsilon), in_planes(&posterior(epsilon))] {
            for kernel in [LogisticKernel::Logistic, LogisticKernel::LogisticSlope, LogisticKernel::Softplus] {
                let direct: f64 = dense(&posterior).iter().map(|pair| kernel.at(pair.2)).sum();
                let fast = posterior.pair_sum(kernel);
                assert!((fast / direct - 1.0).abs() < 1e-12, "{kernel:?}, ε {epsilon}: {fast} {direct}");
                let PairSums { links, doubt, softplus } = posterior.pair_sums();
                let in_one_pass = match kernel {
                    LogisticKernel::Logistic => links,
                    LogisticKernel::LogisticSlope => doubt,
                    LogisticKernel::Softplus => softplus,
                };
                assert!((in_one_pass / direct - 1.0).abs() < 1e-12, "{kernel:?}, ε {epsilon}: {in_one_pass} {direct}");
            }
        }
    }
}

/// Most pairs of the first posterior are known, and few of the second one, which has several groups of nodes.
#[test]
fn ranks_equal_the_dense_ones() {
    for epsilon in [0.0, 0.3, 2.0, f64::INFINITY] {
        let (most_known, few_known) = (posterior(epsilon), posterior_of(150, 11, 13, epsilon));
        assert!(many_are_known(&most_known) && !many_are_known(&few_known));
        for posterior in [in_planes(&most_known), in_planes(&few_known), most_known, few_known] {
            let mut thresholds: Vec<f64> =
                dense(&posterior).iter().step_by(11).flat_map(|pair| [pair.2, pair.2.next_up()]).collect();
            thresholds.sort_by(f64::total_cmp);
            // Of all thresholds at once, the pairs that reach the higher ones are visited where few are known.
            let first = first_visited(&posterior, &posterior.sorted_beta(), &thresholds);
            assert!((1..thresholds.len()).contains(&first), "ε {epsilon}: {first} of {}", thresholds.len());
            let counts = counts_at_least(&posterior, &thresholds);
            let apart: Vec<u64> = thresholds.chunks(4).flat_map(|few| counts_at_least(&posterior, few)).collect();
            assert_eq!(counts, apart, "ε {epsilon}");
            let mut logits: Vec<f64> = dense(&posterior).iter().map(|pair| pair.2).collect();
            logits.sort_by(f64::total_cmp);
            for (&threshold, count) in thresholds.iter().zip(counts) {
                let at_least = logits.len() - logits.partition_point(|&logit| logit < threshold);
                assert_eq!(count, at_least as u64, "ε {epsilon}, threshold {threshold}");
            }
        }
    }
}

/// `(1 − p) E[P | no link] + p E[P | link] = p`: the posterior is calibrated, by the law of total probability.
#[test]
fn the_posterior_is_calibrated_over_the_reports() {
    let epsilon: f64 = 1.7;
    let flip = 1.0 / (1.0 + epsilon.exp());
    let [evidence] = evidence_logits(epsilon, &[]).try_into().expect("no bins");
    let claims_given_link = [flip * flip, 2.0 * flip * (1.0 - flip), (1.0 - flip) * (1.0 - flip)];
    for prior_logit in [-6.0, -1.0, 0.0, 2.5] {
        let p = sigmoid(prior_logit);
        let posterior = |claims: usize| sigmoid(prior_logit + evidence[claims]);
        let with: f64 = (0..3).map(|claims| claims_given_link[claims] * posterior(claims)).sum();
        let without: f64 = (0..3).map(|claims| claims_given_link[2 - claims] * posterior(claims)).sum();
        assert!(((1.0 - p) * without + p * with - p).abs() < 1e-12, "prior {p}");
        assert!(without <= p + 1e-15 && 1.0 - with <= 1.0 - p + 1e-15, "pointwise claims of theorem 4.4");
    }
}
