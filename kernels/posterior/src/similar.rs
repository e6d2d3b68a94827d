//! This module holds the pairs that the server tells from the others before it sees a report.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use crate::pair_table::{ListedRow, PairTable, nodes_per_block};

/// Lists the pairs of nodes that resemble each other, each with its bin.
///
/// A bin is a class of pairs that are about equally similar: bin 1 holds the least similar of the listed pairs, and the
/// last bin the most similar ones. All pairs that are not listed are in bin 0.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarPairs {
    table: PairTable,
    n_bins: u8,
}

impl SimilarPairs {
    /// Builds the list from the row `(partner, bin)` of each node `i`; partners ascend and exceed `i`, and bins are in
    /// `1..=n_bins`.
    ///
    /// # Errors
    /// Fails when a partner or bin is out of order or range; the message names the pair.
    pub fn from_rows(n_bins: u8, rows: impl IntoIterator<Item = Vec<(u32, u8)>>) -> Result<Self, Invalid> {
        Ok(Self { table: PairTable::from_rows(n_bins, rows)?, n_bins })
    }

    /// Builds the list from a table whose codes are bins.
    ///
    /// # Errors
    /// Fails when a partner has no row; the message names it.
    pub(crate) fn from_table(table: PairTable, n_bins: u8) -> Result<Self, Invalid> {
        Ok(Self { table: table.checked()?, n_bins })
    }

    /// Returns a list without pairs: every pair is in bin 0.
    #[must_use]
    pub fn none(n_nodes: usize) -> Self {
        Self::empty(n_nodes, 0)
    }

    /// Returns a list without pairs that declares `n_bins` bins.
    pub(crate) fn empty(n_nodes: usize, n_bins: u8) -> Self {
        let mut table = PairTable::new(n_bins);
        table.complete_rows(n_nodes);
        Self { table, n_bins }
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.table.n_nodes()
    }

    /// Returns the number of bins, without bin 0.
    #[must_use]
    pub fn n_bins(&self) -> u8 {
        self.n_bins
    }

    /// Returns the number of listed pairs.
    #[must_use]
    pub fn n_pairs(&self) -> usize {
        self.table.n_pairs()
    }

    /// Iterates over the listed partners above `i` with their bins, in ascending order of the partner.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, u8)> + Clone + '_ {
        self.table.row(i).map(|(&j, &bin)| (j, bin))
    }

    /// Returns the same as slices.
    pub(crate) fn listed_row(&self, i: usize) -> ListedRow<'_> {
        self.table.row(i)
    }

    /// Returns the bin of the pair `i < j`, or 0 if it is not listed.
    #[must_use]
    pub fn bin(&self, i: usize, j: u32) -> u8 {
        self.table.code(i, j)
    }
}

// Similarity is a function of public features and of labels that the server holds.
impl Public for SimilarPairs {}

impl Artifact for SimilarPairs {
    const NAME: &'static str = "similar_pairs";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("i", ColumnType::U32), ("j", ColumnType::U32), ("bin", ColumnType::U8)];

    fn facts(&self) -> Facts {
        Facts::default().with("n_nodes", self.n_nodes()).with("n_pairs", self.n_pairs()).with("n_bins", self.n_bins)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let nodes = nodes_per_block(self.n_nodes(), self.n_pairs());
        Box::new((0..self.n_nodes()).step_by(nodes).map(move |first| {
            let (mut lower, mut upper, mut bins) = (Vec::new(), Vec::new(), Vec::new());
            for i in first..(first + nodes).min(self.n_nodes()) {
                for (j, bin) in self.row(i) {
                    lower.push(i as u32);
                    upper.push(j);
                    bins.push(bin);
                }
            }
            vec![Column::U32(lower), Column::U32(upper), Column::U8(bins)]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_bins = facts.get("n_bins")?;
        let mut table = PairTable::new(n_bins);
        for block in blocks {
            let mut columns = block.into_iter();
            let lower: Vec<u32> = take(&mut columns)?;
            let upper: Vec<u32> = take(&mut columns)?;
            let bins: Vec<u8> = take(&mut columns)?;
            let n_nodes: usize = facts.get("n_nodes")?;
            for ((i, j), bin) in lower.into_iter().zip(upper).zip(bins) {
                if j as usize >= n_nodes {
                    return Err(Invalid(format!("node {j} does not exist")));
                }
                table.push(i, j, bin)?;
            }
        }
        table.complete_rows(facts.get("n_nodes")?);
        Self::from_table(table, n_bins)
    }

    /// Counts the list with its offsets.
    fn footprint(facts: &Facts, _: u64) -> Result<u64, Invalid> {
        let (n, pairs): (u64, u64) = (facts.get("n_nodes")?, facts.get("n_pairs")?);
        Ok(pairs.saturating_mul(5).saturating_add(n.saturating_mul(8)))
    }
}
