//! Reports at a lower budget as a further perturbation of those at a higher one: for experiments on how scores grow with
//! the budget, in which less noise is never other noise.
//!
//! The list at the largest budget is drawn as ever. The list at each smaller budget flips bits of the one before, and the
//! noise of a degree is that of the one before or has further noise added, so that the reports at every budget have the
//! law that they have when they are drawn alone. All of a chain is drawn anew for each release, from streams that are
//! named by the budgets.
//!
//! # Privacy
//! A release is as private as one that is drawn alone, but that its flips are rounded to double precision. The lists of one
//! chain tell together what the first one tells, and so do the degrees. They are charged one by one like those that are
//! drawn alone, which is at least what they cost.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use veilgraph_privacy::count_noise::CountNoise;
use veilgraph_privacy::randomized_response::{RandomizedResponse, flip_probability};

use crate::{Error, NodeNoise};

/// Whether reports are nested; `nested` in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "nested is true or false")]
pub enum Nested {
    /// As a config says it.
    Wanted(bool),
    /// The larger budgets of the same sweep, as the plan works them out.
    Below(Vec<LargerBudget>),
}

/// A larger budget of the same sweep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LargerBudget {
    /// Spent on the list, in nats.
    pub links: f64,
    /// Spent on the degree, in nats.
    pub degree: f64,
}

impl Default for Nested {
    fn default() -> Self {
        Self::Wanted(false)
    }
}

impl Nested {
    /// The larger budgets of the lists, from the largest on.
    pub(super) fn of_lists(&self, own: f64) -> Vec<f64> {
        self.descending(own, |budget| budget.links)
    }

    /// The larger budgets of the degrees, from the largest on.
    pub(super) fn of_degrees(&self, own: f64) -> Vec<f64> {
        self.descending(own, |budget| budget.degree)
    }

    /// Every larger part once. Without noise there is nothing to add to.
    fn descending(&self, own: f64, part: impl Fn(&LargerBudget) -> f64) -> Vec<f64> {
        let Self::Below(larger) = self else { return Vec::new() };
        let mut parts: Vec<f64> = larger.iter().map(part).filter(|&part| part > own && part.is_finite()).collect();
        parts.sort_by(|a, b| b.total_cmp(a));
        parts.dedup();
        parts
    }
}

/// The noise on a list: that of the largest budget, and what each smaller one adds to it.
pub(super) struct ListNoise {
    /// Every step with the name of its stream.
    steps: Vec<(String, RandomizedResponse)>,
}

impl ListNoise {
    /// Noise at `own` nats for a bit, below these larger budgets, which descend.
    ///
    /// A bit that is flipped with probability `p` and then with `r` is flipped with `p (1 − r) + (1 − p) r`.
    pub(super) fn new(own: f64, larger: &[f64], n_nodes: usize) -> Self {
        let mut steps: Vec<(String, RandomizedResponse)> = Vec::new();
        let mut before: Option<f64> = None;
        for &epsilon in larger.iter().chain([&own]) {
            steps.push(match before.replace(epsilon) {
                None => (format!("links {epsilon:?}"), RandomizedResponse::new(epsilon, n_nodes)),
                Some(above) => {
                    let name = format!("links {above:?} nested {epsilon:?}");
                    (name, RandomizedResponse::with_probability(further_flip(above, epsilon), n_nodes))
                }
            });
        }
        Self { steps }
    }

    /// The noisy list of a node.
    pub(super) fn noisy_list(&self, node: u32, neighbours: &[u32], noise: NodeNoise) -> Vec<u32> {
        let mut list = neighbours.to_vec();
        for (name, response) in &self.steps {
            list = response.noisy_list(node, &list, &mut noise.stream(name));
        }
        list
    }
}

/// The probability `r` with which a bit that was flipped at `above` nats has to be flipped again to be flipped as often as
/// at `below` nats: `(p_below − p_above) / (1 − 2 p_above)`.
fn further_flip(above: f64, below: f64) -> f64 {
    let (above, below) = (flip_probability(above), flip_probability(below));
    (below - above) / (1.0 - 2.0 * above)
}

/// The noise on a count: that of the largest budget, and what each smaller one adds to it.
pub(super) struct NestedCount {
    /// The name of the first stream.
    name: String,
    first: CountNoise,
    /// The name of its stream, how often a step adds nothing, and what it adds otherwise.
    steps: Vec<(String, f64, CountNoise)>,
}

impl NestedCount {
    /// The noise that `noise` gives at `own` nats, below these larger budgets, which descend.
    ///
    /// # Errors
    /// When there is no such noise at one of the budgets.
    pub(super) fn new(
        own: f64,
        larger: &[f64],
        noise: impl Fn(f64) -> Result<CountNoise, Error>,
    ) -> Result<Self, Error> {
        let top = larger.first().copied().unwrap_or(own);
        let mut above = (top, noise(top)?);
        let mut nested = Self { name: format!("degree {top:?}"), first: above.1, steps: Vec::new() };
        for &epsilon in larger.iter().skip(1).chain([&own].into_iter().filter(|_| !larger.is_empty())) {
            let below = noise(epsilon)?;
            let name = format!("degree {:?} nested {epsilon:?}", above.0);
            nested.steps.push((name, share_of_nothing(above.1, below), below));
            above = (epsilon, below);
        }
        Ok(nested)
    }

    /// A count with noise.
    pub(super) fn add(&self, count: usize, noise: NodeNoise) -> f64 {
        let mut sum = self.first.add(count, &mut noise.stream(&self.name));
        for (name, share_of_nothing, further) in &self.steps {
            let mut stream = noise.stream(name);
            let is_nothing = stream.random::<f64>() < *share_of_nothing;
            sum += if is_nothing { 0.0 } else { further.add(0, &mut stream) };
        }
        sum
    }
}

/// How often nothing has to be added to noise with the law `above`, and noise with the law `below` otherwise, so that the
/// sum has the law `below`.
///
/// The characteristic function of discrete Laplace noise with the rate ε, and `α = e^{−ε}`, is
/// `(1 − α)² / (1 − 2 α cos t + α²)`. The quotient of two of them is `c + (1 − c)` times the one of `below` with
/// `c = x(α_above) / x(α_below)` and `x(α) = α / (1 − α)² = 1 / (2 sinh(ε / 2))²`. For continuous noise it is
/// `1 / (1 + t² / ε²)`, and `c` is `ε_below² / ε_above²`.
fn share_of_nothing(above: CountNoise, below: CountNoise) -> f64 {
    let root = match (above, below) {
        (CountNoise::Discrete { rate: above, .. }, CountNoise::Discrete { rate: below, .. }) => {
            let (above, below) = (above.nats(), below.nats());
            // sinh(ε / 2) = e^{ε / 2} (1 − e^{−ε}) / 2, and no exponential of a large number.
            libm::exp((below - above) / 2.0) * libm::expm1(-below) / libm::expm1(-above)
        }
        (CountNoise::Laplace(above), CountNoise::Laplace(below)) => above / below,
        // Both budgets are finite, so both have noise of the same kind.
        _ => 0.0,
    };
    root * root
}

#[cfg(test)]
mod tests;
