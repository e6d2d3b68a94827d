//! This module multiplies matrices of which every entry is stored by narrow dense ones.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::borrow::Cow;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::product_rows::ProductRows;

/// Says how the terms of a product are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    /// One after the other, in single precision.
    Single,
    /// Terms of 64 entries each in single precision, and these sums in double precision, because thousands of terms add up.
    ByWord,
}

/// So many vectors of sums are formed at once, in as many rows as this takes: they stay in registers, and no addition waits for
/// the one before it.
const MOST_SUMS: usize = 8;
/// So many terms are summed before the next rows are.
const WORD: usize = 64;
/// One thread takes this many rows of a product at a time.
const ROWS_PER_TASK: usize = 64;
/// For a transposed matrix the terms are rows that are far apart in memory. So few of them are summed at a time, and so many
/// columns, that long parts of few rows are read, one after the other, and stay in cache.
const ADJOINT_WORD: usize = 32;
/// One thread takes at least and at most so many columns of a transposed matrix at a time. Long parts of rows are read faster, and
/// the sums of all columns of a part, at most 256 KiB, should stay in the cache of one core.
const COLUMNS_PER_TASK: [usize; 2] = [256, 4096];
/// The columns of a product are filled up with zeros to a multiple of this.
const LANES: usize = 8;

/// Returns the product of a matrix and `x`. Where only some rows of it are read, only those are computed, and where only some rows
/// of `x` hold anything, only those are summed.
///
/// # Shapes
/// `matrix`: `[n_rows, n_columns]`; `x`: `[n_columns, width]`; the product: `[n_rows, width]`; all row-major.
///
/// # Panics
/// Panics when `matrix` has no whole number of rows.
#[must_use]
pub fn dense_product(matrix: &[f32], x: &[f32], width: usize, sums: Sums, rows: ProductRows) -> Vec<f32> {
    let n_columns = x.len() / width.max(1);
    assert!(matrix.len().is_multiple_of(n_columns.max(1)), "rows must be as long as x has rows");
    let (listed_rows, terms) = match rows {
        ProductRows::All => (None, None),
        ProductRows::Read(rows) => (Some(rows), None),
        ProductRows::Nonzero(terms) => (None, Some(terms)),
    };
    let product = multiply(Factor { matrix, n_columns, is_adjoint: false, listed_rows }, x, width, sums, terms);
    let Some(listed) = listed_rows else { return product };
    let mut whole = vec![0.0; matrix.len() / n_columns.max(1) * width];
    for (&row, computed) in listed.iter().zip(product.chunks_exact(width.max(1))) {
        whole[row as usize * width..][..width].copy_from_slice(computed);
    }
    whole
}

/// Returns the product of a transposed matrix and `y`. Where only some rows of `y` hold anything, only those rows of the matrix
/// are read.
///
/// # Shapes
/// `matrix`: `[n_rows, n_columns]`; `y`: `[n_rows, width]`; the product: `[n_columns, width]`; all row-major.
///
/// # Panics
/// Panics when `matrix` has no whole number of columns.
#[must_use]
pub fn dense_adjoint_product(matrix: &[f32], y: &[f32], width: usize, sums: Sums, rows: ProductRows) -> Vec<f32> {
    let n_rows = y.len() / width.max(1);
    assert!(matrix.len().is_multiple_of(n_rows.max(1)), "columns must be as long as y has rows");
    let terms = if let ProductRows::Nonzero(terms) = rows { Some(terms) } else { None };
    let n_columns = matrix.len() / n_rows.max(1);
    multiply(Factor { matrix, n_columns, is_adjoint: true, listed_rows: None }, y, width, sums, terms)
}

/// The left factor of a product.
#[derive(Clone, Copy)]
struct Factor<'a> {
    matrix: &'a [f32],
    n_columns: usize,
    /// Whether it is the transposed matrix.
    is_adjoint: bool,
    /// The only rows of the product that are computed, in ascending order; all of them if absent. A transposed matrix has none.
    listed_rows: Option<&'a [u32]>,
}

/// Terms that are added to the sums one after the other.
struct Terms<'a> {
    /// Columns of the matrix, or rows of it where it is transposed.
    numbers: &'a [u32],
    /// The place of the first of them among all terms.
    first_place: usize,
    /// Whether the sums go on to those in double precision after these terms ([`Sums::ByWord`]).
    ends_word: bool,
}

impl Factor<'_> {
    /// The number of rows of the product that are computed.
    fn n_rows(&self) -> usize {
        match (self.is_adjoint, self.listed_rows) {
            (true, _) => self.n_columns,
            (false, Some(listed)) => listed.len(),
            (false, None) => self.matrix.len() / self.n_columns.max(1),
        }
    }

    /// The row of the product that is computed at this place.
    #[inline(always)]
    fn row_at(&self, place: usize) -> usize {
        self.listed_rows.map_or(place, |listed| listed[place] as usize)
    }

    /// All terms in parts, in their order. A word is 64 columns or rows of the matrix, however many of them are summed, so that a
    /// sum has the same bits whether or not its zeros are left out.
    fn parts<'t>(&self, terms: &'t [u32], sums: Sums) -> Vec<Terms<'t>> {
        let (most, is_by_word) = if self.is_adjoint { (ADJOINT_WORD, sums == Sums::ByWord) } else { (WORD, true) };
        let mut parts = Vec::new();
        let mut first_place = 0;
        for word in terms.chunk_by(|&a, &b| !is_by_word || a as usize / WORD == b as usize / WORD) {
            let n_parts = word.len().div_ceil(most);
            for (at, numbers) in word.chunks(most).enumerate() {
                parts.push(Terms { numbers, first_place, ends_word: at + 1 == n_parts });
                first_place += numbers.len();
            }
        }
        parts
    }
}

/// Returns the rows of a product that are computed, one after the other. `terms` are those that are summed.
fn multiply(factor: Factor, x: &[f32], width: usize, sums: Sums, terms: Option<&[u32]>) -> Vec<f32> {
    let padded_width = width.next_multiple_of(LANES);
    if width == 0 || x.is_empty() {
        return vec![0.0; factor.n_rows() * width];
    }
    let numbers: Cow<[u32]> = match terms {
        Some(listed) => listed.into(),
        None => (0..(x.len() / width) as u32).collect(),
    };
    let parts = factor.parts(&numbers, sums);
    if padded_width == width && terms.is_none() {
        return multiply_padded(factor, &parts, x, width, sums);
    }
    let mut padded = vec![0.0; numbers.len() * padded_width];
    for (row, &term) in padded.chunks_exact_mut(padded_width).zip(&*numbers) {
        row[..width].copy_from_slice(&x[term as usize * width..][..width]);
    }
    let product = multiply_padded(factor, &parts, &padded, padded_width, sums);
    let mut without_padding = vec![0.0; factor.n_rows() * width];
    for (row, padded) in without_padding.chunks_exact_mut(width).zip(product.chunks_exact(padded_width)) {
        row.copy_from_slice(&padded[..width]);
    }
    without_padding
}

/// # Shapes
/// `x`: `[terms, width]`, row-major.
fn multiply_padded(factor: Factor, parts: &[Terms], x: &[f32], width: usize, sums: Sums) -> Vec<f32> {
    let mut product = vec![0.0; factor.n_rows() * width];
    let n_rows = if factor.is_adjoint {
        let [least, most] = COLUMNS_PER_TASK;
        factor.n_columns.div_ceil(rayon::current_num_threads()).clamp(least, most).next_multiple_of(MOST_SUMS)
    } else {
        ROWS_PER_TASK
    };
    product.par_chunks_mut(n_rows * width).enumerate().for_each(|(task, out)| {
        Arch::new().dispatch(Part { factor, terms: parts, x, width, sums, first_row: task * n_rows, out });
    });
    product
}

/// Computes some rows of a product with the processor's widest vector instructions.
///
/// Lanes are independent, every sum runs in the order of the rows of `x`, and a product is added without a rounding between, so
/// every width of vectors gives the same bits.
struct Part<'a> {
    factor: Factor<'a>,
    terms: &'a [Terms<'a>],
    /// `[terms, width]`.
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
                self.columns::<S, 2, { MOST_SUMS / 2 }>(simd, x, vectors, first_vector);
                first_vector += 2;
            } else {
                self.columns::<S, 1, MOST_SUMS>(simd, x, vectors, first_vector);
                first_vector += 1;
            }
        }
    }
}

impl Part<'_> {
    /// Computes `V` vectors of columns, from vector `first_vector` of `vectors` on.
    #[inline(always)]
    fn columns<S: Simd, const V: usize, const GROUP: usize>(
        &mut self,
        simd: S,
        x: &[S::f32s],
        vectors: usize,
        first_vector: usize,
    ) {
        let (n_groups, n_parts) = ((self.out.len() / self.width).div_ceil(GROUP), self.terms.len());
        let mut sums = vec![[[simd.splat_f32s(0.0); V]; GROUP]; n_groups];
        let mut double_sums =
            vec![0.0; if self.sums == Sums::ByWord { n_groups * GROUP * V * S::F32_LANES } else { 0 }];
        // A few rows stay in cache while the columns of a transposed matrix are taken.
        let (n_outer, n_inner) = if self.factor.is_adjoint { (n_parts, n_groups) } else { (n_groups, n_parts) };
        for outer in 0..n_outer {
            for inner in 0..n_inner {
                let (part, group) = if self.factor.is_adjoint { (outer, inner) } else { (inner, outer) };
                let terms = &self.terms[part];
                let sums = &mut sums[group];
                let x = &x[terms.first_place * vectors..][..terms.numbers.len() * vectors];
                let x = x.chunks_exact(vectors).map(|x| &x[first_vector..first_vector + V]);
                let first_row = self.first_row + group * GROUP;
                if self.factor.is_adjoint {
                    self.add_columns(simd, sums, first_row, terms, x);
                } else {
                    self.add_rows(simd, sums, first_row, terms, x);
                }
                if self.sums == Sums::ByWord && terms.ends_word {
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
        terms: &Terms,
        x: impl Iterator<Item = &'x [S::f32s]>,
    ) {
        let Factor { matrix, n_columns, .. } = self.factor;
        let mut own = *sums;
        for (&term, x) in terms.numbers.iter().zip(x) {
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
        terms: &Terms,
        x: impl Iterator<Item = &'x [S::f32s]>,
    ) {
        let Factor { matrix, n_columns, .. } = self.factor;
        let last_row = self.first_row + self.out.len() / self.width - 1;
        let first_term = terms.numbers[0] as usize / WORD * WORD;
        let rows: [&[f32]; GROUP] = std::array::from_fn(|at| {
            let start = self.factor.row_at((first_row + at).min(last_row)) * n_columns;
            &matrix[start + first_term..start + n_columns]
        });
        // The last word may be shorter than the others. An array tells the compiler that no index is beyond its end.
        let mut last_words = [[0.0; WORD]; GROUP];
        if rows[0].len() < WORD {
            last_words.iter_mut().zip(rows).for_each(|(word, row)| word[..row.len()].copy_from_slice(row));
        }
        let words: [&[f32; WORD]; GROUP] = std::array::from_fn(|at| rows[at].first_chunk().unwrap_or(&last_words[at]));
        let mut own = *sums;
        if terms.numbers.len() == WORD {
            // Here the number of terms is known to the compiler, which writes out several of them at once.
            for (at, x) in (0..WORD).zip(x) {
                add_products(simd, &mut own, words.map(|word| word[at]), x);
            }
        } else {
            for (&term, x) in terms.numbers.iter().zip(x) {
                add_products(simd, &mut own, words.map(|word| word[term as usize % WORD]), x);
            }
        }
        *sums = own;
    }
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

#[cfg(test)]
mod tests;
