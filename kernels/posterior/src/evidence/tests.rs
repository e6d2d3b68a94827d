use super::*;

/// Returns reports of `n` nodes; bit `(i, j)` follows a fixed rule, and the diagonal is 0.
fn reports(n: usize, among: usize) -> BitMatrix {
    BitMatrix::from_rows(n, |i, row| {
        for j in (0..n).filter(|&j| j != i && (i * 13 + j * 7) % among == 0) {
            row[j / 64] |= 1 << (j % 64);
        }
    })
}

/// Returns the same evidence, from lists of pairs.
fn listed(reports: &BitMatrix) -> LinkEvidence {
    let n = reports.n_rows() as u32;
    let claims = |i: u32, j: u32| u8::from(reports.contains(i as usize, j)) + u8::from(reports.contains(j as usize, i));
    let rows = (0..n).map(|i| (i + 1..n).map(|j| (j, claims(i, j))).filter(|pair| pair.1 > 0).collect());
    LinkEvidence::from_rows(rows).expect("valid")
}

#[test]
fn planes_and_lists_hold_the_same_evidence() {
    for (n, among) in [(10, 2), (70, 3), (130, 40)] {
        let bits = reports(n, among);
        let (planes, lists) = (LinkEvidence::from_reports(bits.clone()), listed(&bits));
        assert_eq!(planes.pairs().collect::<Vec<_>>(), lists.pairs().collect::<Vec<_>>());
        assert_eq!(planes.n_claimed(), lists.n_claimed());
        for i in 0..n as u32 {
            for j in (0..n as u32).filter(|&j| j != i) {
                assert_eq!(planes.known(i, j), lists.known(i, j), "({i}, {j})");
            }
        }
    }
}

#[test]
fn the_table_gives_the_evidence_back_in_the_cheaper_form() {
    for (among, dense) in [(2, true), (60, false)] {
        let similar = SimilarPairs::from_rows(3, (0..130).map(|i| (i + 1..130).step_by(9).map(|j| (j, 3)).collect()));
        let evidence = LinkEvidence::from_reports(reports(130, among));
        let evidence = evidence.with_similar(similar.expect("valid")).expect("same size");
        let again = LinkEvidence::from_blocks(&evidence.facts(), &mut evidence.blocks()).expect("round trip");
        assert_eq!(again.pairs().collect::<Vec<_>>(), evidence.pairs().collect::<Vec<_>>());
        assert_eq!(again.planes().is_some(), dense, "every {among}th bit");
    }
}

#[test]
fn impossible_pairs_are_refused() {
    for row in [vec![(0, 1)], vec![(1, 3)], vec![(1, 0)], vec![(2, 1), (1, 1)], vec![(9, 1)]] {
        assert!(LinkEvidence::from_rows([row, vec![], vec![]]).is_err());
    }
}

#[test]
fn planes_say_what_lists_say() {
    let rows = vec![vec![(1, 2), (3, 1)], vec![(2, 1)], vec![], vec![]];
    let listed = LinkEvidence::from_rows(rows).expect("valid");
    let planes = listed.clone().into_planes();
    assert!(listed.planes().is_none() && planes.planes().is_some());
    for i in 0..4 {
        assert!(listed.row(i).eq(planes.row(i)), "node {i}");
    }
    assert_eq!(planes.clone().into_planes(), planes);
}
