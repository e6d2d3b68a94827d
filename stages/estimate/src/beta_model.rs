//! This module fits the beta model: it finds parameters under which every node expects the degree it was given.

use serde::{Deserialize, Serialize};
use veilgraph_contract::Progress;
use veilgraph_posterior::{DistinctParameters, LogisticKernel};

use crate::known_pairs::KnownPairs;
use crate::newton::{Goal, Problem, Ridge, Solution, newton, sparse_limit};

/// Says how the beta model is fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Newton's method with a line search converges whenever a fit exists.
    #[default]
    Newton,
    /// The published iteration is run exactly 200 times from zero and without damping, as the published code does. It
    /// does not converge and serves to reproduce published figures.
    #[serde(rename = "fixed-point-200")]
    FixedPoint200,
}

/// Holds a fitted beta model.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Each node has this parameter, `[n]`.
    pub beta: Vec<f64>,
    /// No expected degree differs from the given one by more than this, relative to the given one.
    pub residual: f64,
    /// The fit took this many iterations.
    pub iterations: u32,
}

/// Says why there is no fit.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The degrees lie outside the interior of the polytope of degree sequences. The fields say how many of the largest
    /// degrees ask for too much, and for how many link ends too many.
    #[error(
        "no beta model has these degrees: the {0} largest ask for all link ends that the graph can hold, or for more ({1:.3})"
    )]
    NoFit(usize, f64),
    /// Newton's method stopped before it reached the degrees; these are the relative residual and its node.
    #[error("the beta model did not converge: relative residual {0:e} at node {1}")]
    Residual(f64, usize),
}

/// The published iteration usually ends no farther from the degrees, relative to them.
const USUAL_RESIDUAL: f64 = 0.1;

/// Finds the parameters `b` with `Σ_{j≠i} σ(b_i + b_j) = degrees_i` for every node `i`.
///
/// # Shapes
/// `degrees`: `[n]`, links, in `(0, n − 2]`.
///
/// # Errors
/// Fails when no such parameters exist and `ridge` is zero.
///
/// # Complexity
/// Every iteration is near-linear in the number of distinct degrees.
///
/// # Source
/// Zhu, Tan, Xiao (2023), Blink, equations 8 to 10; Chatterjee, Diaconis, Sly (2011), theorem 1.5.
pub fn fit(degrees: &[f64], solver: Solver, ridge: f64, progress: &Progress) -> Result<Fitted, FitError> {
    if solver == Solver::Newton && ridge == 0.0 {
        check_existence(degrees)?;
    }
    // Equal degrees have equal parameters, so the model has one unknown per distinct degree.
    let groups = DistinctParameters::new(degrees);
    let problem = Problem::prior(&groups, Ridge::to_zero(ridge));
    let Solution { parameters, iterations } = match solver {
        Solver::Newton => newton(&problem, groups.with_values(sparse_limit(&groups)), Goal::EXACT, progress),
        Solver::FixedPoint200 => Solution { parameters: fixed_point(&groups, 200, progress), iterations: 200 },
    };
    let fitted = groups.with_values(parameters);
    let worst = problem.worst(&fitted);
    if solver == Solver::Newton && (worst.residual > 1e-6 || worst.residual.is_nan()) {
        let node = groups.group_of_node().iter().position(|&group| group as usize == worst.group).unwrap_or(0);
        return Err(FitError::Residual(worst.residual, node));
    }
    let is_usual = worst.residual <= USUAL_RESIDUAL;
    if solver == Solver::FixedPoint200 && !is_usual {
        tracing::warn!(
            "the published iteration ends with expected degrees that are off by up to {:.0} % of the given ones, so link \
             probabilities say little; set [estimate] solver = \"newton\"",
            100.0 * worst.residual
        );
    }
    let beta = groups.group_of_node().iter().map(|&group| fitted.values()[group as usize]).collect();
    Ok(Fitted { beta, residual: worst.residual, iterations })
}

/// Penalties that are tried one after the other where degrees have no fit.
const RIDGES: [f64; 5] = [1e-3, 1e-2, 1e-1, 1.0, 10.0];
/// A fit whose parameters lie farther apart is none: sums over all pairs have a relative error of about 1e-15 times the
/// exponential of that distance.
const WIDEST: f64 = 24.0;

/// Fits with the penalty `least`; where that fails and the penalty `may_grow`, with the smallest of a few larger ones that
/// succeeds. Returns that penalty too.
///
/// # Errors
/// Fails when none of the penalties helps; the error is that of the first fit.
pub(crate) fn with_smallest_ridge(
    least: f64,
    may_grow: bool,
    fit: impl Fn(f64) -> Result<Fitted, FitError>,
) -> Result<(Fitted, f64), FitError> {
    let first = match fit(least) {
        Ok(fitted) => return Ok((fitted, least)),
        Err(error) => error,
    };
    for ridge in RIDGES.into_iter().filter(|&ridge| may_grow && ridge > least) {
        if let Some(fitted) = fit(ridge).ok().filter(|fitted| spread(&fitted.beta) <= WIDEST) {
            tracing::warn!(
                "{first}; estimated with ridge = {ridge}, the smallest of a few that fit: link probabilities are drawn \
                 towards one half"
            );
            return Ok((fitted, ridge));
        }
    }
    Err(first)
}

/// How far the smallest and the largest parameter lie apart.
fn spread(beta: &[f64]) -> f64 {
    let (least, most) =
        beta.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &b| (least.min(b), most.max(b)));
    most - least
}

/// Finds the parameters `λ` with `Σ_{j≠i} P_ij = degrees_i` for the *posterior* `P_ij = σ(λ_i + λ_j + l_ij)`, where
/// `l_ij` are the log odds that evidence adds to the pair. Newton's method begins at `start`.
///
/// Given the degrees and the evidence, these are the independent links of maximum entropy relative to the evidence. The
/// beta model gives the degrees to the prior instead, and the degrees of the posterior then differ from them.
///
/// The degrees are estimates themselves, so a penalty that draws parameters towards their mean finds likelier links: a
/// node whose degree was estimated near 0 would otherwise refuse true links whatever the evidence.
///
/// # Shapes
/// `degrees` and `start`: `[n]`.
///
/// # Errors
/// Fails when no such parameters exist, or they are not found, and `ridge` is zero.
///
/// # Complexity
/// The cost is that of [`fit`], and every product with the Hessian takes a pass over the known pairs.
pub(crate) fn fit_posterior(
    degrees: &[f64],
    start: Vec<f64>,
    known: &KnownPairs,
    ridge: Ridge,
    goal: Goal,
    progress: &Progress,
) -> Result<Fitted, FitError> {
    // Every node has evidence of its own, so each is a group.
    let nodes = DistinctParameters::one_per_node(start);
    let problem = Problem::with_known(degrees, nodes.counts(), known, ridge);
    let Solution { parameters: beta, iterations } =
        newton(&problem, nodes.with_values(nodes.values().to_vec()), goal, progress);
    let worst = problem.worst(&nodes.with_values(beta.clone()));
    if worst.residual > goal.residual.max(1e-4) || worst.residual.is_nan() {
        return Err(FitError::Residual(worst.residual, worst.group));
    }
    Ok(Fitted { beta, residual: worst.residual, iterations })
}

/// Checks that a fit exists: every set of the largest degrees asks for fewer link ends than the graph can hold.
///
/// # Source
/// Erdős and Gallai (1960), with a strict inequality; Chatterjee, Diaconis, Sly (2011), theorem 1.5.
fn check_existence(degrees: &[f64]) -> Result<(), FitError> {
    let mut sorted = degrees.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let n = sorted.len();
    // suffix[i] = Σ_{j ≥ i} sorted_j gives the sums of min(d, k) beyond the largest k.
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
            return Err(FitError::NoFit(k, (-margin).max(0.0)));
        }
    }
    Ok(())
}

/// Runs the published iteration `b_i <- ln d_i − ln Σ_{j≠i} 1 / (e^{-b_j} + e^{b_i})` from zero.
///
/// # Shapes
/// Returns `[groups]`; the values of `groups` are the degrees.
///
/// # Source
/// Zhu, Tan, Xiao (2023), Blink, equations 8 to 10; Chatterjee, Diaconis, Sly (2011), theorem 1.5.
fn fixed_point(groups: &DistinctParameters, iterations: u32, progress: &Progress) -> Vec<f64> {
    let mut b = groups.with_values(vec![0.0; groups.values().len()]);
    for iteration in 0..iterations {
        progress.report(u64::from(iteration), u64::from(iterations));
        let sums = b.sums(LogisticKernel::Logistic, 0.0, groups.counts());
        let next = sums.into_iter().zip(b.values()).zip(groups.values()).map(|((sum, &b), &degree)| {
            // Unlike the sum of the iteration, a kernel sum has the factor e^{b_i}.
            libm::log(degree) - libm::log((sum - LogisticKernel::Logistic.at(2.0 * b)) * libm::exp(-b))
        });
        b = groups.with_values(next.collect());
    }
    b.values().to_vec()
}
