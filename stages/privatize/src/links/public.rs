//! Links that everybody knows.

use std::collections::BTreeSet;

use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Draws, HeldOut, Owner, Private, Progress, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, Construction, LinkSample, WeightedGraph};

use crate::Error;

/// Gives the server the links as they are, or all but a sample of them on which link prediction is judged.
///
/// # Privacy
/// None, and none is claimed: the config declares the links public, so that no row of the ledger is written. A graph
/// whose links are private is released by `non-private`, at an infinite cost.
pub struct PublishLinks;

/// What `[privatize.links]` says about public links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Links that the server's graph does not have: those of the validation are given to the server as a list, those of
    /// the test to the auditor alone. Without it the graph is whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_out_links: Option<HeldOutShares>,
}

/// Shares of the links that a graph is trained without, drawn anew in every trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldOutShares {
    /// The share that chooses the model.
    pub validation: f64,
    /// The share that scores.
    pub test: f64,
}

impl Params {
    /// Whether the shares make sense.
    ///
    /// # Errors
    /// Names the share and its range.
    pub fn check(&self) -> Result<(), Error> {
        match self.hold_out_links {
            Some(HeldOutShares { validation, test })
                if !(validation > 0.0 && test > 0.0 && validation + test < 1.0) =>
            {
                Err(Error::HeldOutShares(validation, test))
            }
            _ => Ok(()),
        }
    }
}

impl Stage for PublishLinks {
    const STAGE: &'static str = "privatize";
    const TASK: &'static str = "public";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = Params;
    type Inputs = (Private<AdjacencyList>,);
    type Outputs = (WeightedGraph, Option<LinkSample>, Option<HeldOut<LinkSample>>);
    type Error = Error;

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
        let mut shown: Vec<(u32, u32)> = links.links().map(|(i, j)| (i.min(j), i.max(j))).collect();
        let (mut validation, mut test) = (None, None);
        if let Some(shares) = params.hold_out_links {
            let count = |share: f64| (share * links.n_links() as f64) as usize;
            let (n_validation, n_test) = (count(shares.validation), count(shares.test));
            let pairs = links.n_nodes() * (links.n_nodes() - 1) / 2;
            if n_validation == 0 || n_test == 0 {
                return Err(Error::TooFewLinks(links.n_links()));
            }
            if 2 * links.n_links() > pairs {
                return Err(Error::TooManyLinks(links.n_links(), pairs));
            }
            shown.shuffle(&mut rng.fast_stream("held-out links", 0));
            let mut held_out = shown.split_off(shown.len() - n_validation - n_test);
            let mut others = others(&links, held_out.len(), rng);
            validation = Some(sample(links.n_nodes(), held_out.split_off(n_test), others.split_off(n_test)));
            test = Some(HeldOut(sample(links.n_nodes(), held_out, others)));
            shown.sort_unstable();
        }
        let listed = shown.into_iter().map(|(i, j)| (i, j, 1.0)).collect();
        let graph = WeightedGraph::undirected(Construction::Given, links.n_nodes(), listed);
        Ok((graph, validation, test))
    }
}

/// `count` different pairs without a link, uniformly.
fn others(links: &AdjacencyList, count: usize, rng: &StageRng) -> Vec<(u32, u32)> {
    let mut stream = rng.fast_stream("held-out pairs without a link", 0);
    let n_nodes = links.n_nodes() as u32;
    let (mut known, mut drawn) = (BTreeSet::new(), Vec::with_capacity(count));
    while drawn.len() < count {
        let (a, b) = (stream.random_range(0..n_nodes), stream.random_range(0..n_nodes));
        let pair = (a.min(b), a.max(b));
        if a != b && !links.contains(pair.0 as usize, pair.1) && known.insert(pair) {
            drawn.push(pair);
        }
    }
    drawn
}

/// Pairs with a link and pairs without, in ascending order.
fn sample(n_nodes: usize, links: Vec<(u32, u32)>, others: Vec<(u32, u32)>) -> LinkSample {
    let mut pairs: Vec<(u32, u32, bool)> = links.into_iter().map(|(i, j)| (i, j, true)).collect();
    pairs.extend(others.into_iter().map(|(i, j)| (i, j, false)));
    pairs.sort_unstable();
    LinkSample { n_nodes, pairs }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publish(hold_out_links: Option<HeldOutShares>) -> <PublishLinks as Stage>::Outputs {
        let pairs = (0..300_u32).flat_map(|i| [(i, (i + 1) % 300), (i, (i + 17) % 300)]);
        let links = AdjacencyList::from_pairs(300, pairs).expect("valid");
        let (params, rng) = (Params { hold_out_links }, StageRng::new(1, "privatize", 0));
        PublishLinks::run((Private(links),), &params, &rng, &Progress::none()).expect("published")
    }

    #[test]
    fn every_link_is_shown_or_held_out_once() {
        let (whole, None, None) = publish(None) else { unreachable!("nothing is held out") };
        let (graph, Some(validation), Some(HeldOut(test))) =
            publish(Some(HeldOutShares { validation: 0.05, test: 0.1 }))
        else {
            unreachable!("links are held out");
        };
        let of = |sample: &LinkSample, is_link: bool| -> Vec<(u32, u32)> {
            sample.pairs.iter().filter(|pair| pair.2 == is_link).map(|&(i, j, _)| (i, j)).collect()
        };
        assert_eq!((of(&validation, true).len(), of(&test, true).len()), (30, 60));
        assert_eq!((of(&validation, false).len(), of(&test, false).len()), (30, 60));
        let mut all: Vec<(u32, u32)> = graph.links().map(|(i, j, _)| (i, j)).collect();
        all.extend(of(&validation, true).into_iter().chain(of(&test, true)));
        all.sort_unstable();
        let known: Vec<(u32, u32)> = whole.links().map(|(i, j, _)| (i, j)).collect();
        assert_eq!(all, known);
        let without: Vec<(u32, u32)> = of(&validation, false).into_iter().chain(of(&test, false)).collect();
        assert!(without.iter().all(|pair| !known.contains(pair)));
    }

    #[test]
    fn shares_that_leave_nothing_are_refused() {
        for (validation, test) in [(0.0, 0.1), (0.1, 0.0), (0.5, 0.5), (f64::NAN, 0.1)] {
            let hold_out_links = Some(HeldOutShares { validation, test });
            let problem = Params { hold_out_links }.check().expect_err("refused").to_string();
            assert!(problem.contains("hold_out_links"), "{problem}");
        }
    }
}
