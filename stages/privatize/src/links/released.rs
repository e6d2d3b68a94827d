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

    fn check_params(params: &Params) -> Result<(), Error> {
        if params.epsilon.nats().is_finite() { Ok(()) } else { Err(Error::ReleasedWithoutCost) }
    }

    const CHECKS: bool = true;

    fn check((files, nodes, _): &Self::Inputs, _: &Params) -> Result<(), Error> {
        read_all(files, nodes).map(|_| ())
    }

    fn run(
        (files, nodes, Private(links)): Self::Inputs,
        _: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let listed = read_all(&files, &nodes)?.into_iter().map(|((i, j), weight)| (i, j, weight)).collect();
        Ok((WeightedGraph::undirected(Construction::Given, links.n_nodes(), listed),))
    }
}

/// The weight of each link, by its smaller and its larger node.
type Weights = BTreeMap<(u32, u32), f32>;

fn read_all(files: &[RawFile], nodes: &NodeMap) -> Result<Weights, Error> {
    let numbers: BTreeMap<&str, u32> = nodes.names.iter().map(String::as_str).zip(0..).collect();
    let mut weights = Weights::new();
    files.iter().try_for_each(|file| read(file, &numbers, &mut weights))?;
    Ok(weights)
}

/// Usual names of the first two columns.
const COLUMNS: [[&str; 2]; 6] =
    [["source", "target"], ["from", "to"], ["src", "dst"], ["u", "v"], ["node_1", "node_2"], ["node1", "node2"]];

/// A row of a file, with its line.
struct Row {
    line: usize,
    fields: Vec<String>,
}

/// Reads the links of a file.
fn read(file: &RawFile, numbers: &BTreeMap<&str, u32>, weights: &mut Weights) -> Result<(), Error> {
    let wrong = |line: usize, problem: String| Error::ReleasedGraph { file: file.name.clone(), line, problem };
    for (place, Row { line, fields }) in rows(file)?.into_iter().enumerate() {
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let (&[a, b] | &[a, b, _]) = fields.as_slice() else {
            let problem =
                format!("there are {} fields; write two names of nodes and, if you like, a weight", fields.len());
            return Err(wrong(line, problem));
        };
        let (first, second) = (a.to_lowercase(), b.to_lowercase());
        let has_columns = COLUMNS.iter().any(|[from, to]| first == *from && second == *to);
        if place == 0 && has_columns && !numbers.contains_key(a) {
            continue;
        }
        let number = |name: &str| {
            let unknown =
                || wrong(line, format!("there is no node {name:?}; write names of nodes as the data have them"));
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
        let before = weights.insert((a.min(b), a.max(b)), weight);
        if before.is_some_and(|before| before.to_bits() != weight.to_bits()) {
            let problem = "an earlier line gives this link another weight; a link has one weight in both directions";
            return Err(wrong(line, problem.to_owned()));
        }
    }
    Ok(())
}

/// The rows of a file, divided by what divides the first one.
fn rows(file: &RawFile) -> Result<Vec<Row>, Error> {
    let wrong = |line: usize, problem: &str| Error::ReleasedGraph {
        file: file.name.clone(),
        line,
        problem: problem.to_owned(),
    };
    let text = std::str::from_utf8(&file.bytes).map_err(|error| {
        let before = &file.bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        wrong(line, "this is no text in UTF-8; write one link a line, and nothing compressed")
    })?;
    let text = text.trim_start_matches('\u{feff}');
    let says_something = |row: &&str| !row.trim().is_empty() && !row.starts_with('#');
    let first = text.lines().find(says_something).unwrap_or_default();
    let Some(separator) = [b'\t', b',', b';'].into_iter().find(|mark| first.as_bytes().contains(mark)) else {
        let row =
            |(line, row): (usize, &str)| Row { line, fields: row.split_whitespace().map(str::to_owned).collect() };
        return Ok((1..).zip(text.lines()).filter(|(_, row)| says_something(row)).map(row).collect());
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(1, csv::Position::line);
            wrong(line as usize, "this is no row of a table; write one link a line")
        })?;
        let line = record.position().map_or(1, csv::Position::line);
        rows.push(Row { line: line as usize, fields: record.iter().map(str::to_owned).collect() });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &[u8]) -> Result<Vec<(u32, u32, f32)>, String> {
        let names = ["a", "b", "c", "7", "Lee, Ann"].map(str::to_owned).to_vec();
        let file = RawFile { name: "mine.csv".to_owned(), bytes: text.to_vec() };
        let links = AdjacencyList::from_pairs(5, [(0, 1)]).expect("valid");
        let params = Params {
            graph: "mine.csv".to_owned(),
            epsilon: Epsilon::try_from(1.0).expect("a budget"),
            relation: CostOf::ListBit,
            trust: Trust::Local,
        };
        let inputs = (vec![file], NodeMap { names }, Private(links));
        let checked = TakeReleased::check(&inputs, &params).map_err(|error| error.to_string());
        let (graph,) = TakeReleased::run(inputs, &params, &StageRng::new(1, "privatize", 0), &Progress::none())
            .map_err(|error| {
                assert_eq!(checked, Err(error.to_string()), "it is refused before it is charged");
                error.to_string()
            })?;
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
        let quoted = "\"from\",\"to\"\n\"Lee, Ann\",\"a\"\n";
        assert_eq!(taken(quoted.as_bytes()).expect("a graph"), [(0, 4, 1.0)]);
        assert_eq!(taken("Lee, Ann\ta\n".as_bytes()).expect("a graph"), [(0, 4, 1.0)]);
        assert_eq!(taken("a;b;0.5\n".as_bytes()).expect("a graph"), [(0, 1, 0.5)]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, words) in [
            (&b"a,b\na,z\n"[..], "mine.csv line 2: there is no node \"z\""),
            (b"a,b\nx,y\n", "line 2: there is no node \"x\""),
            (b"x,y\na,b\n", "line 1: there is no node \"x\""),
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
