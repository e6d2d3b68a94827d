//! What many steps cost together, from the distribution of their privacy loss: an epsilon that is closer to the truth than
//! that of Rényi divergences, for steps whose noise is Gaussian.

use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

use crate::Curve;
use pair::Pair;

mod pair;

/// The pairs of one kind of step, one of which is told to the observer, and how often the step is made.
pub(crate) struct Losses {
    /// Each with its probability; `None` is a step that shows nothing.
    pairs: Vec<(f64, Option<Pair>)>,
    times: f64,
}

/// Which of two neighbours is the data as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// A node's term is there, and the neighbour has none.
    Removed,
    /// The node has no term.
    Added,
}

impl Losses {
    /// Steps with Gaussian noise on a sum that moves by some distance. Each distance has a probability, and the one of a step
    /// is told to the observer.
    pub(crate) fn of_moves(moves: impl IntoIterator<Item = (f64, f64)>, noise_multiplier: f64, times: f64) -> Self {
        let pair = |distance: f64| (distance > 0.0).then(|| Pair::Gaussian { shift: distance / noise_multiplier });
        let pairs = moves.into_iter().filter(|(_, probability)| *probability > 0.0);
        Self { pairs: pairs.map(|(distance, probability)| (probability, pair(distance))).collect(), times }
    }

    /// Steps with Gaussian noise on a sum that a node's term enters with probability `rate`.
    pub(crate) fn of_sample(rate: f64, noise_multiplier: f64, times: f64, direction: Direction) -> Self {
        let shift = 1.0 / noise_multiplier;
        let pair = match direction {
            Direction::Removed => Pair::Removed { rate, shift },
            Direction::Added => Pair::Added { rate, shift },
        };
        Self { pairs: vec![(1.0, Some(pair))], times }
    }
}

/// Share of `dp_delta` that may lie beyond the losses that are followed.
const BEYOND: f64 = 1e-4;

/// Share of `dp_delta` up to which a pair counts as told openly.
const NEGLIGIBLE: f64 = 1e-9;

/// Of the deltas that are computed; all rounding is far below it.
const MARGIN: f64 = 1.0 + 1e-6;

/// Largest number of losses that are followed.
const MOST_LOSSES: usize = 1 << 18;

/// The epsilon at `dp_delta` of all these steps together, in nats, or infinity where `curve`, the Rényi divergences of the
/// same steps, is too small or too large for the grid of losses.
///
/// # Privacy
/// Losses are rounded so that they are at least as easy to tell apart ([`Pair::add_to`]). Losses beyond the grid are bounded
/// by Markov's inequality and count as told openly.
///
/// # Source
/// Sommer, Meiser, Mohammadi (2019), Privacy loss classes; Koskela, Jälkö, Honkela (2020), Computing tight differential
/// privacy guarantees using FFT; Zhu, Dong, Wang (2022), Optimal accounting, theorem 10, for steps that depend on those
/// before. The masses are tilted by `exp(tilt · loss)` before they are transformed, so that the deltas keep their digits. The
/// tilt is half of the one at which losses beyond the grid are bounded: with all of it, sums of few large losses would leave
/// the grid and come back at its other end, which costs nothing but tightness.
pub(crate) fn epsilon(steps: &[Losses], curve: &Curve, dp_delta: f64) -> f64 {
    let Some(grid) = Grid::new(steps, curve, dp_delta) else { return f64::INFINITY };
    let mut product = vec![Complex::new(1.0, 0.0); grid.n];
    let (mut log_scale, mut log_bound, mut open) = (0.0, 0.0, 0.0);
    let mut planner = FftPlanner::new();
    let transform = planner.plan_fft_forward(grid.n);
    for losses in steps {
        let mut masses = vec![0.0; grid.n];
        for &(probability, pair) in &losses.pairs {
            // Laying out what hardly ever happens would take as long as the rest.
            if losses.times * probability < NEGLIGIBLE * dp_delta {
                open += losses.times * probability;
                continue;
            }
            match pair {
                Some(pair) => {
                    let beyond = pair.add_to(&mut masses, grid.lowest(), grid.step, probability);
                    open += losses.times * beyond;
                }
                None => masses[grid.n / 2] += probability,
            }
        }
        let mut values: Vec<Complex<f64>> =
            grid.tilted(&masses, grid.tilt).map(|value| Complex::new(value, 0.0)).collect();
        let [moment, bound] = [grid.tilt, grid.bounding_tilt].map(|tilt| grid.tilted(&masses, tilt).sum::<f64>());
        if !bound.is_finite() {
            return f64::INFINITY;
        }
        log_scale += losses.times * libm::log(moment);
        log_bound += losses.times * libm::log(bound);
        // The loss 0 stands first, because the transform counts from there.
        values.rotate_left(grid.n / 2);
        transform.process(&mut values);
        for (factor, value) in product.iter_mut().zip(&values) {
            let size = libm::pow(libm::hypot(value.re, value.im) / moment, losses.times);
            let (sine, cosine) = libm::sincos(losses.times * libm::atan2(value.im, value.re));
            *factor *= Complex::new(size * cosine, size * sine);
        }
    }
    planner.plan_fft_inverse(grid.n).process(&mut product);
    product.rotate_right(grid.n / 2);
    let beyond = libm::exp(log_bound - grid.bounding_tilt * grid.highest());
    let left = dp_delta / MARGIN - open - beyond;
    // The probability of each loss, without the tilt.
    let masses = product.iter().enumerate().map(|(at, value)| {
        let mass = (value.re / grid.n as f64).max(0.0);
        if mass == 0.0 { 0.0 } else { libm::exp(libm::log(mass) + log_scale - grid.tilt * grid.loss(at)) }
    });
    grid.epsilon(&masses.collect::<Vec<_>>(), left)
}

/// The losses that are followed: multiples of `step`, from `-n / 2` of them on.
struct Grid {
    n: usize,
    step: f64,
    /// By which masses are tilted.
    tilt: f64,
    /// At which Markov's inequality bounds what lies beyond.
    bounding_tilt: f64,
}

impl Grid {
    /// Wide enough for all but a small share of `dp_delta`, and so fine that rounding matters less than that.
    fn new(steps: &[Losses], curve: &Curve, dp_delta: f64) -> Option<Self> {
        let (highest, order) = curve.bound_of_loss(BEYOND * dp_delta)?;
        let times: f64 = steps.iter().map(|losses| losses.times).sum();
        // Twice the mean loss is about its variance.
        let spread = (2.0 * curve.near(1.0).1).sqrt();
        if !(highest > 0.0 && spread > 0.0 && order > 1.0) {
            return None;
        }
        // Room for what rounding adds.
        let highest = 1.02 * highest;
        let wanted = 2.0 * highest * times.sqrt() / (0.03 * spread);
        let n = wanted.max(4096.0);
        if n > MOST_LOSSES as f64 {
            return None;
        }
        let n = (n as usize).next_power_of_two();
        Some(Self { n, step: 2.0 * highest / n as f64, tilt: (order - 1.0) / 2.0, bounding_tilt: order - 1.0 })
    }

    fn lowest(&self) -> i64 {
        -(self.n as i64 / 2)
    }

    fn loss(&self, at: usize) -> f64 {
        (at as i64 + self.lowest()) as f64 * self.step
    }

    fn highest(&self) -> f64 {
        self.loss(self.n - 1)
    }

    /// `mass · exp(tilt · loss)` of every loss.
    fn tilted<'a>(&'a self, masses: &'a [f64], tilt: f64) -> impl Iterator<Item = f64> + 'a {
        masses.iter().enumerate().map(move |(at, mass)| mass * libm::exp(tilt * self.loss(at)))
    }

    /// The smallest epsilon, at least 0, with `Σ mass (1 - exp(epsilon - loss)) ≤ delta` over the losses above it.
    fn epsilon(&self, masses: &[f64], delta: f64) -> f64 {
        if delta <= 0.0 {
            return f64::INFINITY;
        }
        let (mut first, mut second) = (0.0, 0.0);
        for (at, mass) in masses.iter().enumerate().rev() {
            let loss = self.loss(at);
            // From here down to the next loss, delta is `first - exp(epsilon) second`.
            if loss <= 0.0 || first - libm::exp(loss) * second > delta {
                break;
            }
            first += mass;
            second += mass * libm::exp(-loss);
        }
        if first <= delta { 0.0 } else { libm::log((first - delta) / second).max(0.0) }
    }
}

#[cfg(test)]
mod tests;
