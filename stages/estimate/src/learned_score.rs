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

mod chosen;
mod coordinates;
mod form;

use rayon::prelude::*;

use crate::blocks::MOST_LIKELY;
use crate::known_pairs::sum_in_order;
use chosen::{Chosen, ChosenPair, Stripe};
pub(crate) use coordinates::Coordinates;
use coordinates::RANK;
use form::{Form, Sums};
use veilgraph_graph::vectors::dispatch;

/// Describes a listed pair of the row's node and a later one.
#[derive(Clone, Copy)]
pub(crate) struct ListedPair {
    pub partner: u32,
    /// The probability of a link before the claims are read, without the learned score.
    pub theta: f32,
    /// What the claims multiply the likelihood by, less one; above −1.
    pub less_one: f32,
}

/// The parameters are the entries of `M`, row by row, and `c`.
const N_PARAMETERS: usize = RANK * RANK + 1;

/// Holds what was learned: a score for every pair of nodes.
pub(crate) struct LearnedScore<'a> {
    form: Form,
    coordinates: &'a Coordinates,
}

impl<'a> LearnedScore<'a> {
    /// Learns the score, or nothing where held-out reports do not become likelier with it.
    ///
    /// # Shapes
    /// `rows`: one row for each node of `coordinates`.
    ///
    /// # Complexity
    /// About a hundred passes over the chosen pairs, each with twice [`RANK`] products for a pair.
    pub(crate) fn learn(rows: &[Vec<ListedPair>], coordinates: &'a Coordinates) -> Option<Self> {
        /// So many pairs are learned from and held out together, on average. The four fifths that are learned from are about
        /// 700 for each of the 301 free parameters. Graphs list millions of pairs, of which most say next to nothing.
        const MOST_PAIRS: usize = 1 << 18;
        Self::learn_from(&Chosen::new(rows, MOST_PAIRS), coordinates)
    }

    /// Learns the score from chosen pairs.
    fn learn_from(chosen: &Chosen, coordinates: &'a Coordinates) -> Option<Self> {
        let fit = Fit { stripes: &chosen.learned_from, coordinates };
        let learned = Self { form: Form::new(&fit.likeliest()), coordinates };
        let gain = learned.gain(&chosen.held_out);
        tracing::debug!(
            gain,
            is_used = gain > 0.0,
            "score learned from the reports, judged by held-out reports in nats"
        );
        (gain > 0.0).then_some(learned)
    }

    /// Returns the score of the pairs of node `i`, in nats, as a function of its partner.
    pub(crate) fn of_row(&self, i: usize) -> impl Fn(u32) -> f32 {
        let mapped = self.form.mapped(self.coordinates.row(i));
        move |partner| self.form.score(&mapped, self.coordinates.row(partner as usize))
    }

    /// Returns by how many nats the score makes the claims about these pairs likelier.
    fn gain(&self, held_out: &[Stripe]) -> f64 {
        let of_pair = |chosen: &ChosenPair, score: f32| {
            let [with, without] = [score, 0.0].map(|score| libm::log1p(chosen.pair.change(score)));
            f64::from(chosen.weight) * (with - without)
        };
        let of_stripe = |stripe: &Stripe| -> f64 {
            let mut gain = 0.0;
            for (i, numbers) in &stripe.rows {
                let score = self.of_row(*i);
                let row = &stripe.pairs[numbers.clone()];
                gain += row.iter().map(|chosen| of_pair(chosen, score(chosen.pair.partner))).sum::<f64>();
            }
            gain
        };
        let gains: Vec<f64> = held_out.par_iter().map(of_stripe).collect();
        gains.into_iter().sum()
    }
}

/// Holds what the parameters are fitted to.
struct Fit<'a> {
    stripes: &'a [Stripe],
    coordinates: &'a Coordinates,
}

/// Describes the likelihood at some parameters.
struct Likelihood {
    /// The logarithm of the marginal likelihood and of the priors, in nats.
    logarithm: f64,
    /// The derivative of the logarithm by each parameter.
    gradient: Vec<f64>,
    /// For each stripe, the derivative by the score of each of its pairs, without the pair's weight.
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

    /// Returns the likelihood of the claims, in one pass over the pairs.
    fn likelihood(&self, parameters: &[f64]) -> Likelihood {
        let form = Form::new(parameters);
        let of_stripe = |stripe: &Stripe| -> (f64, Vec<f32>, Vec<f64>) {
            let mut logarithm = 0.0_f64;
            let mut slopes: Vec<f32> = Vec::with_capacity(stripe.pairs.len());
            let weigh = |_: usize, chosen: &ChosenPair, score: f32| -> f32 {
                let theta = chosen.pair.theta_with(score);
                let change = theta.min(MOST_LIKELY) * f64::from(chosen.pair.less_one);
                logarithm += f64::from(chosen.weight) * libm::log1p(change);
                let slope = if theta < MOST_LIKELY { (change / (1.0 + change)) as f32 } else { 0.0 };
                slopes.push(slope);
                chosen.weight * slope
            };
            let sums = dispatch(Sums { stripe, coordinates: self.coordinates, form: &form, weigh });
            (logarithm, slopes, sums)
        };
        let parts: Vec<(f64, Vec<f32>, Vec<f64>)> = self.stripes.par_iter().map(of_stripe).collect();
        let mut here = Likelihood { logarithm: 0.0, gradient: Vec::new(), slopes: Vec::new() };
        let mut sums = Vec::new();
        for (logarithm, slopes, of_stripe) in parts {
            here.logarithm += logarithm;
            here.slopes.push(slopes);
            sums.push(of_stripe);
        }
        here.gradient = symmetric(&sum_in_order(sums));
        for (index, (slope, parameter)) in here.gradient.iter_mut().zip(parameters).enumerate() {
            here.logarithm -= 0.5 * precision(index) * parameter * parameter;
            *slope -= precision(index) * parameter;
        }
        here
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

    /// Returns the sum of squared slopes, and the precisions, times a vector of parameters, in one pass over the pairs.
    fn curvature_times(&self, slopes: &[Vec<f32>], direction: &[f64]) -> Vec<f64> {
        let form = Form::new(direction);
        let of_stripe = |(stripe, slopes): (&Stripe, &Vec<f32>)| -> Vec<f64> {
            let weigh = |number: usize, chosen: &ChosenPair, score: f32| -> f32 {
                chosen.weight * slopes[number] * slopes[number] * score
            };
            dispatch(Sums { stripe, coordinates: self.coordinates, form: &form, weigh })
        };
        let mut sums = symmetric(&sum_in_order(self.stripes.par_iter().zip(slopes).map(of_stripe).collect()));
        for (index, (sum, direction)) in sums.iter_mut().zip(direction).enumerate() {
            *sum += precision(index) * direction;
        }
        sums
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

/// Gives half of each sum to each of the two entries of `M` that are equal, so that the matrix stays symmetric.
///
/// # Shapes
/// `sums`: `[N_PARAMETERS]`, and so is the result.
fn symmetric(sums: &[f64]) -> Vec<f64> {
    let half = |index: usize| {
        let (a, b) = (index / RANK, index % RANK);
        if a == RANK { sums[index] } else { 0.5 * (sums[index] + sums[b * RANK + a]) }
    };
    (0..N_PARAMETERS).map(half).collect()
}

/// Mixes the bits of a number.
///
/// # Source
/// Steele, Lea, Flood (2014), Fast splittable pseudorandom number generators, `SplitMix64`.
pub(crate) fn mixed(number: u64) -> u64 {
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
