//! This module counts known pairs by their logits, for a graph or for one of its row blocks.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

/// Holds what the known pairs of a graph, or of a row block, say about which pairs are the most likely ones.
///
/// The counts of all row blocks add up to those of the graph, to the last bit.
#[derive(Clone, Debug, PartialEq)]
pub struct LogitCounts {
    /// A bound on the number of known pairs; it counts twice the pairs that are claimed and similar.
    pub n_known_at_most: u64,
    /// What is known of these pairs changes the expected number of links by this, in steps of 2⁻⁶⁴ links: integers are
    /// added in any order with the same result.
    pub correction: i128,
    /// The number of known pairs whose logit lies in each cell, `[CELLS]`.
    pub cells: Vec<u64>,
}

/// Steps of a correction to one link.
const STEPS: f64 = 18_446_744_073_709_551_616.0;

impl LogitCounts {
    /// The histogram has this many cells.
    pub(crate) const CELLS: usize = 1 << 16;

    /// Returns the counts of no pair.
    #[must_use]
    pub fn none() -> Self {
        Self { n_known_at_most: 0, correction: 0, cells: vec![0; Self::CELLS] }
    }

    /// Adds the counts of other pairs.
    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        self.n_known_at_most += other.n_known_at_most;
        self.correction += other.correction;
        self.cells.iter_mut().zip(&other.cells).for_each(|(sum, count)| *sum += count);
        self
    }

    /// Returns by how much the expected number of links changes, in links.
    pub(crate) fn expected_links(&self) -> f64 {
        self.correction as f64 / STEPS
    }

    /// Returns the sum of the corrections of rows in steps. Each row is rounded towards zero before it is added, so the
    /// order of the rows does not matter.
    pub(crate) fn in_steps(rows: &[f64]) -> i128 {
        rows.iter().map(|row| (row * STEPS) as i128).sum()
    }
}

// Counts are a function of the noisy reports alone.
impl Public for LogitCounts {}

impl Artifact for LogitCounts {
    const NAME: &'static str = "logit_counts";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("cell", ColumnType::U32), ("pairs", ColumnType::F64)];

    fn facts(&self) -> Facts {
        Facts::default().with("n_known_at_most", self.n_known_at_most).with("correction", self.correction)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let counted = || self.cells.iter().enumerate().filter(|&(_, &count)| count > 0);
        Box::new(std::iter::once(vec![
            Column::U32(counted().map(|(cell, _)| cell as u32).collect()),
            // Counts below 2⁵³ are exact.
            Column::F64(counted().map(|(_, &count)| count as f64).collect()),
        ]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut counts = Self::none();
        counts.n_known_at_most = facts.get("n_known_at_most")?;
        counts.correction = facts.get("correction")?;
        for block in blocks {
            let mut columns = block.into_iter();
            let (cells, pairs): (Vec<u32>, Vec<f64>) = (take(&mut columns)?, take(&mut columns)?);
            for (cell, pairs) in cells.into_iter().zip(pairs) {
                let count = counts.cells.get_mut(cell as usize).filter(|_| (0.0..9e15).contains(&pairs));
                *count.ok_or_else(|| Invalid(format!("cell {cell} with {pairs} pairs is out of range")))? =
                    pairs as u64;
            }
        }
        Ok(counts)
    }
}
