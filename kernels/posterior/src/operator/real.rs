//! The two precisions of the soft operator.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// Entries that are formed at a time: one word of each plane.
pub(super) const LANES: usize = 64;

/// A floating-point type that the soft operator can be applied in.
pub trait Real:
    Copy
    + Default
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + AddAssign
    + Mul<Output = Self>
    + Div<Output = Self>
    + 'static
{
    /// One.
    const ONE: Self;
    /// Relative error that interpolation may make: well below the rounding of sums.
    const INTERPOLATION_ERROR: f64;
    /// Nanoseconds for one entry on the fly at width 16, two cores (docs/benchmarks/links.md).
    const ENTRY_COST: f64;
    /// Nanoseconds for one correction, likewise.
    const CORRECTION_COST: f64;

    /// The nearest value of this type.
    fn of(value: f64) -> Self;
    /// The value in double precision.
    fn wide(self) -> f64;
    /// For each lane the first level where `any` is not set, the third where `both` is, else the second.
    fn select(levels: [Self; 3], any: u64, both: u64) -> [Self; LANES];
}

impl Real for f32 {
    const ONE: Self = 1.0;
    const INTERPOLATION_ERROR: f64 = 1e-8;
    const ENTRY_COST: f64 = 1.2;
    const CORRECTION_COST: f64 = 1.8;

    fn of(value: f64) -> Self {
        value as Self
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn select(levels: [Self; 3], any: u64, both: u64) -> [Self; LANES] {
        let [none, one, two] = levels.map(Self::to_bits);
        let mut selected = [0.0; LANES];
        // Masks of 32-bit lanes: what the compiler can put into vectors.
        for half in 0..2 {
            let (any, both) = ((any >> (32 * half)) as u32, (both >> (32 * half)) as u32);
            for (lane, level) in selected[32 * half..32 * (half + 1)].iter_mut().enumerate() {
                let is_any = 0_u32.wrapping_sub(any >> lane & 1);
                let is_both = 0_u32.wrapping_sub(both >> lane & 1);
                *level = Self::from_bits(none & !is_any | one & is_any & !is_both | two & is_both);
            }
        }
        selected
    }
}

impl Real for f64 {
    const ONE: Self = 1.0;
    const INTERPOLATION_ERROR: f64 = 2e-14;
    const ENTRY_COST: f64 = 1.7;
    const CORRECTION_COST: f64 = 2.5;

    fn of(value: f64) -> Self {
        value
    }

    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn select(levels: [Self; 3], any: u64, both: u64) -> [Self; LANES] {
        let [none, one, two] = levels.map(Self::to_bits);
        let mut selected = [0.0; LANES];
        for (lane, level) in selected.iter_mut().enumerate() {
            let is_any = 0_u64.wrapping_sub(any >> lane & 1);
            let is_both = 0_u64.wrapping_sub(both >> lane & 1);
            *level = Self::from_bits(none & !is_any | one & is_any & !is_both | two & is_both);
        }
        selected
    }
}
