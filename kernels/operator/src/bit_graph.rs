//! Unweighted links as bits, where they are many, with sums over neighbours that are looked up in tables.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};
use veilgraph_graph::BitMatrix;
use veilgraph_graph::vectors::dispatch;

use veilgraph_graph::lanes::for_lanes;

/// Links of weight 1 as bits.
pub struct BitGraph {
    /// Row: who receives; column: who sends.
    incoming: BitMatrix,
    /// The transposed matrix; absent where it is the same, because links have no direction.
    outgoing: Option<BitMatrix>,
}

/// A call of [`BitGraph::apply`].
struct Sums<'a> {
    bits: &'a BitMatrix,
    x: &'a [f32],
    width: usize,
}

impl WithSimd for Sums<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<f32> {
        let Self { bits, x, width } = self;
        for_lanes!(width, LANES => sums::<LANES>(bits, x, width))
    }
}

impl BitGraph {
    /// The graph of these bits: row, the source; column, the target. Undirected links stand in both directions.
    #[must_use]
    pub fn new(bits: &BitMatrix, directed: bool) -> Self {
        if directed {
            Self { incoming: bits.transposed(), outgoing: Some(bits.clone()) }
        } else {
            Self { incoming: bits.clone(), outgoing: None }
        }
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.incoming.n_rows()
    }

    /// Nodes with a link to `node`, ascending.
    pub fn senders(&self, node: usize) -> impl Iterator<Item = u32> {
        self.incoming.ones(node)
    }

    /// Sums of the rows of `x` over every node's senders or, for the adjoint, over its receivers.
    ///
    /// # Shapes
    /// `x` and the result: row-major `[n_nodes, width]`.
    ///
    /// # Complexity
    /// One addition of rows for every eight pairs, whatever the number of links.
    #[must_use]
    pub fn apply(&self, x: &[f32], width: usize, adjoint: bool) -> Vec<f32> {
        let bits = if adjoint { self.outgoing.as_ref().unwrap_or(&self.incoming) } else { &self.incoming };
        dispatch(Sums { bits, x, width })
    }

    /// Time per column of `x` that [`Self::apply`] takes, in units of one entry of a sparse matrix.
    #[must_use]
    pub fn cost(&self) -> f64 {
        let n = self.n_nodes() as f64;
        n * n / 8.0 + 64.0 * n
    }
}

/// Nodes to a table: it holds the sum of every subset of their rows, at the subset's bits.
const BYTE: usize = 8;

/// Sums of rows of `x` by the bits of every node, `[rows of the bits, width]`; any width if `LANES` is 0.
///
/// For every 64 columns, eight tables are filled with the sums of all subsets of eight rows of `x` each. Every node
/// then adds at most one entry of each table.
#[inline(always)]
fn sums<const LANES: usize>(bits: &BitMatrix, x: &[f32], width: usize) -> Vec<f32> {
    let width = if LANES == 0 { width } else { LANES };
    let mut sums = vec![0.0; bits.n_rows() * width];
    let mut tables = vec![0.0; 64 / BYTE * 256 * width];
    for (word, rows) in x.chunks(64 * width).enumerate() {
        for (byte, table) in tables.chunks_exact_mut(256 * width).enumerate() {
            for bit in 0..BYTE {
                // Nodes beyond the last one have no bit set anywhere, so their entries of the table are never read.
                let Some(row) = rows.get((BYTE * byte + bit) * width..(BYTE * byte + bit + 1) * width) else { break };
                // Subsets with this bit are those without it, plus the row of the bit.
                let (known, new) = table.split_at_mut((width << bit).min(255 * width));
                for (new, known) in new.chunks_exact_mut(width).zip(known.chunks_exact(width)) {
                    new.iter_mut().zip(known).zip(row).for_each(|((new, known), value)| *new = known + value);
                }
            }
        }
        for (node, sum) in sums.chunks_exact_mut(width).enumerate() {
            let mut rest = bits.row(node)[word];
            let mut start = 0;
            let mut add = |sum: &mut [f32]| {
                while rest != 0 {
                    let at = start + (rest & 255) as usize * width;
                    sum.iter_mut().zip(&tables[at..at + width]).for_each(|(sum, value)| *sum += value);
                    rest >>= BYTE;
                    start += 256 * width;
                }
            };
            if LANES == 0 {
                add(sum);
            } else {
                // The compiler knows that this array does not overlap the tables, so it keeps it in registers.
                let mut own = [0.0; LANES];
                own.copy_from_slice(sum);
                add(&mut own);
                sum.copy_from_slice(&own);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests;
