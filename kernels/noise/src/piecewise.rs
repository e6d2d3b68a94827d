//! The piecewise mechanism on an integer grid: a number near the true one is likelier than one far from it.

use rand_core::Rng;

use crate::uniform::{WORDS, below, bernoulli, threshold_at_least};

/// Sends an integer of `-M..=M`: with a fixed probability one of a window of `2 W + 1` points around the true one, and
/// else a point outside of it, uniformly in either case.
///
/// The window covers the share `1 / (e^{ε/2} + 1)` of the grid, as in the continuous mechanism, which it approaches as
/// the grid becomes finer.
///
/// # Privacy
/// `ε`-differentially private for the true point: a point of the window is at most `e^ε` times as likely as one outside.
/// The probability of the outside is rounded up to a multiple of `2^-64`, so the ratio is never exceeded.
///
/// # Source
/// Wang et al. (2019), Collecting and analyzing multidimensional data with local differential privacy, ICDE, algorithm
/// 2, for real numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piecewise {
    half_width: u64,
    half_window: u64,
    /// A point outside of the window is sent when a random word lies below this.
    outside: u64,
}

/// Half of the width of the grid: fine enough that a window at the largest budget has some thousand points.
const FINE: u64 = (1 << 50) - 1;

/// Above this budget, in nats, windows stay as they are: they cover less than `10^-12` of the grid.
const MOST_NATS: f64 = 55.0;

impl Piecewise {
    /// The mechanism at `epsilon` nats on the finest grid; none where the budget is too small to move anything, or not
    /// finite.
    #[must_use]
    pub fn new(epsilon: f64) -> Option<Self> {
        Self::on_grid(epsilon, FINE)
    }

    /// The same on a grid of `2 half_width + 1` points, with `half_width` below `2^50`.
    #[must_use]
    pub fn on_grid(epsilon: f64, half_width: u64) -> Option<Self> {
        if !(epsilon > 0.0 && epsilon.is_finite() && (1..=FINE).contains(&half_width)) {
            return None;
        }
        let epsilon = epsilon.min(MOST_NATS);
        let n_points = (2 * half_width + 1) as f64;
        // The odd length that is closest to the share of the window.
        let length = n_points / (libm::exp(epsilon / 2.0) + 1.0);
        let half_window = (libm::round((length - 1.0) / 2.0).max(0.0) as u64).min(half_width - 1);
        let window = (2 * half_window + 1) as f64;
        let odds = libm::exp(epsilon) * window / (n_points - window);
        let outside = threshold_at_least(1.0 / (1.0 + odds));
        let mechanism = Self { half_width, half_window, outside };
        (mechanism.gain() > 0.0).then_some(mechanism)
    }

    /// The true point lies between minus this and this.
    #[must_use]
    pub fn largest_centre(self) -> i64 {
        (self.half_width - self.half_window) as i64
    }

    /// The mean of what is sent, as a multiple of the true point.
    ///
    /// The mean of the window is its centre, and the mean of the rest is minus the centre times the ratio of their
    /// lengths, because the whole grid has mean 0.
    #[must_use]
    pub fn gain(self) -> f64 {
        let [inside, outside] = self.point_probabilities();
        (inside - outside) * self.window() as f64
    }

    /// The probability of `point` where the true one is `centre`.
    #[must_use]
    pub fn probability(self, centre: i64, point: i64) -> f64 {
        let [inside, outside] = self.point_probabilities();
        if centre.abs_diff(point) <= self.half_window { inside } else { outside }
    }

    /// What is sent for the point `centre`; one beyond the largest centre counts as the largest.
    pub fn draw(self, centre: i64, rng: &mut impl Rng) -> i64 {
        let largest = self.largest_centre();
        let first = centre.clamp(-largest, largest) - self.half_window as i64;
        if !bernoulli(self.outside, rng) {
            return first + below(self.window(), rng) as i64;
        }
        let point = below(2 * self.half_width + 1 - self.window(), rng) as i64 - self.half_width as i64;
        // Points from the window on are those behind it.
        if point < first { point } else { point + self.window() as i64 }
    }

    /// Number of points in the window.
    fn window(self) -> u64 {
        2 * self.half_window + 1
    }

    /// Probability of one point in the window and of one outside.
    fn point_probabilities(self) -> [f64; 2] {
        let rest = 2 * self.half_width + 1 - self.window();
        [self.outside.wrapping_neg() as f64 / WORDS / self.window() as f64, self.outside as f64 / WORDS / rest as f64]
    }
}

#[cfg(test)]
mod tests;
