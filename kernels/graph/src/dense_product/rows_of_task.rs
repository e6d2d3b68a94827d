//! This module computes the rows of a product that one thread takes at a time.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};

use super::{Factor, MOST_SUMS, Sums, TermBlock, WORD};

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
            if vectors - first_vector >= 2 {
                self.columns::<S, 2, { MOST_SUMS / 2 }>(simd, x, vectors, first_vector);
                first_vector += 2;
            } else {
                self.columns::<S, 1, MOST_SUMS>(simd, x, vectors, first_vector);
                first_vector += 1;
            }
        }
    }
}

impl RowsOfTask<'_> {
    /// Computes `V` vectors of columns, from vector `first_vector` of `vectors` on.
    #[inline(always)]
    fn columns<S: Simd, const V: usize, const GROUP: usize>(
        &mut self,
        simd: S,
        x: &[S::f32s],
        vectors: usize,
        first_vector: usize,
    ) {
        let (n_groups, n_blocks) = ((self.out.len() / self.width).div_ceil(GROUP), self.blocks.len());
        let mut sums = vec![[[simd.splat_f32s(0.0); V]; GROUP]; n_groups];
        let mut double_sums =
            vec![0.0; if self.sums == Sums::ByWord { n_groups * GROUP * V * S::F32_LANES } else { 0 }];
        // A few rows stay in cache while the columns of a transposed matrix are taken.
        let (n_outer, n_inner) = if self.factor.is_adjoint { (n_blocks, n_groups) } else { (n_groups, n_blocks) };
        for outer in 0..n_outer {
            for inner in 0..n_inner {
                let (block, group) = if self.factor.is_adjoint { (outer, inner) } else { (inner, outer) };
                let block = &self.blocks[block];
                let sums = &mut sums[group];
                let x = &x[block.first_place * vectors..][..block.numbers.len() * vectors];
                let x = x.chunks_exact(vectors).map(|x| &x[first_vector..first_vector + V]);
                let first_row = self.first_row + group * GROUP;
                if self.factor.is_adjoint {
                    self.add_columns(simd, sums, first_row, block, x);
                } else {
                    self.add_rows(simd, sums, first_row, block, x);
                }
                if self.sums == Sums::ByWord {
                    let lanes = GROUP * V * S::F32_LANES;
                    let of_word: &[f32] = pulp::bytemuck::cast_slice(sums.as_flattened());
                    for (sum, &of_word) in double_sums[group * lanes..(group + 1) * lanes].iter_mut().zip(of_word) {
                        *sum += f64::from(of_word);
                    }
                    *sums = [[simd.splat_f32s(0.0); V]; GROUP];
                }
            }
        }
        let single: &[f32] = pulp::bytemuck::cast_slice(sums.as_flattened().as_flattened());
        let lanes = V * S::F32_LANES;
        for (row, out) in self.out.chunks_exact_mut(self.width).enumerate() {
            let out = &mut out[first_vector * S::F32_LANES..][..lanes];
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

    /// Adds some terms to the sums of a group of rows of the product, which are columns of the matrix.
    #[inline(always)]
    fn add_columns<'x, S: Simd, const V: usize, const GROUP: usize>(
        &self,
        simd: S,
        sums: &mut [[S::f32s; V]; GROUP],
        first_row: usize,
        block: &TermBlock,
        x: impl Iterator<Item = &'x [S::f32s]>,
    ) {
        let Factor { matrix, n_columns, .. } = self.factor;
        let mut own = *sums;
        for (&term, x) in block.numbers.iter().zip(x) {
            let rest = &matrix[term as usize * n_columns + first_row..(term as usize + 1) * n_columns];
            let entries = match rest.first_chunk::<GROUP>() {
                Some(entries) => *entries,
                // The last rows may be fewer; the sums of others are not read.
                None => std::array::from_fn(|at| rest.get(at).copied().unwrap_or(0.0)),
            };
            add_products(simd, &mut own, entries, x);
        }
        *sums = own;
    }

    /// Adds some terms, which lie in one word, to the sums of a group of rows of the product.
    #[inline(always)]
    fn add_rows<'x, S: Simd, const V: usize, const GROUP: usize>(
        &self,
        simd: S,
        sums: &mut [[S::f32s; V]; GROUP],
        first_row: usize,
        block: &TermBlock,
        x: impl Iterator<Item = &'x [S::f32s]>,
    ) {
        let Factor { matrix, n_columns, .. } = self.factor;
        let last_row = self.first_row + self.out.len() / self.width - 1;
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
        let mut own = *sums;
        if block.numbers.len() == WORD {
            // Here the number of terms is known to the compiler, which writes out several of them at once.
            for (at, x) in (0..WORD).zip(x) {
                add_products(simd, &mut own, words.map(|word| word[at]), x);
            }
        } else {
            for (&term, x) in block.numbers.iter().zip(x) {
                add_products(simd, &mut own, words.map(|word| word[term as usize % WORD]), x);
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

/// Adds the products of each entry and `V` vectors of a row of `x`.
#[inline(always)]
fn add_products<S: Simd, const V: usize, const GROUP: usize>(
    simd: S,
    sums: &mut [[S::f32s; V]; GROUP],
    entries: [f32; GROUP],
    x: &[S::f32s],
) {
    for (sums, entry) in sums.iter_mut().zip(entries) {
        let entry = simd.splat_f32s(entry);
        for (sum, &x) in sums.iter_mut().zip(x) {
            *sum = simd.mul_add_f32s(entry, x, *sum);
        }
    }
}
