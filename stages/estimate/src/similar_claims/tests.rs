use veilgraph_posterior::SimilarPairs;

use super::*;

/// Every similar pair has the claims that the evidence says, whether claims are listed or bits.
#[test]
fn similar_pairs_have_their_claims() {
    let claimed = |i: u32| (i + 1..30).filter(|j| !(i + j).is_multiple_of(4)).map(|j| (j, 1 + (j % 2) as u8)).collect();
    let alike = |i: u32| (i + 1..30).filter(|j| (i * j) % 3 != 1).map(|j| (j, 1 + (j % 5) as u8)).collect();
    let listed = LinkEvidence::from_rows((0..30).map(claimed)).expect("valid");
    let similar = SimilarPairs::from_rows(5, (0..30).map(alike)).expect("valid");
    let listed = listed.with_similar(similar).expect("same size");
    assert!(listed.planes().is_none());
    for evidence in [listed.clone(), listed.into_planes()] {
        let similar = SimilarClaims::new(&evidence);
        assert_eq!(similar.n_pairs(), evidence.similar().n_pairs());
        for i in 0..30 {
            let found = similar.row(i).iter().map(|pair| (pair.partner, pair.bin, pair.claims));
            let expected = evidence.similar().row(i).map(|(j, bin)| (j, bin, evidence.n_claims(i, j)));
            assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "node {i}");
        }
    }
}
