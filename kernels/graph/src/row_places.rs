//! This module places rows of unequal length one after the other.

/// Returns where each row begins, if the rows stand one after the other. `rows` names the row of each entry, in any order.
///
/// # Shapes
/// The result is `[n_rows + 1]`: row `i` takes the places from entry `i` of it to before entry `i + 1`.
///
/// # Panics
/// Panics when there is no such row.
#[must_use]
pub fn row_offsets(n_rows: usize, rows: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut offsets = vec![0; n_rows + 1];
    rows.for_each(|row| offsets[row + 1] += 1);
    for row in 0..n_rows {
        offsets[row + 1] += offsets[row];
    }
    offsets
}

/// Gives the entries of each row its places, in the order in which they come.
pub struct RowPlaces {
    /// `[n_rows + 1]`; the last number is the number of all places.
    next: Vec<usize>,
}

impl RowPlaces {
    /// No place has been taken yet.
    ///
    /// # Shapes
    /// `offsets` are those of [`row_offsets`].
    #[must_use]
    pub fn new(offsets: &[usize]) -> Self {
        Self { next: offsets.to_vec() }
    }

    /// Returns the next place of a row.
    ///
    /// # Panics
    /// Panics when there is no such row.
    #[inline]
    pub fn take(&mut self, row: usize) -> usize {
        let place = self.next[row];
        self.next[row] += 1;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_row_stand_side_by_side_in_the_order_in_which_they_come() {
        let entries = [(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd'), (0, 'e')];
        let offsets = row_offsets(5, entries.iter().map(|entry| entry.0));
        assert_eq!(offsets, [0, 2, 2, 4, 5, 5]);
        let (mut places, mut placed) = (RowPlaces::new(&offsets), [' '; 5]);
        for (row, letter) in entries {
            placed[places.take(row)] = letter;
        }
        assert_eq!(placed, ['b', 'e', 'a', 'c', 'd']);
        assert_eq!(row_offsets(0, std::iter::empty()), [0]);
    }
}
