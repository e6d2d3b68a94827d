//! Pairs of distributions that are at least as easy to tell apart as what a step releases about neighbours.

/// How many standard deviations from the nearest mode a noisy value is followed; what lies beyond counts as told openly.
const REACH: f64 = 9.75;

/// What an observer sees of one step, reduced to a number on a line in units of the noise's standard deviation. The first
/// distribution of a pair is that of the data as they are, the second one that of a neighbour. The privacy loss, the
/// logarithm of the ratio of their densities, rises along the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pair {
    /// The sum has the node's term, `shift` standard deviations long, or zero in its place.
    Gaussian {
        /// Length of the term.
        shift: f64,
    },
    /// The term is in the sum with probability `rate`; the neighbour has no such term.
    Removed {
        /// Probability of a term.
        rate: f64,
        /// Length of the term.
        shift: f64,
    },
    /// The same, with the neighbour's distribution first.
    Added {
        /// Probability of a term.
        rate: f64,
        /// Length of the term.
        shift: f64,
    },
}

/// A normal distribution with its share in a mixture.
struct Part {
    share: f64,
    mean: f64,
}

/// The probabilities of both sides of a point on the line. The smaller one of them has all its digits.
#[derive(Clone, Copy)]
struct Sides {
    below: f64,
    above: f64,
}

/// What both distributions of a pair give to both sides of a point.
struct Cut {
    first: Sides,
    second: Sides,
}

impl Pair {
    /// Adds this pair, with the probability `weight`, to masses of losses that are multiples of `step`: of the losses in an
    /// interval between two multiples, both distributions keep their probability, moved to the two ends. Returns what
    /// counts as told openly. The first mass is that of the loss `lowest · step`.
    ///
    /// # Privacy
    /// The curve of the deltas at all epsilons is convex in `exp(epsilon)`. That of the result is its chord between
    /// multiples of `step`, so the result is at least as easy to tell apart as the pair.
    ///
    /// # Source
    /// Doroshenko, Ghazi, Kamath, Kumar, Manurangsi (2022), Connect the dots, theorem 3.
    pub(super) fn add_to(self, masses: &mut [f64], lowest: i64, step: f64, weight: f64) -> f64 {
        let highest = lowest + masses.len() as i64 - 1;
        let [from, to] = self.reach().map(|point| self.loss(point) / step);
        let from = (from.floor() as i64).clamp(lowest, highest);
        let to = (to.ceil() as i64).clamp(from, highest);
        let mut low = self.cut(from as f64 * step);
        // Smaller losses count as the smallest one.
        masses[(from - lowest) as usize] += weight * low.first.below;
        let growth = libm::expm1(step);
        for k in from..to {
            let high = self.cut((k + 1) as f64 * step);
            let first = between(low.first, high.first);
            let second = between(low.second, high.second);
            // Let the two ends have a and b of the second distribution, and r = exp(k · step): then second = a + b, and
            // first = r · a + r · exp(step) · b, of which the latter is `upper`.
            let upper = (first - libm::exp(k as f64 * step) * second) * (1.0 + growth) / growth;
            let upper = upper.clamp(0.0, first);
            masses[(k - lowest) as usize] += weight * (first - upper);
            masses[(k + 1 - lowest) as usize] += weight * upper;
            low = high;
        }
        weight * low.first.above
    }

    /// The probabilities of losses up to `loss` and beyond.
    fn cut(self, loss: f64) -> Cut {
        let point = self.point(loss);
        let [first, second] = self.mixtures().map(|mixture| {
            let sides =
                mixture.iter().filter(|part| part.share > 0.0).map(|part| (part.share, sides(point - part.mean)));
            sides.fold(Sides { below: 0.0, above: 0.0 }, |sum, (share, sides)| Sides {
                below: sum.below + share * sides.below,
                above: sum.above + share * sides.above,
            })
        });
        Cut { first, second }
    }

    fn mixtures(self) -> [[Part; 2]; 2] {
        let one = |mean: f64| [Part { share: 1.0, mean }, Part { share: 0.0, mean }];
        let two = |rate: f64, mean: f64| [Part { share: 1.0 - rate, mean: 0.0 }, Part { share: rate, mean }];
        match self {
            Self::Gaussian { shift } => [one(shift), one(0.0)],
            Self::Removed { rate, shift } => [two(rate, shift), one(0.0)],
            // Mirrored, so that the loss rises.
            Self::Added { rate, shift } => [one(0.0), two(rate, -shift)],
        }
    }

    /// The part of the line outside which the first distribution has next to nothing.
    fn reach(self) -> [f64; 2] {
        let highest = match self {
            Self::Gaussian { shift } | Self::Removed { shift, .. } => shift,
            Self::Added { .. } => 0.0,
        };
        let lowest = if matches!(self, Self::Gaussian { .. }) { highest } else { 0.0 };
        [lowest - REACH, highest + REACH]
    }

    /// The privacy loss at a point of the line.
    fn loss(self, point: f64) -> f64 {
        match self {
            Self::Gaussian { shift } => shift * point - shift * shift / 2.0,
            Self::Removed { rate, shift } => log_mixture(rate, shift * point - shift * shift / 2.0),
            Self::Added { rate, shift } => -log_mixture(rate, -shift * point - shift * shift / 2.0),
        }
    }

    /// The point of the line with this loss; infinite where all losses are larger, or smaller.
    fn point(self, loss: f64) -> f64 {
        match self {
            Self::Gaussian { shift } => (loss + shift * shift / 2.0) / shift,
            Self::Removed { rate, shift } => (inverse_of_log_mixture(rate, loss) + shift * shift / 2.0) / shift,
            Self::Added { rate, shift } => -(inverse_of_log_mixture(rate, -loss) + shift * shift / 2.0) / shift,
        }
    }
}

/// `ln(1 - rate + rate e^x)`.
fn log_mixture(rate: f64, x: f64) -> f64 {
    if x > 30.0 { x + libm::log(rate + (1.0 - rate) * libm::exp(-x)) } else { libm::log1p(rate * libm::expm1(x)) }
}

/// The `x` with `log_mixture(rate, x) = loss`, and `-∞` where there is none.
fn inverse_of_log_mixture(rate: f64, loss: f64) -> f64 {
    if loss > 30.0 {
        return loss + libm::log1p(-(1.0 - rate) * libm::exp(-loss)) - libm::log(rate);
    }
    let ratio = libm::expm1(loss) / rate;
    if ratio <= -1.0 { f64::NEG_INFINITY } else { libm::log1p(ratio) }
}

/// Of a standard normal variable.
fn sides(point: f64) -> Sides {
    let tail = 0.5 * libm::erfc(point.abs() * std::f64::consts::FRAC_1_SQRT_2);
    if point > 0.0 { Sides { below: 1.0 - tail, above: tail } } else { Sides { below: tail, above: 1.0 - tail } }
}

/// The probability between two points, from the side on which it has more digits.
fn between(low: Sides, high: Sides) -> f64 {
    let difference = if low.above < low.below { low.above - high.above } else { high.below - low.below };
    difference.max(0.0)
}
