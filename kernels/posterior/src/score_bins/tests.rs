use super::*;

#[test]
fn bins_let_no_more_through_than_they_may() {
    let counts: Vec<u64> = (0..100).map(|cell| (100 - cell) * 3).collect();
    let scores: Vec<f64> = (0..100).map(f64::from).collect();
    let limits = |most_pairs, least_pairs, most_bins| BinLimits { most_pairs, least_pairs, most_bins };
    for limits in [limits(5000, 20, 24), limits(100_000, 1, 4), limits(2, 1, 8)] {
        let thresholds = bin_thresholds(&counts, &scores, limits);
        assert!(thresholds.len() <= usize::from(limits.most_bins) && thresholds.is_sorted(), "{thresholds:?}");
        let n_above = |threshold: f64| -> u64 { (threshold as usize..100).map(|cell| counts[cell]).sum() };
        assert!(thresholds.iter().all(|&threshold| n_above(threshold) <= limits.most_pairs as u64));
    }
    assert_eq!(bin_thresholds(&counts, &scores, limits(2, 1, 8)), [0.0; 0], "the best cell holds three pairs");
}
