//! What do an attacker's right guesses say about epsilon, and what does epsilon allow an attacker?
//!
//! *Invariant:* it knows no mechanism and no data, and no release depends on it.

use statrs::distribution::{Beta, ContinuousCDF};
use statrs::function::factorial::ln_binomial;

/// Which end of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The lower one.
    Lower,
    /// The upper one.
    Upper,
}

/// The end of an exact interval for a probability, after `hits` of `draws`; the probability lies beyond it with a
/// chance of at most `alpha`.
///
/// # Source
/// Clopper, Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial.
#[must_use]
pub fn clopper_pearson(hits: u64, draws: u64, alpha: f64, tail: Tail) -> f64 {
    /// The end lies between the share of hits and so many standard errors from it, for any alpha in use.
    const ERRORS: f64 = 40.0;
    let (hits, misses) = (hits as f64, draws.saturating_sub(hits) as f64);
    let (share, n) = (hits / (hits + misses), hits + misses);
    let error = libm::sqrt(share * (1.0 - share) / n) + 1.0 / n;
    let near = |direction: f64| (share + direction * ERRORS * error).clamp(0.0, 1.0);
    match tail {
        Tail::Lower if hits == 0.0 => 0.0,
        // All were hits, or none: `p^n = alpha`, or `(1 − p)^n = alpha`.
        Tail::Lower if misses == 0.0 => libm::exp(libm::log(alpha) / hits),
        Tail::Lower => around_quantile(hits, misses + 1.0, alpha, (near(-1.0), share)).0,
        Tail::Upper if misses == 0.0 => 1.0,
        Tail::Upper if hits == 0.0 => -libm::expm1(libm::log(alpha) / misses),
        Tail::Upper => around_quantile(hits + 1.0, misses, 1.0 - alpha, (share, near(1.0))).1,
    }
}

/// Two neighbouring numbers around a quantile of a beta law, which lies between two `ends`. Newton's method, which `statrs` uses, goes in circles for millions of
/// draws; halving an interval ends.
fn around_quantile(a: f64, b: f64, at: f64, ends: (f64, f64)) -> (f64, f64) {
    const HALVINGS: usize = 200;
    let law = Beta::new(a, b).unwrap_or_else(|error| unreachable!("both parameters are positive: {error}"));
    let (mut low, mut high) = ends;
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if middle == low || middle == high {
            break;
        }
        if law.cdf(middle) < at { low = middle } else { high = middle }
    }
    (low, high)
}

/// What guesses about fair coins say about epsilon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guesses {
    /// Coins that were guessed; the guesser may pass over others, by what was released.
    pub made: u64,
    /// Those that were guessed right.
    pub right: u64,
}

impl Guesses {
    /// The least epsilon that these guesses leave possible, in nats: it exceeds the true one with a chance of at most
    /// `alpha`. 0 where they say nothing.
    ///
    /// Every coin decides about one record. If each record has `epsilon`-differential privacy, whatever the guesser knows
    /// of the other coins, the number of right guesses is no larger in law than a binomial count with probability
    /// `e^ε / (1 + e^ε)`. This holds for any mechanism and any guesser, from one run.
    ///
    /// # Source
    /// Steinke, Nasr, Jagielski (2023), Privacy auditing with one (1) training run, theorem 2.1 (with a delta of 0).
    #[must_use]
    pub fn epsilon_lower_bound(self, alpha: f64) -> f64 {
        if alpha > 0.0 { logit(clopper_pearson(self.right, self.made, alpha, Tail::Lower)) } else { 0.0 }
    }

    /// The same where each of `n_coins` records has `(epsilon, dp_delta)`-differential privacy, of which as many are guessed as was
    /// fixed before.
    ///
    /// So many right guesses are then more probable than [above](Self::epsilon_lower_bound) by at most `2 n_coins dp_delta` times
    /// the largest `P[right > W ≥ right - i] / i` for a whole `i`, where `W` is the binomial count. The probability of so many
    /// right guesses grows with epsilon, as far as it is small.
    ///
    /// # Source
    /// Steinke, Nasr, Jagielski (2023), Privacy auditing with one (1) training run, theorem 5.2 and appendix D.
    #[must_use]
    pub fn epsilon_lower_bound_with_delta(self, alpha: f64, dp_delta: f64, n_coins: u64) -> f64 {
        let without_delta = self.epsilon_lower_bound(alpha);
        if dp_delta == 0.0 {
            return without_delta;
        }
        let failures = 2.0 * n_coins as f64 * dp_delta;
        least(without_delta, |epsilon| self.probability(epsilon, failures) >= alpha)
    }

    /// The same where each coin chooses between two versions of a record, and each version is one step from a blank one: two
    /// versions cost `(2 epsilon, (1 + e^epsilon) dp_delta)` together.
    #[must_use]
    pub fn epsilon_lower_bound_of_versions(self, alpha: f64, dp_delta: f64, n_coins: u64) -> f64 {
        let without_delta = self.epsilon_lower_bound(alpha) / 2.0;
        if dp_delta == 0.0 {
            return without_delta;
        }
        let failures = |epsilon: f64| 2.0 * n_coins as f64 * dp_delta * (1.0 + libm::exp(epsilon));
        least(without_delta, |epsilon| self.probability(2.0 * epsilon, failures(epsilon)) >= alpha)
    }

    /// As many guesses, all of them right: no others give a larger lower bound.
    #[must_use]
    pub fn all_right(self) -> Self {
        Self { right: self.made, ..self }
    }

    /// The most probable that so many right guesses or more can be under `epsilon`, where `failures` is twice the number of coins times
    /// `dp_delta`.
    fn probability(self, epsilon: f64, failures: f64) -> f64 {
        let (made, right) = (self.made as f64, self.right as f64);
        let miss = libm::log1p(libm::exp(-epsilon));
        // The logarithm of the probability of a number of right guesses, from one number to the next.
        let at_right = ln_binomial(self.made, self.right) - made * miss - (made - right) * epsilon;
        let (mut log, mut at_least) = (at_right, 0.0);
        for k in self.right..=self.made {
            at_least += libm::exp(log);
            let k = k as f64;
            log += libm::log((made - k) / (k + 1.0)) + epsilon;
        }
        let (mut log, mut below, mut most) = (at_right, 0.0, 0.0_f64);
        for i in 1..=self.right {
            let k = (self.right - i) as f64;
            log += libm::log((k + 1.0) / (made - k)) - epsilon;
            below += libm::exp(log);
            most = most.max(below / i as f64);
        }
        at_least + failures * most
    }
}

/// The least epsilon from 0 to `most` that is possible, or a little less. What is possible stays possible from there to `most`.
fn least(most: f64, is_possible: impl Fn(f64) -> bool) -> f64 {
    const HALVINGS: usize = 60;
    let (mut low, mut high) = (0.0, most);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if is_possible(middle) { high = middle } else { low = middle }
    }
    low
}

/// The epsilon at which the best guess about a fair coin is right with this probability; 0 at most chance.
fn logit(probability: f64) -> f64 {
    if probability <= 0.5 { 0.0 } else { libm::log(probability / (1.0 - probability)) }
}

/// The largest true positive rate at a false positive rate that `(epsilon, dp_delta)`-differential privacy allows an attacker
/// whom nothing but the reports about a fact tells of it: no features, and no reports about other facts that go with it.
///
/// # Source
/// Kairouz, Oh, Viswanath (2015), The composition theorem for differential privacy, section 2.
#[must_use]
pub fn largest_true_positive_rate(epsilon: f64, dp_delta: f64, false_positive_rate: f64) -> f64 {
    let steep = if false_positive_rate == 0.0 { 0.0 } else { libm::exp(epsilon) * false_positive_rate };
    let flat = 1.0 - libm::exp(-epsilon) * (1.0 - dp_delta - false_positive_rate);
    (steep + dp_delta).min(flat).min(1.0)
}

/// Area under [`largest_true_positive_rate`]: `1 − (1 − δ)² / (1 + e^ε)`.
#[must_use]
pub fn largest_area_under_curve(epsilon: f64, dp_delta: f64) -> f64 {
    1.0 - (1.0 - dp_delta) * (1.0 - dp_delta) / (1.0 + libm::exp(epsilon))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exact binomial tails at the ends of the intervals.
    #[test]
    fn intervals_invert_the_binomial_law() {
        let choose = |n: u64, k: u64| (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64);
        let at_least = |n: u64, k: u64, p: f64| -> f64 {
            (k..=n).map(|i| choose(n, i) * p.powi(i as i32) * (1.0 - p).powi((n - i) as i32)).sum()
        };
        for (hits, draws) in [(1, 10), (7, 10), (10, 10), (33, 40), (60, 80)] {
            let low = clopper_pearson(hits, draws, 0.01, Tail::Lower);
            assert!((at_least(draws, hits, low) - 0.01).abs() < 1e-9, "{hits} of {draws}");
            let high = clopper_pearson(draws - hits, draws, 0.01, Tail::Upper);
            assert!((high - (1.0 - low)).abs() < 1e-9, "{hits} of {draws}: the law is symmetric");
        }
        assert_eq!(clopper_pearson(0, 10, 0.01, Tail::Lower), 0.0);
        assert_eq!(clopper_pearson(10, 10, 0.01, Tail::Upper), 1.0);
    }

    /// Few hits or misses of millions of draws: of few rare ones the law is that of Poisson, with mean −ln 0.01 for none.
    #[test]
    fn intervals_of_millions_of_draws_end() {
        for draws in [8_000_000_u64, 10_000_000, 1_000_000_000] {
            let n = draws as f64;
            let none = clopper_pearson(0, draws, 0.01, Tail::Upper) * n;
            assert!((none - 4.605_17).abs() < 1e-4, "{none}");
            let one = clopper_pearson(1, draws, 0.01, Tail::Upper) * n;
            assert!((one - 6.638_35).abs() < 1e-3, "{one}");
            let all = (1.0 - clopper_pearson(draws, draws, 0.01, Tail::Lower)) * n;
            assert!((all - 4.605_17).abs() < 1e-4, "{all}");
        }
        // Of many hits and misses it is the normal law. The law of statrs is wrong near the middle of these two.
        for (hits, draws, tail, direction) in
            [(241_564_606, 339_026_655, Tail::Lower, -1.0), (957_888_085, 1_101_529_162, Tail::Upper, 1.0)]
        {
            let (share, n) = (hits as f64 / draws as f64, draws as f64);
            let errors = (clopper_pearson(hits, draws, 0.01, tail) - share) / (share * (1.0 - share) / n).sqrt();
            assert!((errors - direction * 2.326_348).abs() < 2e-3, "{errors}");
        }
    }

    /// `m` right guesses bound epsilon by `ln(p / (1 − p))` with `p^m = alpha`: 5.8 for 1,000 and 10.4 for 100,000 at 5 %.
    #[test]
    fn ceilings_are_the_known_ones() {
        for (made, expected) in [(1_000, 5.8), (100_000, 10.4)] {
            let ceiling = Guesses { made, right: made / 2 }.all_right().epsilon_lower_bound(0.05);
            assert!((ceiling - expected).abs() < 0.05, "{ceiling}");
        }
        assert_eq!(Guesses { made: 100, right: 50 }.epsilon_lower_bound(0.01), 0.0);
        assert_eq!(Guesses { made: 0, right: 0 }.epsilon_lower_bound(0.01), 0.0);
    }

    /// Sums of exact logarithms of probabilities, by a script of its own.
    #[test]
    fn a_delta_takes_little_off_a_bound() {
        for (n_coins, made, right, dp_delta, alpha, expected) in [
            (1_000, 1_000, 750, 4e-6, 0.01, 0.927_699_1),
            (1_000, 1_000, 750, 1e-4, 0.01, 0.917_338_5),
            (1_000, 1_000, 750, 2e-8, 1e-6, 0.750_629_5),
            (1_000, 1_000, 750, 1e-6, 1e-6, 0.0),
            (1_000, 100, 75, 1e-4, 0.05, 0.672_984_7),
            (1_000, 1_000, 1_000, 1e-5, 0.01, 5.315_612_2),
            (5_000, 5_000, 5_000, 1e-6, 0.01, 6.959_344_1),
        ] {
            let guesses = Guesses { made, right };
            let bound = guesses.epsilon_lower_bound_with_delta(alpha, dp_delta, n_coins);
            assert!((bound - expected).abs() < 1e-6, "{right} of {made}, delta {dp_delta}: {bound}");
            assert!(bound < guesses.epsilon_lower_bound(alpha), "{bound}");
        }
        // Two versions of a record cost twice what a record and a blank do.
        let guesses = Guesses { made: 1_000, right: 750 };
        let halved = guesses.epsilon_lower_bound(0.01) / 2.0;
        assert_eq!(guesses.epsilon_lower_bound_of_versions(0.01, 0.0, 1_000), halved);
        let with_delta = guesses.epsilon_lower_bound_of_versions(0.01, 1e-6, 1_000);
        assert!(with_delta < halved && with_delta > halved - 1e-3, "{with_delta} of {halved}");
        let guesses = Guesses { made: 100, right: 80 };
        assert_eq!(guesses.epsilon_lower_bound_with_delta(0.01, 0.0, 100), guesses.epsilon_lower_bound(0.01));
        assert_eq!(Guesses { made: 100, right: 50 }.epsilon_lower_bound_with_delta(0.01, 1e-6, 100), 0.0);
        assert_eq!(Guesses { made: 0, right: 0 }.epsilon_lower_bound_with_delta(0.01, 1e-6, 100), 0.0);
    }

    #[test]
    fn caps_are_those_of_the_two_slopes() {
        assert!((largest_true_positive_rate(1.0, 0.0, 0.001) - 0.001 * 1.0_f64.exp()).abs() < 1e-12);
        assert_eq!(largest_true_positive_rate(f64::INFINITY, 0.0, 0.001), 1.0);
        assert_eq!((largest_true_positive_rate(0.0, 0.0, 0.3), largest_area_under_curve(0.0, 0.0)), (0.3, 0.5));
        // The area, by trapezoids over a fine grid.
        for dp_delta in [0.0, 0.1] {
            let cap = |rate: f64| largest_true_positive_rate(2.0, dp_delta, rate);
            let area: f64 =
                (0..10_000).map(|k| f64::midpoint(cap(f64::from(k) / 1e4), cap(f64::from(k + 1) / 1e4)) / 1e4).sum();
            assert!((area - largest_area_under_curve(2.0, dp_delta)).abs() < 1e-6, "{dp_delta}: {area}");
        }
    }
}
