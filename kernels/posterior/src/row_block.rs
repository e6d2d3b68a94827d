//! This module divides the pairs of a graph into row blocks, each of which is the work of one task.

use std::num::NonZeroU32;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// One of several row blocks: the pairs `(i, j)` with `i < j` whose lower node `i` is in a range of nodes.
///
/// A node with a low number is the lower node of more pairs than one with a high number. So the first row blocks have
/// fewer nodes, and all have about as many pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowBlock {
    /// The number of this row block, from 0 on.
    pub index: u32,
    /// The graph is divided into so many row blocks.
    pub row_blocks: NonZeroU32,
}

impl RowBlock {
    /// Returns the lower nodes of this row block; there may be none where there are more row blocks than nodes.
    #[must_use]
    pub fn rows(self, n_nodes: usize) -> Range<usize> {
        self.begin(self.index, n_nodes)..self.begin(self.index.saturating_add(1), n_nodes)
    }

    /// Returns the first lower node of a row block: the pairs whose lower node is this one or a higher one are the share
    /// `1 − index / row_blocks` of all pairs.
    fn begin(self, index: u32, n_nodes: usize) -> usize {
        if index >= self.row_blocks.get() {
            return n_nodes;
        }
        let share = 1.0 - f64::from(index) / f64::from(self.row_blocks.get());
        (n_nodes as f64 * (1.0 - share.sqrt())) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_blocks_cover_all_pairs_once_and_have_about_as_many() {
        for (n_nodes, row_blocks) in [(1_000, 7), (10, 3), (5, 1), (3, 8), (100_000, 64)] {
            let of = NonZeroU32::new(row_blocks).expect("at least one");
            let blocks: Vec<Range<usize>> =
                (0..row_blocks).map(|index| RowBlock { index, row_blocks: of }.rows(n_nodes)).collect();
            let rows: Vec<usize> = blocks.iter().cloned().flatten().collect();
            assert!(rows.into_iter().eq(0..n_nodes), "{n_nodes} nodes, {row_blocks} blocks");
            let pairs = |rows: &Range<usize>| rows.clone().map(|i| n_nodes - 1 - i).sum::<usize>();
            let most = blocks.iter().map(pairs).max().expect("a block");
            let fair = n_nodes * (n_nodes - 1) / 2 / row_blocks as usize;
            assert!(most <= fair + 2 * n_nodes, "{most} pairs in a block, {fair} on average");
        }
    }
}
