//! Integers in as few bytes as they need: seven bits a byte, lowest first; the highest bit says that more follow.

use alloc::vec::Vec;

pub(super) fn write(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// What is read of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// Its value, and how many bytes it takes.
    Value(u64, usize),
    /// The bytes end before it does.
    Ended,
    /// It does not fit into 64 bits, or takes more bytes than it needs.
    NotCanonical,
}

pub(super) fn read(bytes: &[u8]) -> Read {
    let mut value = 0;
    for (&byte, at) in bytes.iter().zip(0..10) {
        let digit = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit.
        if at == 9 && byte > 1 {
            return Read::NotCanonical;
        }
        value |= digit << (7 * at);
        if byte & 0x80 == 0 {
            let has_idle_byte = byte == 0 && at > 0;
            return if has_idle_byte { Read::NotCanonical } else { Read::Value(value, at + 1) };
        }
    }
    Read::Ended
}

/// Signed integers as unsigned ones, small magnitudes first: 0, -1, 1, -2, ...
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The inverse of [`zigzag`].
pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests;
