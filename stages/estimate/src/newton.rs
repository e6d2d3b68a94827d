//! Newton's method for parameters with given expected degrees, with or without evidence.

use rayon::prelude::*;
use veilgraph_contract::Progress;
use veilgraph_posterior::{Atoms, Kernel, LinkEvidence};

const TOLERANCE: f64 = 1e-10;
const MAX_NEWTON_STEPS: u32 = 100;
/// Most that a parameter may change in one step, in nats.
const LONGEST_STEP: f64 = 5.0;

/// The fitting problem over groups of nodes with equal degrees and equal evidence.
pub(crate) struct Problem<'a> {
    degrees: &'a [f64],
    counts: &'a [f64],
    ridge: f64,
    /// Evidence of the pairs; without it the prior is fitted.
    claims: Option<Claimed<'a>>,
}

impl<'a> Problem<'a> {
    /// The prior of these degrees.
    pub(crate) fn prior(groups: &'a Atoms, ridge: f64) -> Self {
        Self { degrees: groups.values(), counts: groups.counts(), ridge, claims: None }
    }

    /// The posterior of these degrees and claims, one group per node.
    pub(crate) fn posterior(
        degrees: &'a [f64],
        counts: &'a [f64],
        evidence: &'a LinkEvidence,
        epsilon_links: f64,
        ridge: f64,
    ) -> Self {
        Self { degrees, counts, ridge, claims: Some(Claimed { evidence, epsilon_links }) }
    }

    /// Evidence of an unclaimed pair.
    fn shift(&self) -> f64 {
        self.claims.as_ref().map_or(0.0, |claims| -2.0 * claims.epsilon_links)
    }

    /// `Σ_{j≠i} k(b_i + b_j + l_ij) v_j` for one node of each group.
    fn sums(&self, kernel: Kernel, b: &Atoms, v: &[f64]) -> Vec<f64> {
        let weights: Vec<f64> = self.counts.iter().zip(v).map(|(count, v)| count * v).collect();
        let mut sums = b.sums(kernel, self.shift(), &weights);
        for ((sum, &b), v) in sums.iter_mut().zip(b.values()).zip(v) {
            *sum -= kernel.at(2.0 * b + self.shift()) * v;
        }
        if let Some(claims) = &self.claims {
            sums.iter_mut().zip(claims.corrections(kernel, b.values(), v)).for_each(|(sum, more)| *sum += more);
        }
        sums
    }

    /// Given minus expected degree of one node of each group (minus the ridge's pull).
    fn gradient(&self, b: &Atoms) -> Vec<f64> {
        let sums = self.sums(Kernel::Logistic, b, &vec![1.0; self.degrees.len()]);
        let rows = sums.into_iter().zip(b.values()).zip(self.degrees);
        rows.map(|((sum, &b), degree)| degree - sum - self.ridge * b).collect()
    }

    /// The group whose expected degree is relatively farthest from the given one, and how far.
    pub(crate) fn worst(&self, b: &Atoms) -> (usize, f64) {
        let gap = self.gradient(b).into_iter().zip(self.degrees).map(|(gap, degree)| (gap / degree).abs());
        gap.enumerate().fold((0, 0.0), |worst, (group, gap)| if gap <= worst.1 { worst } else { (group, gap) })
    }

    /// Diagonal of the negative Hessian, per node of each group.
    fn diagonal(&self, b: &Atoms) -> Vec<f64> {
        let sums = self.sums(Kernel::LogisticSlope, b, &vec![1.0; self.degrees.len()]);
        sums.into_iter().map(|sum| sum + self.ridge).collect()
    }

    /// Negative Hessian times a vector that is constant on groups.
    fn hessian_times(&self, b: &Atoms, diagonal: &[f64], v: &[f64]) -> Vec<f64> {
        let sums = self.sums(Kernel::LogisticSlope, b, v);
        sums.into_iter().zip(diagonal).zip(v).map(|((sum, d), v)| sum + d * v).collect()
    }

    /// Inner product over nodes of two vectors over groups.
    fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        self.counts.iter().zip(a).zip(b).map(|((count, a), b)| count * a * b).sum()
    }

    /// Solves `H s = gradient` by conjugate gradients, preconditioned with `D + D Dᵀ / ΣD`, the
    /// Hessian of the sparse limit.
    fn newton_step(&self, b: &Atoms, gradient: &[f64], tolerance: f64) -> Vec<f64> {
        const MAX_STEPS: usize = 60;
        let diagonal = self.diagonal(b);
        let total: f64 = self.counts.iter().zip(&diagonal).map(|(count, d)| count * d).sum();
        let precondition = |r: &[f64]| -> Vec<f64> {
            let shift = self.counts.iter().zip(r).map(|(count, r)| count * r).sum::<f64>() / (2.0 * total);
            r.iter().zip(&diagonal).map(|(r, d)| r / d - shift).collect()
        };
        let mut step = vec![0.0; gradient.len()];
        let mut residual = gradient.to_vec();
        let mut direction = precondition(&residual);
        let mut rho = self.dot(&residual, &direction);
        let goal = tolerance * tolerance * rho;
        for _ in 0..MAX_STEPS {
            let image = self.hessian_times(b, &diagonal, &direction);
            let curvature = self.dot(&direction, &image);
            if curvature <= 0.0 || rho <= goal {
                break;
            }
            let length = rho / curvature;
            for (((s, r), d), h) in step.iter_mut().zip(&mut residual).zip(&direction).zip(&image) {
                *s += length * d;
                *r -= length * h;
            }
            let preconditioned = precondition(&residual);
            let next = self.dot(&residual, &preconditioned);
            for (d, p) in direction.iter_mut().zip(&preconditioned) {
                *d = p + next / rho * *d;
            }
            rho = next;
        }
        step
    }
}

/// Where Newton's method starts for a prior: the sparse limit `ln d − ½ ln Σd`.
pub(crate) fn sparse_limit(groups: &Atoms) -> Vec<f64> {
    let total: f64 = groups.values().iter().zip(groups.counts()).map(|(degree, count)| degree * count).sum();
    groups.values().iter().map(|degree| libm::log(*degree) - 0.5 * libm::log(total)).collect()
}

/// Inexact Newton on the concave log-likelihood, from `start`; the parameters and the iterations.
pub(crate) fn newton(problem: &Problem, start: Atoms, progress: &Progress) -> (Vec<f64>, u32) {
    let mut b = start;
    let mut gradient = problem.gradient(&b);
    for iteration in 0..MAX_NEWTON_STEPS {
        progress.report(u64::from(iteration), u64::from(MAX_NEWTON_STEPS));
        let worst = gradient.iter().zip(problem.degrees).map(|(g, d)| (g / d).abs()).fold(0.0, f64::max);
        if worst <= TOLERANCE {
            return (b.values().to_vec(), iteration);
        }
        let step = problem.newton_step(&b, &gradient, (0.1 * worst).clamp(1e-10, 1e-3));
        let slope = problem.dot(&gradient, &step);
        // Far from the optimum the quadratic model promises too much, and sums over a wide range lose digits.
        let longest = step.iter().fold(0.0, |longest: f64, s| longest.max(s.abs()));
        let mut length = (LONGEST_STEP / longest).min(1.0);
        // The log-likelihood is concave: a step is too long once its slope has turned clearly downhill.
        let accepted = loop {
            let moved = b.moved(b.values().iter().zip(&step).map(|(b, s)| b + length * s).collect());
            let moved_gradient = problem.gradient(&moved);
            if problem.dot(&moved_gradient, &step) >= -0.5 * slope {
                break Some((moved, moved_gradient));
            }
            length /= 2.0;
            if length < 1e-12 {
                break None;
            }
        };
        match accepted {
            Some((moved, moved_gradient)) => (b, gradient) = (moved, moved_gradient),
            None => return (b.values().to_vec(), iteration),
        }
    }
    (b.values().to_vec(), MAX_NEWTON_STEPS)
}

/// Claimed pairs and the budget of their bits.
struct Claimed<'a> {
    evidence: &'a LinkEvidence,
    epsilon_links: f64,
}

impl Claimed<'_> {
    /// `Σ_j (k(b_i + b_j + l_ij) − k(b_i + b_j + l_0)) v_j` over the claimed partners of every node.
    fn corrections(&self, kernel: Kernel, b: &[f64], v: &[f64]) -> Vec<f64> {
        /// Pieces whose sums are added in order: the result does not depend on the number of threads.
        const PIECES: usize = 16;
        let n = b.len();
        // e^{-s} of a pair is a product of two numbers: no exponential per pair.
        let exp_minus_b: Vec<f64> = b.iter().map(|&b| libm::exp(-b)).collect();
        let exp_minus_evidence = [2.0, 0.0, -2.0].map(|factor| libm::exp(factor * self.epsilon_links));
        let piece = |piece: usize| {
            let mut sums = vec![0.0; n];
            // Rows hold partners above: interleaved, so that the pieces are equally long.
            for i in (piece..n).step_by(PIECES) {
                let mut own = 0.0;
                for (j, claims) in self.evidence.row(i) {
                    let j = j as usize;
                    let product = exp_minus_b[i] * exp_minus_b[j];
                    let change = kernel.from_exp_minus(product * exp_minus_evidence[usize::from(claims)])
                        - kernel.from_exp_minus(product * exp_minus_evidence[0]);
                    own += change * v[j];
                    sums[j] += change * v[i];
                }
                sums[i] += own;
            }
            sums
        };
        let pieces: Vec<Vec<f64>> = (0..PIECES).into_par_iter().map(piece).collect();
        let mut total = vec![0.0; n];
        for piece in pieces {
            total.iter_mut().zip(piece).for_each(|(total, sum)| *total += sum);
        }
        total
    }
}
