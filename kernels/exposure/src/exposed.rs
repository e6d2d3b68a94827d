//! How many links a server finds, and whose.

use crate::belief_after;
use crate::degree_model::{DegreeModel, HUBS};
use crate::signal::{Outcome, Signal};

/// What a server finds that reads reports as well as they can be read without features, labels or other graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exposure {
    /// Share of the links that are among the likeliest pairs, where the server names as many pairs as there are links.
    /// The precision of this list is the same number.
    pub found: f64,
    /// The same share of the links of hubs: of those with an end among the twentieth of nodes with most links.
    pub found_of_hubs: f64,
    /// The largest share of the links of hubs that a list of as many pairs as there are links can hold: that of a list of pairs
    /// with a hub alone.
    pub most_of_hubs: f64,
    /// The same share of the links of leaves: of those with both ends among the half of nodes with fewest links.
    pub found_of_leaves: f64,
    /// The pairs that the server believes to be linked more likely than not.
    pub likely: Named,
    /// The belief about a pair of two hubs that are known as such, before any report about the pair.
    pub hubs_before: f64,
    /// The same belief where all that is seen of the pair speaks for a link.
    pub hubs_after: f64,
}

/// Pairs that a server names as linked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Named {
    /// Share of the links that are named.
    pub found: f64,
    /// Share of the named pairs that are linked; 1 where none is named.
    pub precision: f64,
}

/// A kind of node, as it is and as the server sees it.
struct Kind {
    degree: f64,
    /// What the server takes its expected degree for.
    estimate: f64,
    /// Number of nodes of the kind.
    nodes: f64,
    is_hub: bool,
    is_leaf: bool,
}

/// Pairs of two kinds of which the server sees the same.
struct Cell {
    /// Log odds that the server gives to a link.
    logit: f64,
    /// Expected number of linked pairs.
    links: f64,
    /// Expected number of other pairs.
    others: f64,
    is_of_hub: bool,
    is_of_leaves: bool,
}

/// What a server finds that gets this signal about a graph of this model.
///
/// The server's log odds of a pair are `ln(λ̂ λ̂' / (n λ̄))`, where `λ̂` is the posterior mean of a node's expected degree, and
/// the nats of what it sees of the pair. Estimates of degrees are taken for normal about the true ones.
///
/// # Source
/// The posterior is that of Zhu, Tan, Xiao (2023), Blink, equation 13, with the prior odds of Chung, Lu (2002).
///
/// # Complexity
/// `O(k log k)` for `k` pairs of kinds times what may be seen of a pair: milliseconds, whatever the number of nodes.
#[must_use]
pub fn exposure(model: &DegreeModel, signal: &Signal) -> Exposure {
    let n = model.knowledge().nodes as f64;
    let total = n * model.knowledge().mean_degree;
    let outcomes = signal.outcomes();
    let kinds = kinds(model, signal, &outcomes);
    let mut cells = Vec::with_capacity(kinds.len() * (kinds.len() + 1) / 2 * outcomes.len());
    for (at, a) in kinds.iter().enumerate() {
        for (other, b) in kinds.iter().enumerate().skip(at) {
            let pairs = a.nodes * b.nodes * if at == other { 0.5 } else { 1.0 };
            let odds = a.degree * b.degree / total;
            let (linked, not) = (pairs * odds / (1.0 + odds), pairs / (1.0 + odds));
            let prior = libm::log(a.estimate * b.estimate / total);
            cells.extend(outcomes.iter().map(|seen| Cell {
                logit: prior + seen.nats,
                links: linked * seen.if_linked,
                others: not * seen.if_not,
                is_of_hub: a.is_hub || b.is_hub,
                is_of_leaves: a.is_leaf && b.is_leaf,
            }));
        }
    }
    cells.sort_unstable_by(|a, b| b.logit.total_cmp(&a.logit));
    let links: f64 = cells.iter().map(|cell| cell.links).sum();
    let of = |wanted: fn(&Cell) -> bool| -> Share {
        let mine = cells.iter().filter(|cell| wanted(cell));
        Share { all: mine.map(|cell| cell.links).sum(), found: 0.0 }
    };
    let mut all = of(|_| true);
    let (mut hubs, mut leaves) = (of(|cell| cell.is_of_hub), of(|cell| cell.is_of_leaves));
    let mut hubs_alone = of(|cell| cell.is_of_hub);
    let (mut room, mut room_for_hubs) = (links, links);
    // Of pairs that are equally likely, as many are taken as there is room for, in part from each of their kinds.
    for level in cells.chunk_by(|a, b| a.logit == b.logit) {
        let size = |wanted: fn(&Cell) -> bool| -> f64 {
            level.iter().filter(|cell| wanted(cell)).map(|cell| cell.links + cell.others).sum()
        };
        let taken = share_taken(&mut room, size(|_| true));
        let taken_of_hubs = share_taken(&mut room_for_hubs, size(|cell| cell.is_of_hub));
        for cell in level {
            hubs_alone.found += if cell.is_of_hub { taken_of_hubs * cell.links } else { 0.0 };
            all.found += taken * cell.links;
            hubs.found += if cell.is_of_hub { taken * cell.links } else { 0.0 };
            leaves.found += if cell.is_of_leaves { taken * cell.links } else { 0.0 };
        }
    }
    let mut named = (0.0, 0.0);
    for cell in cells.iter().take_while(|cell| cell.logit > 0.0) {
        named = (named.0 + cell.links, named.1 + cell.others);
    }
    let (right, wrong) = named;
    let precision = if right + wrong > 0.0 { right / (right + wrong) } else { 1.0 };
    let hub = model.typical_hub();
    let hubs_before = hub * hub / (total + hub * hub);
    let strongest = outcomes.first().map_or(0.0, |seen| seen.nats);
    Exposure {
        hubs_before,
        hubs_after: belief_after(hubs_before, strongest),
        found: all.share(),
        found_of_hubs: hubs.share(),
        most_of_hubs: hubs_alone.share(),
        found_of_leaves: leaves.share(),
        likely: Named { found: right / links, precision },
    }
}

/// The share of `size` pairs that there is room for, which is then filled.
fn share_taken(room: &mut f64, size: f64) -> f64 {
    let taken = if size > 0.0 { (*room / size).clamp(0.0, 1.0) } else { 1.0 };
    *room -= size;
    taken
}

/// A share of some links.
struct Share {
    all: f64,
    found: f64,
}

impl Share {
    fn share(&self) -> f64 {
        if self.all > 0.0 { self.found / self.all } else { 0.0 }
    }
}

/// Every kind of node of the model, once for each of a few errors of the server's estimate.
fn kinds(model: &DegreeModel, signal: &Signal, outcomes: &[Outcome]) -> Vec<Kind> {
    /// Errors in standard deviations. Steps of 1 integrate a normal law nearly exactly.
    const ERRORS: [f64; 5] = [-2.0, -1.0, 0.0, 1.0, 2.0];
    const LEAVES: f64 = 0.5;
    let n = model.knowledge().nodes as f64;
    let variances: Vec<f64> =
        model.degrees.iter().map(|&degree| signal.variance_of_degree(degree, n, outcomes)).collect();
    let errors: &[f64] = if signal.knows_degrees { &[0.0] } else { &ERRORS };
    let weights: Vec<f64> = errors.iter().map(|error| libm::exp(-error * error / 2.0)).collect();
    let total: f64 = weights.iter().sum();
    let mut below = 0.0;
    let mut kinds = Vec::with_capacity(model.degrees.len() * errors.len());
    for ((&degree, &share), &variance) in model.degrees.iter().zip(&model.shares).zip(&variances) {
        let middle = below + share / 2.0;
        below += share;
        for (error, weight) in errors.iter().zip(&weights) {
            kinds.push(Kind {
                degree,
                estimate: posterior_mean(degree + error * variance.sqrt(), model, &variances).unwrap_or(degree),
                nodes: n * share * weight / total,
                is_hub: middle > 1.0 - HUBS,
                is_leaf: middle < LEAVES,
            });
        }
    }
    kinds
}

/// The mean of a node's expected degree, given an unbiased normal estimate of it; none where nothing is near, or where
/// estimates are exact.
fn posterior_mean(estimate: f64, model: &DegreeModel, variances: &[f64]) -> Option<f64> {
    let (mut weight, mut sum) = (0.0, 0.0);
    for ((&degree, &share), &variance) in model.degrees.iter().zip(&model.shares).zip(variances) {
        if variance == 0.0 {
            return None;
        }
        let error = estimate - degree;
        let likelihood =
            if variance.is_infinite() { 1.0 } else { libm::exp(-error * error / (2.0 * variance)) / variance.sqrt() };
        weight += share * likelihood;
        sum += share * likelihood * degree;
    }
    (weight > 0.0).then(|| sum / weight)
}
