//! The beta model: parameters under which every node expects the degree it was given.

use serde::{Deserialize, Serialize};
use veilgraph_contract::Progress;
use veilgraph_posterior::{Atoms, Kernel};

/// How the beta model is fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Inexact Newton with a line search: converges whenever a fit exists.
    #[default]
    Newton,
    /// Exactly 200 undamped iterations from zero, as the published code runs them. They do not
    /// converge (reference.md, section 2) and serve to reproduce published figures.
    #[serde(rename = "fixed-point-200")]
    FixedPoint200,
}

/// A fitted beta model.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Parameter of each node.
    pub beta: Vec<f64>,
    /// Largest difference between expected and given degree, relative to the given one.
    pub residual: f64,
    /// Iterations used.
    pub iterations: u32,
}

/// Why there is no fit.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The degrees lie outside the interior of the polytope of degree sequences.
    #[error(
        "no beta model has these degrees: the {0} largest ask for {1:.3} more link ends than the graph can hold; \
         set a positive [estimate] ridge, or spend more on degrees"
    )]
    NoFit(usize, f64),
    /// Newton's method stopped short.
    #[error("the beta model did not converge: relative residual {0:e} at node {1}; set a positive [estimate] ridge")]
    Residual(f64, usize),
}

const TOLERANCE: f64 = 1e-10;
const MAX_NEWTON_STEPS: u32 = 100;

/// Parameters `b` with `Σ_{j≠i} σ(b_i + b_j) = degrees_i` for every node.
///
/// # Shapes
/// `degrees`: `[n]`, links, in `[1, n − 2]`.
///
/// # Errors
/// When no such parameters exist and `ridge` is zero.
///
/// # Complexity
/// Near-linear in the number of distinct degrees per iteration.
///
/// # Source
/// Zhu, Tan, Xiao (2023), Blink, equations 8 to 10; Chatterjee, Diaconis, Sly (2011), theorem 1.5.
pub fn fit(degrees: &[f64], solver: Solver, ridge: f64, progress: &Progress) -> Result<Fitted, FitError> {
    if solver == Solver::Newton && ridge == 0.0 {
        check_existence(degrees)?;
    }
    // Equal degrees have equal parameters, so the model has one unknown per distinct degree.
    let groups = Atoms::new(degrees);
    let (values, iterations) = match solver {
        Solver::Newton => newton(&groups, ridge, progress),
        Solver::FixedPoint200 => (fixed_point(&groups, 200, progress), 200),
    };
    let moved = groups.moved(values);
    let gap = Problem { degrees: groups.values(), counts: groups.counts(), ridge }.gradient(&moved);
    let (worst, residual) = gap
        .iter()
        .zip(groups.values())
        .map(|(gap, degree)| (gap / degree).abs())
        .enumerate()
        .fold((0, 0.0), |worst, (group, gap)| if gap <= worst.1 { worst } else { (group, gap) });
    if solver == Solver::Newton && (residual > 1e-6 || residual.is_nan()) {
        let node = groups.group().iter().position(|&group| group as usize == worst).unwrap_or(0);
        return Err(FitError::Residual(residual, node));
    }
    let beta = groups.group().iter().map(|&group| moved.values()[group as usize]).collect();
    Ok(Fitted { beta, residual, iterations })
}

/// A fit exists iff every set of the largest degrees asks for less than the graph can hold
/// (Erdős–Gallai, strictly).
fn check_existence(degrees: &[f64]) -> Result<(), FitError> {
    let mut sorted = degrees.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let n = sorted.len();
    // suffix[i] = Σ_{j ≥ i} sorted_j, to sum min(d, k) beyond the largest k.
    let mut suffix = vec![0.0; n + 1];
    for i in (0..n).rev() {
        suffix[i] = suffix[i + 1] + sorted[i];
    }
    for k in 1..=n {
        let size = k as f64;
        let cut = sorted.partition_point(|&degree| degree > size).max(k);
        let rest = size * (cut - k) as f64 + suffix[cut];
        let margin = size * (size - 1.0) + rest - (suffix[0] - suffix[k]);
        if margin <= 0.0 {
            return Err(FitError::NoFit(k, -margin));
        }
    }
    Ok(())
}

/// The fitting problem over groups of equal degrees.
struct Problem<'a> {
    degrees: &'a [f64],
    counts: &'a [f64],
    ridge: f64,
}

impl Problem<'_> {
    /// Given minus expected degree of one node of each group (minus the ridge's pull).
    fn gradient(&self, b: &Atoms) -> Vec<f64> {
        let sums = b.sums(Kernel::Logistic, 0.0, self.counts);
        let rows = sums.into_iter().zip(b.values()).zip(self.degrees);
        rows.map(|((sum, &b), degree)| degree - (sum - Kernel::Logistic.at(2.0 * b)) - self.ridge * b).collect()
    }

    /// Diagonal of the negative Hessian, per node of each group.
    fn diagonal(&self, b: &Atoms) -> Vec<f64> {
        let sums = b.sums(Kernel::LogisticSlope, 0.0, self.counts);
        sums.into_iter().zip(b.values()).map(|(sum, &b)| sum - Kernel::LogisticSlope.at(2.0 * b) + self.ridge).collect()
    }

    /// Negative Hessian times a vector that is constant on groups.
    fn hessian_times(&self, b: &Atoms, diagonal: &[f64], v: &[f64]) -> Vec<f64> {
        let weights: Vec<f64> = self.counts.iter().zip(v).map(|(count, v)| count * v).collect();
        let sums = b.sums(Kernel::LogisticSlope, 0.0, &weights);
        let own = b.values().iter().map(|&b| Kernel::LogisticSlope.at(2.0 * b));
        sums.into_iter().zip(own).zip(diagonal).zip(v).map(|(((sum, own), d), v)| sum - own * v + d * v).collect()
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

/// Inexact Newton on the concave log-likelihood, from the sparse limit `ln d − ½ ln Σd`.
fn newton(groups: &Atoms, ridge: f64, progress: &Progress) -> (Vec<f64>, u32) {
    let problem = Problem { degrees: groups.values(), counts: groups.counts(), ridge };
    let total = problem.dot(problem.degrees, &vec![1.0; problem.degrees.len()]);
    let start = problem.degrees.iter().map(|degree| libm::log(*degree) - 0.5 * libm::log(total)).collect();
    let mut b = groups.moved(start);
    let mut gradient = problem.gradient(&b);
    for iteration in 0..MAX_NEWTON_STEPS {
        progress.report(u64::from(iteration), u64::from(MAX_NEWTON_STEPS));
        let worst = gradient.iter().zip(problem.degrees).map(|(g, d)| (g / d).abs()).fold(0.0, f64::max);
        if worst <= TOLERANCE {
            return (b.values().to_vec(), iteration);
        }
        let step = problem.newton_step(&b, &gradient, (0.1 * worst).clamp(1e-10, 1e-3));
        let slope = problem.dot(&gradient, &step);
        let mut length = 1.0;
        // The log-likelihood is concave: a step is too long once its slope has turned clearly downhill.
        let accepted = loop {
            let moved = groups.moved(b.values().iter().zip(&step).map(|(b, s)| b + length * s).collect());
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

/// The published iteration `b_i <- ln d_i − ln Σ_{j≠i} 1 / (e^{-b_j} + e^{b_i})`, from zero.
fn fixed_point(groups: &Atoms, iterations: u32, progress: &Progress) -> Vec<f64> {
    let mut b = groups.moved(vec![0.0; groups.values().len()]);
    for iteration in 0..iterations {
        progress.report(u64::from(iteration), u64::from(iterations));
        let sums = b.sums(Kernel::Logistic, 0.0, groups.counts());
        let next = sums.into_iter().zip(b.values()).zip(groups.values()).map(|((sum, &b), &degree)| {
            // The kernel sum carries the factor e^{b_i} that the iteration does not have.
            libm::log(degree) - libm::log((sum - Kernel::Logistic.at(2.0 * b)) * libm::exp(-b))
        });
        b = groups.moved(next.collect());
    }
    b.values().to_vec()
}
