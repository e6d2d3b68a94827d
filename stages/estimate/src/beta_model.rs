//! The beta model: parameters under which every node expects the degree it was given.

use serde::{Deserialize, Serialize};
use veilgraph_contract::Progress;
use veilgraph_posterior::{Atoms, Kernel};

use crate::known_pairs::KnownPairs;
use crate::newton::{Goal, Problem, newton, sparse_limit};

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
        Solver::Newton => {
            newton(&Problem::prior(&groups, ridge), groups.moved(sparse_limit(&groups)), Goal::EXACT, progress)
        }
        Solver::FixedPoint200 => (fixed_point(&groups, 200, progress), 200),
    };
    let moved = groups.moved(values);
    let (worst, residual) = Problem::prior(&groups, ridge).worst(&moved);
    if solver == Solver::Newton && (residual > 1e-6 || residual.is_nan()) {
        let node = groups.group().iter().position(|&group| group as usize == worst).unwrap_or(0);
        return Err(FitError::Residual(residual, node));
    }
    let beta = groups.group().iter().map(|&group| moved.values()[group as usize]).collect();
    Ok(Fitted { beta, residual, iterations })
}

/// Parameters `λ` with `Σ_{j≠i} P_ij = degrees_i` for the *posterior* `P_ij = σ(λ_i + λ_j + l_ij)`, where `l_ij` is
/// what is known of the pair. Newton's method begins at `start`.
///
/// Given the degrees, these are the probabilities of maximum entropy; the beta model gives the degrees to the
/// prior instead, from which the evidence then drifts away.
///
/// # Errors
/// When no such parameters exist, or they are not found, and `ridge` is zero.
///
/// # Complexity
/// As [`fit`], plus a pass over the known pairs for each product with the Hessian.
///
/// # Source
/// algorithms.md, section G3.
pub(crate) fn fit_posterior(
    degrees: &[f64],
    start: Vec<f64>,
    known: &KnownPairs,
    ridge: f64,
    goal: Goal,
    progress: &Progress,
) -> Result<Fitted, FitError> {
    // Every node has evidence of its own, so each is a group.
    let nodes = Atoms::apart(start);
    let problem = Problem::with_known(degrees, nodes.counts(), known, ridge);
    let (beta, iterations) = newton(&problem, nodes.moved(nodes.values().to_vec()), goal, progress);
    let (node, residual) = problem.worst(&nodes.moved(beta.clone()));
    if residual > goal.residual.max(1e-4) || residual.is_nan() {
        return Err(FitError::Residual(residual, node));
    }
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
