//! A network that is asked about many small graphs at once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use veilgraph_graph::{AdjacencyList, Construction, WeightedGraph};
use veilgraph_nn::SavedModel;

use crate::Error;
use crate::supervised::rows::Rows;
use crate::supervised::shadow::answers;

/// A node that the network is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Question {
    pub node: u32,
    /// A neighbour whose link to the node is left out.
    pub without: Option<u32>,
}

/// Nodes of all small graphs that are asked about at once; more take more memory and hardly less time.
const NODES_AT_ONCE: usize = 50_000;

/// What a network answers about the node of each question, given the links among the nodes within some hops of it.
///
/// # Shapes
/// Returns one row of `[n_classes]` probabilities for each question.
pub(super) fn answers_about(
    network: &SavedModel,
    rows: &Rows,
    links: &AdjacencyList,
    questions: &[Question],
    hops: u32,
) -> Result<Vec<Vec<f64>>, Error> {
    let mut answered = Vec::with_capacity(questions.len());
    let mut together = Together::default();
    for (number, &question) in questions.iter().enumerate() {
        together.add(links, question, hops);
        if together.nodes.len() >= NODES_AT_ONCE || number + 1 == questions.len() {
            let graph = WeightedGraph::undirected(Construction::Given, together.nodes.len(), together.links);
            let answers = answers(network, &rows.of(&together.nodes), &graph)?;
            answered.extend(together.asked.iter().map(|&at| answers[at].clone()));
            together = Together::default();
        }
    }
    Ok(answered)
}

/// Small graphs side by side, without a link between them.
#[derive(Default)]
struct Together {
    /// Nodes by their numbers in the whole graph; one may come many times.
    nodes: Vec<u32>,
    /// Links by places in `nodes`, `i < j`.
    links: Vec<(u32, u32, f32)>,
    /// Places of the nodes that are asked about.
    asked: Vec<usize>,
}

impl Together {
    /// Adds the graph within some hops of a node.
    fn add(&mut self, links: &AdjacencyList, question: Question, hops: u32) {
        let is_left_out = |a: u32, b: u32| {
            question.without.is_some_and(|other| (a, b) == (question.node, other) || (b, a) == (question.node, other))
        };
        let first = self.nodes.len();
        let mut places = BTreeMap::from([(question.node, first as u32)]);
        self.nodes.push(question.node);
        let mut reached = first..self.nodes.len();
        for _ in 0..hops {
            if reached.is_empty() {
                break;
            }
            let from = self.nodes[reached].to_vec();
            let start = self.nodes.len();
            for node in from {
                for &next in links.neighbours(node as usize).iter().filter(|next| !is_left_out(node, **next)) {
                    if let Entry::Vacant(place) = places.entry(next) {
                        place.insert(self.nodes.len() as u32);
                        self.nodes.push(next);
                    }
                }
            }
            reached = start..self.nodes.len();
        }
        let start = self.links.len();
        for (&node, &place) in &places {
            for next in links.neighbours(node as usize).iter().filter(|next| !is_left_out(node, **next)) {
                if let Some(&other) = places.get(next)
                    && place < other
                {
                    self.links.push((place, other, 1.0));
                }
            }
        }
        self.links[start..].sort_unstable_by_key(|link| (link.0, link.1));
        self.asked.push(first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of five nodes, with a triangle at its end: 0 - 1 - 2 - 3 - 4, 3 - 5, 4 - 5.
    fn path() -> AdjacencyList {
        AdjacencyList::from_pairs(6, [(0, 1), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]).expect("valid")
    }

    #[test]
    fn a_neighbourhood_has_the_links_among_its_nodes() {
        let around = |node: u32, without: Option<u32>, hops: u32| {
            let mut together = Together::default();
            together.add(&path(), Question { node, without }, hops);
            let mut nodes = together.nodes.clone();
            nodes.sort_unstable();
            (nodes, together.links.len())
        };
        assert_eq!(around(3, None, 0), (vec![3], 0));
        assert_eq!(around(3, None, 1), (vec![2, 3, 4, 5], 4));
        assert_eq!(around(2, None, 2), (vec![0, 1, 2, 3, 4, 5], 6));
        // Without its link to 4, node 3 still reaches it over 5.
        assert_eq!(around(3, Some(4), 2), (vec![1, 2, 3, 4, 5], 4));
        assert_eq!(around(0, Some(1), 2), (vec![0], 0));
    }

    #[test]
    fn graphs_lie_side_by_side() {
        let mut together = Together::default();
        together.add(&path(), Question { node: 0, without: None }, 1);
        together.add(&path(), Question { node: 4, without: None }, 1);
        assert_eq!((together.asked, together.nodes.len()), (vec![0, 2], 5));
        assert_eq!(together.links, vec![(0, 1, 1.0), (2, 3, 1.0), (2, 4, 1.0), (3, 4, 1.0)]);
    }
}
