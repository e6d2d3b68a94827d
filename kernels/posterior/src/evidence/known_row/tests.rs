use veilgraph_graph::BitMatrix;

use crate::{Known, LinkEvidence, SimilarPairs};

/// The pairs of a row, one by one and all at once, are those that a search finds.
#[test]
fn a_row_has_every_known_pair_once_in_order() {
    const NODES: usize = 150;
    let claims = |i: usize, j: usize| -> u8 { if (i * 7 + j * 5).is_multiple_of(11) { 1 + (j % 2) as u8 } else { 0 } };
    let bin = |i: usize, j: usize| -> u8 { if (i * 3 + j).is_multiple_of(4) { 1 + (j % 3) as u8 } else { 0 } };
    let later = |i: usize| (i + 1..NODES).map(|j| j as u32);
    let of_row = |code: &dyn Fn(usize, usize) -> u8, i: usize| -> Vec<(u32, u8)> {
        later(i).map(|j| (j, code(i, j as usize))).filter(|&(_, code)| code > 0).collect()
    };
    let similar = || SimilarPairs::from_rows(3, (0..NODES).map(|i| of_row(&bin, i))).expect("valid");
    let listed = LinkEvidence::from_rows((0..NODES).map(|i| of_row(&claims, i))).expect("valid");
    // A pair has two claims where the upper and the lower triangle have its bit.
    let reports = BitMatrix::from_rows(NODES, |i, words| {
        for j in (0..NODES).filter(|&j| j != i) {
            let n_claims = claims(i.min(j), i.max(j));
            words[j / 64] |= u64::from(n_claims == 2 || (n_claims == 1 && i < j)) << (j % 64);
        }
    });
    for evidence in [listed, LinkEvidence::from_reports(reports)] {
        let evidence = evidence.with_similar(similar()).expect("same size");
        for i in 0..NODES {
            let known = |j: u32| Known { claims: claims(i, j as usize), bin: bin(i, j as usize) };
            let expected: Vec<(u32, Known)> =
                later(i).map(|j| (j, known(j))).filter(|&(_, known)| known != Known::default()).collect();
            let (mut one_by_one, mut at_once) = (Vec::new(), Vec::new());
            for pair in evidence.row(i) {
                one_by_one.push(pair);
            }
            evidence.row(i).for_each(|pair| at_once.push(pair));
            let (mut half, mut rest) = (evidence.row(i), Vec::new());
            rest.extend(half.by_ref().take(3));
            half.for_each(|pair| rest.push(pair));
            for found in [one_by_one, at_once, rest] {
                assert_eq!(found, expected, "row {i}");
            }
        }
    }
}
