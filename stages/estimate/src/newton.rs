//! This module finds parameters with given expected degrees by Newton's method, with or without evidence.
//!
//! The log-likelihood `Σ_i d_i b_i − Σ_{i<j} ln(1 + e^{b_i + b_j + l_ij})`, less the penalties of [`Ridge`], is concave;
//! its gradient is the given minus the expected degree. Nodes with equal degrees and equal evidence form a group and have
//! equal parameters, so every vector has one entry for each group.

use veilgraph_contract::Progress;
use veilgraph_posterior::{DistinctParameters, LogisticKernel};

use crate::known_pairs::{Changes, KnownPairs};
pub(crate) use ridge::Ridge;

mod ridge;

/// No parameter changes by more than this in one step, in nats.
const LONGEST_STEP: f64 = 5.0;

/// States which expected degrees the groups shall have.
///
/// # Shapes
/// `degrees` and `counts`: `[groups]`, the degree and the number of nodes of each group.
pub(crate) struct Problem<'a> {
    degrees: &'a [f64],
    counts: &'a [f64],
    ridge: Ridge<'a>,
    /// Without known pairs, every pair has the log odds of its nodes alone.
    known: Option<&'a KnownPairs<'a>>,
}

impl<'a> Problem<'a> {
    /// Asks for the beta model of these degrees, which are the values of `groups`.
    pub(crate) fn prior(groups: &'a DistinctParameters, ridge: Ridge<'a>) -> Self {
        Self { degrees: groups.values(), counts: groups.counts(), ridge, known: None }
    }

    /// Asks for these degrees, given what is known of the pairs; every node is a group of its own.
    pub(crate) fn with_known(
        degrees: &'a [f64],
        counts: &'a [f64],
        known: &'a KnownPairs<'a>,
        ridge: Ridge<'a>,
    ) -> Self {
        Self { degrees, counts, ridge, known: Some(known) }
    }

    /// Returns `Σ_{j≠i} k(b_i + b_j + l_ij) v_j` for one node `i` of each group.
    ///
    /// # Shapes
    /// `v`: `[groups]`. Returns `[groups]`.
    fn sums(&self, kernel: LogisticKernel, b: &DistinctParameters, v: &[f64], changes: Option<&Changes>) -> Vec<f64> {
        let dense = self.known.and_then(|known| known.dense_sums(kernel, b.values(), v));
        let mut sums = dense.unwrap_or_else(|| {
            let weights: Vec<f64> = self.counts.iter().zip(v).map(|(count, v)| count * v).collect();
            let mut sums = vec![0.0; v.len()];
            for (shift, share) in self.known.map_or_else(|| vec![(0.0, 1.0)], KnownPairs::unlisted) {
                let of_all = b.sums(kernel, shift, &weights);
                for (((sum, of_all), &b), v) in sums.iter_mut().zip(of_all).zip(b.values()).zip(v) {
                    *sum += share * (of_all - kernel.at(2.0 * b + shift) * v);
                }
            }
            sums
        });
        if let Some(changes) = changes {
            sums.iter_mut().zip(changes.times(v)).for_each(|(sum, more)| *sum += more);
        }
        sums
    }

    /// Returns how known pairs change sums, if there are known pairs.
    fn changes(&self, kernel: LogisticKernel, b: &DistinctParameters) -> Option<Changes<'_>> {
        self.known.map(|known| known.changes(kernel, b.values()))
    }

    /// Returns, for one node of each group, the given minus the expected degree, minus the pull of the ridge.
    pub(crate) fn gradient(&self, b: &DistinctParameters) -> Vec<f64> {
        let changes = self.changes(LogisticKernel::Logistic, b);
        let sums = self.sums(LogisticKernel::Logistic, b, &vec![1.0; self.degrees.len()], changes.as_ref());
        let Ridge { to_zero, to_mean, .. } = self.ridge;
        let penalized = self.ridge.penalized(b.values());
        let mean = self.mean(&penalized);
        let rows = sums.into_iter().zip(&penalized).zip(self.degrees);
        rows.map(|((sum, c), degree)| degree - sum - to_zero * c - to_mean * (c - mean)).collect()
    }

    /// Returns the mean over all nodes of a vector that is constant on groups.
    fn mean(&self, v: &[f64]) -> f64 {
        let n_nodes: f64 = self.counts.iter().sum();
        self.counts.iter().zip(v).map(|(count, v)| count * v).sum::<f64>() / n_nodes
    }

    /// Finds the group whose expected degree is relatively farthest from the given one.
    pub(crate) fn worst(&self, b: &DistinctParameters) -> WorstFit {
        let gap = self.gradient(b).into_iter().zip(self.degrees).map(|(gap, degree)| (gap / degree).abs());
        let start = WorstFit { group: 0, residual: 0.0 };
        let worse = |worst: WorstFit, (group, residual): (usize, f64)| {
            if residual <= worst.residual { worst } else { WorstFit { group, residual } }
        };
        gap.enumerate().fold(start, worse)
    }

    /// Returns the diagonal of the negative Hessian, for one node of each group, without the part of the penalties that
    /// all entries of the Hessian share.
    fn diagonal(&self, b: &DistinctParameters, changes: Option<&Changes>) -> Vec<f64> {
        let sums = self.sums(LogisticKernel::LogisticSlope, b, &vec![1.0; self.degrees.len()], changes);
        sums.into_iter().map(|sum| sum + self.ridge.to_zero + self.ridge.to_mean).collect()
    }

    /// Returns the negative Hessian times `v`.
    ///
    /// # Shapes
    /// `diagonal` and `v`: `[groups]`. Returns `[groups]`.
    fn hessian_times(
        &self,
        b: &DistinctParameters,
        changes: Option<&Changes>,
        diagonal: &[f64],
        v: &[f64],
    ) -> Vec<f64> {
        let sums = self.sums(LogisticKernel::LogisticSlope, b, v, changes);
        let shared = if self.ridge.to_mean > 0.0 { self.ridge.to_mean * self.mean(v) } else { 0.0 };
        sums.into_iter().zip(diagonal).zip(v).map(|((sum, d), v)| sum + d * v - shared).collect()
    }

    /// Returns the inner product over all nodes of two vectors that are constant on groups.
    ///
    /// # Shapes
    /// `a` and `b`: `[groups]`.
    fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        self.counts.iter().zip(a).zip(b).map(|((count, a), b)| count * a * b).sum()
    }

    /// Solves `H s = gradient` for the negative Hessian `H` by conjugate gradients. They are preconditioned with the
    /// negative Hessian of a sparse graph that has the same diagonal.
    ///
    /// # Shapes
    /// `gradient`: `[groups]`. Returns `[groups]`.
    fn newton_step(&self, b: &DistinctParameters, gradient: &[f64], tolerance: f64) -> Vec<f64> {
        const MAX_STEPS: usize = 60;
        let changes = self.changes(LogisticKernel::LogisticSlope, b);
        let changes = changes.as_ref();
        let diagonal = self.diagonal(b, changes);
        let precondition = |r: &[f64]| self.step_of_sparse_graph(&diagonal, r);
        let mut step = vec![0.0; gradient.len()];
        let mut residual = gradient.to_vec();
        let mut direction = precondition(&residual);
        let mut rho = self.dot(&residual, &direction);
        let goal = tolerance * tolerance * rho;
        for _ in 0..MAX_STEPS {
            let image = self.hessian_times(b, changes, &diagonal, &direction);
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

/// Holds parameters that are nearer to the goal than others were.
pub(crate) struct Nearer {
    /// The parameter of each group, `[groups]`.
    pub parameters: Vec<f64>,
    /// Before the step, no expected degree differed from the given one by more than this, relatively.
    pub residual: f64,
}

impl Problem<'_> {
    /// Goes one step nearer to `goal`.
    ///
    /// Where no expected degree is `far` from the given one, the step is that of Newton's method with the Hessian of a sparse
    /// graph with the given degrees. It costs one gradient. Else Newton's method itself takes the steps. There must be no ridge
    /// towards the mean.
    pub(crate) fn nearer(&self, b: DistinctParameters, goal: Goal, far: f64) -> Nearer {
        let gradient = self.gradient(&b);
        let residual = gradient.iter().zip(self.degrees).map(|(g, d)| (g / d).abs()).fold(0.0, f64::max);
        let parameters = if residual > far {
            newton(self, b, goal, &Progress::none()).parameters
        } else if residual > goal.residual {
            let diagonal: Vec<f64> = self.degrees.iter().map(|degree| degree + self.ridge.to_zero).collect();
            let step = self.step_of_sparse_graph(&diagonal, &gradient);
            b.values().iter().zip(&step).map(|(b, step)| b + step).collect()
        } else {
            b.values().to_vec()
        };
        Nearer { parameters, residual }
    }

    /// Solves `H s = gradient` for the negative Hessian of a sparse graph, `H = diag(D) + D Dᵀ / ΣD` with the diagonal `D`,
    /// by the formula of Sherman and Morrison.
    ///
    /// # Shapes
    /// `diagonal` and `gradient`: `[groups]`. Returns `[groups]`.
    fn step_of_sparse_graph(&self, diagonal: &[f64], gradient: &[f64]) -> Vec<f64> {
        let total: f64 = self.counts.iter().zip(diagonal).map(|(count, d)| count * d).sum();
        let shift = self.counts.iter().zip(gradient).map(|(count, g)| count * g).sum::<f64>() / (2.0 * total);
        gradient.iter().zip(diagonal).map(|(g, d)| g / d - shift).collect()
    }
}

/// Returns where Newton's method starts for a prior: `b = ln d − ½ ln Σd`, with which a sparse graph has the degrees
/// `d`.
///
/// # Source
/// Chung, Lu (2002), Connected components in random graphs with given expected degree sequences.
pub(crate) fn sparse_limit(groups: &DistinctParameters) -> Vec<f64> {
    let total: f64 = groups.values().iter().zip(groups.counts()).map(|(degree, count)| degree * count).sum();
    groups.values().iter().map(|degree| libm::log(*degree) - 0.5 * libm::log(total)).collect()
}

/// Says when Newton's method has arrived.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    /// It has arrived when no expected degree differs from the given one by more than this, relatively.
    pub residual: f64,
    /// It stops anyway after this many steps.
    pub most_steps: u32,
}

impl Goal {
    /// This is as exact as the rounding of sums allows, and the steps suffice for every problem that has a solution.
    pub(crate) const EXACT: Self = Self { residual: 1e-10, most_steps: 100 };
}

/// Says which group fits worst.
#[derive(Clone, Copy)]
pub(crate) struct WorstFit {
    pub group: usize,
    /// This is the relative difference between its expected and its given degree.
    pub residual: f64,
}

/// Holds where Newton's method stopped.
pub(crate) struct Solution {
    /// The parameter of each group, `[groups]`.
    pub parameters: Vec<f64>,
    pub iterations: u32,
}

/// Maximizes the concave log-likelihood by Newton's method, from `start` on; the linear systems are solved as exactly
/// as the distance to the goal deserves.
///
/// # Source
/// Dembo, Eisenstat, Steihaug (1982), Inexact Newton methods.
pub(crate) fn newton(problem: &Problem, start: DistinctParameters, goal: Goal, progress: &Progress) -> Solution {
    let most_steps = goal.most_steps;
    let mut b = start;
    let mut gradient = problem.gradient(&b);
    for iteration in 0..most_steps {
        progress.report(u64::from(iteration), u64::from(most_steps));
        let worst = gradient.iter().zip(problem.degrees).map(|(g, d)| (g / d).abs()).fold(0.0, f64::max);
        if worst <= goal.residual {
            return Solution { parameters: b.values().to_vec(), iterations: iteration };
        }
        let step = problem.newton_step(&b, &gradient, (0.1 * worst).clamp(1e-10, 1e-2));
        let slope = problem.dot(&gradient, &step);
        // Far from the optimum a full step is too long, and with parameters over a wide range sums lose digits.
        let longest = step.iter().fold(0.0, |longest: f64, s| longest.max(s.abs()));
        let mut length = (LONGEST_STEP / longest).min(1.0);
        // The log-likelihood is concave, so a step is too long once the slope along it has turned clearly downhill.
        let accepted = loop {
            let next = b.with_values(b.values().iter().zip(&step).map(|(b, s)| b + length * s).collect());
            let next_gradient = problem.gradient(&next);
            if problem.dot(&next_gradient, &step) >= -0.5 * slope {
                break Some((next, next_gradient));
            }
            length /= 2.0;
            if length < 1e-12 {
                break None;
            }
        };
        match accepted {
            Some((next, next_gradient)) => (b, gradient) = (next, next_gradient),
            None => return Solution { parameters: b.values().to_vec(), iterations: iteration },
        }
    }
    Solution { parameters: b.values().to_vec(), iterations: most_steps }
}
