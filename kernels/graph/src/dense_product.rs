//! This module multiplies matrices of which every entry is stored by narrow dense ones.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Says how the terms of a product are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    /// One after the other, in single precision.
    Single,
    /// Terms of 64 entries each in single precision, and these sums in double precision, because thousands of terms add up.
    ByWord,
}

/// So many rows of a product are summed at once: with so few, their sums stay in registers.
const GROUP: usize = 4;
/// So many terms are summed before the next rows are.
const WORD: usize = 64;
/// One thread takes this many rows of a product at a time.
const ROWS_PER_TASK: usize = 64;
/// For a transposed matrix the terms are rows that are far apart in memory. So few of them are summed at a time, and so many
/// columns, that long parts of few rows are read, one after the other, and stay in cache.
const ADJOINT_WORD: usize = 16;
/// One thread takes at least and at most so many columns of a transposed matrix at a time. Long parts of rows are read faster, and
/// the sums of all columns of a part, at most 256 KiB, should stay in the cache of one core.
const COLUMNS_PER_TASK: [usize; 2] = [256, 4096];
/// The columns of a product are filled up with zeros to a multiple of this.
const LANES: usize = 8;

/// Returns the product of a matrix and `x`.
///
/// # Shapes
/// `matrix`: `[n_rows, n_columns]`; `x`: `[n_columns, width]`; the product: `[n_rows, width]`; all row-major.
///
/// # Panics
/// Panics when `matrix` has no whole number of rows.
#[must_use]
pub fn dense_product(matrix: &[f32], x: &[f32], width: usize, sums: Sums) -> Vec<f32> {
    let n_columns = x.len() / width.max(1);
    assert!(matrix.len().is_multiple_of(n_columns.max(1)), "rows must be as long as x has rows");
    multiply(Factor { matrix, n_columns, is_adjoint: false }, x, width, sums)
}

/// Returns the product of a transposed matrix and `y`, summed in single precision.
///
/// # Shapes
/// `matrix`: `[n_rows, n_columns]`; `y`: `[n_rows, width]`; the product: `[n_columns, width]`; all row-major.
///
/// # Panics
/// Panics when `matrix` has no whole number of columns.
#[must_use]
pub fn dense_adjoint_product(matrix: &[f32], y: &[f32], width: usize) -> Vec<f32> {
    let n_rows = y.len() / width.max(1);
    assert!(matrix.len().is_multiple_of(n_rows.max(1)), "columns must be as long as y has rows");
    multiply(Factor { matrix, n_columns: matrix.len() / n_rows.max(1), is_adjoint: true }, y, width, Sums::Single)
}

/// The left factor of a product.
#[derive(Clone, Copy)]
struct Factor<'a> {
    matrix: &'a [f32],
    n_columns: usize,
    /// Whether it is the transposed matrix.
    is_adjoint: bool,
}

impl Factor<'_> {
    /// The number of rows of the product.
    fn n_rows(&self) -> usize {
        if self.is_adjoint { self.n_columns } else { self.matrix.len() / self.n_columns.max(1) }
    }
}

fn multiply(factor: Factor, x: &[f32], width: usize, sums: Sums) -> Vec<f32> {
    let padded_width = width.next_multiple_of(LANES);
    if width == 0 || x.is_empty() {
        return vec![0.0; factor.n_rows() * width];
    }
    if padded_width == width {
        return multiply_padded(factor, x, width, sums);
    }
    let mut padded = vec![0.0; x.len() / width * padded_width];
    for (row, values) in padded.chunks_exact_mut(padded_width).zip(x.chunks_exact(width)) {
        row[..width].copy_from_slice(values);
    }
    let product = multiply_padded(factor, &padded, padded_width, sums);
    product.chunks_exact(padded_width).flat_map(|row| row[..width].iter().copied()).collect()
}

fn multiply_padded(factor: Factor, x: &[f32], width: usize, sums: Sums) -> Vec<f32> {
    let mut product = vec![0.0; factor.n_rows() * width];
    let n_rows = if factor.is_adjoint {
        let [least, most] = COLUMNS_PER_TASK;
        factor.n_columns.div_ceil(rayon::current_num_threads()).clamp(least, most).next_multiple_of(GROUP)
    } else {
        ROWS_PER_TASK
    };
    product.par_chunks_mut(n_rows * width).enumerate().for_each(|(task, out)| {
        Arch::new().dispatch(Part { factor, x, width, sums, first_row: task * n_rows, out });
    });
    product
}

/// Computes some rows of a product with the processor's widest vector instructions.
///
/// Lanes are independent, every sum runs in the order of the rows of `x`, and a product is added without a rounding between, so
/// every width of vectors gives the same bits.
struct Part<'a> {
    factor: Factor<'a>,
    x: &'a [f32],
    width: usize,
    sums: Sums,
    /// The first of these rows.
    first_row: usize,
    out: &'a mut [f32],
}

impl WithSimd for Part<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        const { assert!(LANES.is_multiple_of(S::F32_LANES), "columns are filled up to whole vectors") };
        let (x, _) = S::as_simd_f32s(self.x);
        let vectors = self.width / S::F32_LANES;
        let mut first_vector = 0;
        while first_vector < vectors {
            if vectors - first_vector >= 2 {
                self.columns::<S, 2>(simd, x, vectors, first_vector);
                first_vector += 2;
            } else {
                self.columns::<S, 1>(simd, x, vectors, first_vector);
                first_vector += 1;
            }
        }
    }
}

impl Part<'_> {
    /// Computes `V` vectors of columns, from vector `first_vector` of `vectors` on.
    #[inline(always)]
    fn columns<S: Simd, const V: usize>(&mut self, simd: S, x: &[S::f32s], vectors: usize, first_vector: usize) {
        let n_terms = x.len() / vectors;
        let per_word = if self.factor.is_adjoint { ADJOINT_WORD } else { WORD };
        let (n_groups, n_words) = ((self.out.len() / self.width).div_ceil(GROUP), n_terms.div_ceil(per_word));
        let mut sums = vec![[[simd.splat_f32s(0.0); V]; GROUP]; n_groups];
        let mut double_sums =
            vec![0.0; if self.sums == Sums::ByWord { n_groups * GROUP * V * S::F32_LANES } else { 0 }];
        // The rows of a word stay in cache while the columns of a transposed matrix are taken.
        let (n_outer, n_inner) = if self.factor.is_adjoint { (n_words, n_groups) } else { (n_groups, n_words) };
        for outer in 0..n_outer {
            for inner in 0..n_inner {
                let (word, group) = if self.factor.is_adjoint { (outer, inner) } else { (inner, outer) };
                let terms = word * per_word..((word + 1) * per_word).min(n_terms);
                let sums = &mut sums[group];
                self.add_terms(simd, sums, group, terms, x, vectors, first_vector);
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

    /// Adds some terms to the sums of a group of rows.
    #[expect(clippy::too_many_arguments, reason = "one loop body, cut out of the loops around it")]
    #[inline(always)]
    fn add_terms<S: Simd, const V: usize>(
        &self,
        simd: S,
        sums: &mut [[S::f32s; V]; GROUP],
        group: usize,
        terms: Range<usize>,
        x: &[S::f32s],
        vectors: usize,
        first_vector: usize,
    ) {
        let Factor { matrix, n_columns, is_adjoint } = self.factor;
        let row = self.first_row + group * GROUP;
        let mut own = *sums;
        if is_adjoint {
            for term in terms {
                let rest = &matrix[term * n_columns + row..(term + 1) * n_columns];
                let entries = match rest.first_chunk::<GROUP>() {
                    Some(entries) => *entries,
                    // The last rows may be fewer; the sums of others are not read.
                    None => std::array::from_fn(|at| rest.get(at).copied().unwrap_or(0.0)),
                };
                let x = &x[term * vectors + first_vector..][..V];
                add_products(simd, &mut own, entries, x);
            }
        } else {
            let last = self.first_row + self.out.len() / self.width - 1;
            let rows: [&[f32]; GROUP] = std::array::from_fn(|at| {
                let start = (row + at).min(last) * n_columns;
                &matrix[start + terms.start..start + terms.end]
            });
            let [a, b, c, d] = rows;
            let x = x[terms.start * vectors..terms.end * vectors].chunks_exact(vectors);
            for ((((x, &a), &b), &c), &d) in x.zip(a).zip(b).zip(c).zip(d) {
                add_products(simd, &mut own, [a, b, c, d], &x[first_vector..first_vector + V]);
            }
        }
        *sums = own;
    }
}

/// Adds the products of each entry and `V` vectors of a row of `x`.
#[inline(always)]
fn add_products<S: Simd, const V: usize>(
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

#[cfg(test)]
mod tests;
