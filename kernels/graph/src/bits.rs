//! This module holds square matrices of bits, in which dense reports are kept.

use rayon::prelude::*;

/// This square matrix of bits is stored by rows with 64 bits to a word; bits beyond the last column are zero.
///
/// # Shapes
/// `words`: `[n, stride]`, where a row takes `stride = ⌈n / 64⌉` words and column `j` is bit `j mod 64` of word
/// `j / 64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitMatrix {
    n: usize,
    stride: usize,
    words: Vec<u64>,
}

/// Iterates over the columns of the ones of a row, in ascending order.
#[derive(Clone, Debug)]
pub struct Ones<'a> {
    /// These words come after the current one.
    rest: &'a [u64],
    /// The current word keeps the ones that were not returned yet.
    word: u64,
    /// The lowest bit of the current word stands in this column.
    base: u32,
}

impl BitMatrix {
    /// Builds the `n × n` matrix whose row `i` is written by `fill(i, words)`; rows are written in parallel.
    #[must_use]
    pub fn from_rows(n: usize, fill: impl Fn(usize, &mut [u64]) + Sync) -> Self {
        let stride = n.div_ceil(64);
        let mut words = vec![0; n * stride];
        words.par_chunks_mut(stride.max(1)).enumerate().for_each(|(i, row)| fill(i, row));
        Self { n, stride, words }
    }

    /// Returns the number of rows, which is also the number of columns.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n
    }

    /// Returns the words of row `i`; the lowest bit of a word is its first column.
    #[must_use]
    pub fn row(&self, i: usize) -> &[u64] {
        &self.words[i * self.stride..(i + 1) * self.stride]
    }

    /// Returns whether the bit of row `i` and column `j` is set.
    #[must_use]
    pub fn contains(&self, i: usize, j: u32) -> bool {
        self.words[i * self.stride + j as usize / 64] >> (j % 64) & 1 == 1
    }

    /// Sets the bit of row `i` and column `j`.
    ///
    /// # Panics
    /// Panics when there is no such row or column.
    pub fn set(&mut self, i: usize, j: u32) {
        assert!((j as usize) < self.n, "column {j} of {}", self.n);
        self.words[i * self.stride + j as usize / 64] |= 1 << (j % 64);
    }

    /// Counts the ones.
    #[must_use]
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Iterates over the columns of the ones of row `i`, in ascending order.
    #[must_use]
    pub fn ones(&self, i: usize) -> Ones<'_> {
        self.ones_from(i, 0)
    }

    /// Iterates over those columns of the ones of row `i` that are `first` or later, in ascending order.
    #[must_use]
    pub fn ones_from(&self, i: usize, first: usize) -> Ones<'_> {
        let row = self.row(i);
        match row.get(first / 64..) {
            Some([word, rest @ ..]) => {
                Ones { rest, word: word & (u64::MAX << (first % 64)), base: (first / 64 * 64) as u32 }
            }
            _ => Ones { rest: &[], word: 0, base: 0 },
        }
    }

    /// Replaces each pair of words `(a, b)` of two matrices by `with(a, b)`.
    ///
    /// # Panics
    /// Panics when the matrices differ in size.
    pub fn combine(&mut self, other: &mut Self, with: impl Fn(u64, u64) -> (u64, u64) + Sync) {
        assert_eq!(self.n, other.n, "matrices of one size");
        self.words.par_iter_mut().zip(&mut other.words).for_each(|(a, b)| (*a, *b) = with(*a, *b));
    }

    /// Sets every bit whose mirror image is set: that of row `j` and column `i` where the one of row `i` and column `j` is.
    pub fn symmetrize(&mut self) {
        /// So many tiles of a row of tiles are taken one after the other, because their words share cache lines.
        const TILES: usize = 8;
        for first in (0..self.stride).step_by(TILES) {
            let bands = first..(first + TILES).min(self.stride);
            for other in 0..bands.end {
                for band in bands.clone().filter(|&band| other <= band) {
                    self.mirror_tiles(other, band);
                }
            }
        }
    }

    /// Gives two tiles that are mirror images of each other, those of the bands `a` and `b`, the bits of both.
    fn mirror_tiles(&mut self, a: usize, b: usize) {
        let (mut upper, mut lower) = (self.tile(a, b), self.tile(b, a));
        let (given_to_upper, given_to_lower) = (lower, upper);
        for (tile, given) in [(&mut upper, given_to_upper), (&mut lower, given_to_lower)] {
            let mut given = given;
            transpose_tile(&mut given);
            tile.iter_mut().zip(given).for_each(|(word, given)| *word |= given);
        }
        for ((band, column), tile) in [((a, b), upper), ((b, a), lower)] {
            let rows = self.words[64 * band * self.stride..].chunks_exact_mut(self.stride);
            rows.zip(tile).for_each(|(row, word)| row[column] = word);
        }
    }

    /// Returns the words of a column of words in a band of 64 rows; rows beyond the last one are zero.
    fn tile(&self, band: usize, column: usize) -> [u64; 64] {
        let mut tile = [0; 64];
        let rows = self.words[64 * band * self.stride..].chunks_exact(self.stride);
        tile.iter_mut().zip(rows).for_each(|(word, row)| *word = row[column]);
        tile
    }

    /// Returns the transposed matrix.
    ///
    /// The work goes by tiles: a tile is a square of 64 × 64 bits, one word from each of 64 rows. A band of 64 rows of
    /// the result is made of the tiles of one column of words.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut transposed = Self { n: self.n, stride: self.stride, words: vec![0; self.words.len()] };
        let band = 64 * self.stride.max(1);
        transposed.words.par_chunks_mut(band).enumerate().for_each(|(column, rows)| {
            for from in 0..self.stride {
                let mut tile = self.tile(from, column);
                transpose_tile(&mut tile);
                for (row, word) in rows.chunks_mut(self.stride).zip(tile) {
                    row[from] = word;
                }
            }
        });
        transposed
    }
}

impl<'a> Ones<'a> {
    /// Iterates over the ones of a row that stands alone, given as its words.
    #[must_use]
    pub fn in_row(row: &'a [u64]) -> Self {
        match row {
            [word, rest @ ..] => Self { rest, word: *word, base: 0 },
            [] => Self { rest: &[], word: 0, base: 0 },
        }
    }
}

impl Iterator for Ones<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.word == 0 {
            let (word, rest) = self.rest.split_first()?;
            (self.word, self.rest) = (*word, rest);
            self.base += 64;
        }
        let one = self.base + self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(one)
    }

    #[inline]
    fn fold<B, F: FnMut(B, u32) -> B>(self, init: B, mut add: F) -> B {
        let (mut folded, mut word, mut base) = (init, self.word, self.base);
        let mut rest = self.rest.iter();
        loop {
            while word != 0 {
                folded = add(folded, base + word.trailing_zeros());
                word &= word - 1;
            }
            let Some(&next) = rest.next() else { return folded };
            (word, base) = (next, base + 64);
        }
    }
}

/// Transposes a tile in place: each round swaps the upper right and lower left quarters of ever smaller squares.
///
/// # Source
/// Warren (2012), Hacker's Delight, section 7-3.
fn transpose_tile(tile: &mut [u64; 64]) {
    let (mut width, mut mask) = (32, 0x0000_0000_ffff_ffff_u64);
    while width > 0 {
        let mut k = 0;
        while k < 64 {
            let swap = (tile[k] >> width ^ tile[k + width]) & mask;
            tile[k] ^= swap << width;
            tile[k + width] ^= swap;
            k = (k + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests;
