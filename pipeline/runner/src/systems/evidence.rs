//! What the reports of a mechanism tell the server about one pair.

use veilgraph_contract::{Relation, Release, Subject, Trust};
use veilgraph_exposure::{Law, Observation, Signal};
use veilgraph_privacy::composition::total_epsilon;

/// What a mechanism sends about links, as far as one pair is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A bit for the pair, under randomized response.
    Bits,
    /// A number for the pair: its bit and Laplace noise.
    Entries,
    /// Something else, about which only its cost is known.
    Other,
    /// Whether it is linked.
    Open,
    /// Nothing.
    Nothing,
}

/// What the server sees of a release, and what that costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// What it sees.
    pub signal: Signal,
    /// Whether `signal` is the most that reports of this cost could show.
    pub is_bound: bool,
    /// Nats that all reports together cost an undirected link.
    pub per_link: f64,
    /// Nats that they cost one bit of a list; none where a curator releases.
    pub per_list_bit: Option<f64>,
    /// Lists that report a pair, where nodes send bits themselves.
    pub lists_of_bits: Option<f64>,
    /// Whether the guarantee holds as executed (false for floating-point noise, and where a config states a cost).
    pub is_sound: bool,
}

impl Seen {
    /// Nats that they cost a node with all its links, by group privacy: an upper bound that protects nobody.
    pub fn per_node(&self, nodes: u64) -> f64 {
        (nodes.saturating_sub(1)) as f64 * self.per_link
    }

    /// Everything about every pair.
    fn open() -> Self {
        let look = Observation { law: Law::RandomizedResponse, epsilon: f64::INFINITY };
        Self {
            signal: Signal { pair: vec![look], degrees: Vec::new(), knows_degrees: true },
            is_bound: false,
            per_link: f64::INFINITY,
            per_list_bit: None,
            lists_of_bits: None,
            is_sound: true,
        }
    }
}

impl Evidence {
    /// What these releases of one mechanism show; none if they show nothing about links.
    pub fn seen(self, releases: &[Release]) -> Option<Seen> {
        let law = match self {
            Self::Nothing => return None,
            // Links that are declared public are released without a row, at no price and without protection.
            Self::Open => return Some(Seen::open()),
            Self::Bits => Some(Law::RandomizedResponse),
            Self::Entries => Some(Law::Laplace),
            Self::Other => None,
        };
        let about = |subject: Subject, relation: Relation| {
            total_epsilon(releases.iter().filter(|release| release.subject == subject), relation)
        };
        let (links, list) = (about(Subject::Links, Relation::Edge), about(Subject::Links, Relation::ListBit));
        let (degree_links, degree) =
            (about(Subject::Degrees, Relation::Edge), about(Subject::Degrees, Relation::ListBit));
        let per_link = links + degree_links;
        if per_link == 0.0 {
            return None;
        }
        let is_local = releases.iter().any(|release| release.trust == Trust::Local);
        let lists = links / list;
        let is_bound = law.is_none();
        let pair = match law {
            None => vec![Observation { law: Law::RandomizedResponse, epsilon: per_link }],
            Some(_) if links == 0.0 => Vec::new(),
            Some(law) if list == 0.0 => vec![Observation { law, epsilon: links }],
            Some(law) => vec![Observation { law, epsilon: list }; lists.round() as usize],
        };
        let degrees = if degree > 0.0 && !is_bound { vec![degree] } else { Vec::new() };
        Some(Seen {
            signal: Signal { pair, degrees, knows_degrees: is_bound },
            is_bound,
            per_link,
            per_list_bit: is_local.then_some(list + degree),
            is_sound: releases.iter().all(|release| release.sound),
            lists_of_bits: (self == Self::Bits && is_local).then_some(if list > 0.0 { lists } else { 0.0 }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilgraph_privacy::composition::releases_of_lists;

    fn lists(epsilon: f64, lists_per_link: f64) -> Vec<Release> {
        releases_of_lists(Subject::Links, "randomized response", epsilon, true, lists_per_link)
    }

    #[test]
    fn two_lists_are_two_looks_and_a_degree_is_read_beside_them() {
        let degree = releases_of_lists(Subject::Degrees, "discrete Laplace noise", 0.5, true, 2.0);
        let seen = Evidence::Bits.seen(&[lists(1.5, 2.0), degree].concat()).expect("a signal");
        assert_eq!(seen.signal.pair, [Observation { law: Law::RandomizedResponse, epsilon: 1.5 }; 2]);
        assert_eq!((seen.signal.degrees.as_slice(), seen.per_link, seen.per_list_bit), (&[0.5][..], 4.0, Some(2.0)));
        let once = Evidence::Bits.seen(&lists(3.0, 1.0)).expect("a signal");
        assert_eq!(once.signal.pair.len(), 1);
        assert!(Evidence::Bits.seen(&[]).is_none() && Evidence::Nothing.seen(&[]).is_none());
        assert_eq!(Evidence::Open.seen(&[]).expect("all links").per_link, f64::INFINITY);
    }

    #[test]
    fn what_is_not_known_is_bounded_by_its_cost() {
        let seen = Evidence::Other.seen(&lists(1.0, 2.0)).expect("a signal");
        assert!(seen.is_bound && seen.signal.knows_degrees);
        assert_eq!(seen.signal.pair, [Observation { law: Law::RandomizedResponse, epsilon: 2.0 }]);
    }
}
