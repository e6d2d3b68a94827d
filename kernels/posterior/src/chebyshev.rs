//! This module approximates a smooth function on an interval by a Chebyshev series.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// A lane is one of this many independent numbers that are worked on side by side; eight hide the latency of an
/// addition.
///
/// Lanes are independent and are summed in order, so every width of the processor's vectors gives the same bits.
pub(crate) const LANES: usize = 8;

/// A sum over fewer distinct parameters than this is done before a second thread would have woken up.
pub(crate) const WORTH_THREADS: usize = 4096;

/// This is a Chebyshev series `Σ_m c_m T_m(t)` in `t = (x − middle) / half_width`.
pub(crate) struct Chebyshev {
    middle: f64,
    half_width: f64,
    /// There are `rank` coefficients, from `c_0` on.
    coefficients: Vec<f64>,
}

impl Chebyshev {
    /// Interpolates `function` on `[low, high]`: the rank is doubled until the last coefficients vanish or are rounding errors of the
    /// function, and `None` says that a rank of 256 does not suffice. One value of the function costs as much as `n_terms`
    /// divisions.
    ///
    /// The coefficients of a function that is analytic around the interval fall geometrically, so a few suffice: those of twice the
    /// rank would be as small as the square. Where they no longer fall, they are rounding errors of the function. These are large
    /// where terms of both signs cancel, and then no way to sum the terms is more exact.
    ///
    /// # Source
    /// Trefethen (2013), Approximation Theory and Approximation Practice, chapters 3, 4 and 8; Aurentz, Trefethen (2017), Chopping
    /// a Chebyshev series, for coefficients that no longer fall.
    pub(crate) fn fit(low: f64, high: f64, n_terms: usize, function: &(impl Fn(f64) -> f64 + Sync)) -> Option<Self> {
        /// Last coefficients of this relative size, that are still as large with twice the rank, are rounding errors.
        const LARGEST_ROUNDING: f64 = 1e-9;
        let (middle, half_width) = (f64::midpoint(low, high), ((high - low) / 2.0).max(1e-9));
        let mut tail_before = f64::INFINITY;
        for rank in [16, 32, 64, 128, 256] {
            // cosines[j] = cos(π j / (2 rank)): every Chebyshev node and every coefficient needs one of these.
            let cosines: Vec<f64> =
                (0..4 * rank).map(|j| libm::cos(std::f64::consts::FRAC_PI_2 * j as f64 / rank as f64)).collect();
            let sample = |k: usize| function(middle + half_width * cosines[2 * k + 1]);
            let samples: Vec<f64> = if n_terms < WORTH_THREADS {
                (0..rank).map(sample).collect()
            } else {
                (0..rank).into_par_iter().map(sample).collect()
            };
            let coefficients: Vec<f64> = (0..rank)
                .map(|m| {
                    let cosine = |k: usize| cosines[m * (2 * k + 1) % (4 * rank)];
                    let sum: f64 = samples.iter().enumerate().map(|(k, &y)| y * cosine(k)).sum();
                    sum * if m == 0 { 1.0 } else { 2.0 } / rank as f64
                })
                .collect();
            let size = coefficients.iter().fold(0.0, |size: f64, c| size.max(c.abs()));
            let tail = coefficients[rank - 3..].iter().fold(0.0, |size: f64, c| size.max(c.abs()));
            let is_rounding = tail_before <= LARGEST_ROUNDING * size && tail > 0.1 * tail_before;
            if tail <= 4e-15 * size || is_rounding {
                return Some(Self { middle, half_width, coefficients });
            }
            tail_before = tail;
        }
        None
    }
}

/// Evaluates a series at the points of all lanes, by Clenshaw's recurrence.
///
/// # Source
/// Clenshaw (1955), A note on the summation of Chebyshev series.
pub(crate) struct SeriesValues<'a> {
    pub series: &'a Chebyshev,
    pub points: [f64; LANES],
}

impl WithSimd for SeriesValues<'_> {
    type Output = [f64; LANES];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; LANES] {
        let t = self.points.map(|x| (x - self.series.middle) / self.series.half_width);
        let (mut next, mut after) = ([0.0; LANES], [0.0; LANES]);
        for &c in self.series.coefficients[1..].iter().rev() {
            for ((t, next), after) in t.iter().zip(&mut next).zip(&mut after) {
                (*next, *after) = (2.0 * t * *next - *after + c, *next);
            }
        }
        let constant = self.series.coefficients[0];
        for ((t, next), after) in t.iter().zip(&next).zip(&mut after) {
            *after = constant + (t * next - *after);
        }
        after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(series: &Chebyshev, points: [f64; LANES], function: impl Fn(f64) -> f64) -> f64 {
        let values = SeriesValues { series, points }.with_simd(pulp::Scalar);
        points.into_iter().zip(values).map(|(x, value)| (value - function(x)).abs()).fold(0.0, f64::max)
    }

    const POINTS: [f64; LANES] = [-1.0, -0.7, -0.4, -0.1, 0.2, 0.5, 0.8, 1.0];

    /// The errors are those of a sum whose terms cancel, in the last bits of the terms.
    #[test]
    fn rounding_errors_end_a_series_as_small_coefficients_do() {
        let smooth = |x: f64| 1.0 / (1.3 + x);
        for size in [0.0, 1e-14, 1e-12, 1e-10] {
            let rounded = |x: f64| smooth(x) + size * libm::sin(1e9 * x);
            let series = Chebyshev::fit(-1.0, 1.0, 1, &rounded).expect("a series");
            assert!(series.coefficients.len() <= 128, "{size}: rank {}", series.coefficients.len());
            assert!(error(&series, POINTS, smooth) <= 1e-13 + 10.0 * size, "{size}");
        }
    }

    #[test]
    fn what_no_short_series_gives_has_none() {
        assert!(Chebyshev::fit(-1.0, 1.0, 1, &f64::abs).is_none(), "a kink");
        assert!(Chebyshev::fit(-1.0, 1.0, 1, &|x| 1.0 / (1.002 + x)).is_none(), "a pole that is near");
        let noise = |x: f64| libm::exp(x) + 1e-6 * libm::sin(1e9 * x);
        assert!(Chebyshev::fit(-1.0, 1.0, 1, &noise).is_none(), "errors that are no rounding");
    }
}
