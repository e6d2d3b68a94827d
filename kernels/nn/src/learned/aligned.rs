//! Numbers that lie in memory as vector instructions read them fastest.

use std::ops::{Deref, DerefMut};

/// A cache line of most processors, in bytes, and the longest vector that they have.
const LINE: usize = 64;

/// Numbers whose first one lies at the start of a cache line.
///
/// The allocators that we know place a long `Vec` 16 bytes behind such a start, so that every vector of sixteen numbers lies in two
/// lines. A loop that waits for vectors from the second-level cache then takes longer.
#[derive(Debug)]
pub(super) struct AlignedNumbers {
    /// It never grows and is never cloned, either of which may move the first number.
    buffer: Vec<f32>,
    start: usize,
}

impl AlignedNumbers {
    /// So many zeros.
    pub(super) fn zeros(n: usize) -> Self {
        let most_before = LINE / size_of::<f32>() - 1;
        let mut buffer = vec![0.0; n + most_before];
        // By its documentation `align_offset` may find no such place. Then numbers are read more slowly, and are the same.
        let start = buffer.as_ptr().align_offset(LINE).min(most_before);
        buffer.truncate(start + n);
        Self { buffer, start }
    }
}

impl Deref for AlignedNumbers {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.buffer[self.start..]
    }
}

impl DerefMut for AlignedNumbers {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.buffer[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_start_at_a_cache_line_and_are_as_many_as_were_asked_for() {
        for n in [0, 1, 15, 16, 17, 2_708 * 16] {
            let mut numbers = AlignedNumbers::zeros(n);
            assert_eq!(numbers.as_ptr() as usize % LINE, 0, "{n} numbers");
            assert_eq!(*numbers, vec![0.0; n]);
            numbers.fill(1.0);
            assert_eq!(numbers.iter().sum::<f32>(), n as f32);
        }
    }
}
