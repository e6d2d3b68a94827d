//! This module holds pairs of a large graph in an order in which successive pairs have later nodes that are near to each other.
//!
//! The known partners of a node lie anywhere among all nodes, so that whoever visits the pairs row by row waits for memory at nearly
//! every pair. A tile holds those pairs whose later nodes are in one range, whose numbers fit into a fast cache.

use rayon::prelude::*;

use crate::known_pairs::STRIPES;
use crate::similar_claims::{SimilarClaims, code_of};

/// The later nodes of a tile are among so many. Their numbers take 768 KiB.
const TILE_NODES: usize = 1 << 15;
/// In smaller graphs, the numbers of all nodes fit into a fast cache.
const LEAST_NODES: usize = 2 * TILE_NODES + 1;
/// So many pairs are copied into tiles at most, which takes 512 MiB.
const MOST_PAIRS: usize = 1 << 27;

/// Holds the tiles of each stripe, one after the other: a stripe is every [`STRIPES`]th node as the earlier node of a pair.
pub(crate) struct PairTiles {
    tiles: Vec<PairTile>,
    /// The later nodes of a tile are among so many, or fewer in the last one.
    nodes_per_tile: usize,
}

/// Holds the pairs of the nodes of a stripe with later nodes of one range.
pub(crate) struct PairTile {
    /// The range begins at this node.
    pub first_partner: usize,
    rows: Vec<TileRow>,
    /// The pairs of all rows: of each row first those that are claimed and then those that are listed as similar.
    pub pairs: Vec<TiledPair>,
}

/// Says that the next pairs of the tile, so many, are those of a node.
struct TileRow {
    node: u32,
    n_pairs: u32,
}

/// Describes a pair of the row's node and a later one.
#[derive(Clone, Copy)]
pub(crate) struct TiledPair {
    /// The later node, counted from the first one of the tile's range.
    pub partner: u16,
    /// The bin and the number of claims, as [`code_of`] gives them.
    pub code: u16,
}

impl PairTile {
    /// Iterates over the earlier nodes, in ascending order, and their pairs.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (usize, &[TiledPair])> {
        let mut rest = self.pairs.as_slice();
        self.rows.iter().map(move |row| {
            let (pairs, others) = rest.split_at(row.n_pairs as usize);
            rest = others;
            (row.node as usize, pairs)
        })
    }
}

impl PairTiles {
    /// Returns the tiles of the similar pairs, and of the claimed ones `with_claims`, where the graph is large and they are not too
    /// many to be copied.
    pub(crate) fn of_large_graph(similar: &SimilarClaims, with_claims: bool) -> Option<Self> {
        let n_claimed = if with_claims { similar.evidence().n_claimed() } else { 0 };
        let is_worth_it = similar.n_nodes() >= LEAST_NODES && n_claimed + similar.n_pairs() <= MOST_PAIRS;
        is_worth_it.then(|| Self::new(similar, with_claims, TILE_NODES))
    }

    /// Sorts pairs into tiles of so many later nodes, at most 2^16. A pair that is claimed and similar comes twice.
    pub(crate) fn new(similar: &SimilarClaims, with_claims: bool, nodes_per_tile: usize) -> Self {
        let tiles_of_stripe = |stripe: usize| tiles_of_stripe(similar, with_claims, nodes_per_tile, stripe);
        let tiles: Vec<Vec<PairTile>> = (0..STRIPES).into_par_iter().map(tiles_of_stripe).collect();
        Self { tiles: tiles.into_iter().flatten().collect(), nodes_per_tile }
    }

    /// Returns all tiles.
    pub(crate) fn all(&self) -> &[PairTile] {
        &self.tiles
    }

    /// Returns how many later nodes the range of a tile has; that of the last one may have fewer.
    pub(crate) fn nodes_per_tile(&self) -> usize {
        self.nodes_per_tile
    }

    /// Returns the numbers of the tiles of a stripe among all tiles, those with earlier ranges first.
    pub(crate) fn numbers(&self, stripe: usize) -> std::ops::Range<usize> {
        let n_of_stripe = self.tiles.len() / STRIPES;
        stripe * n_of_stripe..(stripe + 1) * n_of_stripe
    }
}

/// Returns the tiles of the nodes of one stripe.
fn tiles_of_stripe(similar: &SimilarClaims, with_claims: bool, nodes_per_tile: usize, stripe: usize) -> Vec<PairTile> {
    let n = similar.n_nodes();
    let pairs_of = |i: usize| {
        let claims = with_claims.then(|| similar.evidence().claims(i)).into_iter().flatten();
        let claims = claims.map(|(partner, claims)| (partner, code_of(0, claims)));
        claims.chain(similar.row(i).iter().map(|pair| (pair.partner, code_of(pair.bin, pair.claims))))
    };
    // They are counted first, because lists that grow are copied again and again.
    let mut n_pairs = vec![0; n.div_ceil(nodes_per_tile)];
    for i in (stripe..n).step_by(STRIPES) {
        pairs_of(i).for_each(|(partner, _)| n_pairs[partner as usize / nodes_per_tile] += 1);
    }
    let new = |(number, &n_pairs): (usize, &usize)| {
        let pairs = Vec::with_capacity(n_pairs);
        PairTile { first_partner: number * nodes_per_tile, rows: Vec::new(), pairs }
    };
    let mut tiles: Vec<PairTile> = n_pairs.iter().enumerate().map(new).collect();
    for i in (stripe..n).step_by(STRIPES) {
        for (partner, code) in pairs_of(i) {
            let tile = &mut tiles[partner as usize / nodes_per_tile];
            match tile.rows.last_mut() {
                Some(row) if row.node as usize == i => row.n_pairs += 1,
                _ => tile.rows.push(TileRow { node: i as u32, n_pairs: 1 }),
            }
            tile.pairs.push(TiledPair { partner: (partner as usize % nodes_per_tile) as u16, code });
        }
    }
    tiles
}

#[cfg(test)]
mod tests;
