use veilgraph_posterior::SimilarPairs;

use super::*;
use crate::pair_tiles::PairTiles;

/// The product with kept slopes, with slopes that are not kept, and with probabilities is that of the dense matrix, for pairs
/// that are claimed, in a bin, or both, whether claims are listed or bits, and whether pairs are visited row by row or tile by tile.
#[test]
fn changes_are_those_of_a_dense_matrix() {
    const N: usize = 30;
    let claimed = |i: u32| (i + 1..30).filter(|j| (i + j).is_multiple_of(3)).map(|j| (j, 1 + (j % 2) as u8)).collect();
    let alike = |i: u32| (i + 1..30).filter(|j| (i * j) % 4 == 1).map(|j| (j, 1 + (j % 3) as u8)).collect();
    let listed = LinkEvidence::from_rows((0..30).map(claimed)).expect("valid");
    let similar = SimilarPairs::from_rows(3, (0..30).map(alike)).expect("valid");
    let listed = listed.with_similar(similar).expect("same size");
    let b: Vec<f64> = (0..N).map(|node| -2.0 + 0.1 * (node % 7) as f64).collect();
    let v: Vec<f64> = (0..N).map(|node| 1.0 + (node % 5) as f64).collect();
    for evidence in [listed.clone(), listed.into_planes()] {
        let similar = SimilarClaims::new(&evidence);
        let known = KnownPairs::posterior(&similar, 1.5, &[0.5, 1.0, 2.0]);
        for kernel in [LogisticKernel::Logistic, LogisticKernel::LogisticSlope] {
            let mut changes = known.changes(kernel, &b);
            assert_eq!(changes.kept.is_some(), kernel == LogisticKernel::LogisticSlope);
            let mut expected = [0.0; N];
            for i in 0..N {
                for j in (i + 1..N).chain(0..i) {
                    let (first, second) = (i.min(j), i.max(j) as u32);
                    let (bin, claims) = (evidence.similar().bin(first, second), evidence.n_claims(first, second));
                    let logit = known.logits[usize::from(bin)][usize::from(claims)];
                    let other = known.logits[0][if evidence.planes().is_some() { usize::from(claims) } else { 0 }];
                    let sum = b[i] + b[j];
                    expected[i] += (kernel.at(sum + logit) - kernel.at(sum + other)) * v[j];
                }
            }
            let with_claims = known.listed_claims().is_some();
            let tiles = [7, 30].map(|nodes| PairTiles::new(&similar, with_claims, nodes));
            for (tiles, keeps) in
                [None, Some(&tiles[0]), Some(&tiles[1])].into_iter().flat_map(|tiles| [(tiles, true), (tiles, false)])
            {
                changes.tiles = tiles;
                changes.kept = None;
                if keeps {
                    changes.keep();
                }
                for (node, (found, expected)) in changes.times(&v).into_iter().zip(expected).enumerate() {
                    assert!((found - expected).abs() < 1e-6, "{kernel:?}, node {node}: {found} and {expected}");
                }
            }
        }
    }
}

/// Where one tile holds all nodes, sums run in the order of the rows, and their bits are the same.
#[test]
fn one_tile_gives_the_bits_of_rows() {
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
        let tiles = PairTiles::new(&similar, with_claims, 90);
        for kernel in [LogisticKernel::Logistic, LogisticKernel::LogisticSlope] {
            let by_rows = known.changes(kernel, &b).times(&v);
            let mut changes = known.changes(kernel, &b);
            changes.tiles = Some(&tiles);
            if changes.kept.is_some() {
                changes.keep();
            }
            assert_eq!(changes.times(&v), by_rows, "{kernel:?}");
        }
    }
}
