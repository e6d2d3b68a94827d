//! This module says which rows of a product matter.

use std::ops::Range;

/// Says which rows matter where a matrix is multiplied by a dense one: rows of the product, or rows of the dense matrix.
///
/// A product may do more than it has to: only matrices of which every entry is stored make use of rows of zeros, and a graph
/// that is held as bits makes use of nothing. The rows that are read come out the same either way, but for the sign of a zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductRows<'a> {
    /// Any row of the product may be read, and any row of the dense matrix may hold something.
    All,
    /// Only these rows of the product are read, in strictly ascending order. The others are left at zero, or computed as well.
    Read(&'a [u32]),
    /// Only these rows of the dense matrix hold anything but zeros, in strictly ascending order.
    Nonzero(&'a [u32]),
}

impl<'a> ProductRows<'a> {
    /// Refuses lists that are not in strictly ascending order. In tests of this crate and in debug builds it also refuses those
    /// that leave out a row of `x` that is not zero; to look at all of `x` would take too long in a product.
    ///
    /// # Shapes
    /// `x`: `[rows, width]`, row-major.
    ///
    /// # Panics
    /// Panics when the list is refused.
    pub(crate) fn check(self, x: &[f32], width: usize) {
        let (Self::Read(list) | Self::Nonzero(list)) = self else { return };
        assert!(list.is_sorted_by(|a, b| a < b), "rows are listed in strictly ascending order");
        if !cfg!(any(test, debug_assertions)) || matches!(self, Self::Read(_)) {
            return;
        }
        let is_left_out = |&(row, values): &(usize, &[f32])| {
            list.binary_search(&(row as u32)).is_err() && values.iter().any(|&value| value != 0.0)
        };
        let mut rows = x.chunks_exact(width.max(1)).enumerate();
        assert!(!rows.any(|row| is_left_out(&row)), "rows that are not listed are zero");
    }

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
    #[should_panic(expected = "strictly ascending")]
    fn a_row_is_not_listed_twice() {
        ProductRows::Read(&[1, 4, 4]).check(&[0.0; 10], 2);
    }

    #[test]
    #[should_panic(expected = "not listed are zero")]
    fn a_row_that_holds_something_is_not_left_out() {
        ProductRows::Nonzero(&[1, 4]).check(&[0.0, 0.0, 1.0, 1.0, 0.0, -0.5], 2);
    }

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
