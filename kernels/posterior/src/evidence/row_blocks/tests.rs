use std::num::NonZeroU32;

use super::*;
use crate::RowBlock;

/// The row of a node by a fixed arithmetic rule.
fn row(i: usize, n_nodes: usize) -> Vec<(u32, u8)> {
    let partners = (i + 1..n_nodes).filter(|j| (i * 31 + j * 17).is_multiple_of(5));
    partners.map(|j| (j as u32, 1 + u8::from((i + j).is_multiple_of(4)))).collect()
}

fn blocks_of(evidence: &LinkEvidence) -> Vec<Vec<Column>> {
    evidence.blocks().collect()
}

/// Row blocks, joined, are the whole: the same row groups with the same rows.
#[test]
fn joined_row_blocks_are_the_whole() {
    for n_nodes in [3, 40, 3000] {
        let whole = LinkEvidence::from_rows((0..n_nodes).map(|i| row(i, n_nodes))).expect("valid");
        for row_blocks in [1, 2, 5] {
            let rows =
                |index: u32| RowBlock { index, row_blocks: NonZeroU32::new(row_blocks).expect("some") }.rows(n_nodes);
            let made = |index| LinkEvidence::streamed(n_nodes, rows(index), move |i| row(i, n_nodes)).collect();
            let stored = (0..row_blocks).map(|index| Stored::held(made(index).expect("valid"))).collect();
            let joined = LinkEvidence::joined(stored).expect("of one graph").collect().expect("valid");
            assert_eq!(joined.facts(), whole.facts());
            assert_eq!(blocks_of(&joined), blocks_of(&whole), "{n_nodes} nodes, {row_blocks} row blocks");
            // And a row block of the whole is what was made of these rows.
            let last = rows(row_blocks - 1);
            let read = LinkEvidence::of_rows(&Stored::held(whole.clone()), last.clone()).expect("valid");
            assert_eq!(read.planes(), None);
            assert!(read.pairs().eq(whole.pairs().filter(|pair| last.contains(&(pair.0 as usize)))));
        }
    }
}

#[test]
fn row_blocks_of_different_graphs_are_not_joined() {
    let nothing = |n_nodes: usize| Stored::held(LinkEvidence::nothing(n_nodes, 0));
    assert!(LinkEvidence::joined(vec![nothing(4), nothing(5)]).is_err());
    assert!(LinkEvidence::joined(Vec::new()).is_err());
    let similar = Stored::held(LinkEvidence::nothing(4, 2));
    assert!(LinkEvidence::joined(vec![similar]).is_err());
}
