//! Square matrices of bits: what dense reports are made of.

use rayon::prelude::*;

/// Square matrix of bits, 64 to a word; bits beyond the last column are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitMatrix {
    n: usize,
    stride: usize,
    words: Vec<u64>,
}

/// Positions of the ones of a row, ascending.
#[derive(Clone, Debug)]
pub struct Ones<'a> {
    rest: &'a [u64],
    word: u64,
    base: u32,
}

impl BitMatrix {
    /// The matrix whose row `i` is written by `fill(i, words)`, rows in parallel.
    #[must_use]
    pub fn from_rows(n: usize, fill: impl Fn(usize, &mut [u64]) + Sync) -> Self {
        let stride = n.div_ceil(64);
        let mut words = vec![0; n * stride];
        words.par_chunks_mut(stride.max(1)).enumerate().for_each(|(i, row)| fill(i, row));
        Self { n, stride, words }
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n
    }

    /// Words of row `i`, columns from the lowest bit up.
    #[must_use]
    pub fn row(&self, i: usize) -> &[u64] {
        &self.words[i * self.stride..(i + 1) * self.stride]
    }

    /// Whether the bit of row `i` and column `j` is set.
    #[must_use]
    pub fn contains(&self, i: usize, j: u32) -> bool {
        self.words[i * self.stride + j as usize / 64] >> (j % 64) & 1 == 1
    }

    /// Sets the bit of row `i` and column `j`.
    ///
    /// # Panics
    /// When there is no such row or column.
    pub fn set(&mut self, i: usize, j: u32) {
        assert!((j as usize) < self.n, "column {j} of {}", self.n);
        self.words[i * self.stride + j as usize / 64] |= 1 << (j % 64);
    }

    /// Number of ones.
    #[must_use]
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Columns of the ones of row `i`, ascending.
    #[must_use]
    pub fn ones(&self, i: usize) -> Ones<'_> {
        self.ones_from(i, 0)
    }

    /// Columns from `first` on of the ones of row `i`, ascending.
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
    /// When the matrices differ in size.
    pub fn combine(&mut self, other: &mut Self, with: impl Fn(u64, u64) -> (u64, u64) + Sync) {
        assert_eq!(self.n, other.n, "matrices of one size");
        self.words.par_iter_mut().zip(&mut other.words).for_each(|(a, b)| (*a, *b) = with(*a, *b));
    }

    /// The transposed matrix, by blocks of 64 × 64 bits.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut transposed = Self { n: self.n, stride: self.stride, words: vec![0; self.words.len()] };
        let band = 64 * self.stride.max(1);
        transposed.words.par_chunks_mut(band).enumerate().for_each(|(column, rows)| {
            for from in 0..self.stride {
                let mut block = [0; 64];
                let present = 64.min(self.n - 64 * from);
                for (k, word) in block.iter_mut().take(present).enumerate() {
                    *word = self.words[(64 * from + k) * self.stride + column];
                }
                transpose_block(&mut block);
                for (row, word) in rows.chunks_mut(self.stride).zip(block) {
                    row[from] = word;
                }
            }
        });
        transposed
    }
}

impl<'a> Ones<'a> {
    /// Ones of a single row of words.
    #[must_use]
    pub fn of(row: &'a [u64]) -> Self {
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
}

/// Transposes 64 × 64 bits in place by swapping ever smaller quarters.
fn transpose_block(block: &mut [u64; 64]) {
    let (mut width, mut mask) = (32, 0x0000_0000_ffff_ffff_u64);
    while width > 0 {
        let mut k = 0;
        while k < 64 {
            let swap = (block[k] >> width ^ block[k + width]) & mask;
            block[k] ^= swap << width;
            block[k + width] ^= swap;
            k = (k + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests;
