use std::num::NonZeroU32;

use super::*;
use crate::pairs::tests::posterior;
use crate::{LinkEvidence, LinkModel, RowBlock, SimilarPairs};
use veilgraph_contract::Artifact;

/// The part of a posterior whose known pairs lie in these rows, and the model that goes with it.
fn of_rows(whole: &Posterior, model: &LinkModel, rows: std::ops::Range<usize>) -> Posterior {
    let kept = |i: usize| rows.contains(&i);
    let n_nodes = whole.n_nodes();
    let similar = whole.evidence().similar();
    let claims = (0..n_nodes).map(|i| whole.evidence().claims(i).filter(|_| kept(i)).collect());
    let bins = (0..n_nodes).map(|i| similar.row(i).filter(|_| kept(i)).collect());
    let similar = SimilarPairs::from_rows(similar.n_bins(), bins).expect("valid");
    let evidence = LinkEvidence::from_rows(claims).expect("valid").with_similar(similar).expect("same size");
    Posterior::new(model, evidence).expect("same size and bins")
}

/// What row blocks say adds up to what the whole says, and they find the same pairs.
#[test]
fn row_blocks_find_what_the_whole_finds() {
    for epsilon_links in [0.0, 0.3, 2.0, 9.0, f64::INFINITY] {
        let whole = posterior(epsilon_links);
        let bin_logits = vec![-0.7, 2.5];
        let model = LinkModel { beta: whole.beta().to_vec(), epsilon_links, bin_logits, ..LinkModel::default() };
        for (row_blocks, multiple) in [(1, 1.0), (3, 1.0), (7, 1.0), (3, 3.0)] {
            let parts: Vec<_> = (0..row_blocks)
                .map(|index| {
                    RowBlock { index, row_blocks: NonZeroU32::new(row_blocks).expect("some") }.rows(whole.n_nodes())
                })
                .map(|rows| (rows.clone(), of_rows(&whole, &model, rows)))
                .collect();
            let counts = parts.iter().fold(LogitCounts::none(), |sum, (_, part)| sum.plus(&part.logit_counts()));
            assert_eq!(counts, whole.logit_counts(), "ε {epsilon_links}, {row_blocks} blocks");
            let threshold = whole.likely_threshold(&counts, multiple);
            let mut found = Vec::new();
            for (rows, part) in parts {
                let visit = |i, j, logit| found.push((i, j, sigmoid(logit)));
                part.visit_pairs_of(rows, |logit| logit >= threshold.logit, visit);
            }
            found.sort_by_key(|&(i, j, _)| (i, j));
            let mut expected = Vec::new();
            let accept = |logit| logit >= threshold.logit;
            whole.visit_pairs(accept, |i, j, logit| expected.push((i, j, sigmoid(logit))));
            expected.sort_by_key(|&(i, j, _)| (i, j));
            assert_eq!(found, expected, "ε {epsilon_links}, {row_blocks} blocks");
            let is_enough = found.len() as u64 >= threshold.rank || threshold.logit == LEAST_LOGIT;
            assert!(is_enough, "the bound is a lower one");
        }
    }
}

/// Where more pairs are asked for than have any probability, those without one are not listed.
#[test]
fn impossible_pairs_are_no_likely_ones() {
    for epsilon_links in [60.0, 400.0, f64::INFINITY] {
        let posterior = posterior(epsilon_links);
        let mut possible = Vec::new();
        posterior.visit_pairs(|logit| logit >= LEAST_LOGIT, |i, j, _| possible.push((i, j)));
        for multiple in [2.0, 30.0] {
            let mut found: Vec<_> = posterior.most_likely(multiple).into_iter().map(|(i, j, _)| (i, j)).collect();
            found.sort_unstable();
            possible.sort_unstable();
            assert!(found.len() < 40 * 39 / 2 && found.iter().all(|pair| possible.contains(pair)), "ε {epsilon_links}");
            assert!(multiple < 30.0 || found == possible, "ε {epsilon_links}: {} of {}", found.len(), possible.len());
        }
    }
    let nothing = Posterior::new(
        &LinkModel { beta: vec![-300.0; 4], degrees: vec![0.0; 4], ..LinkModel::default() },
        LinkEvidence::nothing(4, 0),
    );
    assert_eq!(nothing.expect("same size").most_likely(1e300), Vec::new());
}

#[test]
fn counts_and_thresholds_are_read_as_they_were_written() {
    let counts = posterior(2.0).logit_counts();
    assert!(counts.correction != 0 && counts.n_known_at_most > 0);
    assert_eq!(LogitCounts::from_blocks(&counts.facts(), &mut counts.blocks()).expect("valid"), counts);
    for logit in [f64::INFINITY, f64::NEG_INFINITY, -3.5] {
        let threshold = LikelyThreshold { rank: 7, logit };
        let read = LikelyThreshold::from_blocks(&threshold.facts(), &mut threshold.blocks());
        assert_eq!(read.expect("valid"), threshold);
    }
}
