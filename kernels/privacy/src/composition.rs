//! What several releases cost together, and what one cost means under another relation.

use std::collections::BTreeMap;

use veilgraph_contract::{Cost, Relation, Release, Subject, Trust};

/// The cost of all these releases together, under each relation that one of them is stated for. What protects whole nodes protects
/// their own data too, so its cost is added to that of releases about own data.
///
/// # Source
/// Sequential composition: Dwork et al. (2006), Calibrating noise to sensitivity, for pure costs; [`compose`] for
/// others.
#[must_use]
pub fn totals<'a>(releases: impl IntoIterator<Item = &'a Release>) -> BTreeMap<Relation, Cost> {
    let mut totals: BTreeMap<Relation, Cost> = BTreeMap::new();
    for release in releases {
        let total = totals.remove(&release.relation);
        let total = total.map_or_else(|| release.cost.clone(), |before| compose(&before, &release.cost));
        totals.insert(release.relation, total);
    }
    if let (Some(own_data), Some(node)) = (totals.get(&Relation::OwnData), totals.get(&Relation::Node)) {
        let both = compose(own_data, node);
        totals.insert(Relation::OwnData, both);
    }
    totals
}

/// Total epsilon of these releases under `relation`, in nats; 0 if none of them is stated for it.
#[must_use]
pub fn total_epsilon<'a>(releases: impl IntoIterator<Item = &'a Release>, relation: Relation) -> f64 {
    totals(releases).get(&relation).map_or(0.0, Cost::epsilon)
}

/// The cost of two releases about the same data.
///
/// Pure costs add. Where both costs have curves of Rényi differential privacy (a pure cost has one at every order), these add at
/// the orders that both have, and the epsilon is the smaller one of what they give and of the sum.
///
/// # Source
/// Mironov (2017), Rényi differential privacy, proposition 1.
#[must_use]
pub fn compose(a: &Cost, b: &Cost) -> Cost {
    let (sum, dp_delta) = (a.epsilon() + b.epsilon(), a.dp_delta() + b.dp_delta());
    let rdp = match (a, b) {
        (Cost::Pure(_), Cost::Pure(_)) => return Cost::Pure(sum),
        (Cost::Approximate { rdp, .. }, Cost::Pure(epsilon)) | (Cost::Pure(epsilon), Cost::Approximate { rdp, .. }) => {
            rdp.iter().map(|&(order, cost)| (order, cost + rdp_of_pure(*epsilon, order))).collect()
        }
        (Cost::Approximate { rdp: a, .. }, Cost::Approximate { rdp: b, .. }) => added(a, b),
    };
    let epsilon = epsilon_of_rdp(&rdp, dp_delta).map_or(sum, |epsilon| epsilon.min(sum));
    Cost::Approximate { epsilon, dp_delta, rdp }
}

/// Sum of two curves at the orders that both have, which ascend.
fn added(a: &[(f64, f64)], b: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let at = |order: f64| b.binary_search_by(|point| point.0.total_cmp(&order)).ok().map(|at| b[at].1);
    a.iter().filter_map(|&(order, nats)| Some((order, nats + at(order)?))).collect()
}

/// Rényi differential privacy of order `order > 1` that pure `epsilon`-differential privacy implies:
/// `min(ε, order ε² / 2)`.
///
/// # Source
/// Bun, Steinke (2016), Concentrated differential privacy, proposition 3.
#[must_use]
pub fn rdp_of_pure(epsilon: f64, order: f64) -> f64 {
    epsilon.min(order * epsilon * epsilon / 2.0)
}

/// The smallest epsilon at `dp_delta` that a curve of points `(order, epsilon)` gives:
/// `min over orders of ε(order) + ln(1 - 1/order) - ln(dp_delta order) / (order - 1)`, and 0 at least.
///
/// None if the curve is empty or `dp_delta` is not positive: then no such epsilon exists.
///
/// # Source
/// Canonne, Kamath, Steinke (2020), The discrete Gaussian, proposition 12.
#[must_use]
pub fn epsilon_of_rdp(curve: &[(f64, f64)], dp_delta: f64) -> Option<f64> {
    if dp_delta <= 0.0 {
        return None;
    }
    let at = |&(order, epsilon): &(f64, f64)| {
        epsilon + libm::log1p(-1.0 / order) - libm::log(dp_delta * order) / (order - 1.0)
    };
    curve.iter().map(at).min_by(f64::total_cmp).map(|epsilon| epsilon.max(0.0))
}

/// The cost for inputs that differ in up to `steps` neighbouring steps, if one step has a pure cost of `epsilon`.
///
/// # Source
/// Group privacy: Dwork, Roth (2014), theorem 2.2.
#[must_use]
pub fn of_group(epsilon: f64, steps: f64) -> f64 {
    if epsilon == 0.0 { 0.0 } else { steps * epsilon }
}

/// What nodes release about their own lists, as the ledger states it: for one bit of one list, and for an undirected
/// link, which stands in `lists_per_link` of the lists that are reported. Nothing at a budget of 0.
#[must_use]
pub fn releases_of_lists(
    subject: Subject,
    noise: &str,
    epsilon: f64,
    sound: bool,
    lists_per_link: f64,
) -> Vec<Release> {
    if epsilon == 0.0 {
        return Vec::new();
    }
    let row = |relation: Relation, epsilon: f64, why: &str| Release {
        noise: noise.to_owned(),
        subject,
        trust: Trust::Local,
        relation,
        cost: Cost::Pure(epsilon),
        sound,
        claimed_epsilon: None,
        why: why.to_owned(),
    };
    let why = if lists_per_link > 1.0 { "a link stands in the lists of both its ends" } else { "" };
    vec![row(Relation::ListBit, epsilon, ""), row(Relation::Edge, of_group(epsilon, lists_per_link), why)]
}

/// What a curator releases about the links of all nodes, as the ledger states it.
///
/// The curator holds one bit for a link. A bit of one node's list is that bit, so it costs as much, and budgets per list
/// bit and per link both bound such a release.
#[must_use]
pub fn releases_of_graph(noise: &str, epsilon: f64, why: &str) -> Vec<Release> {
    let row = |relation: Relation| Release {
        noise: noise.to_owned(),
        subject: Subject::Links,
        trust: Trust::Central,
        relation,
        cost: Cost::Pure(epsilon),
        sound: true,
        claimed_epsilon: None,
        why: why.to_owned(),
    };
    vec![row(Relation::ListBit), row(Relation::Edge)]
}

#[cfg(test)]
mod tests;
