//! The links of a synthetic graph.

use rand::RngExt;
use rand::distr::Distribution;
use rand::rngs::ChaCha8Rng;
use rand_distr::StandardNormal;
use rayon::prelude::*;

use super::Topics;
use super::weighted::Weighted;
use crate::params::SyntheticParams;

/// Draws links: each end in proportion to a power-law weight, and as often inside a class as `homophily` says.
pub(super) fn draw_links(params: &SyntheticParams, topics: Topics, rng: &mut ChaCha8Rng) -> Vec<(u32, u32)> {
    const TRIES_PER_LINK: usize = 100;
    /// So many links are drawn at a time: first the random words of all, one after the other, then all second ends side
    /// by side.
    const BATCH: usize = 1 << 16;
    let ends = Ends::new(params, topics, &draw_weights(params, rng));
    let wanted = (params.nodes as f64 * params.mean_degree / 2.0).round() as usize;
    // Each round draws as many links as are missing and sorts them; a set would take many times the time and memory. A
    // link is one number, because numbers are sorted faster than pairs.
    let mut links: Vec<u64> = Vec::with_capacity(wanted);
    let mut tries = wanted * TRIES_PER_LINK;
    while links.len() < wanted && tries > 0 {
        let round = (wanted - links.len()).min(tries);
        tries -= round;
        for start in (0..round).step_by(BATCH) {
            let drawn: Vec<HalfLink> = (start..round.min(start + BATCH)).map(|_| ends.draw(rng)).collect();
            let whole: Vec<Option<u64>> = drawn.par_iter().map(|half| ends.link(half)).collect();
            links.extend(whole.into_iter().flatten());
        }
        links.sort_unstable();
        links.dedup();
    }
    links.into_iter().map(|link| ((link >> 32) as u32, link as u32)).collect()
}

/// What the ends of links are drawn from.
struct Ends<'a> {
    topics: Topics<'a>,
    homophily: f64,
    everyone: Weighted,
    /// The nodes that belong to each class, wholly or by half.
    members: Vec<Vec<u32>>,
    /// Indices into the members of each class.
    inside: Vec<Weighted>,
}

/// A link whose second end has been drawn, but not looked up.
struct HalfLink {
    first: usize,
    /// A class of the first end.
    class: usize,
    /// Whether the second end belongs to that class too.
    is_inside: bool,
    /// What the second end is looked up by.
    second: f64,
}

impl<'a> Ends<'a> {
    fn new(params: &SyntheticParams, topics: Topics<'a>, weights: &[f64]) -> Self {
        let members: Vec<Vec<u32>> = (0..params.classes)
            .map(|class| (0..params.nodes as u32).filter(|&node| topics.share_in(node as usize, class) > 0.0).collect())
            .collect();
        let index = |(class, nodes): (usize, &Vec<u32>)| {
            let weight = |&node: &u32| weights[node as usize] * topics.share_in(node as usize, class);
            Weighted::new(&nodes.iter().map(weight).collect::<Vec<_>>())
        };
        let inside = members.iter().enumerate().map(index).collect();
        Self { topics, homophily: params.homophily, everyone: Weighted::new(weights), members, inside }
    }

    /// Draws all random words of a link. The first end is looked up too, because the class depends on it.
    fn draw(&self, rng: &mut ChaCha8Rng) -> HalfLink {
        let first = self.everyone.draw(rng);
        let class = self.topics.one_of(first, rng);
        let is_inside = rng.random::<f64>() < self.homophily;
        let index = if is_inside { &self.inside[class] } else { &self.everyone };
        HalfLink { first, class, is_inside, second: index.draw_sum(rng) }
    }

    /// Looks up the second end, and returns the smaller end in the upper half of the bits and the larger one in the
    /// lower half. Returns nothing where both ends are one node, or where the second should be of another class and is
    /// not.
    fn link(&self, half: &HalfLink) -> Option<u64> {
        let second = if half.is_inside {
            self.members[half.class][self.inside[half.class].at(half.second)] as usize
        } else {
            Some(self.everyone.at(half.second)).filter(|&second| self.topics.share_in(second, half.class) < 1.0)?
        };
        let (smaller, larger) = (half.first.min(second) as u64, half.first.max(second) as u64);
        (smaller < larger).then_some(smaller << 32 | larger)
    }
}

/// Draws what the degree of every node is in proportion to.
fn draw_weights(params: &SyntheticParams, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let most = (params.nodes as f64).sqrt() * params.mean_degree;
    let weight = |_| match params.degree_spread {
        None => libm::pow(1.0 - rng.random::<f64>(), -1.0 / (params.exponent - 1.0)).min(most),
        // Numbers of links are nearly Poisson about their expectations, which spreads them by itself.
        Some(spread) => {
            let variation = (spread * spread - 1.0 / params.mean_degree).max(0.0);
            let normal: f64 = StandardNormal.sample(rng);
            libm::exp(libm::log1p(variation).sqrt() * normal)
        }
    };
    (0..params.nodes).map(weight).collect()
}

#[cfg(test)]
mod tests;
