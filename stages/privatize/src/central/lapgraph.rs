//! LapGraph: a curator adds noise to the number of links and to every pair, and keeps the pairs with the largest sums.

use rand::{Rng, RngExt};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Draws, Owner, Private, Progress, Release, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, Construction, WeightedGraph};
use veilgraph_privacy::Epsilon;
use veilgraph_privacy::composition::releases_of_graph;
use veilgraph_privacy::discrete_laplace::{Rate, discrete_laplace};
use veilgraph_privacy::randomized_response::RandomizedResponse;

use super::ONE_BIT_PER_LINK;
use crate::Error;

/// A curator releases as many pairs as a noisy count says: those with the largest sum of bit and noise.
///
/// # Privacy
/// `epsilon`-differentially private for one link, which moves the count by one and one pair's bit by one: the count
/// costs `count_share * epsilon` and the pairs cost the rest. All noise is integer; equal sums are told apart by words
/// that know no link. The private struct `Pairs` says how the noise on pairs without a link is drawn.
///
/// # Source
/// Wu, Long, Zhang, Li (2022), LinkTeller, algorithm 3. The published code draws continuous noise, and truncates the
/// noise of the count.
pub struct LapGraph;

/// What LapGraph reads of `[privatize.links]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Budget of the release, in nats per link.
    pub epsilon: Epsilon,
    /// Share of the budget that the number of links costs, between 0 and 1; the published code has 0.01.
    #[serde(default = "one_per_cent")]
    pub count_share: f64,
}

fn one_per_cent() -> f64 {
    0.01
}

impl Params {
    /// Whether the share makes sense, and integer noise can represent both budgets.
    ///
    /// # Errors
    /// Names the share or the budget, and its range.
    pub fn check(&self) -> Result<(), Error> {
        let is_share = self.count_share > 0.0 && self.count_share < 1.0;
        if !is_share {
            return Err(Error::CountShare(self.count_share));
        }
        if self.epsilon.nats().is_finite() {
            let [count, pairs] = self.budgets();
            Rate::at_most(count).ok_or(Error::GraphBudget(count))?;
            rate_of_pairs(pairs)?;
        }
        Ok(())
    }

    /// Budgets of the count and of the pairs, in nats.
    fn budgets(&self) -> [f64; 2] {
        let epsilon = self.epsilon.nats();
        if epsilon.is_infinite() {
            return [epsilon; 2];
        }
        let count = self.count_share * epsilon;
        [count, epsilon - count]
    }
}

impl Stage for LapGraph {
    const STAGE: &'static str = "privatize";
    const TASK: &'static str = "lapgraph";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = Params;
    type Inputs = (Private<AdjacencyList>,);
    type Outputs = (WeightedGraph,);
    type Error = Error;

    fn releases(params: &Params) -> Vec<Release> {
        let [count, pairs] = params.budgets();
        let mut releases = releases_of_graph("discrete Laplace on the number of links", count, ONE_BIT_PER_LINK);
        releases.extend(releases_of_graph("discrete Laplace on every pair", pairs, ONE_BIT_PER_LINK));
        releases
    }

    fn check_params(params: &Params) -> Result<(), Error> {
        params.check()
    }

    fn run(
        (Private(links),): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        params.check()?;
        let kept = if params.epsilon.nats().is_infinite() {
            links.links().collect()
        } else {
            let [count, pairs] = params.budgets();
            let rate = Rate::at_most(count).ok_or(Error::GraphBudget(count))?;
            let noise = discrete_laplace(rate, &mut rng.stream(&format!("lapgraph count {count:?}"), 0));
            let pairs = Pairs::new(&links, pairs)?;
            // Fewer pairs than none, or more than all, cannot be kept.
            let n_kept = (links.n_links() as i64).saturating_add(noise).clamp(0, pairs.count as i64) as usize;
            pairs.largest(n_kept, pairs.threshold(n_kept), rng)
        };
        let listed = kept.into_iter().map(|(i, j)| (i, j, 1.0)).collect();
        Ok((WeightedGraph::undirected(Construction::Given, links.n_nodes(), listed),))
    }
}

/// Steps of the noise to one.
const STEPS: i64 = 1024;

/// Least budget of the pairs, in nats, and the share of it that is left for the rounding of [`Pairs`].
const LEAST: f64 = 1.0 / 65_536.0;
const SLACK: f64 = 1.0 / 8_192.0;

/// The decay of the noise on pairs that cost `epsilon` nats, per step.
fn rate_of_pairs(epsilon: f64) -> Result<Rate, Error> {
    let rate = Rate::finely_at_most(epsilon * (1.0 - SLACK) / STEPS as f64).filter(|_| epsilon >= LEAST);
    rate.ok_or(Error::GraphBudget(epsilon))
}

/// A threshold is reached with at least this probability, which is executed in steps of `2^-64` and then rounded up by a factor
/// below `1 + 2^-31`.
const LEAST_REACHED: f64 = 1.0 / (1_u64 << 33) as f64;

/// All pairs of nodes with the noise that they get.
///
/// # Privacy
/// A pair's sum is `STEPS` times its bit, plus integer noise `x` with `P(x) ∝ exp(-|x| rate)`. Whatever the sum, it is at
/// most `exp(STEPS rate)` times as likely with one bit as with the other.
///
/// A link's noise is drawn as such. Of the pairs without a link only those whose noise reaches a threshold are drawn, as
/// long as they are enough: each is one with the probability of that event, and its noise above the threshold is drawn
/// by the same sampler. That probability is rounded up by a factor below `1 + 2^-30`, so that a sum may be likelier, or
/// less likely, by so much. The rate is therefore that of a budget which is smaller by a factor of `1 - 2^-13`: this
/// leaves at least `2^-29` nats for the rounding.
struct Pairs<'a> {
    links: &'a AdjacencyList,
    /// Number of pairs.
    count: u64,
    epsilon: f64,
    rate: Rate,
}

/// A pair with its sum, in steps, and a word that orders equal sums.
struct Sum {
    steps: i64,
    tie: u64,
    pair: (u32, u32),
}

impl<'a> Pairs<'a> {
    fn new(links: &'a AdjacencyList, epsilon: f64) -> Result<Self, Error> {
        let rate = rate_of_pairs(epsilon)?;
        let n = links.n_nodes() as u64;
        Ok(Self { links, count: n * n.saturating_sub(1) / 2, epsilon, rate })
    }

    /// The largest noise, at least 1, that so many pairs without a link reach that `n_kept` sums lie above it, but for a
    /// chance below `e^-40`; none where every pair has to be drawn. It depends on released numbers alone.
    fn threshold(&self, n_kept: usize) -> Option<i64> {
        let wanted = n_kept as f64 + 10.0 * (n_kept as f64).sqrt() + 100.0;
        let wanted = wanted.max(LEAST_REACHED * self.count as f64);
        let rate = self.rate.nats();
        let threshold = (libm::log(self.count as f64 / wanted) - libm::log1p(libm::exp(-rate))) / rate;
        (threshold >= 1.0).then_some(threshold as i64)
    }

    /// The `n_kept` pairs with the largest sums, in ascending order. The threshold decides how they are found, and not
    /// with which probability.
    fn largest(&self, n_kept: usize, threshold: Option<i64>, rng: &StageRng) -> Vec<(u32, u32)> {
        let purpose = |part: &str| format!("lapgraph {part} {:?}", self.epsilon);
        let mut noise = rng.stream(&purpose("links"), 0);
        let linked =
            self.links.links().map(|pair| (STEPS.saturating_add(discrete_laplace(self.rate, &mut noise)), pair));
        let mut sums: Vec<(i64, (u32, u32))> = linked.collect();
        let unlinked: Vec<Vec<(i64, (u32, u32))>> = match threshold {
            Some(threshold) => {
                let response = RandomizedResponse::with_probability(self.reached(threshold), self.links.n_nodes());
                let purpose = purpose("pairs that reach the threshold");
                let row = |node: usize| self.above(node, threshold, &response, &mut rng.stream(&purpose, node as u64));
                (0..self.links.n_nodes()).into_par_iter().map(row).collect()
            }
            None => vec![Vec::new(); self.links.n_nodes()],
        };
        let least = threshold.unwrap_or(i64::MAX);
        let n_above = sums.iter().filter(|sum| sum.0 >= least).count() + unlinked.iter().map(Vec::len).sum::<usize>();
        if n_above < n_kept {
            let purpose = purpose("pairs below the threshold");
            let row = |(node, known): (usize, &Vec<_>)| {
                self.below(node, threshold, known, &mut rng.stream(&purpose, node as u64))
            };
            sums.par_extend(unlinked.par_iter().enumerate().flat_map_iter(row));
        }
        sums.extend(unlinked.into_iter().flatten());
        let mut ties = rng.stream(&purpose("ties"), 0);
        let mut sums: Vec<Sum> =
            sums.into_iter().map(|(steps, pair)| Sum { steps, tie: ties.random(), pair }).collect();
        if n_kept < sums.len() {
            sums.select_nth_unstable_by(n_kept, |a, b| (b.steps, b.tie, b.pair).cmp(&(a.steps, a.tie, a.pair)));
            sums.truncate(n_kept);
        }
        let mut kept: Vec<(u32, u32)> = sums.into_iter().map(|sum| sum.pair).collect();
        kept.sort_unstable();
        kept
    }

    /// Probability that noise reaches a threshold of at least 1, rounded up.
    fn reached(&self, threshold: i64) -> f64 {
        let rate = self.rate.nats();
        let probability = libm::exp(-rate * threshold as f64) / (1.0 + libm::exp(-rate));
        // The factor covers the rounding of two exponentials, some 2^-47 for the thresholds that `threshold` gives.
        probability * (1.0 + libm::exp2(-40.0))
    }

    /// Noise of the pairs of `node` with smaller nodes that have no link and reach the threshold.
    fn above(
        &self,
        node: usize,
        threshold: i64,
        response: &RandomizedResponse,
        rng: &mut impl Rng,
    ) -> Vec<(i64, (u32, u32))> {
        let reaching = response.noisy_list(node as u32, &[], rng).into_iter();
        let pairs = reaching.take_while(|&other| (other as usize) < node);
        let unlinked = pairs.filter(|&other| !self.links.contains(node, other));
        unlinked.map(|other| (threshold + self.excess(rng), (other, node as u32))).collect()
    }

    /// Noise of the other pairs of `node` with smaller nodes that have no link, which lies below the threshold.
    fn below(
        &self,
        node: usize,
        threshold: Option<i64>,
        known: &[(i64, (u32, u32))],
        rng: &mut impl Rng,
    ) -> Vec<(i64, (u32, u32))> {
        let is_known = |other: u32| known.binary_search_by_key(&other, |sum| sum.1.0).is_ok();
        let pairs = (0..node as u32).filter(|&other| !self.links.contains(node, other) && !is_known(other));
        let mut noise = || loop {
            let noise = discrete_laplace(self.rate, rng);
            if threshold.is_none_or(|threshold| noise < threshold) {
                return noise;
            }
        };
        pairs.map(|other| (noise(), (other, node as u32))).collect()
    }

    /// By how much noise exceeds a threshold of at least 1 that it reaches: `P(k) ∝ exp(-k rate)` from 0.
    fn excess(&self, rng: &mut impl Rng) -> i64 {
        loop {
            let noise = discrete_laplace(self.rate, rng);
            if noise >= 1 {
                return noise - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
