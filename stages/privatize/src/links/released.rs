//! A graph that another program has released: it is taken as it is, at the cost that the config states.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{
    Cost, Draws, Owner, Private, Progress, RawFile, Relation, Release, Stage, StageRng, Subject, Trust,
};
use veilgraph_graph::{AdjacencyList, Construction, NodeMap, WeightedGraph};
use veilgraph_privacy::Epsilon;
use veilgraph_privacy::composition::of_group;

use super::blink::LISTS_PER_LINK;
use crate::Error;

/// Gives the server a graph that another program has drawn from the same links.
///
/// # Privacy
/// What the config states, and nobody has checked: no noise is drawn here. Each row of the ledger says so (`sound` is
/// false), and no deployment accepts such a graph.
pub struct TakeReleased;

/// What `[privatize.links]` says about such a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The file with a link in each line: the names of both nodes and, where there is one, a weight in `(0, 1]`.
    pub graph: String,
    /// What the release cost, in nats, as its program states it.
    pub epsilon: Epsilon,
    /// What `epsilon` is the cost of.
    #[serde(default)]
    pub relation: CostOf,
    /// Who had to be trusted.
    #[serde(default = "local")]
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

fn local() -> Trust {
    Trust::Local
}

/// Why a row of the ledger says what it says.
const STATED: &str = "the config states this cost; nothing was drawn here";

impl Stage for TakeReleased {
    const STAGE: &'static str = "privatize";
    const TASK: &'static str = "released";
    const DRAWS: Draws = Draws::Never;
    type Side = Owner;
    type Params = Params;
    type Inputs = (Vec<RawFile>, NodeMap, Private<AdjacencyList>);
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

    fn run(
        (files, nodes, Private(links)): Self::Inputs,
        _: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let mut listed = BTreeMap::new();
        for file in &files {
            read(file, &nodes.names, &mut listed)?;
        }
        let listed = listed.into_iter().map(|((i, j), weight)| (i, j, weight)).collect();
        Ok((WeightedGraph::undirected(Construction::Given, links.n_nodes(), listed),))
    }
}

/// Reads the links of a file, each by its smaller and its larger node.
fn read(file: &RawFile, names: &[String], listed: &mut BTreeMap<(u32, u32), f32>) -> Result<(), Error> {
    let wrong = |line: usize, problem: String| Error::ReleasedGraph { file: file.name.clone(), line, problem };
    let valid = |error: std::str::Utf8Error| {
        let before = &file.bytes[..error.valid_up_to()];
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    };
    let text = std::str::from_utf8(&file.bytes)
        .map_err(|error| wrong(valid(error), "this is no text in UTF-8; write one link a line".to_owned()))?;
    let numbers: BTreeMap<&str, u32> = names.iter().zip(0..).map(|(name, node)| (name.as_str(), node)).collect();
    let mut may_be_heading = true;
    for (line, row) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if row.trim().is_empty() || row.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = match (row.contains(','), row.contains('\t')) {
            (true, _) => row.split(',').map(str::trim).collect(),
            (false, true) => row.split('\t').map(str::trim).collect(),
            (false, false) => row.split_whitespace().collect(),
        };
        let (&[a, b] | &[a, b, _]) = fields.as_slice() else {
            let problem =
                format!("there are {} fields; write two names of nodes and, if you like, a weight", fields.len());
            return Err(wrong(line, problem));
        };
        let is_heading = may_be_heading && !numbers.contains_key(a) && !numbers.contains_key(b);
        may_be_heading = false;
        if is_heading {
            continue;
        }
        let number = |name: &str| {
            let unknown = || wrong(line, format!("there is no node {name:?}; write names of nodes as the data do"));
            numbers.get(name).copied().ok_or_else(unknown)
        };
        let (a, b) = (number(a)?, number(b)?);
        if a == b {
            return Err(wrong(line, "this links a node with itself; remove the line".to_owned()));
        }
        let weight = match fields.get(2) {
            None => 1.0,
            Some(text) => {
                text.parse().ok().filter(|weight: &f32| *weight > 0.0 && *weight <= 1.0).ok_or_else(|| {
                    wrong(line, format!("{text:?} is no weight; write a number above 0 and up to 1, or leave it out"))
                })?
            }
        };
        let before = listed.insert((a.min(b), a.max(b)), weight);
        if before.is_some_and(|before| before.to_bits() != weight.to_bits()) {
            let problem = "an earlier line gives this link another weight; a link has one weight in both directions";
            return Err(wrong(line, problem.to_owned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &[u8]) -> Result<Vec<(u32, u32, f32)>, String> {
        let names = ["a", "b", "c", "7"].map(str::to_owned).to_vec();
        let file = RawFile { name: "mine.csv".to_owned(), bytes: text.to_vec() };
        let links = AdjacencyList::from_pairs(4, [(0, 1)]).expect("valid");
        let params = Params {
            graph: "mine.csv".to_owned(),
            epsilon: Epsilon::try_from(1.0).expect("a budget"),
            relation: CostOf::ListBit,
            trust: Trust::Local,
        };
        let inputs = (vec![file], NodeMap { names }, Private(links));
        let (graph,) = TakeReleased::run(inputs, &params, &StageRng::new(1, "privatize", 0), &Progress::none())
            .map_err(|error| error.to_string())?;
        Ok(graph.links().collect())
    }

    #[test]
    fn links_are_read_once_with_their_weights() {
        let expected = vec![(0, 1, 1.0), (1, 3, 0.25)];
        for text in [
            "source,target,weight\nb,a,1\n7,b,0.25\n",
            "# mine\na b\nb a\n\nb 7 0.25\n7 b 0.25\n",
            "\u{feff}a\tb\nb\t7\t0.25",
        ] {
            assert_eq!(taken(text.as_bytes()).expect("a graph"), expected, "{text}");
        }
        assert!(taken(b"").expect("a graph without links").is_empty());
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, words) in [
            (&b"a,b\na,z\n"[..], "mine.csv line 2: there is no node \"z\""),
            (b"a,b\nx,y\n", "line 2: there is no node \"x\""),
            (b"a,b\nc,c\n", "line 2: this links a node with itself"),
            (b"a,b,0\n", "line 1: \"0\" is no weight"),
            (b"a,b,nan\n", "line 1: \"nan\" is no weight"),
            (b"a,b,0.5\nb,a,0.25\n", "line 2: an earlier line gives this link another weight"),
            (b"a\n", "line 1: there are 1 fields"),
            (b"a,b\n\xff\n", "line 2: this is no text"),
        ] {
            let problem = taken(text).expect_err("refused");
            assert!(problem.contains(words), "{problem}");
        }
    }

    #[test]
    fn the_stated_cost_is_never_sound() {
        let of = |relation: CostOf| {
            let epsilon = Epsilon::try_from(2.0).expect("a budget");
            let params = Params { graph: String::new(), epsilon, relation, trust: Trust::Central };
            let rows = TakeReleased::releases(&params);
            assert!(rows.iter().all(|row| !row.sound && row.trust == Trust::Central));
            rows.iter().map(|row| row.cost.epsilon()).collect::<Vec<_>>()
        };
        assert_eq!((of(CostOf::ListBit), of(CostOf::Edge)), (vec![2.0, 4.0], vec![2.0, 2.0]));
    }
}
