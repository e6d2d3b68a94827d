//! This module gives the posterior the degrees of the nodes where a pass over all claims takes long.
//!
//! Nearly all claims are noise: which pairs are claimed once says little about a node, but how many. So Newton's method
//! works on a problem in which every pair that is not listed is claimed as often as such pairs are on average, and whose
//! sums need no pass over the claims. One pass then tells by how much the expected degrees of the true posterior differ
//! from those of that problem, and the problem is asked for degrees that make up for the difference. The difference
//! changes little with the parameters, so a few passes suffice; two passes tell how it changes, and this too is made up for.
//!
//! # Source
//! Stetter (1978), The defect correction principle and discretization methods.

use veilgraph_contract::Progress;
use veilgraph_posterior::DistinctParameters;

use crate::beta_model::{FitError, Fitted, fit_posterior};
use crate::known_pairs::KnownPairs;
use crate::newton::{Goal, Problem, Ridge, Solution, newton};
use crate::similar_claims::SimilarClaims;

/// In smaller graphs a pass over all claims costs next to nothing.
const LEAST_NODES: usize = 4096;
/// So many double claims are listed at most, which takes 32 MiB, or so many for each node where these are more: at budgets at
/// which a million nodes can be served, claims are nearly true, and a double claim that is not listed is a link that is missed.
const MOST_LISTED: usize = 1 << 22;
const MOST_LISTED_FOR_NODE: usize = 16;

/// Holds the pairs that are told from others one by one, and how often the others are claimed.
pub(crate) struct TypicalClaims<'a> {
    similar: &'a SimilarClaims<'a>,
    /// The similar pairs and the double claims, where these are few enough to be listed.
    with_double: Option<SimilarClaims<'a>>,
    /// These shares of the other pairs have 0, 1 and 2 claims.
    shares: [f64; 3],
}

impl<'a> TypicalClaims<'a> {
    /// Counts the claims where this saves passes over them. Nodes that sent nothing are claimed less often than all
    /// others, so with them there is no typical pair.
    pub(crate) fn of(similar: &'a SimilarClaims<'a>, one_sided: &[u32]) -> Option<Self> {
        (similar.n_nodes() >= LEAST_NODES && one_sided.is_empty())
            .then(|| Self::counted(similar, MOST_LISTED.max(MOST_LISTED_FOR_NODE * similar.n_nodes())))
    }

    /// Counts the claims, and lists the double ones unless there are more than `most_listed`.
    pub(crate) fn counted(similar: &'a SimilarClaims<'a>, most_listed: usize) -> Self {
        let (with_double, shares) = similar.with_double_claims(most_listed);
        Self { similar, with_double, shares }
    }

    /// Returns what is known of the pairs if all that are not listed are claimed this often.
    pub(crate) fn known(&self, epsilon_links: f64, bin_logits: &[f64]) -> KnownPairs<'_> {
        let listed = self.with_double.as_ref().unwrap_or(self.similar);
        KnownPairs::typical(listed, self.shares, epsilon_links, bin_logits)
    }
}

/// Holds the degrees that a problem was asked for, and the gaps that were left: by how much the expected degrees of the true
/// posterior, with the pull of the ridge, fell short of the wanted ones; `[n]` each.
struct Asked {
    degrees: Vec<f64>,
    gaps: Vec<f64>,
}

/// Returns the degrees to ask for next: those that were asked for plus the gaps, mixed with those of the time `before` so
/// that the gaps, relative to the `wanted` degrees, would be least if they changed in proportion. They are not mixed where
/// that would ask for a degree that is not positive.
///
/// # Shapes
/// All are `[n]`.
///
/// # Source
/// Anderson (1965), Iterative procedures for nonlinear integral equations, with one earlier iterate.
fn next_asked(asked: &[f64], gaps: &[f64], before: Option<&Asked>, wanted: &[f64]) -> Vec<f64> {
    /// Mixing steps beyond the plain step by no more than this part of its change.
    const LARGEST_WEIGHT: f64 = 2.0;
    let plain: Vec<f64> = asked.iter().zip(gaps).map(|(asked, gap)| asked + gap).collect();
    let Some(before) = before else { return plain };
    let (mut product, mut square) = (0.0, 0.0);
    for ((gap, gap_before), wanted) in gaps.iter().zip(&before.gaps).zip(wanted) {
        let change = (gap - gap_before) / wanted;
        product += gap / wanted * change;
        square += change * change;
    }
    let weight = if square > 0.0 { (product / square).clamp(-LARGEST_WEIGHT, LARGEST_WEIGHT) } else { 0.0 };
    let plain_before = before.degrees.iter().zip(&before.gaps).map(|(asked, gap)| asked + gap);
    let mixed: Vec<f64> =
        plain.iter().zip(plain_before).map(|(next, before)| next - weight * (next - before)).collect();
    if mixed.iter().all(|&degree| degree > 0.0) { mixed } else { plain }
}

/// Finds the parameters that [`fit_posterior`] finds, as near to them as `goal` asks, with few sums over all claims.
///
/// # Shapes
/// `degrees` and `start`: `[n]`, links.
///
/// # Errors
/// Fails when no such parameters exist, or they are not found.
///
/// # Complexity
/// As a rule a pass over all claims for each factor of 4 to 30 by which the residual falls; for a factor of 1.3 at the least.
pub(crate) fn fit_with_typical(
    degrees: &[f64],
    start: Vec<f64>,
    known: &KnownPairs,
    typical: &KnownPairs,
    ridge: Ridge,
    goal: Goal,
    progress: &Progress,
) -> Result<Fitted, FitError> {
    let nodes = DistinctParameters::one_per_node(start.clone());
    let first = start;
    let exact = Problem::with_known(degrees, nodes.counts(), known, ridge);
    // The difference is left over, so that more exact steps between two passes would be lost.
    let inner = |last: f64| Goal { residual: (0.05 * last).min(1e-3).max(0.2 * goal.residual), ..goal };
    let (mut asked, mut beta) = (degrees.to_vec(), nodes.values().to_vec());
    let (mut iterations, mut last) = (0, f64::INFINITY);
    let (mut before, mut was_mixed): (Option<Asked>, bool) = (None, false);
    loop {
        let problem = Problem::with_known(&asked, nodes.counts(), typical, ridge);
        let Solution { parameters, iterations: steps } =
            newton(&problem, nodes.with_values(beta), inner(last), progress);
        iterations += steps;
        let gradient = exact.gradient(&nodes.with_values(parameters.clone()));
        beta = parameters;
        // The largest of numbers passes over those that are none, and parameters that ran away give such.
        let ran_away = gradient.iter().any(|gap| !gap.is_finite());
        let largest = gradient.iter().zip(degrees).map(|(gap, degree)| (gap / degree).abs()).fold(0.0, f64::max);
        let residual = if ran_away { f64::INFINITY } else { largest };
        tracing::debug!(residual, iterations, "degrees matched with typical claims");
        if residual <= goal.residual {
            return Ok(Fitted { beta, residual, iterations });
        }
        let is_nearer = residual < 0.5 * last;
        // A mixed step that came no nearer is followed by a plain one before anything is given up. Passes that come little
        // nearer still take far less time than Newton's method with all claims.
        let gives_up = ran_away || !(residual < 0.8 * last || was_mixed);
        let earlier = before.filter(|_| is_nearer);
        was_mixed = earlier.is_some();
        let next = next_asked(&asked, &gradient, earlier.as_ref(), degrees);
        let given = Asked { degrees: std::mem::replace(&mut asked, next), gaps: gradient };
        before = is_nearer.then_some(given);
        if gives_up || !asked.iter().all(|&degree| degree > 0.0) {
            let start = if ran_away { first } else { beta };
            tracing::debug!(ran_away, "degrees are matched without typical claims");
            let fitted = fit_posterior(degrees, start, known, ridge, goal, progress)?;
            return Ok(Fitted { iterations: iterations + fitted.iterations, ..fitted });
        }
        last = residual;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps that shrink in proportion end with the second step; a plain one would take many.
    #[test]
    fn mixed_steps_find_the_fixed_point_of_gaps_in_proportion() {
        let wanted = [4.0, 2.0, 8.0];
        let solution = [3.0, 2.5, 9.0];
        let gaps =
            |asked: &[f64]| -> Vec<f64> { solution.iter().zip(asked).map(|(to, from)| 0.25 * (to - from)).collect() };
        let first = Asked { degrees: wanted.to_vec(), gaps: gaps(&wanted) };
        let second = next_asked(&first.degrees, &first.gaps, None, &wanted);
        let expected: Vec<f64> = wanted.iter().zip(&first.gaps).map(|(asked, gap)| asked + gap).collect();
        assert_eq!(second, expected, "the first step is plain");
        let before = Asked { degrees: vec![3.5, 2.25, 8.5], gaps: gaps(&[3.5, 2.25, 8.5]) };
        let asked = [3.2, 2.4, 8.8];
        let third = next_asked(&asked, &gaps(&asked), Some(&before), &wanted);
        for (found, solution) in third.iter().zip(solution) {
            assert!((found - solution).abs() < 0.05, "{third:?}");
        }
    }

    #[test]
    fn steps_stay_plain_where_mixing_says_nothing_or_leads_below_zero() {
        let wanted = [1.0, 1.0];
        let before = Asked { degrees: vec![1.0, 1.0], gaps: vec![0.25, 0.25] };
        let next = next_asked(&[1.5, 1.5], &[0.25, 0.25], Some(&before), &wanted);
        assert_eq!(next, [1.75, 1.75], "gaps that do not change");
        let before = Asked { degrees: vec![3.0, 0.03], gaps: vec![-1.0, -0.01] };
        let next = next_asked(&[2.0, 0.02], &[-0.9, -0.009], Some(&before), &[1.0, 0.01]);
        assert!(next.iter().all(|&degree| degree > 0.0), "{next:?}");
        assert_eq!(next, [2.0 - 0.9, 0.02 - 0.009], "mixed degrees would be negative");
    }
}
