//! A graph that another program has released: it is taken as it is, at the cost that the config states.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{
    Cost, Draws, Invalid, Owner, Private, Progress, Relation, Release, Stage, StageRng, Subject, Trust,
};
use veilgraph_graph::{AdjacencyList, WeightedGraph};
use veilgraph_privacy::Epsilon;
use veilgraph_privacy::composition::of_group;

use super::blink::LISTS_PER_LINK;
use crate::Error;

/// Gives the server a graph that another program has drawn from the same links.
///
/// # Privacy
/// What the config states, and nobody has checked: no noise is drawn here. Each row of the ledger says so (`sound` is
/// false), and no deployment accepts such a graph. The same graph at the same cost is one release, whatever its file is called.
pub struct TakeReleased;

/// What `[privatize.links]` says about the cost of such a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// What the release cost, in nats, as its program states it.
    pub epsilon: Epsilon,
    /// What `epsilon` is the cost of.
    pub relation: CostOf,
    /// Who had to be trusted.
    pub trust: Trust,
}

/// The change whose cost a config states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostOf {
    /// One bit of one node's list, both of whose ends report a link: a link costs twice as much.
    #[default]
    ListBit,
    /// One undirected link; a bit of a list costs as much at most.
    Edge,
}

/// Why a row of the ledger says what it says.
const STATED: &str = "the config states this cost; nothing was drawn here";

impl Stage for TakeReleased {
    const STAGE: &'static str = "privatize";
    const TASK: &'static str = "released";
    const DRAWS: Draws = Draws::Never;
    type Side = Owner;
    type Params = Params;
    /// The links are what the release is about.
    type Inputs = (Private<WeightedGraph>, Private<AdjacencyList>);
    type Outputs = (WeightedGraph,);
    type Error = Error;

    fn releases(params: &Params) -> Vec<Release> {
        let epsilon = params.epsilon.nats();
        let row = |relation: Relation, epsilon: f64| Release {
            noise: "noise of another program".to_owned(),
            subject: Subject::Links,
            trust: params.trust,
            relation,
            cost: Cost::Pure(epsilon),
            claimed_epsilon: None,
            sound: false,
            why: STATED.to_owned(),
        };
        let of_link = match params.relation {
            CostOf::ListBit => of_group(epsilon, LISTS_PER_LINK),
            CostOf::Edge => epsilon,
        };
        vec![row(Relation::ListBit, epsilon), row(Relation::Edge, of_link)]
    }

    fn check_params(params: &Params) -> Result<(), Error> {
        if params.epsilon.nats().is_finite() { Ok(()) } else { Err(Error::ReleasedWithoutCost) }
    }

    fn run(
        (Private(graph), Private(links)): Self::Inputs,
        _: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        if graph.n_nodes != links.n_nodes() {
            return Err(Invalid("the released graph and the links have different nodes".to_owned()).into());
        }
        Ok((graph,))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_cost_is_never_sound() {
        let of = |relation: CostOf| {
            let epsilon = Epsilon::try_from(2.0).expect("a budget");
            let rows = TakeReleased::releases(&Params { epsilon, relation, trust: Trust::Central });
            assert!(rows.iter().all(|row| !row.sound && row.trust == Trust::Central));
            rows.iter().map(|row| row.cost.epsilon()).collect::<Vec<_>>()
        };
        assert_eq!((of(CostOf::ListBit), of(CostOf::Edge)), (vec![2.0, 4.0], vec![2.0, 2.0]));
    }
}
