//! This module holds what is known of each pair: how many of its two nodes claimed it, and how similar they are.

mod known_row;
mod row_blocks;

use std::any::Any;
use std::sync::Arc;

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};
use veilgraph_graph::BitMatrix;

use crate::claims::{ClaimPlanes, ClaimTable, Claims};
use crate::pair_table::{PairTable, nodes_per_block};
use crate::similar::SimilarPairs;
use known_row::KnownRow;

/// Holds what is known of each pair: who reported it as linked, and how similar its nodes are.
///
/// A clone shares the tables of the original.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkEvidence {
    tables: Arc<Tables>,
}

/// Holds both tables, which may take a quarter of a byte for each pair of nodes and more.
#[derive(Clone, Debug, PartialEq)]
struct Tables {
    claims: ClaimTable,
    similar: SimilarPairs,
}

/// Says what is known of a pair; the default says that nothing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// This many of the pair's nodes claimed the link: 0, 1 or 2.
    pub claims: u8,
    /// The pair stands in this bin of similarity, or in bin 0 if no similarity tells it from the others.
    pub bin: u8,
}

impl LinkEvidence {
    /// Builds evidence of claims alone from the row `(partner, claims)` of each node `i`; partners ascend and exceed
    /// `i`.
    ///
    /// # Errors
    /// Fails when a partner is out of order or range, or claims are neither 1 nor 2; the message names the pair.
    pub fn from_rows(rows: impl IntoIterator<Item = Vec<(u32, u8)>>) -> Result<Self, Invalid> {
        Ok(Self::from_claims(ClaimTable::Listed(PairTable::from_rows(2, rows)?)))
    }

    /// Builds evidence of claims alone from everyone's report as bits: row `i` is what node `i` claims.
    #[must_use]
    pub fn from_reports(reports: BitMatrix) -> Self {
        Self::from_claims(ClaimTable::Planes(ClaimPlanes::from_reports(reports)))
    }

    /// Builds evidence that says nothing about any pair. It declares `n_bins` bins, which a model with so many bins
    /// expects, and puts no pair into one.
    #[must_use]
    pub fn nothing(n_nodes: usize, n_bins: u8) -> Self {
        let mut claims = PairTable::new(2);
        claims.complete_rows(n_nodes);
        Self::from_tables(ClaimTable::Listed(claims), SimilarPairs::empty(n_nodes, n_bins))
    }

    /// Builds evidence of claims alone.
    fn from_claims(claims: ClaimTable) -> Self {
        let similar = SimilarPairs::none(claims.n_nodes());
        Self::from_tables(claims, similar)
    }

    fn from_tables(claims: ClaimTable, similar: SimilarPairs) -> Self {
        Self { tables: Arc::new(Tables { claims, similar }) }
    }

    /// Returns the same evidence with its claims in planes of bits.
    ///
    /// Sums over pairs run in the order of the table of claims, and their last bits depend on that order. Whoever needs
    /// the same sums from evidence that was read as from evidence that was just paired asks for the form that it was
    /// paired in.
    #[must_use]
    pub fn into_planes(self) -> Self {
        if self.planes().is_some() {
            return self;
        }
        let n_nodes = self.n_nodes();
        let empty = || BitMatrix::from_rows(n_nodes, |_, _| {});
        let (mut any, mut both) = (empty(), empty());
        for i in 0..n_nodes {
            self.claims(i).for_each(|(j, claims)| {
                any.set(i, j);
                if claims == 2 {
                    both.set(i, j);
                }
            });
        }
        let claims = ClaimTable::Planes(ClaimPlanes::from_upper_triangles(any, both));
        let similar = Arc::try_unwrap(self.tables).map_or_else(|shared| shared.similar.clone(), |own| own.similar);
        Self::from_tables(claims, similar)
    }

    /// Returns the same claims with these similarities.
    ///
    /// # Errors
    /// Fails when the claims and the similarities have different numbers of nodes.
    pub fn with_similar(self, similar: SimilarPairs) -> Result<Self, Invalid> {
        let (n, m) = (self.n_nodes(), similar.n_nodes());
        if n != m {
            return Err(Invalid(format!("the reports have {n} nodes, the similar pairs {m}")));
        }
        let claims = Arc::try_unwrap(self.tables).map_or_else(|shared| shared.claims.clone(), |own| own.claims);
        Ok(Self::from_tables(claims, similar))
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.tables.similar.n_nodes()
    }

    /// Returns the number of claimed pairs.
    #[must_use]
    pub fn n_claimed(&self) -> usize {
        self.tables.claims.n_pairs()
    }

    /// Returns a bound on the number of known pairs; it counts twice the pairs that are claimed and similar.
    #[must_use]
    pub fn n_known_at_most(&self) -> usize {
        self.n_claimed() + self.tables.similar.n_pairs()
    }

    /// Returns the planes of claims, or `None` if the claims are listed.
    #[must_use]
    pub fn planes(&self) -> Option<&ClaimPlanes> {
        match &self.tables.claims {
            ClaimTable::Listed(_) => None,
            ClaimTable::Planes(planes) => Some(planes),
        }
    }

    /// Returns the similarities of the pairs.
    #[must_use]
    pub fn similar(&self) -> &SimilarPairs {
        &self.tables.similar
    }

    /// Iterates over the claimed partners above `i` with their claims, in ascending order of the partner.
    #[must_use]
    pub fn claims(&self, i: usize) -> Claims<'_> {
        self.tables.claims.row(i)
    }

    /// Iterates over the partners above `i` that both nodes of the pair claimed, in ascending order.
    pub fn double_claims(&self, i: usize) -> impl Iterator<Item = u32> + '_ {
        let (listed, in_planes) = match &self.tables.claims {
            ClaimTable::Listed(table) => (Some(table.row(i)), None),
            ClaimTable::Planes(planes) => (None, Some(planes.both.ones_from(i, i + 1))),
        };
        let listed = listed.into_iter().flatten().filter(|&(_, &claims)| claims == 2).map(|(&j, _)| j);
        listed.chain(in_planes.into_iter().flatten())
    }

    /// Returns the number of claims of the pair `i < j`: 0, 1 or 2.
    #[must_use]
    pub fn n_claims(&self, i: usize, j: u32) -> u8 {
        self.tables.claims.claims(i, j)
    }

    /// Iterates over the partners above `i` of which anything is known, in ascending order.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, Known)> + '_ {
        KnownRow::new(self.claims(i), self.tables.similar.listed_row(i))
    }

    /// Iterates over all pairs `(i, j)` of which anything is known, in ascending order.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, Known)> + '_ {
        (0..self.n_nodes()).flat_map(|i| self.row(i).map(move |(j, known)| (i as u32, j, known)))
    }

    /// Returns what is known of the pair `(i, j)`.
    #[must_use]
    pub fn known(&self, i: u32, j: u32) -> Known {
        let (low, high) = (i.min(j) as usize, i.max(j));
        Known { claims: self.tables.claims.claims(low, high), bin: self.tables.similar.bin(low, high) }
    }
}

// The claims are noisy reports and the bins a function of public features, so evidence is post-processing.
impl Public for LinkEvidence {}

impl Artifact for LinkEvidence {
    const NAME: &'static str = "link_evidence";
    const ZONE: Zone = Zone::Server;
    const IS_SHARED: bool = true;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("i", ColumnType::U32), ("j", ColumnType::U32), ("claims", ColumnType::U8), ("bin", ColumnType::U8)];

    fn facts(&self) -> Facts {
        let facts = Facts::default().with("n_nodes", self.n_nodes()).with("n_claimed", self.n_claimed());
        facts.with("n_similar", self.tables.similar.n_pairs()).with("n_bins", self.tables.similar.n_bins())
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let nodes = nodes_per_block(self.n_nodes(), self.n_known_at_most());
        Box::new((0..self.n_nodes()).step_by(nodes).map(move |first| {
            let (mut lower, mut upper, mut claims, mut bins) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for i in first..(first + nodes).min(self.n_nodes()) {
                self.row(i).for_each(|(j, known)| {
                    lower.push(i as u32);
                    upper.push(j);
                    claims.push(known.claims);
                    bins.push(known.bin);
                });
            }
            vec![Column::U32(lower), Column::U32(upper), Column::U8(claims), Column::U8(bins)]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let (n_nodes, n_bins): (usize, u8) = (facts.get("n_nodes")?, facts.get("n_bins")?);
        let is_dense = ClaimTable::is_dense(n_nodes, facts.get("n_claimed")?);
        let empty = || BitMatrix::from_rows(if is_dense { n_nodes } else { 0 }, |_, _| {});
        let (mut any, mut both) = (empty(), empty());
        let (mut listed, mut similar) = (PairTable::new(2), PairTable::new(n_bins));
        for block in blocks {
            let mut columns = block.into_iter();
            let [lower, upper] = [take::<u32>(&mut columns)?, take::<u32>(&mut columns)?];
            let [claims, bins] = [take::<u8>(&mut columns)?, take::<u8>(&mut columns)?];
            for ((i, j), (claims, bin)) in lower.into_iter().zip(upper).zip(claims.into_iter().zip(bins)) {
                if i >= j || j as usize >= n_nodes || claims > 2 || (claims, bin) == (0, 0) {
                    let problem = format!("pair ({i}, {j}) with {claims} claims in bin {bin} is out of order or range");
                    return Err(Invalid(problem));
                }
                if bin > 0 {
                    similar.push(i, j, bin)?;
                }
                if claims > 0 && !is_dense {
                    listed.push(i, j, claims)?;
                }
                if claims > 0 && is_dense {
                    any.set(i as usize, j);
                }
                if claims == 2 && is_dense {
                    both.set(i as usize, j);
                }
            }
        }
        listed.complete_rows(n_nodes);
        similar.complete_rows(n_nodes);
        let similar = SimilarPairs::from_table(similar, n_bins)?;
        let claims = if is_dense {
            ClaimTable::Planes(ClaimPlanes::from_upper_triangles(any, both))
        } else {
            ClaimTable::Listed(listed.checked()?)
        };
        Self::from_claims(claims).with_similar(similar)
    }

    fn shared(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(self.tables.clone())
    }

    fn from_shared(shared: Arc<dyn Any + Send + Sync>) -> Option<Self> {
        Some(Self { tables: shared.downcast().ok()? })
    }

    /// Counts the claims in the form that takes less memory, and the list of similar pairs.
    fn footprint(facts: &Facts, _: u64) -> Result<u64, Invalid> {
        let (n, claimed, similar): (u64, u64, u64) =
            (facts.get("n_nodes")?, facts.get("n_claimed")?, facts.get("n_similar")?);
        let listed = |pairs: u64| pairs.saturating_mul(5).saturating_add(n.saturating_mul(8));
        Ok((n.saturating_mul(n) / 4).min(listed(claimed)).saturating_add(listed(similar)))
    }
}

#[cfg(test)]
mod tests;
