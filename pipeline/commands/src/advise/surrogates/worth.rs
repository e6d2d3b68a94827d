//! What networks reach on graphs that take the place of the private one.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use veilgraph_runner::belief::Range;

/// Where the graphs of one table come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// They are drawn, with so many nodes each.
    Drawn { nodes: u64 },
    /// They are public graphs.
    Public,
}

/// On which graphs links help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Help {
    Everywhere,
    Somewhere,
    Nowhere,
}

/// Test accuracies on all graphs of one origin, each list in the order of the graphs.
#[derive(Clone, Debug)]
pub(crate) struct Worth {
    /// Where the graphs come from.
    pub origin: Origin,
    /// Names of the runs in the store.
    pub runs: Vec<String>,
    /// Names of the graphs.
    pub graphs: Vec<String>,
    /// Number of test nodes of each graph.
    pub test_nodes: Vec<f64>,
    /// What a network gives that reads features and training labels and no link.
    pub without_links: Vec<f64>,
    /// What believed classes give without links: networks on features, and on graphs of similar nodes.
    pub beliefs: Vec<f64>,
    /// What the most frequent class gives.
    pub majority: Vec<f64>,
    /// What the true links give.
    pub non_private: Vec<f64>,
    /// What each mechanism and budget gives, by the position of its question.
    pub with_links: BTreeMap<usize, Vec<f64>>,
}

impl Worth {
    /// Before anything is trained.
    pub(super) fn new(origin: Origin) -> Self {
        Self {
            origin,
            runs: Vec::new(),
            graphs: Vec::new(),
            test_nodes: Vec::new(),
            without_links: Vec::new(),
            beliefs: Vec::new(),
            majority: Vec::new(),
            non_private: Vec::new(),
            with_links: BTreeMap::new(),
        }
    }

    /// The floor of each graph: the best of what needs no link.
    pub(in crate::advise) fn floors(&self) -> Vec<f64> {
        let floors = [&self.without_links, &self.beliefs, &self.majority];
        let best = |number: usize| floors.iter().filter_map(|values| values.get(number)).copied().fold(0.0, f64::max);
        (0..self.majority.len()).map(best).collect()
    }

    /// What the links are worth beyond the floor, graph by graph: the least gain and the largest.
    pub(in crate::advise) fn gain(&self, question: usize) -> Option<Range> {
        let with = self.with_links.get(&question)?;
        let gains = with.iter().zip(self.floors()).map(|(with, floor)| with - floor);
        Some(Range::over(gains))
    }

    /// On which graphs the links help: where the gain is more than one standard error of the floor's accuracy, as the number
    /// of test nodes leaves it uncertain.
    pub(in crate::advise) fn help(&self, question: usize) -> Help {
        let with = self.with_links.get(&question).map_or(&[][..], Vec::as_slice);
        let mut helped = 0;
        for ((with, floor), test_nodes) in with.iter().zip(self.floors()).zip(&self.test_nodes) {
            let standard_error = (floor * (1.0 - floor) / test_nodes).sqrt();
            helped += usize::from(with - floor > standard_error);
        }
        match helped {
            0 => Help::Nowhere,
            helped if helped == with.len() => Help::Everywhere,
            _ => Help::Somewhere,
        }
    }

    /// As JSON.
    pub(in crate::advise) fn json(&self) -> Value {
        let (origin, nodes) = match self.origin {
            Origin::Drawn { nodes } => ("drawn", Some(nodes)),
            Origin::Public => ("public", None),
        };
        let with_links = |(question, accuracy): (&usize, &Vec<f64>)| json!({"answer": question, "accuracy": accuracy});
        json!({
            "origin": origin,
            "nodes": nodes,
            "graphs": self.graphs,
            "runs": self.runs,
            "without_links": self.without_links,
            "beliefs": self.beliefs,
            "majority": self.majority,
            "non_private": self.non_private,
            "with_links": self.with_links.iter().map(with_links).collect::<Vec<_>>(),
        })
    }
}
