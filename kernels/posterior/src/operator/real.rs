//! This module holds the two precisions of the soft operator.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::ops::{Add, AddAssign, Mul, Sub};

use veilgraph_graph::{ProductRows, Sums};

/// The entries of this many columns are formed at a time, from one word of each plane of claims.
pub(super) const WORD: usize = 64;

/// The soft operator can be applied in a floating-point type with this trait.
pub trait Real:
    Copy + Default + Send + Sync + Add<Output = Self> + Sub<Output = Self> + AddAssign + Mul<Output = Self> + 'static
{
    /// This is the number one.
    const ONE: Self;
    /// Interpolation may make this relative error, which is well below the rounding of sums.
    const INTERPOLATION_ERROR: f64;
    /// Forming one entry on the fly and multiplying it with a row of width 16 takes this many nanoseconds on two cores
    /// (docs/benchmarks/links.md).
    const ENTRY_COST: f64;
    /// Multiplying one kept entry with a row of width 16 takes this many nanoseconds on two cores; none where entries are not
    /// kept, because few products are asked for.
    const KEPT_ENTRY_COST: Option<f64>;
    /// Multiplying one correction with a row of width 16 takes this many nanoseconds on two cores
    /// (docs/benchmarks/links.md).
    const CORRECTION_COST: f64;

    /// Returns the value of this type that is nearest to `value`.
    fn from_f64(value: f64) -> Self;
    /// Returns the value in double precision.
    fn to_f64(self) -> f64;
    /// Writes a level for each bit of a word of the planes of claims: the third level where the bit of `both` is set
    /// (two claims), else the second where the bit of `any` is set (one claim), else the first (no claim). A bit of
    /// `both` may only be set where that of `any` is.
    fn select(levels: [Self; 3], any: u64, both: u64, selected: &mut [Self; WORD]);
    /// Replaces each `x`, the odds against a link, by the probability `1 / (1 + x)`, but for a few roundings. A probability may
    /// not fall below `1e-70`, and odds that are no number may spoil other entries of the word.
    fn replace_by_probabilities(odds_against: &mut [Self; WORD]);
    /// Returns the product of a matrix of kept entries and `x`; `rows` says which rows matter.
    ///
    /// # Shapes
    /// `entries`: `[n_nodes, n_nodes]`; `x` and the product: `[n_nodes, width]`; all row-major.
    fn dense_product(entries: &[Self], x: &[Self], width: usize, rows: ProductRows) -> Vec<Self>;
}

impl Real for f32 {
    const ONE: Self = 1.0;
    const INTERPOLATION_ERROR: f64 = 1e-8;
    const ENTRY_COST: f64 = 0.42;
    const KEPT_ENTRY_COST: Option<f64> = Some(0.2);
    const CORRECTION_COST: f64 = 0.56;

    fn from_f64(value: f64) -> Self {
        value as Self
    }

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn select(levels: [Self; 3], any: u64, both: u64, selected: &mut [Self; WORD]) {
        let [none, one, two] = levels.map(Self::to_bits);
        // Masks as wide as the levels, 32 bits, let the compiler use vector instructions.
        for half in 0..2 {
            let (any, both) = ((any >> (32 * half)) as u32, (both >> (32 * half)) as u32);
            for (bit, level) in selected[32 * half..32 * (half + 1)].iter_mut().enumerate() {
                let is_any = 0_u32.wrapping_sub(any >> bit & 1);
                let is_both = 0_u32.wrapping_sub(both >> bit & 1);
                *level = Self::from_bits(none & !is_any | one & is_any & !is_both | two & is_both);
            }
        }
    }

    #[inline(always)]
    fn replace_by_probabilities(odds_against: &mut [Self; WORD]) {
        for odds in odds_against {
            *odds = 1.0 / (1.0 + *odds);
        }
    }

    fn dense_product(entries: &[Self], x: &[Self], width: usize, rows: ProductRows) -> Vec<Self> {
        veilgraph_graph::dense_product(entries, x, width, Sums::ByWord, rows)
    }
}

impl Real for f64 {
    const ONE: Self = 1.0;
    const INTERPOLATION_ERROR: f64 = 2e-14;
    const ENTRY_COST: f64 = 0.95;
    const KEPT_ENTRY_COST: Option<f64> = None;
    const CORRECTION_COST: f64 = 1.0;

    fn from_f64(value: f64) -> Self {
        value
    }

    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn select(levels: [Self; 3], any: u64, both: u64, selected: &mut [Self; WORD]) {
        let [none, one, two] = levels.map(Self::to_bits);
        for (bit, level) in selected.iter_mut().enumerate() {
            let is_any = 0_u64.wrapping_sub(any >> bit & 1);
            let is_both = 0_u64.wrapping_sub(both >> bit & 1);
            *level = Self::from_bits(none & !is_any | one & is_any & !is_both | two & is_both);
        }
    }

    /// One division serves four numbers, because it takes longer than all multiplications that this needs.
    #[inline(always)]
    fn replace_by_probabilities(odds_against: &mut [Self; WORD]) {
        /// The product of four larger numbers might overflow.
        const MOST_ODDS: f64 = 1e70;
        let (quarters, _) = odds_against.as_chunks_mut::<{ WORD / 4 }>();
        let [first, second, third, fourth] = quarters else { unreachable!("a word has four quarters") };
        for (((first, second), third), fourth) in first.iter_mut().zip(second).zip(third).zip(fourth) {
            // Parameters that ran away are told by sums that are no number, so such odds stay: `f64::min` would drop them.
            let [a, b, c, d] =
                [*first, *second, *third, *fourth].map(|odds| 1.0 + if odds > MOST_ODDS { MOST_ODDS } else { odds });
            let (ab, cd) = (a * b, c * d);
            let inverse = 1.0 / (ab * cd);
            let (inverse_ab, inverse_cd) = (inverse * cd, inverse * ab);
            (*first, *second, *third, *fourth) = (inverse_ab * b, inverse_ab * a, inverse_cd * d, inverse_cd * c);
        }
    }

    fn dense_product(_: &[Self], _: &[Self], _: usize, _: ProductRows) -> Vec<Self> {
        unreachable!("entries in double precision are not kept")
    }
}
