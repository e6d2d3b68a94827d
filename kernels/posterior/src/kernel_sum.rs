//! Sums of a logistic kernel over all nodes, in near-linear time.
//!
//! `Σ_h w_h k(x + b_h) = e^x H(x)` with `H` analytic in a strip of half-width π around the real line,
//! so a short Chebyshev series gives it everywhere (algorithms.md, section A).

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Distinct parameters, ascending, with the nodes that share each.
pub struct Atoms {
    values: Vec<f64>,
    counts: Vec<f64>,
    group: Vec<u32>,
}

/// A kernel of the sum of two parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// `σ(s) = 1 / (1 + e^{-s})`.
    Logistic,
    /// `σ'(s) = σ(s) σ(-s)`.
    LogisticSlope,
    /// `ln(1 + e^s)`.
    Softplus,
}

impl Kernel {
    /// `k(x + b) e^{-x}`, from `e^x` and `e^{-b}`: smooth, and nearly constant for sparse graphs.
    #[inline(always)]
    fn scaled(self, exp_x: f64, exp_minus_b: f64) -> f64 {
        let sum = exp_minus_b + exp_x;
        match self {
            Self::Logistic => 1.0 / sum,
            Self::LogisticSlope => exp_minus_b / (sum * sum),
            Self::Softplus => libm::log1p(exp_x / exp_minus_b) / exp_x,
        }
    }

    /// `k(s)` from `e^{-s}`, which may be zero or infinite.
    #[must_use]
    pub fn from_exp_minus(self, exp_minus_s: f64) -> f64 {
        match self {
            Self::Logistic => 1.0 / (1.0 + exp_minus_s),
            Self::LogisticSlope if exp_minus_s.is_infinite() => 0.0,
            Self::LogisticSlope => exp_minus_s / ((1.0 + exp_minus_s) * (1.0 + exp_minus_s)),
            Self::Softplus => libm::log1p(1.0 / exp_minus_s),
        }
    }

    /// `k(s)`.
    #[must_use]
    pub fn at(self, s: f64) -> f64 {
        match self {
            Self::Logistic => 1.0 / (1.0 + libm::exp(-s)),
            Self::LogisticSlope => {
                let small = libm::exp(-s.abs());
                small / ((1.0 + small) * (1.0 + small))
            }
            Self::Softplus => s.max(0.0) + libm::log1p(libm::exp(-s.abs())),
        }
    }
}

impl Atoms {
    /// Groups nodes with equal parameters.
    #[must_use]
    pub fn new(parameters: &[f64]) -> Self {
        let mut order: Vec<u32> = (0..parameters.len() as u32).collect();
        order.sort_by(|&a, &b| parameters[a as usize].total_cmp(&parameters[b as usize]));
        let (mut values, mut counts, mut group) = (Vec::new(), Vec::new(), vec![0; parameters.len()]);
        for node in order {
            let value = parameters[node as usize];
            if values.last() != Some(&value) {
                values.push(value);
                counts.push(0.0);
            }
            group[node as usize] = values.len() as u32 - 1;
            counts[values.len() - 1] += 1.0;
        }
        Self { values, counts, group }
    }

    /// One group per node, whether or not parameters are equal.
    #[must_use]
    pub fn apart(values: Vec<f64>) -> Self {
        Self { counts: vec![1.0; values.len()], group: (0..values.len() as u32).collect(), values }
    }

    /// One value per group, ascending in [`Self::new`].
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many nodes share each value.
    #[must_use]
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// Index of the value of each node.
    #[must_use]
    pub fn group(&self) -> &[u32] {
        &self.group
    }

    /// The same groups at other values (one per group).
    #[must_use]
    pub fn moved(&self, values: Vec<f64>) -> Self {
        Self { values, counts: self.counts.clone(), group: self.group.clone() }
    }

    /// For every atom `g`, `Σ_h weights_h k(b_g + b_h + shift)`.
    ///
    /// # Complexity
    /// `O(atoms · rank)` with a rank of some 30 to 60; `O(atoms²)` where the series does not converge.
    #[must_use]
    pub fn sums(&self, kernel: Kernel, shift: f64, weights: &[f64]) -> Vec<f64> {
        // Up to here all pairs of atoms cost no more than a series.
        const DIRECT: usize = 192;
        if shift == f64::NEG_INFINITY {
            return vec![0.0; self.values.len()];
        }
        let exp_minus_b: Vec<f64> = self.values.iter().map(|&b| libm::exp(-b)).collect();
        let arch = Arch::new();
        let scaled_sum =
            |x: f64| arch.dispatch(ScaledSum { kernel, exp_x: libm::exp(x), exp_minus_b: &exp_minus_b, weights });
        let (low, high) = range(&self.values);
        let series = if self.values.len() <= DIRECT {
            None
        } else {
            Chebyshev::fit(low + shift, high + shift, self.values.len(), &scaled_sum)
        };
        let mut sums = vec![0.0; self.values.len()];
        let evaluate = |(sums, values): (&mut [f64], &[f64])| {
            let mut points = [low + shift; LANES];
            points.iter_mut().zip(values).for_each(|(point, &b)| *point = b + shift);
            let scaled = match &series {
                Some(series) => arch.dispatch(At { series, points }),
                None => points.map(scaled_sum),
            };
            let unscaled = points.iter().zip(scaled).map(|(&point, value)| libm::exp(point) * value);
            sums.iter_mut().zip(unscaled).for_each(|(sum, value)| *sum = value);
        };
        if self.values.len() < WORTH_THREADS {
            sums.chunks_mut(LANES).zip(self.values.chunks(LANES)).for_each(evaluate);
        } else {
            sums.par_chunks_mut(LANES).zip(self.values.par_chunks(LANES)).for_each(evaluate);
        }
        sums
    }

    /// `Σ_{i<j} k(b_i + b_j + shift)` over all pairs of nodes.
    #[must_use]
    pub fn pair_sum(&self, kernel: Kernel, shift: f64) -> f64 {
        if shift == f64::NEG_INFINITY {
            return 0.0;
        }
        let sums = self.sums(kernel, shift, &self.counts);
        let ordered: f64 = sums.iter().zip(&self.counts).map(|(&sum, &count)| count * sum).sum();
        let own: f64 =
            self.values.iter().zip(&self.counts).map(|(&b, &count)| count * kernel.at(2.0 * b + shift)).sum();
        (ordered - own) / 2.0
    }
}

/// Least and largest of some numbers.
pub(crate) fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)))
}

/// A function on an interval as a Chebyshev series.
struct Chebyshev {
    middle: f64,
    half_width: f64,
    coefficients: Vec<f64>,
}

impl Chebyshev {
    /// Doubles the rank until the last coefficients vanish; `None` if 256 do not suffice. A value of the function
    /// costs as much as `atoms` divisions.
    fn fit(low: f64, high: f64, atoms: usize, function: &(impl Fn(f64) -> f64 + Sync)) -> Option<Self> {
        let (middle, half_width) = (f64::midpoint(low, high), ((high - low) / 2.0).max(1e-9));
        for rank in [16, 32, 64, 128, 256] {
            // cos(π j / 2 rank): every node and every coefficient needs one of these.
            let cosines: Vec<f64> =
                (0..4 * rank).map(|j| libm::cos(std::f64::consts::FRAC_PI_2 * j as f64 / rank as f64)).collect();
            let sample = |k: usize| function(middle + half_width * cosines[2 * k + 1]);
            let samples: Vec<f64> = if atoms < WORTH_THREADS {
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
            if tail <= 4e-15 * size {
                return Some(Self { middle, half_width, coefficients });
            }
        }
        None
    }
}

/// Numbers that are worked on side by side: enough to hide the latency of an addition. Lanes are
/// independent and summed in order, so every width of the processor's vectors gives the same bits.
const LANES: usize = 8;

/// Fewer atoms are summed sooner than a second thread is woken.
const WORTH_THREADS: usize = 4096;

/// `Σ_h weights_h k(x + b_h) e^{-x}`.
struct ScaledSum<'a> {
    kernel: Kernel,
    exp_x: f64,
    exp_minus_b: &'a [f64],
    weights: &'a [f64],
}

impl ScaledSum<'_> {
    #[inline(always)]
    fn of(&self, scaled: impl Fn(f64) -> f64) -> f64 {
        let ((atoms, last_atoms), (weights, last_weights)) =
            (self.exp_minus_b.as_chunks::<LANES>(), self.weights.as_chunks::<LANES>());
        let mut lanes = [0.0; LANES];
        for (atoms, weights) in atoms.iter().zip(weights) {
            for ((lane, &atom), &weight) in lanes.iter_mut().zip(atoms).zip(weights) {
                *lane += weight * scaled(atom);
            }
        }
        let rest: f64 = last_atoms.iter().zip(last_weights).map(|(&atom, &weight)| weight * scaled(atom)).sum();
        lanes.iter().sum::<f64>() + rest
    }
}

impl WithSimd for ScaledSum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        // One loop per kernel, so that none branches inside.
        let exp_x = self.exp_x;
        match self.kernel {
            Kernel::Logistic => self.of(|atom| Kernel::Logistic.scaled(exp_x, atom)),
            Kernel::LogisticSlope => self.of(|atom| Kernel::LogisticSlope.scaled(exp_x, atom)),
            Kernel::Softplus => self.of(|atom| Kernel::Softplus.scaled(exp_x, atom)),
        }
    }
}

/// Values of a series, by Clenshaw's recurrence.
struct At<'a> {
    series: &'a Chebyshev,
    points: [f64; LANES],
}

impl WithSimd for At<'_> {
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
        let mut values = [self.series.coefficients[0]; LANES];
        for (((value, t), next), after) in values.iter_mut().zip(t).zip(next).zip(after) {
            *value += t * next - after;
        }
        values
    }
}

#[cfg(test)]
mod tests;
