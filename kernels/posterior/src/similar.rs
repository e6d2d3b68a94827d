//! Pairs that the server tells from the others before it sees a report.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use crate::pair_table::PairTable;

/// Pairs of nodes that resemble each other, in bins from little (1) to much.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarPairs {
    table: PairTable,
    n_bins: u8,
}

impl SimilarPairs {
    /// Pairs from rows `(partner, bin)` of each node `i`: partners ascend and exceed `i`, bins are in `1..=n_bins`.
    ///
    /// # Errors
    /// When a partner or bin is out of order or range; names the pair.
    pub fn from_rows(n_bins: u8, rows: impl IntoIterator<Item = Vec<(u32, u8)>>) -> Result<Self, Invalid> {
        Ok(Self { table: PairTable::from_rows(n_bins, rows)?, n_bins })
    }

    pub(crate) fn from_table(table: PairTable, n_bins: u8) -> Result<Self, Invalid> {
        Ok(Self { table: table.checked()?, n_bins })
    }

    /// All pairs are alike.
    #[must_use]
    pub fn none(n_nodes: usize) -> Self {
        let mut table = PairTable::new(0);
        table.fill(n_nodes);
        Self { table, n_bins: 0 }
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.table.n_nodes()
    }

    /// Number of bins; pairs that are not listed belong to none.
    #[must_use]
    pub fn n_bins(&self) -> u8 {
        self.n_bins
    }

    /// Number of listed pairs.
    #[must_use]
    pub fn n_pairs(&self) -> usize {
        self.table.n_pairs()
    }

    /// Partners above `i` with their bins, ascending.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, u8)> + Clone + '_ {
        self.table.row(i).map(|(&j, &bin)| (j, bin))
    }

    /// Bin of the pair `i < j`; 0 if it is not listed.
    #[must_use]
    pub fn bin(&self, i: usize, j: u32) -> u8 {
        self.table.code(i, j)
    }
}

// A function of features and of labels that the server holds.
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
        let nodes = crate::evidence::nodes_per_block(self.n_nodes(), self.n_pairs());
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
        table.fill(facts.get("n_nodes")?);
        Self::from_table(table, n_bins)
    }

    /// A list with its offsets.
    fn footprint(facts: &Facts) -> Result<u64, Invalid> {
        let (n, pairs): (u64, u64) = (facts.get("n_nodes")?, facts.get("n_pairs")?);
        Ok(pairs.saturating_mul(5).saturating_add(n.saturating_mul(8)))
    }
}

/// Bin of each cell of pairs with equal score (0: none), and the number of bins: bin 1 and those above hold `most`
/// pairs at most, each next one and those above fewer by a constant factor, down to `least` pairs.
#[must_use]
pub fn bins_of_cells(counts: &[u64], scores: &[f64], most: usize, least: usize, most_bins: u8) -> (Vec<u8>, u8) {
    let thresholds = bin_thresholds(counts, scores, most, least, most_bins.into());
    let bin = |&score: &f64| thresholds.partition_point(|&threshold| threshold <= score) as u8;
    (scores.iter().map(bin).collect(), thresholds.len() as u8)
}

/// Ascending least scores of the bins.
pub(crate) fn bin_thresholds(counts: &[u64], scores: &[f64], most: usize, least: usize, most_bins: usize) -> Vec<f64> {
    /// Each bin holds this many times the pairs of the next.
    const RATIO: f64 = 1.6;
    let mut order: Vec<usize> = (0..counts.len()).filter(|&cell| counts[cell] > 0).collect();
    order.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let levels = (0..most_bins as i32).map(|bin| (most as f64 / RATIO.powi(bin)) as u64);
    let levels: Vec<u64> = levels.take_while(|&level| level >= least.max(1) as u64).collect();
    let mut thresholds: Vec<f64> = Vec::new();
    let (mut next, mut reached) = (0, 0);
    for level in levels.into_iter().rev() {
        while next < order.len() && reached + counts[order[next]] <= level {
            reached += counts[order[next]];
            next += 1;
        }
        // A level that adds no cell is no bin.
        let threshold = next.checked_sub(1).map(|last| scores[order[last]]);
        thresholds.extend(threshold.filter(|threshold| thresholds.last() != Some(threshold)));
    }
    thresholds.reverse();
    thresholds
}
