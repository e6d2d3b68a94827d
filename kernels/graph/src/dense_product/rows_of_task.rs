//! This module computes the rows of a product that one thread takes at a time.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};

use super::{Factor, Sums, TermBlock, WORD};

/// So many rows of one vector of columns are computed at once. Their sums stay in registers, and no addition waits for the one
/// before it.
const ROWS_OF_ONE_VECTOR: usize = 8;
/// Likewise of two vectors. Twelve of the 16 registers that every processor has then hold sums, and eight loads serve twelve
/// products.
const ROWS_OF_TWO_VECTORS: usize = 6;
/// Tasks of a multiple of this many rows leave none of these places empty.
pub(super) const WHOLE_GROUPS: usize = 24;
const _: () =
    assert!(WHOLE_GROUPS.is_multiple_of(ROWS_OF_ONE_VECTOR) && WHOLE_GROUPS.is_multiple_of(ROWS_OF_TWO_VECTORS));

/// Computes the rows of a product from `first_row` on with the processor's vector instructions.
///
/// Lanes are independent, every sum runs in the order of the rows of `x`, and a product is added without a rounding between, so
/// every width of vectors gives the same bits.
pub(super) struct RowsOfTask<'a> {
    pub factor: Factor<'a>,
    pub blocks: &'a [TermBlock<'a>],
    /// `[terms, width]`.
    pub x: &'a [f32],
    pub width: usize,
    pub sums: Sums,
    pub first_row: usize,
    pub out: &'a mut [f32],
}

impl WithSimd for RowsOfTask<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        assert!(self.width.is_multiple_of(S::F32_LANES), "columns are filled up to whole vectors");
        let (x, _) = S::as_simd_f32s(self.x);
        let vectors = self.width / S::F32_LANES;
        let mut first_vector = 0;
        while first_vector < vectors {
            let columns = Columns { x, vectors, first_vector };
            if vectors - first_vector >= 2 {
                self.multiply::<S, 2, ROWS_OF_TWO_VECTORS>(simd, columns);
                first_vector += 2;
            } else {
                self.multiply::<S, 1, ROWS_OF_ONE_VECTOR>(simd, columns);
                first_vector += 1;
            }
        }
    }
}

/// A few of the vectors of each row of `x`.
#[derive(Clone, Copy)]
struct Columns<'x, T> {
    /// `[terms, vectors]`.
    x: &'x [T],
    vectors: usize,
    first_vector: usize,
}

impl<'x, T> Columns<'x, T> {
    /// `V` vectors for each term of the block.
    #[inline(always)]
    fn of_block<const V: usize>(self, block: &TermBlock) -> impl Iterator<Item = &'x [T]> {
        let rows = &self.x[block.first_place * self.vectors..][..block.numbers.len() * self.vectors];
        rows.chunks_exact(self.vectors).map(move |row| &row[self.first_vector..self.first_vector + V])
    }
}

impl<'a> RowsOfTask<'a> {
    fn n_rows(&self) -> usize {
        self.out.len() / self.width
    }

    /// Computes `V` vectors of columns, `GROUP` rows at a time.
    #[inline(always)]
    fn multiply<S: Simd, const V: usize, const GROUP: usize>(&mut self, simd: S, columns: Columns<S::f32s>) {
        let mut sums = vec![[[simd.splat_f32s(0.0); V]; GROUP]; self.n_rows().div_ceil(GROUP)];
        let lanes_of_group = GROUP * V * S::F32_LANES;
        let mut double_sums = vec![0.0; if self.sums == Sums::ByWord { sums.len() * lanes_of_group } else { 0 }];
        if self.factor.is_adjoint {
            let mut rows = Vec::new();
            // A few rows stay in cache while the columns of a transposed matrix are taken.
            for block in self.blocks {
                self.add_columns(simd, &mut sums, block, columns, &mut rows);
            }
        } else {
            for (group, sums) in sums.iter_mut().enumerate() {
                for block in self.blocks {
                    self.add_rows(simd, sums, self.first_row + group * GROUP, block, columns);
                    if self.sums == Sums::ByWord {
                        let of_word: &[f32] = pulp::bytemuck::cast_slice(sums.as_flattened());
                        let double_sums = &mut double_sums[group * lanes_of_group..][..lanes_of_group];
                        for (sum, &of_word) in double_sums.iter_mut().zip(of_word) {
                            *sum += f64::from(of_word);
                        }
                        *sums = [[simd.splat_f32s(0.0); V]; GROUP];
                    }
                }
            }
        }
        let single: &[f32] = pulp::bytemuck::cast_slice(sums.as_flattened().as_flattened());
        let lanes = V * S::F32_LANES;
        for (row, out) in self.out.chunks_exact_mut(self.width).enumerate() {
            let out = &mut out[columns.first_vector * S::F32_LANES..][..lanes];
            match self.sums {
                Sums::Single => out.copy_from_slice(&single[row * lanes..][..lanes]),
                Sums::ByWord => {
                    for (out, &sum) in out.iter_mut().zip(&double_sums[row * lanes..][..lanes]) {
                        *out = sum as f32;
                    }
                }
            }
        }
    }

    /// Adds some terms to the sums of all rows of the product, which are columns of the matrix. `rows` is a list whose memory serves
    /// one block after the other.
    #[inline(always)]
    fn add_columns<S: Simd, const V: usize, const GROUP: usize>(
        &self,
        simd: S,
        sums: &mut [[[S::f32s; V]; GROUP]],
        block: &TermBlock,
        columns: Columns<S::f32s>,
        rows: &mut Vec<(&'a [[f32; GROUP]], &'a [f32])>,
    ) {
        let Factor { matrix, n_columns, .. } = self.factor;
        rows.clear();
        for &term in block.numbers {
            rows.push(matrix[term as usize * n_columns + self.first_row..][..self.n_rows()].as_chunks());
        }
        let (whole, last) = sums.split_at_mut(self.n_rows() / GROUP);
        for (group, sums) in whole.iter_mut().enumerate() {
            let mut own = *sums;
            for ((row, _), x) in rows.iter().zip(columns.of_block::<V>(block)) {
                add_products(simd, &mut own, |at| row[group][at], x);
            }
            *sums = own;
        }
        for sums in last {
            for ((_, rest), x) in rows.iter().zip(columns.of_block::<V>(block)) {
                // The last rows may be fewer; the sums of others are not read.
                add_products(simd, sums, |at| rest.get(at).copied().unwrap_or(0.0), x);
            }
        }
    }

    /// Adds some terms, which lie in one word, to the sums of a group of rows of the product.
    #[inline(always)]
    fn add_rows<S: Simd, const V: usize, const GROUP: usize>(
        &self,
        simd: S,
        sums: &mut [[S::f32s; V]; GROUP],
        first_row: usize,
        block: &TermBlock,
        columns: Columns<S::f32s>,
    ) {
        let Factor { matrix, n_columns, .. } = self.factor;
        let last_row = self.first_row + self.n_rows() - 1;
        let first_term = block.numbers[0] as usize / WORD * WORD;
        let rows: [&[f32]; GROUP] = std::array::from_fn(|at| {
            let start = self.factor.row_at((first_row + at).min(last_row)) * n_columns;
            &matrix[start + first_term..start + n_columns]
        });
        // The last word may be shorter than the others. An array tells the compiler that no index is beyond its end. No other word
        // is copied: to zero so many arrays at every word took a tenth of the time.
        let last_words = (rows[0].len() < WORD).then(|| rows.map(filled_up));
        let words: [&[f32; WORD]; GROUP] = std::array::from_fn(|at| match &last_words {
            Some(words) => &words[at],
            None => rows[at].first_chunk().unwrap_or(&[0.0; WORD]),
        });
        let x = columns.of_block::<V>(block);
        let mut own = *sums;
        if block.numbers.len() == WORD {
            // Here the number of terms is known to the compiler, which writes out several of them at once.
            for (at, x) in (0..WORD).zip(x) {
                add_products(simd, &mut own, |row| words[row][at], x);
            }
        } else {
            for (&term, x) in block.numbers.iter().zip(x) {
                add_products(simd, &mut own, |row| words[row][term as usize % WORD], x);
            }
        }
        *sums = own;
    }
}

/// Returns the entries of a short word with zeros behind them.
fn filled_up(entries: &[f32]) -> [f32; WORD] {
    let mut word = [0.0; WORD];
    word[..entries.len()].copy_from_slice(entries);
    word
}

/// Adds the products of `V` vectors of a row of `x` and the entry of each row of the product.
#[inline(always)]
fn add_products<S: Simd, const V: usize, const GROUP: usize>(
    simd: S,
    sums: &mut [[S::f32s; V]; GROUP],
    entry_of: impl Fn(usize) -> f32,
    x: &[S::f32s],
) {
    for (row, sums) in sums.iter_mut().enumerate() {
        let entry = simd.splat_f32s(entry_of(row));
        for (sum, &x) in sums.iter_mut().zip(x) {
            *sum = simd.mul_add_f32s(entry, x, *sum);
        }
    }
}
