//! This module holds which pairs were claimed, and by how many of their two nodes.
//!
//! A claim is a report of a node that one of its pairs is linked, so a pair has 0, 1 or 2 claims.

use std::sync::Arc;

use veilgraph_graph::{BitMatrix, Ones};

use crate::pair_table::{ListedRow, PairTable};

/// Holds the claims of all pairs, in the form that takes less memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClaimTable {
    /// Where few pairs were claimed, they are listed.
    Listed(PairTable),
    /// Where many pairs were claimed, every pair has two bits.
    Planes(ClaimPlanes),
}

/// Holds the claims of all pairs in two planes: a plane is a symmetric matrix with one bit for every pair.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimPlanes {
    /// A bit of this plane is set where at least one node of the pair claimed a link.
    pub any: Arc<BitMatrix>,
    /// A bit of this plane is set where both nodes of the pair claimed a link.
    pub both: Arc<BitMatrix>,
}

/// Iterates over the claimed partners of a node with their claims, in ascending order of the partner.
pub enum Claims<'a> {
    /// The claims are listed.
    Listed(ListedRow<'a>),
    /// The claims are in planes.
    Planes {
        /// These partners have at least one claim.
        partners: Ones<'a>,
        /// This row of [`ClaimPlanes::both`] tells which partners have two.
        both: &'a [u64],
    },
}

impl ClaimTable {
    /// Returns whether `n_pairs` claimed pairs are kept as planes: these take `n² / 4` bytes, and a listed pair takes
    /// 5.
    pub(crate) fn is_dense(n_nodes: usize, n_pairs: usize) -> bool {
        5 * n_pairs > n_nodes * n_nodes / 4
    }

    /// Returns the number of nodes.
    pub(crate) fn n_nodes(&self) -> usize {
        match self {
            Self::Listed(table) => table.n_nodes(),
            Self::Planes(planes) => planes.any.n_rows(),
        }
    }

    /// Returns the number of claimed pairs.
    pub(crate) fn n_pairs(&self) -> usize {
        match self {
            Self::Listed(table) => table.n_pairs(),
            Self::Planes(planes) => planes.any.count_ones() / 2,
        }
    }

    /// Iterates over the claimed partners above `i` with their claims, in ascending order of the partner.
    pub(crate) fn row(&self, i: usize) -> Claims<'_> {
        match self {
            Self::Listed(table) => Claims::Listed(table.row(i)),
            Self::Planes(ClaimPlanes { any, both }) => {
                Claims::Planes { partners: any.ones_from(i, i + 1), both: both.row(i) }
            }
        }
    }

    /// Returns the number of claims of the pair `i < j`.
    pub(crate) fn claims(&self, i: usize, j: u32) -> u8 {
        match self {
            Self::Listed(table) => table.code(i, j),
            Self::Planes(planes) => planes.claims(i, j),
        }
    }
}

impl ClaimPlanes {
    /// Builds the planes from everyone's report as bits: row `i` of `reports` is what node `i` claims.
    pub(crate) fn from_reports(reports: BitMatrix) -> Self {
        let (mut any, mut both) = (reports.transposed(), reports);
        any.combine(&mut both, |reported_by_partner, reported| {
            (reported | reported_by_partner, reported & reported_by_partner)
        });
        Self { any: Arc::new(any), both: Arc::new(both) }
    }

    /// Builds the planes from matrices whose row `i` has the bits of the partners above `i` only.
    pub(crate) fn from_upper_triangles(mut any: BitMatrix, mut both: BitMatrix) -> Self {
        rayon::join(|| any.symmetrize(), || both.symmetrize());
        Self { any: Arc::new(any), both: Arc::new(both) }
    }

    /// Returns the number of claims of the pair `(i, j)`.
    pub(crate) fn claims(&self, i: usize, j: u32) -> u8 {
        u8::from(self.any.contains(i, j)) + u8::from(self.both.contains(i, j))
    }
}

impl Iterator for Claims<'_> {
    type Item = (u32, u8);

    fn next(&mut self) -> Option<(u32, u8)> {
        match self {
            Self::Listed(pairs) => pairs.next().map(|(&j, &claims)| (j, claims)),
            Self::Planes { partners, both } => {
                let j = partners.next()?;
                Some((j, n_claims(both, j)))
            }
        }
    }

    #[inline]
    fn fold<B, F: FnMut(B, (u32, u8)) -> B>(self, init: B, mut add: F) -> B {
        match self {
            Self::Listed(pairs) => pairs.fold(init, |folded, (&j, &claims)| add(folded, (j, claims))),
            Self::Planes { partners, both } => partners.fold(init, |folded, j| add(folded, (j, n_claims(both, j)))),
        }
    }
}

/// Returns the number of claims of a pair that was claimed, with its row of [`ClaimPlanes::both`].
fn n_claims(both: &[u64], j: u32) -> u8 {
    1 + (both[j as usize / 64] >> (j % 64) & 1) as u8
}
