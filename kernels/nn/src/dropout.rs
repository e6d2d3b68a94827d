//! Dropout whose bits depend on nothing but a key and a position.
//!
//! A counter-based generator gives the same mask on every device, whatever else is trained. Masks take no memory: the
//! gradient sees in the output which units were dropped.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};

use crate::activation::{Unit, selu};
use veilgraph_graph::vectors::dispatch;

/// Constants of Philox 4x32: multipliers, what a key grows by in each round, and the number of rounds.
///
/// # Source
/// Salmon et al. (2011), "Parallel random numbers: as easy as 1, 2, 3".
pub(crate) const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
pub(crate) const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
pub(crate) const ROUNDS: u32 = 10;
/// Counters that are computed side by side; each gives four words.
pub(crate) const LANES: usize = 16;
/// Elements whose words one call of [`philox_lanes`] draws: word `w` of counter `l` belongs to element `16 w + l`.
const BLOCK: usize = 4 * LANES;

/// Which hidden units of which model a step drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dropout {
    /// Key of the model's stream.
    key: [u32; 2],
    /// A unit is dropped when its word lies below this.
    threshold: u32,
    /// What the units that stay are multiplied by, so that the mean stays: bits of an `f32`.
    scale: u32,
}

impl Dropout {
    /// Drops a share `rate` (in `[0, 1)`) of the units.
    pub(crate) fn new(rate: f64, key: u64) -> Self {
        let threshold = (rate * 2.0_f64.powi(32)).round().min(f64::from(u32::MAX)) as u32;
        let scale = ((1.0 / (1.0 - rate)) as f32).to_bits();
        Self { key: [key as u32, (key >> 32) as u32], threshold, scale }
    }

    /// What the units that stay are multiplied by.
    pub(crate) fn scale(self) -> f32 {
        f32::from_bits(self.scale)
    }

    /// Key, threshold and bits of the scale, for a device.
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    pub(crate) fn words(self) -> [u32; 4] {
        [self.key[0], self.key[1], self.threshold, self.scale]
    }

    /// `y` is the function of hidden units of `x`, then set to zero or scaled; `step` and `layer` choose the mask.
    ///
    /// # Shapes
    /// `x`, `y`: of one length.
    pub(crate) fn activate(self, unit: Unit, x: &[f32], y: &mut [f32], step: u32, layer: u32) {
        dispatch(Activate { dropout: self, unit, x, y, step, layer });
    }
}

/// A call of [`Dropout::activate`].
struct Activate<'a> {
    dropout: Dropout,
    unit: Unit,
    x: &'a [f32],
    y: &'a mut [f32],
    step: u32,
    layer: u32,
}

impl WithSimd for Activate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (threshold, scale) = (self.dropout.threshold, self.dropout.scale());
        for ((block, x), y) in (0..).zip(self.x.chunks(BLOCK)).zip(self.y.chunks_mut(BLOCK)) {
            let words = philox_lanes([block * LANES as u32, self.step, self.layer, 0], self.dropout.key);
            let all = y.iter_mut().zip(x).zip(words.as_flattened());
            match self.unit {
                Unit::Relu => all.for_each(|((y, &x), &word)| {
                    *y = if word < threshold { 0.0 } else { x.max(0.0) * scale };
                }),
                Unit::Selu => all.for_each(|((y, &x), &word)| {
                    *y = if word < threshold { 0.0 } else { selu(x) * scale };
                }),
            }
        }
    }
}

/// Philox 4x32 with 10 rounds, for 16 consecutive counters: four words of each.
///
/// # Source
/// Salmon et al. (2011), "Parallel random numbers: as easy as 1, 2, 3", section 4.3.
#[inline(always)]
fn philox_lanes(counter: [u32; 4], key: [u32; 2]) -> [[u32; LANES]; 4] {
    let mut state = counter.map(|word| [word; LANES]);
    for (lane, word) in (0..).zip(&mut state[0]) {
        *word = word.wrapping_add(lane);
    }
    let mut key = key;
    for _ in 0..ROUNDS {
        let mut next = [[0; LANES]; 4];
        for lane in 0..LANES {
            let products = [0, 1].map(|half| u64::from(MULTIPLIERS[half]) * u64::from(state[2 * half][lane]));
            next[0][lane] = (products[1] >> 32) as u32 ^ state[1][lane] ^ key[0];
            next[1][lane] = products[1] as u32;
            next[2][lane] = (products[0] >> 32) as u32 ^ state[3][lane] ^ key[1];
            next[3][lane] = products[0] as u32;
        }
        state = next;
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of the authors' library Random123.
    #[test]
    fn the_generator_is_philox() {
        let first = |counter, key| philox_lanes(counter, key).map(|words| words[0]);
        assert_eq!(first([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(first([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let digits = ([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]);
        assert_eq!(first(digits.0, digits.1), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
        let second = philox_lanes([0; 4], [0; 2]).map(|words| words[1]);
        assert_eq!(second, first([1, 0, 0, 0], [0; 2]), "lanes are consecutive counters");
    }

    /// False alarm below 1e-9: 6.1 standard deviations of a binomial count.
    #[test]
    fn it_drops_its_share_and_keeps_the_mean() {
        let ones = |dropout: Dropout, step, layer| {
            let mut y = vec![0.0; 100_000];
            dropout.activate(Unit::Relu, &vec![1.0; 100_000], &mut y, step, layer);
            y
        };
        let dropout = Dropout::new(0.3, 7);
        let y = ones(dropout, 3, 0);
        let dropped = y.iter().filter(|&&value| value == 0.0).count() as f64;
        assert!((dropped - 3e4).abs() < 6.1 * (1e5_f64 * 0.3 * 0.7).sqrt(), "{dropped}");
        assert!(y.iter().all(|&value| value == 0.0 || (value - 1.0 / 0.7).abs() < 1e-6));
        assert_ne!(y, ones(dropout, 4, 0), "every step has its mask");
        assert_ne!(y, ones(dropout, 3, 1), "every layer has its mask");
        let mut y = [9.0; 3];
        Dropout::new(0.0, 7).activate(Unit::Relu, &[-1.0, 0.0, 2.0], &mut y, 0, 0);
        assert_eq!(y, [0.0, 0.0, 2.0]);
        Dropout::new(0.0, 7).activate(Unit::Selu, &[-1.0, 0.0, 2.0], &mut y, 0, 0);
        assert!((y[0] + 1.111_330_7).abs() < 1e-6 && y[1] == -f32::MIN_POSITIVE && (y[2] - 2.101_402).abs() < 1e-6);
    }
}
