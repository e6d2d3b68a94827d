//! This module lists the pairs that both of their nodes claim, in both directions.

use veilgraph_posterior::LinkEvidence;

/// Lists the double claims of every node. A *slot* is one direction of a double claim: the row of a node has one slot for
/// each partner.
///
/// # Shapes
/// `offsets`: `[n + 1]`; all others: `[slots]`, where the row of node `i` takes `offsets[i]..offsets[i + 1]`.
pub(crate) struct DoubleClaimPairs {
    pub offsets: Vec<usize>,
    /// Partners ascend in a row.
    pub partners: Vec<u32>,
    /// The bin of similarity of the pair.
    pub bins: Vec<u8>,
    /// The slot of the same pair in the row of the partner.
    pub reverse: Vec<u32>,
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
        let mut offsets = vec![0; n_nodes + 1];
        for i in 0..n_nodes {
            for j in double(i) {
                offsets[i + 1] += 1;
                offsets[j as usize + 1] += 1;
            }
        }
        for node in 0..n_nodes {
            offsets[node + 1] += offsets[node];
        }
        let n_slots = offsets[n_nodes];
        let mut pairs = Self { partners: vec![0; n_slots], bins: vec![0; n_slots], reverse: vec![0; n_slots], offsets };
        // Rows are filled in the order of pairs, so that partners ascend: those below a node come before those above.
        let mut next = pairs.offsets.clone();
        for i in 0..n_nodes {
            for j in double(i) {
                let bin = evidence.similar().bin(i, j);
                let (here, there) = (next[i], next[j as usize]);
                (pairs.partners[here], pairs.partners[there]) = (j, i as u32);
                (pairs.bins[here], pairs.bins[there]) = (bin, bin);
                (pairs.reverse[here], pairs.reverse[there]) = (there as u32, here as u32);
                next[i] += 1;
                next[j as usize] += 1;
            }
        }
        pairs
    }

    /// Returns the number of nodes.
    pub(crate) fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the slots of `node`.
    pub(crate) fn slots(&self, node: usize) -> std::ops::Range<usize> {
        self.offsets[node]..self.offsets[node + 1]
    }
}
