use veilgraph_posterior::SimilarPairs;

use super::*;

/// The product with kept slopes, with slopes that are not kept, and with probabilities is that of the dense matrix, for pairs
/// that are claimed, in a bin, or both, whether claims are listed or bits.
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
            for keeps in [true, false] {
                if !keeps {
                    changes.kept = None;
                }
                for (node, (found, expected)) in changes.times(&v).into_iter().zip(expected).enumerate() {
                    assert!((found - expected).abs() < 1e-6, "{kernel:?}, node {node}: {found} and {expected}");
                }
            }
        }
    }
}
