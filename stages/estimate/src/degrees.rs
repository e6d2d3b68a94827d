//! This module goes from noisy degrees to the degrees that the prior is fitted to.

mod bits;

use serde::{Deserialize, Serialize};
use veilgraph_posterior::LinkEvidence;
use veilgraph_privacy::NoisyDegrees;

use bits::{Noise, Observed};

/// Says how the server reads noisy degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Degrees {
    /// Degrees are moved into `[1, n − 2]`, as the paper does. Where noise is large this pulls many degrees up to 1,
    /// and their sum far up.
    #[default]
    Clipped,
    /// Each degree is replaced by its mean, given its report and the distribution of all degrees, which is estimated
    /// from the reports themselves.
    EmpiricalBayes,
    /// Each degree is replaced by its mean, given also in how many of the node's pairs both nodes claim a link. No
    /// report of a degree is needed. It should be used with `match`, because otherwise the evidence counts these claims
    /// a second time.
    #[serde(rename = "empirical-bayes+bits")]
    EmpiricalBayesBits,
}

/// Holds what the reports say about degrees.
pub(crate) struct UsedDegrees {
    /// The degree of every node, `[n_nodes]`, in links, inside `(0, n − 1]`. Missing nodes have the mean of the others.
    pub degrees: Vec<f64>,
    /// The variance of the true degrees over the square of their mean, as far as the reports tell.
    pub squared_variation: f64,
}

impl UsedDegrees {
    /// Returns the degrees inside `(0, n − 2]`, because no beta model has a node that is linked to all others.
    pub(crate) fn for_prior(&self) -> Vec<f64> {
        let most = self.degrees.len() as f64 - 2.0;
        self.degrees.iter().map(|degree| degree.min(most)).collect()
    }
}

/// Returns what these reports and this evidence say about degrees.
pub(crate) fn used(reports: &NoisyDegrees, evidence: &LinkEvidence, how: Degrees) -> UsedDegrees {
    let most = (reports.n_nodes - 2) as f64;
    let Estimates { means: sent, squared_variation } = match how {
        Degrees::Clipped => Estimates::exact(reports.degrees.iter().map(|degree| degree.clamp(1.0, most)).collect()),
        // Without bits there are no double claims.
        Degrees::EmpiricalBayesBits if reports.facts.budget.links > 0.0 => return with_bits(reports, evidence),
        Degrees::EmpiricalBayes | Degrees::EmpiricalBayesBits => {
            posterior_means(&reports.degrees, reports.facts.budget.degree, most)
        }
    };
    let nodes = reports.senders.iter().map(|&node| node as usize);
    UsedDegrees { degrees: of_all_nodes(reports.n_nodes, nodes, &sent), squared_variation }
}

/// Returns the degrees of all nodes from those of some; the others get their mean.
fn of_all_nodes(n_nodes: usize, nodes: impl Iterator<Item = usize>, sent: &[f64]) -> Vec<f64> {
    let most = (n_nodes - 1) as f64;
    let mean = if sent.is_empty() { 1.0 } else { sent.iter().sum::<f64>() / sent.len() as f64 };
    let mut degrees = vec![mean.clamp(LEAST, most); n_nodes];
    nodes.zip(sent).for_each(|(node, degree)| degrees[node] = degree.clamp(LEAST, most));
    degrees
}

/// Holds estimated degrees, and how much the true ones vary.
pub(crate) struct Estimates {
    /// The expected degree of each node, given what is observed of it, `[nodes]`, in links.
    pub means: Vec<f64>,
    /// The variance of the true degrees over the square of their mean.
    pub squared_variation: f64,
}

impl Estimates {
    /// Takes the degrees for true ones.
    fn exact(degrees: Vec<f64>) -> Self {
        let mass = vec![1.0 / degrees.len().max(1) as f64; degrees.len()];
        Self { squared_variation: squared_variation(&mass, &degrees), means: degrees }
    }
}

/// Returns the variance of a distribution over the square of its mean; 0 where the mean is 0.
///
/// # Shapes
/// `mass` and `values`: `[points]`, where `mass` sums to 1.
fn squared_variation(mass: &[f64], values: &[f64]) -> f64 {
    let moment = |power: i32| -> f64 { mass.iter().zip(values).map(|(mass, value)| mass * value.powi(power)).sum() };
    let (mean, mean_square) = (moment(1), moment(2));
    if mean > 0.0 { (mean_square / (mean * mean) - 1.0).max(0.0) } else { 0.0 }
}

/// Returns the degrees that follow from reports and double claims. A double claim is a pair that both of its nodes
/// reported as linked.
fn with_bits(reports: &NoisyDegrees, evidence: &LinkEvidence) -> UsedDegrees {
    let mut double_claims = vec![0; reports.n_nodes];
    for i in 0..reports.n_nodes {
        for j in evidence.double_claims(i) {
            double_claims[i] += 1;
            double_claims[j as usize] += 1;
        }
    }
    let budget = reports.facts.budget;
    let n_senders = if reports.were_sent() { reports.senders.len() } else { reports.n_nodes };
    let (epsilon_links, epsilon_degree) = (budget.links, budget.degree);
    let noise = Noise { epsilon_links, epsilon_degree, n_nodes: reports.n_nodes, n_senders };
    let observe = |node: usize, report| Observed { report, double_claims: double_claims[node] };
    let (nodes, observed): (Vec<usize>, Vec<Observed>) = if reports.were_sent() {
        let sent = reports.senders.iter().zip(&reports.degrees);
        sent.map(|(&node, &report)| (node as usize, observe(node as usize, Some(report)))).unzip()
    } else {
        (0..reports.n_nodes).map(|node| (node, observe(node, None))).unzip()
    };
    let Estimates { means, squared_variation } = bits::posterior_means(&observed, noise, (reports.n_nodes - 1) as f64);
    UsedDegrees { degrees: of_all_nodes(reports.n_nodes, nodes.into_iter(), &means), squared_variation }
}

/// The budget times how far a report may be from all degrees, in nats: 64 bits hold `e^{-600}` and its inverse, with room for sums.
const FARTHEST: f64 = 600.0;

/// No degree is smaller, because a beta model has no node of degree zero.
const LEAST: f64 = 1e-2;

/// Estimates `E[d | report]` for each report, under the distribution of degrees that makes all reports likeliest.
///
/// The distribution is a mixture of point masses on a grid of integers and is fitted by expectation maximization. A
/// report is its degree plus Laplace noise, so it has the likelihood `e^{-ε |report − d|}` up to a factor.
///
/// # Shapes
/// `reports`: `[reports]`, links. The means have the same shape.
///
/// # Privacy
/// The reports are all that is read, so this is post-processing and costs no budget.
///
/// # Complexity
/// `O(reports log reports)`, and `O(distinct reports + grid)` for each of 300 iterations, because sums of
/// `e^{-ε |x − y|}` are running sums.
///
/// # Source
/// Kiefer, Wolfowitz (1956) and Laird (1978), nonparametric maximum likelihood of a mixing distribution.
fn posterior_means(reports: &[f64], epsilon: f64, most: f64) -> Estimates {
    const ITERATIONS: usize = 300;
    if epsilon.is_infinite() || reports.is_empty() {
        return Estimates::exact(reports.to_vec());
    }
    let largest = reports.iter().fold(1.0, |largest, &report| report.max(largest));
    let grid = grid(largest.min(most.max(1.0)), epsilon);
    // Beyond all degrees, a report says the same of each of them wherever it lies, so it may be moved as near as its likelihood
    // needs for not being rounded to 0. A node that lies may send any number.
    let beyond = FARTHEST / epsilon;
    let last = grid.last().copied().unwrap_or(1.0);
    let reports: Vec<f64> = reports.iter().map(|report| report.clamp(-beyond, last + beyond)).collect();
    let mut distinct = reports.clone();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup();
    let place_of = |report: f64| distinct.partition_point(|&x| x < report);
    let mut counts = vec![0.0; distinct.len()];
    reports.iter().for_each(|&report| counts[place_of(report)] += 1.0);
    let mut mass = vec![1.0 / grid.len() as f64; grid.len()];
    for _ in 0..ITERATIONS {
        let likelihood = laplace_sums(&grid, &mass, &distinct, epsilon);
        let ratios: Vec<f64> = counts.iter().zip(&likelihood).map(|(count, likelihood)| count / likelihood).collect();
        let gains = laplace_sums(&distinct, &ratios, &grid, epsilon);
        mass.iter_mut().zip(gains).for_each(|(mass, gain)| *mass *= gain / reports.len() as f64);
    }
    let likelihood = laplace_sums(&grid, &mass, &distinct, epsilon);
    let weighted: Vec<f64> = mass.iter().zip(&grid).map(|(mass, degree)| mass * degree).collect();
    let sums = laplace_sums(&grid, &weighted, &distinct, epsilon);
    let means = reports.iter().map(|&report| place_of(report)).map(|at| sums[at] / likelihood[at]).collect();
    Estimates { means, squared_variation: squared_variation(&mass, &grid) }
}

/// Returns integers from 0 to about `most`: every one at first, then in steps of 6 % that stay below half the scale of
/// the noise.
fn grid(most: f64, epsilon: f64) -> Vec<f64> {
    let step = |degree: f64| (0.06 * degree).min(0.5 / epsilon).floor().max(1.0);
    let degrees = std::iter::successors(Some(0.0), |&degree| Some(degree + step(degree)));
    degrees.take_while(|&degree| degree <= most + step(most)).collect()
}

/// Returns `Σ_k weights_k e^{-ε |to_l − from_k|}` for each `l`; both lists ascend.
///
/// A first pass sums over the points at or below each `to_l`, and a second pass, downwards, over those above it.
///
/// # Shapes
/// `from` and `weights`: `[k]`; `to`: `[l]`. Returns `[l]`.
fn laplace_sums(from: &[f64], weights: &[f64], to: &[f64], epsilon: f64) -> Vec<f64> {
    let decay = |distance: f64| libm::exp(-epsilon * distance);
    let mut sums = vec![0.0; to.len()];
    // `running` is the sum at the point `at`. Before any point was added it is 0 and `at` is infinitely far away; it
    // must then not be multiplied by the decay, which is NaN for ε = 0, where it is e^{-0 · ∞}.
    let (mut running, mut at, mut next) = (0.0, f64::NEG_INFINITY, 0);
    for (sum, &point) in sums.iter_mut().zip(to) {
        if running != 0.0 {
            running *= decay(point - at);
        }
        while next < from.len() && from[next] <= point {
            running += weights[next] * decay(point - from[next]);
            next += 1;
        }
        (*sum, at) = (running, point);
    }
    let (mut running, mut at, mut next) = (0.0, f64::INFINITY, from.len());
    for (sum, &point) in sums.iter_mut().zip(to).rev() {
        if running != 0.0 {
            running *= decay(at - point);
        }
        while next > 0 && from[next - 1] > point {
            next -= 1;
            running += weights[next] * decay(from[next] - point);
        }
        *sum += running;
        at = point;
    }
    sums
}

#[cfg(test)]
mod tests;
