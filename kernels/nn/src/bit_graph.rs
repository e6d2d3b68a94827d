//! Unweighted links as bits, where they are many: sums over neighbours by tables.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Arch, Simd, WithSimd};
use veilgraph_graph::BitMatrix;

use crate::lanes::for_lanes;

/// Links of weight 1 as bits.
pub struct BitGraph {
    /// Row: who receives; column: who sends.
    incoming: BitMatrix,
    /// The transposed matrix; none where it is the same.
    outgoing: Option<BitMatrix>,
}

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
    /// The graph of these bits (row source, column target); undirected if they are symmetric.
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

    /// Who sends to `node`, ascending.
    pub(crate) fn senders(&self, node: usize) -> impl Iterator<Item = u32> {
        self.incoming.ones(node)
    }

    /// Sums over senders (or, for the adjoint, receivers) of the rows of `x`, row-major `[n_nodes, width]`.
    ///
    /// # Complexity
    /// One addition of rows for every eight pairs, whatever the number of links.
    pub(crate) fn apply(&self, x: &[f32], width: usize, adjoint: bool) -> Vec<f32> {
        let bits = if adjoint { self.outgoing.as_ref().unwrap_or(&self.incoming) } else { &self.incoming };
        Arch::new().dispatch(Sums { bits, x, width })
    }

    /// Multiplications per column in [`Self::apply`], in units of one with a sparse matrix.
    pub(crate) fn cost(&self) -> f64 {
        let n = self.n_nodes() as f64;
        n * n / 8.0 + 64.0 * n
    }
}

/// Nodes whose sums stand in one table.
const BYTE: usize = 8;

/// For every word of 64 columns, the sums of all subsets of each eight rows of `x`; then eight look-ups per row.
#[inline(always)]
fn sums<const LANES: usize>(bits: &BitMatrix, x: &[f32], width: usize) -> Vec<f32> {
    let width = if LANES == 0 { width } else { LANES };
    let mut sums = vec![0.0; bits.n_rows() * width];
    let mut tables = vec![0.0; 64 / BYTE * 256 * width];
    for (word, rows) in x.chunks(64 * width).enumerate() {
        for (byte, table) in tables.chunks_exact_mut(256 * width).enumerate() {
            for bit in 0..BYTE {
                // Beyond the last node no bit is set: what stands there is never read.
                let Some(row) = rows.get((BYTE * byte + bit) * width..(BYTE * byte + bit + 1) * width) else { break };
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
                // Known to be apart from the tables, hence in registers.
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
