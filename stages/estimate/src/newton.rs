//! Newton's method for parameters with given expected degrees, with or without evidence.

use veilgraph_contract::Progress;
use veilgraph_posterior::{Atoms, Kernel};

use crate::known_pairs::{Changes, KnownPairs};

/// Most that a parameter may change in one step, in nats.
const LONGEST_STEP: f64 = 5.0;

/// The fitting problem over groups of nodes with equal degrees and equal evidence.
pub(crate) struct Problem<'a> {
    degrees: &'a [f64],
    counts: &'a [f64],
    ridge: f64,
    /// What is known of the pairs; without it every pair has the log odds of its nodes alone.
    known: Option<&'a KnownPairs<'a>>,
}

impl<'a> Problem<'a> {
    /// The beta model of these degrees.
    pub(crate) fn prior(groups: &'a Atoms, ridge: f64) -> Self {
        Self { degrees: groups.values(), counts: groups.counts(), ridge, known: None }
    }

    /// These degrees with what is known of the pairs, one group per node.
    pub(crate) fn with_known(degrees: &'a [f64], counts: &'a [f64], known: &'a KnownPairs<'a>, ridge: f64) -> Self {
        Self { degrees, counts, ridge, known: Some(known) }
    }

    /// Log odds of the pairs of which nothing is known, beyond those of their nodes.
    fn shift(&self) -> f64 {
        self.known.map_or(0.0, KnownPairs::base)
    }

    /// `Σ_{j≠i} k(b_i + b_j + l_ij) v_j` for one node of each group.
    fn sums(&self, kernel: Kernel, b: &Atoms, v: &[f64], changes: Option<&Changes>) -> Vec<f64> {
        let dense = self.known.and_then(|known| known.dense_sums(kernel, b.values(), v));
        let mut sums = dense.unwrap_or_else(|| {
            let weights: Vec<f64> = self.counts.iter().zip(v).map(|(count, v)| count * v).collect();
            let mut sums = b.sums(kernel, self.shift(), &weights);
            for ((sum, &b), v) in sums.iter_mut().zip(b.values()).zip(v) {
                *sum -= kernel.at(2.0 * b + self.shift()) * v;
            }
            sums
        });
        if let Some(changes) = changes {
            sums.iter_mut().zip(changes.times(v)).for_each(|(sum, more)| *sum += more);
        }
        sums
    }

    /// What known pairs change, if there are any.
    fn changes(&self, kernel: Kernel, b: &Atoms) -> Option<Changes<'_>> {
        self.known.map(|known| known.changes(kernel, b.values()))
    }

    /// Given minus expected degree of one node of each group (minus the ridge's pull).
    fn gradient(&self, b: &Atoms) -> Vec<f64> {
        let changes = self.changes(Kernel::Logistic, b);
        let sums = self.sums(Kernel::Logistic, b, &vec![1.0; self.degrees.len()], changes.as_ref());
        let rows = sums.into_iter().zip(b.values()).zip(self.degrees);
        rows.map(|((sum, &b), degree)| degree - sum - self.ridge * b).collect()
    }

    /// The group whose expected degree is relatively farthest from the given one, and how far.
    pub(crate) fn worst(&self, b: &Atoms) -> (usize, f64) {
        let gap = self.gradient(b).into_iter().zip(self.degrees).map(|(gap, degree)| (gap / degree).abs());
        gap.enumerate().fold((0, 0.0), |worst, (group, gap)| if gap <= worst.1 { worst } else { (group, gap) })
    }

    /// Diagonal of the negative Hessian, per node of each group.
    fn diagonal(&self, b: &Atoms, changes: Option<&Changes>) -> Vec<f64> {
        let sums = self.sums(Kernel::LogisticSlope, b, &vec![1.0; self.degrees.len()], changes);
        sums.into_iter().map(|sum| sum + self.ridge).collect()
    }

    /// Negative Hessian times a vector that is constant on groups.
    fn hessian_times(&self, b: &Atoms, changes: Option<&Changes>, diagonal: &[f64], v: &[f64]) -> Vec<f64> {
        let sums = self.sums(Kernel::LogisticSlope, b, v, changes);
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
        let changes = self.changes(Kernel::LogisticSlope, b);
        let changes = changes.as_ref();
        let diagonal = self.diagonal(b, changes);
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

/// Where Newton's method starts for a prior: the sparse limit `ln d − ½ ln Σd`.
pub(crate) fn sparse_limit(groups: &Atoms) -> Vec<f64> {
    let total: f64 = groups.values().iter().zip(groups.counts()).map(|(degree, count)| degree * count).sum();
    groups.values().iter().map(|degree| libm::log(*degree) - 0.5 * libm::log(total)).collect()
}

/// When Newton's method has arrived.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    /// Largest relative difference between expected and given degree.
    pub residual: f64,
    /// Steps after which it stops anyway.
    pub most_steps: u32,
}

impl Goal {
    /// As exact as sums allow; the steps suffice for every problem that has a solution.
    pub(crate) const EXACT: Self = Self { residual: 1e-10, most_steps: 100 };
}

/// Inexact Newton on the concave log-likelihood, from `start`; the parameters and the iterations.
pub(crate) fn newton(problem: &Problem, start: Atoms, goal: Goal, progress: &Progress) -> (Vec<f64>, u32) {
    let most_steps = goal.most_steps;
    let mut b = start;
    let mut gradient = problem.gradient(&b);
    for iteration in 0..most_steps {
        progress.report(u64::from(iteration), u64::from(most_steps));
        let worst = gradient.iter().zip(problem.degrees).map(|(g, d)| (g / d).abs()).fold(0.0, f64::max);
        if worst <= goal.residual {
            return (b.values().to_vec(), iteration);
        }
        let step = problem.newton_step(&b, &gradient, (0.1 * worst).clamp(1e-10, 1e-2));
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
    (b.values().to_vec(), most_steps)
}
