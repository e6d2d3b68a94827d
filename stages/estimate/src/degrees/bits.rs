//! This module estimates degrees from noisy reports and from double claims.
//!
//! A claim is a report of a node that one of its pairs is linked, and a double claim is a pair that both of its nodes
//! claim. A pair that only one of its nodes claims is as likely linked as before: one of the two bits is wrong, and
//! nothing tells which. So a node's double claims carry nearly all that the noisy bits say about its degree.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::degrees::{Estimates, grid, squared_variation};

/// Holds what is observed of a node: its noisy degree, if it sent one, and the number of its double claims.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Observed {
    pub report: Option<f64>,
    pub double_claims: u32,
}

/// Says how the observations were made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noise {
    /// Each bit was sent with this budget, in nats.
    pub epsilon_links: f64,
    /// Each degree was sent with this budget, in nats.
    pub epsilon_degree: f64,
    /// The graph has this many nodes.
    pub n_nodes: usize,
    /// This many of them sent a report. A pair with a node that sent none is never claimed by both.
    pub n_senders: usize,
}

/// Estimates `E[d | observed]` for each node, under the distribution of degrees that makes all observations likeliest.
///
/// A node with `d` neighbours among the `s` senders has `Bin(d, (1 − p)²) + Bin(s − 1 − d, p²)` double claims, where `p` is
/// the probability that a bit is flipped. Its degree is taken for `d (n − 1) / (s − 1)`, as if who sends had nothing to do
/// with links, and its report is that and Laplace noise. The distribution of `d` is a mixture of point masses on a grid
/// and is fitted by expectation maximization. Claims about different nodes are treated as independent.
///
/// # Shapes
/// `observed`: `[nodes]`. The means are `[nodes]`, links, on a grid up to `most`.
///
/// # Complexity
/// `O(distinct observations · degrees near them)` for each of 300 iterations.
///
/// # Source
/// Warner (1965) for the law of one bit; Kiefer, Wolfowitz (1956) and Laird (1978) for the distribution.
pub(crate) fn posterior_means(observed: &[Observed], noise: Noise, most: f64) -> Estimates {
    const ITERATIONS: usize = 300;
    // A single sender has no pair to claim.
    let n_others = (noise.n_senders as u64).saturating_sub(1);
    let claims = DoubleClaims::new(noise.epsilon_links, n_others);
    let scale = (noise.n_nodes - 1) as f64 / n_others.max(1) as f64;
    if claims.flip == 0.0 {
        return Estimates::exact(observed.iter().map(|seen| scale * f64::from(seen.double_claims)).collect());
    }
    let mut groups: BTreeMap<GroupKey, Group> = BTreeMap::new();
    for seen in observed {
        groups.entry(seen.key()).or_insert(Group { observed: *seen, count: 0.0 }).count += 1.0;
    }
    let largest = observed.iter().map(|seen| claims.degree(seen.double_claims).max(seen.report.unwrap_or(0.0) / scale));
    let finest = (scale * noise.epsilon_degree).max(1.0 / claims.spread(0.0));
    let mut neighbours = grid(largest.fold(1.0, f64::max).min(most / scale), finest);
    // The grid ends a step beyond the largest degree, and no node has more neighbours than there are others.
    neighbours.retain(|&neighbours| neighbours <= n_others as f64);
    let rows = likelihoods(&groups, &neighbours, claims, scale, noise.epsilon_degree);
    let mut mass = vec![1.0 / neighbours.len() as f64; neighbours.len()];
    for _ in 0..ITERATIONS {
        let mut gains = vec![0.0; mass.len()];
        for (row, Group { count, .. }) in rows.iter().zip(groups.values()) {
            let total: f64 = row.terms.iter().zip(&mass[row.first..]).map(|(term, mass)| term * mass).sum();
            if total > 0.0 {
                let share = count / total / observed.len() as f64;
                gains[row.first..].iter_mut().zip(&row.terms).for_each(|(gain, term)| *gain += share * term);
            }
        }
        mass.iter_mut().zip(gains).for_each(|(mass, gain)| *mass *= gain);
    }
    let means = rows.iter().zip(groups.values()).map(|(row, Group { observed, .. })| {
        let (mut total, mut sum) = (0.0, 0.0);
        for ((term, mass), neighbours) in row.terms.iter().zip(&mass[row.first..]).zip(&neighbours[row.first..]) {
            total += term * mass;
            sum += term * mass * neighbours;
        }
        scale * if total > 0.0 { sum / total } else { claims.degree(observed.double_claims) }
    });
    let means: BTreeMap<GroupKey, f64> = groups.keys().copied().zip(means).collect();
    let means = observed.iter().map(|seen| means[&seen.key()]).collect();
    Estimates { means, squared_variation: squared_variation(&mass, &neighbours) }
}

/// Identifies equal observations: the bits of the report, if there is one, and the number of double claims.
type GroupKey = (u64, u32);

/// Describes a group of nodes with equal observations.
struct Group {
    observed: Observed,
    /// The group has this many nodes.
    count: f64,
}

impl Observed {
    /// Returns the group of this observation.
    fn key(&self) -> GroupKey {
        (self.report.map_or(u64::MAX, f64::to_bits), self.double_claims)
    }
}

/// Holds the likelihood of one observation at the degrees around it, up to a factor.
struct Likelihoods {
    /// The first of these degrees has this position in the grid.
    first: usize,
    /// Each of these degrees has one term.
    terms: Vec<f64>,
}

/// Returns the likelihoods of each group's observation at the numbers of neighbours of the grid, in the order of the
/// groups. A degree is `scale` times as large.
fn likelihoods(
    groups: &BTreeMap<GroupKey, Group>,
    neighbours: &[f64],
    claims: DoubleClaims,
    scale: f64,
    epsilon: f64,
) -> Vec<Likelihoods> {
    /// Terms below e^-40 of the largest are left out, because they change no mean.
    const NEGLIGIBLE: f64 = -40.0;
    let mut counts: Vec<u32> = groups.values().map(|group| group.observed.double_claims).collect();
    counts.sort_unstable();
    counts.dedup();
    // `tables[place][at]` is the logarithm of the likelihood of `counts[at]` at `neighbours[place]`. `by_count[at][place]` is the
    // same, because one observation reads one count at all places.
    let tables: Vec<Vec<f64>> =
        neighbours.par_iter().map(|&number| claims.log_likelihoods(number as u64, &counts)).collect();
    let of_count = |at: usize| tables.iter().map(|table| table[at]).collect();
    let by_count: Vec<Vec<f64>> = (0..counts.len()).map(of_count).collect();
    drop(tables);
    let row = |seen: &Observed| {
        let at = counts.partition_point(|&count| count < seen.double_claims);
        let doubt = |number: f64| seen.report.map_or(0.0, |report| epsilon * (report - scale * number).abs());
        let logs: Vec<f64> = neighbours.iter().zip(&by_count[at]).map(|(&number, log)| log - doubt(number)).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_near = |log: &f64| log - most > NEGLIGIBLE;
        let first = logs.iter().position(is_near).unwrap_or(0);
        let last = logs.iter().rposition(is_near).unwrap_or(0);
        Likelihoods { first, terms: logs[first..=last].iter().map(|log| libm::exp(log - most)).collect() }
    };
    let observed: Vec<&Observed> = groups.values().map(|group| &group.observed).collect();
    observed.into_par_iter().map(row).collect()
}

/// This is the law of a node's double claims: `Bin(d, (1 − p)²) + Bin(s − 1 − d, p²)` for a node with `d` neighbours among
/// `s` senders.
#[derive(Clone, Copy, Debug)]
struct DoubleClaims {
    /// A bit is flipped with this probability, `p = 1 / (1 + e^ε)`.
    flip: f64,
    /// The node has this many possible partners, `s − 1`.
    n_others: u64,
}

impl DoubleClaims {
    /// Returns the law for bits that were sent with this budget, for a node with this many possible partners.
    fn new(epsilon: f64, n_others: u64) -> Self {
        Self { flip: 1.0 / (1.0 + libm::exp(epsilon)), n_others }
    }

    /// Returns the probabilities that both nodes claim a link that is there, and one that is not.
    fn claim_probabilities(self) -> [f64; 2] {
        [(1.0 - self.flip) * (1.0 - self.flip), self.flip * self.flip]
    }

    /// Returns the degree of which this many double claims are expected, or 0 if it is negative.
    fn degree(self, double_claims: u32) -> f64 {
        let [linked, unlinked] = self.claim_probabilities();
        ((f64::from(double_claims) - self.n_others as f64 * unlinked) / (linked - unlinked).max(1e-9)).max(0.0)
    }

    /// Returns the standard deviation of [`Self::degree`] for a node of this degree.
    fn spread(self, degree: f64) -> f64 {
        let [linked, unlinked] = self.claim_probabilities();
        let variance = degree * linked * (1.0 - linked) + (self.n_others as f64 - degree) * unlinked * (1.0 - unlinked);
        variance.sqrt() / (linked - unlinked).max(1e-9)
    }

    /// Returns the logarithm of the probability of each of `counts` double claims, for a node of this degree.
    ///
    /// # Shapes
    /// `counts`: `[counts]`. Returns `[counts]`.
    fn log_likelihoods(self, degree: u64, counts: &[u32]) -> Vec<f64> {
        let [linked, unlinked] = self.claim_probabilities();
        let (true_claims, false_claims) =
            (Binomial::new(degree, linked), Binomial::new(self.n_others - degree, unlinked));
        let probability = |count: u64| -> f64 {
            let sum = true_claims.probabilities.iter().zip(true_claims.first..).map(|(probability, of_links)| {
                let rest = count.checked_sub(of_links).and_then(|rest| rest.checked_sub(false_claims.first));
                probability * rest.and_then(|rest| false_claims.probabilities.get(rest as usize)).unwrap_or(&0.0)
            });
            sum.sum()
        };
        counts.iter().map(|&count| libm::log(probability(count.into()))).collect()
    }
}

/// Holds the probabilities of the likely values of a binomial variable.
struct Binomial {
    /// The first of these values is this one.
    first: u64,
    /// Each of these values has one probability.
    probabilities: Vec<f64>,
}

impl Binomial {
    /// Returns the probabilities of `Bin(n, share)`: `n! / (k! (n − k)!) share^k (1 − share)^(n − k)`.
    fn new(n: u64, share: f64) -> Self {
        let size = n as f64;
        let (mean, spread) = (size * share, (size * share * (1.0 - share)).sqrt());
        // Values farther from the mean than 12 standard deviations and 40 events together have less than 1e-17.
        let reach = 12.0 * spread + 40.0;
        let (first, last) = ((mean - reach).max(0.0) as u64, (mean + reach).min(size) as u64);
        let constant = libm::lgamma(size + 1.0);
        let log = |k: f64| {
            let ways = constant - libm::lgamma(k + 1.0) - libm::lgamma(size - k + 1.0);
            // A power 0^0 is 1, so its logarithm 0 · ln 0 is 0 and not NaN.
            let powers = |k: f64, share: f64| if k == 0.0 { 0.0 } else { k * libm::log(share) };
            ways + powers(k, share) + powers(size - k, 1.0 - share)
        };
        Self { first, probabilities: (first..=last).map(|k| libm::exp(log(k as f64))).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_of_double_claims_is_that_of_its_two_sums() {
        let claims = DoubleClaims::new(1.5, 399);
        let [linked, unlinked] = claims.claim_probabilities();
        let counts: Vec<u32> = (0..400).collect();
        let probabilities: Vec<f64> = claims.log_likelihoods(30, &counts).into_iter().map(libm::exp).collect();
        let moment = |power: i32, about: f64| -> f64 {
            let terms = probabilities.iter().zip(&counts).map(|(p, &count)| p * (f64::from(count) - about).powi(power));
            terms.sum()
        };
        let mean = 30.0 * linked + 369.0 * unlinked;
        let variance = 30.0 * linked * (1.0 - linked) + 369.0 * unlinked * (1.0 - unlinked);
        assert!((moment(0, 0.0) - 1.0).abs() < 1e-12, "{}", moment(0, 0.0));
        assert!((moment(1, 0.0) - mean).abs() < 1e-9);
        assert!((moment(2, mean) - variance).abs() < 1e-9);
        assert!((claims.degree(mean.round() as u32) - 30.0).abs() < 1.0);
    }

    fn noise(epsilon_links: f64, epsilon_degree: f64) -> Noise {
        Noise { epsilon_links, epsilon_degree, n_nodes: 200, n_senders: 200 }
    }

    /// Without noise on bits, who sends sees its neighbours among those who do, and the others are as many in proportion.
    #[test]
    fn neighbours_that_send_nothing_are_counted_in_proportion() {
        let observed: Vec<Observed> = (0..100).map(|k| Observed { report: None, double_claims: 3 + k % 5 }).collect();
        let sent = Noise { n_senders: 100, ..noise(12.0, 0.0) };
        for (mean, seen) in posterior_means(&observed, sent, 198.0).means.iter().zip(&observed) {
            let expected = f64::from(seen.double_claims) * 199.0 / 99.0;
            assert!((mean - expected).abs() < 0.05, "{mean} and not {expected}");
        }
    }

    /// Hubs and small graphs at small budgets, where the grid used to reach beyond the number of nodes.
    #[test]
    fn no_node_has_more_neighbours_than_there_are_others() {
        for (n_nodes, double_claims) in [(40_usize, 39_u32), (40, 20), (200, 199), (5, 4), (3, 2)] {
            for epsilon_links in [0.05, 0.3, 1.0, 2.0] {
                let observed: Vec<Observed> = (0..n_nodes).map(|_| Observed { report: None, double_claims }).collect();
                let noise = Noise { epsilon_links, epsilon_degree: 0.0, n_nodes, n_senders: n_nodes };
                let most = (n_nodes - 2) as f64;
                let means = posterior_means(&observed, noise, most).means;
                assert!(means.iter().all(|&mean| (0.0..n_nodes as f64).contains(&mean)), "{n_nodes} {epsilon_links}");
            }
        }
    }

    /// With a large budget of bits, double claims are the degree; with hardly any, the reports alone decide.
    #[test]
    fn the_surer_observation_wins() {
        let seen = |report: f64, double_claims| Observed { report: Some(report), double_claims };
        let observed: Vec<Observed> = (0..200).map(|k| seen(f64::from(k % 10) + 3.0, k % 7)).collect();
        let sure = posterior_means(&observed, noise(12.0, 0.2), 198.0).means;
        for (mean, seen) in sure.iter().zip(&observed) {
            assert!((mean - f64::from(seen.double_claims)).abs() < 1e-2, "{mean} {seen:?}");
        }
        let none: Vec<Observed> = observed.iter().map(|seen| Observed { double_claims: 50, ..*seen }).collect();
        let by_reports = posterior_means(&none, noise(1e-9, 30.0), 198.0).means;
        for (mean, seen) in by_reports.iter().zip(&none) {
            assert!((mean - seen.report.expect("sent")).abs() < 1e-2, "{mean} {seen:?}");
        }
    }
}
