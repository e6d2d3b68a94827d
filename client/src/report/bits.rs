//! Bits in bytes, the highest bit of a byte first.

use alloc::vec::Vec;

/// Appends bits; the last byte is filled up with zeros.
pub(super) struct BitWriter<'a> {
    bytes: &'a mut Vec<u8>,
    /// Bits that do not fill a byte yet, in its lowest places.
    pending: u64,
    n_pending: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, pending: 0, n_pending: 0 }
    }

    /// Appends the lowest `width` bits of `value`, 32 at most.
    pub(super) fn write(&mut self, value: u32, width: u32) {
        self.pending = self.pending << width | u64::from(value);
        self.n_pending += width;
        while self.n_pending >= 8 {
            self.n_pending -= 8;
            self.bytes.push((self.pending >> self.n_pending) as u8);
            self.pending &= (1 << self.n_pending) - 1;
        }
    }

    /// Appends `count` zeros and a one.
    pub(super) fn write_unary(&mut self, count: u32) {
        (0..count / 32).for_each(|_| self.write(0, 32));
        self.write(0, count % 32);
        self.write(1, 1);
    }

    pub(super) fn finish(mut self) {
        self.write(0, (8 - self.n_pending) % 8);
    }
}

/// Reads bits; every answer is none once the bytes have ended.
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The next bit.
    at: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Number of bits that are left.
    pub(super) fn n_left(&self) -> usize {
        8 * self.bytes.len() - self.at
    }

    /// The next `width` bits, 32 at most.
    pub(super) fn read(&mut self, width: u32) -> Option<u32> {
        if self.n_left() < width as usize {
            return None;
        }
        let value = self.window().checked_shr(64 - width).unwrap_or(0);
        self.at += width as usize;
        Some(value as u32)
    }

    /// Number of zeros before the next one, which is read as well.
    pub(super) fn read_unary(&mut self) -> Option<u64> {
        let begin = self.at;
        loop {
            let zeros = self.window().leading_zeros() as usize;
            if zeros < 64 {
                let count = self.at + zeros - begin;
                self.at += zeros + 1;
                return Some(count as u64);
            }
            // A window holds at least 57 bits of the bytes; beyond their end it holds zeros.
            self.at += self.n_left().min(57);
            if self.n_left() == 0 {
                return None;
            }
        }
    }

    /// Number of bytes that were read, if the rest of the last one is zero.
    pub(super) fn finish(mut self) -> Option<usize> {
        let n_bytes = self.at.div_ceil(8);
        let padding = (8 * n_bytes - self.at) as u32;
        (self.read(padding)? == 0).then_some(n_bytes)
    }

    /// The next bits, highest first, of which at least 57 are bits of the bytes or zeros beyond their end.
    fn window(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let mut word = [0; 8];
        word.iter_mut().zip(rest).for_each(|(to, &from)| *to = from);
        u64::from_be_bytes(word) << (self.at % 8)
    }
}

#[cfg(test)]
mod tests;
