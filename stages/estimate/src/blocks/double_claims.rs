//! This module lists the pairs that both of their nodes claim, in both directions.

use veilgraph_graph::{RowPlaces, row_offsets};
use veilgraph_posterior::LinkEvidence;

/// Lists the double claims of every node. A *slot* is one direction of a double claim: the row of a node has one slot for
/// each partner.
///
/// A double claim takes 10 bytes, 5 in each direction. At small budgets there are tens of millions of them, so what follows
/// from a partner and a bin is worked out when it is needed and kept by nobody.
///
/// # Shapes
/// `offsets`: `[n + 1]`; all others: `[slots]`, where the row of node `i` takes `offsets[i]..offsets[i + 1]`.
pub(crate) struct DoubleClaimPairs {
    pub offsets: Vec<usize>,
    /// Partners ascend in a row.
    pub partners: Vec<u32>,
    /// The bin of similarity of the pair.
    pub bins: Vec<u8>,
}

impl DoubleClaimPairs {
    /// Lists the double claims of this evidence.
    pub(crate) fn new(evidence: &LinkEvidence) -> Self {
        Self::of_pairs(evidence, |_, _| true)
    }

    /// Lists the double claims of the pairs `i < j` that are wanted.
    pub(crate) fn of_pairs(evidence: &LinkEvidence, is_wanted: impl Fn(u32, u32) -> bool) -> Self {
        let n_nodes = evidence.n_nodes();
        let double = |i: usize| evidence.double_claims(i).filter(|&j| is_wanted(i as u32, j)).collect::<Vec<_>>();
        let ends = (0..n_nodes).flat_map(|i| double(i).into_iter().flat_map(move |j| [i, j as usize]));
        let offsets = row_offsets(n_nodes, ends);
        let n_slots = offsets[n_nodes];
        let mut pairs = Self { partners: vec![0; n_slots], bins: vec![0; n_slots], offsets };
        // Rows are filled in the order of pairs, so that partners ascend: those below a node come before those above.
        let mut places = RowPlaces::new(&pairs.offsets);
        for i in 0..n_nodes {
            let mut similar = evidence.similar().row(i).peekable();
            for j in double(i) {
                while similar.next_if(|&(partner, _)| partner < j).is_some() {}
                let bin = similar.next_if(|&(partner, _)| partner == j).map_or(0, |(_, bin)| bin);
                for (row, partner) in [(i, j), (j as usize, i as u32)] {
                    let slot = places.take(row);
                    (pairs.partners[slot], pairs.bins[slot]) = (partner, bin);
                }
            }
        }
        pairs
    }

    /// Returns the number of nodes.
    pub(crate) fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the number of slots.
    pub(crate) fn n_slots(&self) -> usize {
        self.partners.len()
    }

    /// Returns the slots of `node`.
    pub(crate) fn slots(&self, node: usize) -> std::ops::Range<usize> {
        self.offsets[node]..self.offsets[node + 1]
    }

    /// Returns the slots of `node` whose partners are later nodes; so every pair has one of them.
    pub(crate) fn later_slots(&self, node: usize) -> std::ops::Range<usize> {
        let slots = self.slots(node);
        let n_earlier = self.partners[slots.clone()].partition_point(|&partner| partner as usize <= node);
        slots.start + n_earlier..slots.end
    }
}
