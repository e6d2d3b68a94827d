use veilgraph_posterior::SimilarPairs;

use super::*;
use crate::partner_ranges::PartnerRanges;

/// Says of a pair `i < j` its log odds, or NaN where it is not listed, and those of which the kernels are subtracted, each with its share.
type OddsOfPair<'a> = Box<dyn Fn(&KnownPairs, usize, u32) -> (f64, Vec<(f64, f64)>) + 'a>;

/// The product with kept slopes, with slopes that are not kept, and with probabilities is that of the dense matrix, for pairs
/// that are claimed, in a bin, or both, whether claims are listed or bits, with typical claims and without any, and whether pairs are
/// visited row by row or range by range.
#[test]
fn changes_are_those_of_a_dense_matrix() {
    const N: usize = 30;
    let claimed = |i: u32| (i + 1..30).filter(|j| (i + j).is_multiple_of(3)).map(|j| (j, 1 + (j % 2) as u8)).collect();
    let alike = |i: u32| (i + 1..30).filter(|j| (i * j) % 4 == 1).map(|j| (j, 1 + (j % 3) as u8)).collect();
    let listed = LinkEvidence::from_rows((0..30).map(claimed)).expect("valid");
    let similar = SimilarPairs::from_rows(3, (0..30).map(alike)).expect("valid");
    let listed = listed.with_similar(similar).expect("same size");
    let bin_logits = [0.5, 1.0, 2.0];
    for evidence in [listed.clone(), listed.into_planes()] {
        let are_planes = evidence.planes().is_some();
        let similar = SimilarClaims::new(&evidence);
        let (with_double, _) = similar.with_double_claims(usize::MAX);
        let with_double = with_double.expect("few pairs");
        let bin_and_claims =
            |i: usize, j: u32| (usize::from(evidence.similar().bin(i, j)), usize::from(evidence.n_claims(i, j)));
        let posterior: OddsOfPair = Box::new(|known, i, j| {
            let (bin, claims) = bin_and_claims(i, j);
            (known.logits[bin][claims], vec![(known.logits[0][if are_planes { claims } else { 0 }], 1.0)])
        });
        let prior: OddsOfPair = Box::new(|known, i, j| {
            let (bin, _) = bin_and_claims(i, j);
            (known.logits[bin][0], vec![(known.logits[0][0], 1.0)])
        });
        let typical = |shares: [f64; 3]| -> OddsOfPair {
            Box::new(move |known, i, j| {
                let (bin, claims) = bin_and_claims(i, j);
                let unlisted: Vec<(f64, f64)> = known.logits[0].into_iter().zip(shares).collect();
                let is_listed = bin > 0 || claims == 2;
                (if is_listed { known.logits[bin][claims] } else { f64::NAN }, unlisted)
            })
        };
        // Where every claim is double, no pair that is not listed counts as claimed.
        let (shares, all_double) = ([0.9, 0.1, 0.0], [1.0, 0.0, 0.0]);
        let cases = [
            (KnownPairs::posterior(&similar, 1.5, &bin_logits), posterior),
            (KnownPairs::prior(&similar, &bin_logits), prior),
            (KnownPairs::typical(&with_double, shares, 1.5, &bin_logits), typical(shares)),
            (KnownPairs::typical(&with_double, all_double, 1.5, &bin_logits), typical(all_double)),
        ];
        for (case, (known, odds)) in cases.iter().enumerate() {
            check_against_dense(known, N, odds, &format!("case {case}, planes {are_planes}"));
        }
    }
}

/// Compares products with those of the dense matrix of these log odds.
fn check_against_dense(known: &KnownPairs, n: usize, odds: &OddsOfPair, case: &str) {
    let b: Vec<f64> = (0..n).map(|node| -2.0 + 0.1 * (node % 7) as f64).collect();
    let v: Vec<f64> = (0..n).map(|node| 1.0 + (node % 5) as f64).collect();
    let with_claims = known.listed_claims().is_some();
    let ranges = [7, 30].map(|nodes| PartnerRanges::new(known.similar, with_claims, nodes));
    for kernel in [LogisticKernel::Logistic, LogisticKernel::LogisticSlope] {
        let mut changes = known.changes(kernel, &b);
        assert_eq!(changes.kept.is_some(), kernel == LogisticKernel::LogisticSlope);
        let mut expected = vec![0.0; n];
        for i in 0..n {
            for j in (i + 1..n).chain(0..i) {
                let (logit, subtracted) = odds(known, i.min(j), i.max(j) as u32);
                if !logit.is_nan() {
                    let at = |logit: f64| kernel.at(b[i] + b[j] + logit);
                    let others: f64 = subtracted.iter().map(|&(logit, share)| share * at(logit)).sum();
                    expected[i] += (at(logit) - others) * v[j];
                }
            }
        }
        for ranges in [None, Some(&ranges[0]), Some(&ranges[1])] {
            for keeps in [true, false] {
                changes.ranges = ranges;
                changes.kept = None;
                if keeps {
                    changes.keep();
                }
                // Entries are kept in single precision.
                let tolerance = if keeps { 1e-6 } else { 1e-12 };
                for (node, (found, expected)) in changes.times(&v).into_iter().zip(&expected).enumerate() {
                    assert!(
                        (found - expected).abs() < tolerance,
                        "{case}, {kernel:?}, node {node}, by ranges {}, kept {keeps}: {found} and {expected}",
                        ranges.is_some()
                    );
                }
            }
        }
    }
}

/// In a large graph, pairs are visited range by range without being told so, with and without claims.
#[test]
fn large_graphs_are_visited_by_ranges() {
    const N: u32 = 65_537;
    let claimed =
        |i: u32| if i.is_multiple_of(900) { (i + 1..N).step_by(7_001).map(|j| (j, 2)).collect() } else { Vec::new() };
    let alike =
        |i: u32| if i.is_multiple_of(700) { (i + 1..N).step_by(9_001).map(|j| (j, 1)).collect() } else { Vec::new() };
    let evidence = LinkEvidence::from_rows((0..N).map(claimed)).expect("valid");
    let evidence =
        evidence.with_similar(SimilarPairs::from_rows(1, (0..N).map(alike)).expect("valid")).expect("same size");
    let similar = SimilarClaims::new(&evidence);
    let b: Vec<f64> = (0..N).map(|node| -4.0 + 0.01 * f64::from(node % 11)).collect();
    let v: Vec<f64> = (0..N).map(|node| 1.0 + f64::from(node % 3)).collect();
    for known in [KnownPairs::posterior(&similar, 4.0, &[1.5]), KnownPairs::prior(&similar, &[1.5])] {
        for kernel in [LogisticKernel::Logistic, LogisticKernel::LogisticSlope] {
            let mut changes = known.changes(kernel, &b);
            assert!(changes.ranges.is_some());
            let by_ranges = changes.times(&v);
            changes.ranges = None;
            if changes.kept.is_some() {
                changes.keep();
            }
            let by_rows = changes.times(&v);
            assert!(by_rows.iter().filter(|&&sum| sum != 0.0).count() > 200);
            for (by_range, by_row) in by_ranges.iter().zip(by_rows) {
                assert!((by_range - by_row).abs() <= 1e-12 * by_row.abs(), "{kernel:?}: {by_range} and {by_row}");
            }
        }
    }
}

/// Where one range holds all nodes, sums run in the order of the rows, and their bits are the same.
#[test]
fn one_range_gives_the_bits_of_rows() {
    let row =
        |i: u32| (i + 1..90).filter(|j| (i * 7 + j * 3).is_multiple_of(5)).map(|j| (j, 1 + (j % 2) as u8)).collect();
    let alike = |i: u32| (i + 1..90).filter(|j| (i * j) % 4 == 1).map(|j| (j, 1 + (j % 3) as u8)).collect();
    let evidence = LinkEvidence::from_rows((0..90).map(row)).expect("valid");
    let evidence =
        evidence.with_similar(SimilarPairs::from_rows(3, (0..90).map(alike)).expect("valid")).expect("same size");
    let similar = SimilarClaims::new(&evidence);
    let b: Vec<f64> = (0..90).map(|node| -2.0 + 0.037 * f64::from(node % 11)).collect();
    let v: Vec<f64> = (0..90).map(|node| 1.0 / (1.0 + f64::from(node % 13))).collect();
    let typical = KnownPairs::typical(&similar, [0.9, 0.1, 0.0], 1.5, &[0.5, 1.0, 2.0]);
    for (known, with_claims) in [(KnownPairs::posterior(&similar, 1.5, &[0.5, 1.0, 2.0]), true), (typical, false)] {
        let ranges = PartnerRanges::new(&similar, with_claims, 90);
        for kernel in [LogisticKernel::Logistic, LogisticKernel::LogisticSlope] {
            let by_rows = known.changes(kernel, &b).times(&v);
            let mut changes = known.changes(kernel, &b);
            changes.ranges = Some(&ranges);
            if changes.kept.is_some() {
                changes.keep();
            }
            assert_eq!(changes.times(&v), by_rows, "{kernel:?}");
        }
    }
}
