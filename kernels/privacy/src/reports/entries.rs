//! Everyone's list with real noise on every entry.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Streamed, Zone, take};

use super::ReportFacts;

/// Noisy entries of the lists, pair by pair: of the most likely pairs, and the sum of all.
///
/// The table as it is written has a row for every pair. Reading it keeps the [`MOST`](Self::MOST) pairs with the
/// largest sum of both reports: a server needs no more, and no memory that grows with the square of the nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyEntries {
    /// How the entries were made.
    pub facts: ReportFacts,
    /// Number of nodes.
    pub n_nodes: usize,
    /// Sum of all entries, over ordered pairs.
    pub sum: f64,
    /// `(i, j, a_ij, a_ji)` with `i < j`: the pairs with the largest `a_ij + a_ji`, largest first; ties by `(i, j)`.
    pub pairs: Vec<(u32, u32, f32, f32)>,
}

/// Nodes on a side of a block of pairs.
const TILE: usize = 512;

impl NoisyEntries {
    /// Most pairs that are kept.
    pub const MOST: usize = 1 << 22;

    /// Noise stands on a grid of this many steps to one link, so that it is integer and exact.
    pub const STEPS: u64 = 1024;

    /// Entries that are drawn while they are written: `draw(node, tile, others)` are those of `node` about the nodes
    /// `others` of a tile, its own one included (and dropped). The same arguments must give the same entries.
    #[must_use]
    pub fn streamed(
        facts: &ReportFacts,
        n_nodes: usize,
        draw: impl Fn(usize, usize, std::ops::Range<usize>) -> Vec<f32> + Send + Sync + 'static,
    ) -> Streamed<Self> {
        let tiles = n_nodes.div_ceil(TILE);
        let range = move |tile: usize| tile * TILE..((tile + 1) * TILE).min(n_nodes);
        // Blocks of pairs, so that both reports about a pair come together: the upper triangle, row by row.
        let blocks: Vec<(usize, usize)> = (0..tiles).flat_map(|a| (a..tiles).map(move |b| (a, b))).collect();
        let n_blocks = blocks.len();
        let make = move |block: usize| {
            let (a, b) = blocks[block];
            let (rows, columns) = (range(a), range(b));
            let above: Vec<Vec<f32>> = rows.clone().map(|node| draw(node, b, columns.clone())).collect();
            // On the diagonal both sides are the same nodes.
            let below: Option<Vec<Vec<f32>>> =
                (a != b).then(|| columns.clone().map(|node| draw(node, a, rows.clone())).collect());
            let below = below.as_ref().unwrap_or(&above);
            let (mut i, mut j, mut from_i, mut from_j) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for (row, node) in rows.enumerate() {
                for (column, other) in columns.clone().enumerate().filter(|&(_, other)| other > node) {
                    i.push(node as u32);
                    j.push(other as u32);
                    from_i.push(above[row][column]);
                    from_j.push(below[column][row]);
                }
            }
            vec![Column::U32(i), Column::U32(j), Column::F32(from_i), Column::F32(from_j)]
        };
        Streamed::new(facts.to_facts().with("n_nodes", n_nodes), n_blocks, make)
    }

    /// Drops all but the largest pairs.
    fn keep(pairs: &mut Vec<(u32, u32, f32, f32)>) {
        if pairs.len() > Self::MOST {
            pairs.select_nth_unstable_by(Self::MOST, by_rank);
            pairs.truncate(Self::MOST);
        }
    }
}

/// Largest sum first.
fn by_rank(a: &(u32, u32, f32, f32), b: &(u32, u32, f32, f32)) -> std::cmp::Ordering {
    (b.2 + b.3).total_cmp(&(a.2 + a.3)).then((a.0, a.1).cmp(&(b.0, b.1)))
}

// Each entry is ε-link-local-DP: continuous or discrete Laplace noise of scale 1/ε on a bit, see `count_noise::CountNoise`.
impl Public for NoisyEntries {}

impl Artifact for NoisyEntries {
    const NAME: &'static str = "noisy_entries";
    const ZONE: Zone = Zone::Server;
    const IS_REPORT: bool = true;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("i", ColumnType::U32), ("j", ColumnType::U32), ("from_i", ColumnType::F32), ("from_j", ColumnType::F32)];

    fn facts(&self) -> Facts {
        self.facts.to_facts().with("n_nodes", self.n_nodes).with("sum", self.sum)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(self.pairs.chunks(1 << 18).map(|rows| {
            vec![
                Column::U32(rows.iter().map(|row| row.0).collect()),
                Column::U32(rows.iter().map(|row| row.1).collect()),
                Column::F32(rows.iter().map(|row| row.2).collect()),
                Column::F32(rows.iter().map(|row| row.3).collect()),
            ]
        }))
    }

    /// Counts the pairs that are kept while the table is read.
    fn footprint(_: &Facts, stored: u64) -> Result<u64, Invalid> {
        Ok(stored.min((2 * Self::MOST * size_of::<(u32, u32, f32, f32)>()) as u64))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_nodes: usize = facts.get("n_nodes")?;
        let report = ReportFacts::from_facts(facts)?;
        let (mut sum, mut pairs) = (0.0, Vec::new());
        for block in blocks {
            let mut columns = block.into_iter();
            let (i, j): (Vec<u32>, Vec<u32>) = (take(&mut columns)?, take(&mut columns)?);
            let (from_i, from_j): (Vec<f32>, Vec<f32>) = (take(&mut columns)?, take(&mut columns)?);
            for (((i, j), from_i), from_j) in i.into_iter().zip(j).zip(from_i).zip(from_j) {
                if i >= j || j as usize >= n_nodes || !(from_i + from_j).is_finite() {
                    return Err(Invalid(format!("({i}, {j}, {from_i}, {from_j}) is no pair of {n_nodes} nodes")));
                }
                sum += f64::from(from_i) + f64::from(from_j);
                pairs.push((i, j, from_i, from_j));
            }
            if pairs.len() >= 2 * Self::MOST {
                Self::keep(&mut pairs);
            }
        }
        Self::keep(&mut pairs);
        pairs.sort_unstable_by(by_rank);
        // What was written by `blocks` no longer has all rows, and says their sum.
        let sum = if facts.0.contains_key("sum") { facts.get("sum")? } else { sum };
        Ok(Self { facts: report, n_nodes, sum, pairs })
    }
}
