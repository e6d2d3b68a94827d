//! This module holds pairs of a large graph in an order in which successive pairs have later nodes that are near to each other.
//!
//! The known partners of a node lie anywhere among all nodes, so that whoever visits the pairs row by row waits for memory at nearly
//! every pair. Here all nodes are divided into ranges whose numbers fit into a fast cache, and pairs are sorted by the range
//! of their later node.

use rayon::prelude::*;

use crate::known_pairs::STRIPES;
use crate::similar_claims::{SimilarClaims, code_of};

/// A range has so many nodes. Three numbers of 8 bytes for each of them (`e^{-b}`, the factor and the sum) take 768 KiB.
const NODES_PER_RANGE: usize = 1 << 15;
/// Smaller graphs are visited row by row, because the numbers of all their nodes fit into a fast cache.
const LEAST_NODES: usize = 2 * NODES_PER_RANGE + 1;
/// So many pairs are copied at most. A pair takes 4 bytes, and each node of a stripe 8 in every range in which it has a pair:
/// from 512 MiB, where nodes have many pairs in a range, to 1.5 GiB, where they have one.
const MOST_PAIRS: usize = 1 << 27;

/// Holds pairs by stripes (every [`STRIPES`]th node as the earlier one of a pair) and, within each, by intervals of the later node; each
/// such part is a [`PartnerRange`].
pub(crate) struct PartnerRanges {
    /// The ranges of each stripe, one stripe after the other.
    ranges: Vec<PartnerRange>,
    nodes_per_range: usize,
}

/// Holds the pairs of the nodes of one stripe with later nodes of one range.
pub(crate) struct PartnerRange {
    /// The range begins at this node.
    pub first_partner: usize,
    rows: Vec<RowOfRange>,
    /// The pairs of all rows: of each row first those that are claimed and then those that are listed as similar.
    pub pairs: Vec<PairInRange>,
}

/// Says how many pairs in a range belong to a node. Rows stand in the order of their pairs.
struct RowOfRange {
    node: u32,
    n_pairs: u32,
}

/// Describes a pair of the row's node and a later one.
#[derive(Clone, Copy)]
pub(crate) struct PairInRange {
    /// The later node, counted from the first one of the range.
    pub partner: u16,
    /// The bin and the number of claims, as [`code_of`] gives them.
    pub code: u16,
}

impl PartnerRange {
    /// Iterates over the earlier nodes, in ascending order, and their pairs.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (usize, &[PairInRange])> {
        let mut rest = self.pairs.as_slice();
        self.rows.iter().map(move |row| {
            let (pairs, others) = rest.split_at(row.n_pairs as usize);
            rest = others;
            (row.node as usize, pairs)
        })
    }
}

impl PartnerRanges {
    /// Returns the similar pairs, and the claimed ones `with_claims`, where the graph is large and they are not too many to be
    /// copied.
    pub(crate) fn of_large_graph(similar: &SimilarClaims, with_claims: bool) -> Option<Self> {
        let n_claimed = if with_claims { similar.evidence().n_claimed() } else { 0 };
        let is_worth_it = similar.n_nodes() >= LEAST_NODES && n_claimed + similar.n_pairs() <= MOST_PAIRS;
        is_worth_it.then(|| Self::new(similar, with_claims, NODES_PER_RANGE))
    }

    /// Sorts pairs by ranges of so many nodes, at most 2^16. A pair that is claimed and similar comes twice.
    pub(crate) fn new(similar: &SimilarClaims, with_claims: bool, nodes_per_range: usize) -> Self {
        assert!(nodes_per_range <= 1 << 16, "a partner takes two bytes");
        let of_stripe = |stripe: usize| ranges_of_stripe(similar, with_claims, nodes_per_range, stripe);
        let ranges: Vec<Vec<PartnerRange>> = (0..STRIPES).into_par_iter().map(of_stripe).collect();
        Self { ranges: ranges.into_iter().flatten().collect(), nodes_per_range }
    }

    /// Returns the ranges of all stripes.
    pub(crate) fn all(&self) -> &[PartnerRange] {
        &self.ranges
    }

    /// Returns how many nodes a range has; the last one may have fewer.
    pub(crate) fn nodes_per_range(&self) -> usize {
        self.nodes_per_range
    }

    /// Returns the places of the ranges of a stripe among those of all stripes, in ascending order of their nodes.
    pub(crate) fn of_stripe(&self, stripe: usize) -> std::ops::Range<usize> {
        let n_of_stripe = self.ranges.len() / STRIPES;
        stripe * n_of_stripe..(stripe + 1) * n_of_stripe
    }
}

/// Returns the ranges of the nodes of one stripe.
fn ranges_of_stripe(
    similar: &SimilarClaims,
    with_claims: bool,
    nodes_per_range: usize,
    stripe: usize,
) -> Vec<PartnerRange> {
    let n = similar.n_nodes();
    let pairs_of = |i: usize| {
        let claims = with_claims.then(|| similar.evidence().claims(i)).into_iter().flatten();
        let claims = claims.map(|(partner, claims)| (partner, code_of(0, claims)));
        claims.chain(similar.row(i).iter().map(|pair| (pair.partner, code_of(pair.bin, pair.claims))))
    };
    // They are counted first, because lists that grow are copied again and again.
    let mut sizes = vec![RangeSize::default(); n.div_ceil(nodes_per_range)];
    for i in (stripe..n).step_by(STRIPES) {
        for (partner, _) in pairs_of(i) {
            let size = &mut sizes[partner as usize / nodes_per_range];
            size.n_pairs += 1;
            if size.last_node != Some(i) {
                size.n_rows += 1;
                size.last_node = Some(i);
            }
        }
    }
    let new = |(number, size): (usize, &RangeSize)| PartnerRange {
        first_partner: number * nodes_per_range,
        rows: Vec::with_capacity(size.n_rows),
        pairs: Vec::with_capacity(size.n_pairs),
    };
    let mut ranges: Vec<PartnerRange> = sizes.iter().enumerate().map(new).collect();
    for i in (stripe..n).step_by(STRIPES) {
        for (partner, code) in pairs_of(i) {
            let range = &mut ranges[partner as usize / nodes_per_range];
            match range.rows.last_mut() {
                Some(row) if row.node as usize == i => row.n_pairs += 1,
                _ => range.rows.push(RowOfRange { node: i as u32, n_pairs: 1 }),
            }
            range.pairs.push(PairInRange { partner: (partner as usize % nodes_per_range) as u16, code });
        }
    }
    ranges
}

/// Says how many rows and pairs a range will have.
#[derive(Clone, Default)]
struct RangeSize {
    n_rows: usize,
    n_pairs: usize,
    /// The last node with a pair in the range.
    last_node: Option<usize>,
}

#[cfg(test)]
mod tests;
