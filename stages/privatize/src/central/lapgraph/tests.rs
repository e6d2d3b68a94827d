use std::collections::BTreeMap;

use veilgraph_contract::Relation;
use veilgraph_privacy::composition::total_epsilon;

use super::*;
use crate::tests::{nats, ring};

fn release(links: &AdjacencyList, epsilon: f64, seed: u64) -> Vec<(u32, u32)> {
    let rng = StageRng::new(seed, "privatize", 0);
    let params = Params { epsilon: nats(epsilon), count_share: 0.01 };
    let (graph,) = LapGraph::run((Private(links.clone()),), &params, &rng, &Progress::none()).expect("valid");
    graph.links().map(|(i, j, _)| (i, j)).collect()
}

/// Two histograms of 20,000 draws each, against each other. The statistic has at most 30 degrees of freedom, which it
/// exceeds by chance in 0.1 % of draws; the seeds are fixed.
#[test]
fn pairs_above_a_threshold_follow_the_law_of_all_pairs() {
    const DRAWS: u64 = 20_000;
    /// Quantile 99.9 % of chi-square with 30 degrees of freedom.
    const MOST: f64 = 59.7;
    let links = ring(40);
    let pairs = Pairs::new(&links, 2.0).expect("representable");
    let threshold = pairs.threshold(45).expect("few pairs are kept");
    // The second threshold is so high that pairs below it are needed nearly always.
    for threshold in [threshold, 8 * threshold] {
        let mut counts: [BTreeMap<usize, f64>; 2] = Default::default();
        for (counts, threshold) in counts.iter_mut().zip([None, Some(threshold)]) {
            for seed in 0..DRAWS {
                let rng = StageRng::new(seed, "privatize", u32::from(threshold.is_some()));
                let kept = pairs.largest(45, threshold, &rng);
                let linked = kept.iter().filter(|&&(i, j)| links.contains(i as usize, j)).count();
                *counts.entry(linked).or_default() += 1.0;
            }
        }
        let all: std::collections::BTreeSet<usize> = counts.iter().flat_map(BTreeMap::keys).copied().collect();
        let of = |side: usize, k: usize| counts[side].get(&k).copied().unwrap_or(0.0);
        let usual = all.iter().filter(|&&k| of(0, k) + of(1, k) >= 20.0);
        let statistic: f64 = usual.clone().map(|&k| (of(0, k) - of(1, k)).powi(2) / (of(0, k) + of(1, k))).sum();
        assert!((5..=31).contains(&usual.clone().count()) && statistic < MOST, "{threshold}: {statistic}");
    }
}

/// Three pairs of which one is kept: the probability of each outcome, summed over all values of the noise, for every
/// graph of three nodes and every change of one link.
#[test]
fn no_outcome_is_likelier_by_more_than_the_budget() {
    let epsilon = 1.5_f64;
    let rate = epsilon / 8.0;
    let law = |x: i64| (-rate * x.abs() as f64).exp() * (1.0 - (-rate).exp()) / (1.0 + (-rate).exp());
    let outcome = |bits: [i64; 3], kept: usize| -> f64 {
        let others: Vec<i64> = (0..3).filter(|&k| k != kept).map(|k| 8 * bits[k]).collect();
        let below = |sum: i64, bit: i64| (-400..sum - bit).map(law).sum::<f64>();
        (-300..308_i64)
            .map(|sum| {
                let [a, b] = [0, 1].map(|k| (below(sum, others[k]), law(sum - others[k])));
                // Equal sums share the place.
                let wins = a.0 * b.0 + f64::midpoint(a.0 * b.1, a.1 * b.0) + a.1 * b.1 / 3.0;
                law(sum - 8 * bits[kept]) * wins
            })
            .sum()
    };
    let mut largest = 0.0_f64;
    for code in 0..8 {
        let bits = [code & 1, code >> 1 & 1, code >> 2 & 1];
        for changed in 0..3 {
            let mut other = bits;
            other[changed] = 1 - other[changed];
            let ratios = (0..3).map(|kept| (outcome(bits, kept) / outcome(other, kept)).ln().abs());
            largest = ratios.fold(largest, f64::max);
        }
    }
    assert!(largest <= epsilon + 1e-9 && largest > 0.5 * epsilon, "{largest}");
}

#[test]
fn as_many_pairs_are_kept_as_the_noisy_count_says() {
    let links = ring(2_000);
    // The count has a budget of 0.04 nats: noise beyond 500 has a probability of e^-20.
    let kept = release(&links, 4.0, 5);
    assert!(kept.len().abs_diff(2_000) < 500 && kept.is_sorted_by(|a, b| a < b));
    assert!(kept.iter().all(|&(i, j)| i < j && j < 2_000));
    assert_eq!(release(&links, 4.0, 5), kept, "the same seed gives the same graph");
    assert_ne!(release(&links, 4.0, 6), kept);
}

#[test]
fn an_infinite_budget_releases_the_graph() {
    assert_eq!(release(&ring(70), f64::INFINITY, 1), ring(70).links().collect::<Vec<_>>());
}

#[test]
fn both_parts_are_charged() {
    let params = Params { epsilon: nats(2.0), count_share: 0.25 };
    let releases = LapGraph::releases(&params);
    assert_eq!((releases.len(), total_epsilon(&releases, Relation::Edge)), (4, 2.0));
    assert_eq!(releases[0].cost.epsilon(), 0.5);
}

#[test]
fn shares_and_budgets_out_of_range_are_refused() {
    for share in [0.0, 1.0, -0.5, f64::NAN] {
        let params = Params { epsilon: nats(1.0), count_share: share };
        assert!(params.check().expect_err("refused").to_string().contains("count_share"));
    }
    let tiny = Params { epsilon: nats(1e-9), count_share: 0.5 };
    let result = LapGraph::run((Private(ring(5)),), &tiny, &StageRng::new(1, "privatize", 0), &Progress::none());
    assert!(result.expect_err("refused").to_string().contains("count_share"));
}
