//! Golomb's code for gaps between ones.

use super::bits::{BitReader, BitWriter};

/// The code that is optimal for gaps in bits that are one with a given probability.
///
/// A gap is divided by `group`. The quotient is written in unary, and the rest in truncated binary.
///
/// # Source
/// Golomb (1966), Run-length encodings; Gallager, Van Voorhis (1975), Optimal source codes for geometrically
/// distributed integer alphabets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Golomb {
    group: u32,
}

impl Golomb {
    /// The code for ones of probability `p`: the smallest group with `q^group + q^(group + 1) <= 1`, where `q = 1 - p`.
    pub(super) fn of(p: f64) -> Self {
        let group = libm::ceil(libm::log1p(1.0 - p) / -libm::log1p(-p));
        Self { group: (group as u32).max(1) }
    }

    pub(super) fn write(self, gap: u32, bits: &mut BitWriter) {
        bits.write_unary(gap / self.group);
        let (rest, (width, short)) = (gap % self.group, self.rests());
        if rest < short {
            bits.write(rest, width - 1);
        } else {
            bits.write(rest + short, width);
        }
    }

    /// The next gap, or none where the bits have ended.
    pub(super) fn read(self, bits: &mut BitReader) -> Option<u64> {
        let quotient = bits.read_unary()?;
        let (width, short) = self.rests();
        let rest = match width {
            0 => 0,
            _ => match bits.read(width - 1)? {
                rest if rest < short => rest,
                high => (high << 1 | bits.read(1)?) - short,
            },
        };
        Some(quotient.saturating_mul(u64::from(self.group)).saturating_add(u64::from(rest)))
    }

    /// Bits of most rests, and how many of the smallest rests take one bit less.
    fn rests(self) -> (u32, u32) {
        let width = self.group.next_power_of_two().ilog2();
        (width, self.group.next_power_of_two() - self.group)
    }
}

#[cfg(test)]
mod tests;
