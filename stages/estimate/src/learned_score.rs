//! This module learns from the reports in which features linked nodes agree, beyond what their cosine says.
//!
//! Every node has coordinates `v_i`, the leading directions of its features. The prior probability `θ_ij` of a pair that is
//! listed as similar is multiplied by `e^{s_ij}`, where `s_ij = v_iᵀ M v_j + c`. The symmetric matrix `M` and the number `c`
//! maximize the marginal likelihood of the claims, `Σ ln (1 + θ_ij e^{s_ij} R_ij)`, where `R` is what the claims of a pair
//! multiply its likelihood by, less one. Normal priors around 0 hold `M` and `c` small where reports say little.
//!
//! A fifth of the pairs is held out. Their reports decide whether what was learned is used at all.
//!
//! # Privacy
//! Public features and the reports are all that is read, so this is post-processing and costs no budget.

mod coordinates;

use rayon::prelude::*;

use crate::blocks::MOST_LIKELY;
use crate::known_pairs::{STRIPES, sum_in_order};
pub(crate) use coordinates::Coordinates;
use coordinates::RANK;

/// Describes a listed pair of the row's node and a later one.
pub(crate) struct ListedPair {
    pub partner: u32,
    /// The probability of a link before the claims are read, without the learned score.
    pub theta: f32,
    /// What the claims multiply the likelihood by, less one; above −1.
    pub less_one: f32,
}

/// The parameters are the entries of `M`, row by row, and `c`.
const N_PARAMETERS: usize = RANK * RANK + 1;

/// Returns the scores of all listed pairs in nats, in the order of the pairs, or nothing where held-out reports do not
/// become likelier with them.
///
/// # Shapes
/// `rows`: one row for each node of `coordinates`. Returns rows of the same lengths.
///
/// # Complexity
/// Some hundred passes over the listed pairs, each with [`RANK`] products for a pair.
pub(crate) fn learned_scores(rows: &[Vec<ListedPair>], coordinates: &Coordinates) -> Option<Vec<Vec<f32>>> {
    let fit = Fit { rows, coordinates };
    let scores = fit.scores(&fit.likeliest());
    let gain = fit.gain(&scores);
    tracing::debug!(gain, is_used = gain > 0.0, "score learned from the reports, judged by held-out reports in nats");
    (gain > 0.0).then_some(scores)
}

/// Holds what the parameters are fitted to.
struct Fit<'a> {
    rows: &'a [Vec<ListedPair>],
    coordinates: &'a Coordinates,
}

/// Describes the likelihood at some parameters.
struct Likelihood {
    /// The logarithm of the marginal likelihood and of the priors, in nats.
    logarithm: f64,
    /// The derivative of the logarithm by each parameter.
    gradient: Vec<f64>,
    /// The derivative by the score of each pair; 0 for held-out pairs.
    slopes: Vec<Vec<f32>>,
}

impl Fit<'_> {
    /// Finds the likeliest parameters by Newton steps, in which the sum of squared slopes stands for the curvature.
    fn likeliest(&self) -> Vec<f64> {
        const MOST_STEPS: usize = 8;
        /// The steps end when one makes the logarithm of the likelihood larger by no more than this, in nats.
        const SETTLED: f64 = 0.1;
        let mut parameters = vec![0.0; N_PARAMETERS];
        let mut here = self.likelihood(&parameters);
        for _ in 0..MOST_STEPS {
            let step = self.step(&here);
            // The likelihood is not concave, so a step may be too long.
            let better = [1.0_f64, 0.5, 0.25, 0.125, 0.0625].into_iter().find_map(|length| {
                let next: Vec<f64> = parameters.iter().zip(&step).map(|(at, step)| at + length * step).collect();
                let there = self.likelihood(&next);
                (there.logarithm > here.logarithm).then_some((next, there))
            });
            let Some((next, there)) = better else { break };
            let is_settled = there.logarithm - here.logarithm <= SETTLED;
            (parameters, here) = (next, there);
            if is_settled {
                break;
            }
        }
        parameters
    }

    /// Returns the likelihood of the claims about the pairs that are not held out.
    fn likelihood(&self, parameters: &[f64]) -> Likelihood {
        let scores = self.scores(parameters);
        let row = |i: usize| -> (f64, Vec<f32>) {
            let mut logarithm = 0.0;
            let mut slopes = vec![0.0; self.rows[i].len()];
            for ((slope, pair), &score) in slopes.iter_mut().zip(&self.rows[i]).zip(&scores[i]) {
                if is_held_out(i, pair.partner) {
                    continue;
                }
                let change = pair.change(score);
                logarithm += libm::log1p(change);
                if pair.theta_with(score) < MOST_LIKELY {
                    *slope = (change / (1.0 + change)) as f32;
                }
            }
            (logarithm, slopes)
        };
        let rows: Vec<(f64, Vec<f32>)> = (0..self.rows.len()).into_par_iter().map(row).collect();
        let mut logarithm: f64 = rows.iter().map(|(logarithm, _)| logarithm).sum();
        let slopes: Vec<Vec<f32>> = rows.into_iter().map(|(_, slopes)| slopes).collect();
        let mut gradient = self.sums(&slopes);
        for (index, (slope, parameter)) in gradient.iter_mut().zip(parameters).enumerate() {
            logarithm -= 0.5 * precision(index) * parameter * parameter;
            *slope -= precision(index) * parameter;
        }
        Likelihood { logarithm, gradient, slopes }
    }

    /// Solves `H step = gradient` by conjugate gradients, where `H` is the sum of squared slopes and the precisions.
    fn step(&self, here: &Likelihood) -> Vec<f64> {
        const MOST_PRODUCTS: usize = 10;
        /// The residual is then this small, relatively.
        const SMALL: f64 = 1e-2;
        let mut step = vec![0.0; N_PARAMETERS];
        let mut residual = here.gradient.clone();
        let mut direction = residual.clone();
        let mut square = dot(&residual, &residual);
        let goal = SMALL * SMALL * square;
        for _ in 0..MOST_PRODUCTS {
            if square <= goal {
                break;
            }
            let image = self.curvature_times(&here.slopes, &direction);
            let length = square / dot(&direction, &image);
            for (((step, residual), direction), image) in step.iter_mut().zip(&mut residual).zip(&direction).zip(&image)
            {
                *step += length * direction;
                *residual -= length * image;
            }
            let next = dot(&residual, &residual);
            for (direction, residual) in direction.iter_mut().zip(&residual) {
                *direction = residual + next / square * *direction;
            }
            square = next;
        }
        step
    }

    /// Returns the sum of squared slopes, and the precisions, times a vector of parameters.
    fn curvature_times(&self, slopes: &[Vec<f32>], direction: &[f64]) -> Vec<f64> {
        let mut weights = self.scores(direction);
        for (weight, slope) in weights.iter_mut().flatten().zip(slopes.iter().flatten()) {
            *weight *= slope * slope;
        }
        let mut sums = self.sums(&weights);
        for (index, (sum, direction)) in sums.iter_mut().zip(direction).enumerate() {
            *sum += precision(index) * direction;
        }
        sums
    }

    /// Returns `v_iᵀ M v_j + c` for all listed pairs.
    fn scores(&self, parameters: &[f64]) -> Vec<Vec<f32>> {
        let constant = parameters[RANK * RANK];
        let row = |i: usize| -> Vec<f32> {
            let own = self.coordinates.row(i);
            let mut mapped = [0.0_f64; RANK];
            for (mapped, of_metric) in mapped.iter_mut().zip(parameters.chunks_exact(RANK)) {
                *mapped = of_metric.iter().zip(own).map(|(entry, &own)| entry * f64::from(own)).sum();
            }
            let score = |pair: &ListedPair| {
                let other = self.coordinates.row(pair.partner as usize);
                let product: f64 = mapped.iter().zip(other).map(|(mapped, &other)| mapped * f64::from(other)).sum();
                (product + constant) as f32
            };
            self.rows[i].iter().map(score).collect()
        };
        (0..self.rows.len()).into_par_iter().map(row).collect()
    }

    /// Adds the derivatives of the scores by all parameters, each pair with its weight.
    ///
    /// # Shapes
    /// `weights`: rows of the lengths of the rows of pairs. Returns `[N_PARAMETERS]`.
    fn sums(&self, weights: &[Vec<f32>]) -> Vec<f64> {
        let of_stripe = |stripe: usize| {
            let mut sums = vec![0.0; N_PARAMETERS];
            for i in (stripe..self.rows.len()).step_by(STRIPES) {
                let mut of_row = [0.0_f64; RANK];
                for (pair, &weight) in self.rows[i].iter().zip(&weights[i]) {
                    let weight = f64::from(weight);
                    let other = self.coordinates.row(pair.partner as usize);
                    of_row.iter_mut().zip(other).for_each(|(sum, &other)| *sum += weight * f64::from(other));
                    sums[RANK * RANK] += weight;
                }
                for (a, &own) in self.coordinates.row(i).iter().enumerate() {
                    for (b, &sum) in of_row.iter().enumerate() {
                        // Half for each of the two entries that are equal, so that the matrix stays symmetric.
                        let half = 0.5 * f64::from(own) * sum;
                        sums[a * RANK + b] += half;
                        sums[b * RANK + a] += half;
                    }
                }
            }
            sums
        };
        sum_in_order((0..STRIPES).into_par_iter().map(of_stripe).collect())
    }

    /// Returns by how many nats these scores make the held-out claims likelier.
    fn gain(&self, scores: &[Vec<f32>]) -> f64 {
        let row = |i: usize| -> f64 {
            let pairs = self.rows[i].iter().zip(&scores[i]).filter(|(pair, _)| is_held_out(i, pair.partner));
            pairs.map(|(pair, &score)| libm::log1p(pair.change(score)) - libm::log1p(pair.change(0.0))).sum()
        };
        let gains: Vec<f64> = (0..self.rows.len()).into_par_iter().map(row).collect();
        gains.into_iter().sum()
    }
}

impl ListedPair {
    /// Returns the probability of a link with this score, which may exceed 1.
    fn theta_with(&self, score: f32) -> f64 {
        f64::from(self.theta) * libm::exp(f64::from(score))
    }

    /// Returns what the claims change the likelihood by, relatively.
    fn change(&self, score: f32) -> f64 {
        self.theta_with(score).min(MOST_LIKELY) * f64::from(self.less_one)
    }
}

/// Returns one over the variance of the normal prior of a parameter.
fn precision(index: usize) -> f64 {
    /// The standard deviation of the entries of `M`, in nats; it was chosen on Cora and CiteSeer.
    const OF_METRIC: f64 = 1.0;
    /// The standard deviation of `c`, in nats.
    const OF_CONSTANT: f64 = 3.0;
    let width = if index < RANK * RANK { OF_METRIC } else { OF_CONSTANT };
    1.0 / (width * width)
}

/// Returns whether the reports about a pair are held out: about every fifth pair is, by a hash of its nodes.
fn is_held_out(i: usize, j: u32) -> bool {
    mixed(((i as u64) << 32) | u64::from(j)).is_multiple_of(5)
}

/// Mixes the bits of a number.
///
/// # Source
/// Steele, Lea, Flood (2014), Fast splittable pseudorandom number generators, `SplitMix64`.
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
