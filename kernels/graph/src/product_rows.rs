//! This module says which rows of a product matter.

use std::ops::Range;

/// Says which rows of a product of a matrix and a dense one have to be computed, and from which.
///
/// A product may do more than it has to. What it does beyond that changes no bit of the rows that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductRows<'a> {
    /// Any row of the product may be read, and any row of the dense matrix may hold something.
    All,
    /// Only these rows of the product are read, in ascending order. The others are left at zero, or computed as well.
    Read(&'a [u32]),
    /// Only these rows of the dense matrix hold anything but zeros, in ascending order.
    Nonzero(&'a [u32]),
}

impl<'a> ProductRows<'a> {
    /// Returns those of `rows` that have to be computed.
    pub fn computed_of(self, rows: Range<usize>) -> impl Iterator<Item = usize> + 'a {
        let (all, listed): (_, &[u32]) = match self {
            Self::All | Self::Nonzero(_) => (rows, &[]),
            Self::Read(read) => {
                let place = |row: usize| read.partition_point(|&read| (read as usize) < row);
                (0..0, &read[place(rows.start)..place(rows.end)])
            }
        };
        all.chain(listed.iter().map(|&row| row as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_read_are_computed() {
        let read = [2, 3, 7, 9];
        let of = |rows: ProductRows, range: Range<usize>| rows.computed_of(range).collect::<Vec<_>>();
        assert_eq!(of(ProductRows::Read(&read), 3..9), [3, 7]);
        assert_eq!(of(ProductRows::Read(&read), 0..10), [2, 3, 7, 9]);
        assert_eq!(of(ProductRows::Read(&read), 4..7), [0; 0]);
        assert_eq!(of(ProductRows::All, 3..5), [3, 4]);
        assert_eq!(of(ProductRows::Nonzero(&read), 3..5), [3, 4]);
    }
}
