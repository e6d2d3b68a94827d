//! A graph that takes the place of the private one, as a config of the pipeline.

use std::fmt;

use veilgraph_exposure::PublicKnowledge;

use super::point::Point;
use super::public_graph::PublicGraph;
use crate::cli::AdviseArguments;

/// Names of the alternatives of a surrogate's config that cost nothing, and of the ceiling.
const REFERENCES: [&str; 4] = ["no-links", "features-only", "majority", "non-private"];

/// A graph that takes the place of the private one.
#[derive(Clone, Debug)]
pub(super) enum Surrogate {
    /// It is drawn.
    Drawn(Point),
    /// It is a public graph.
    Public(PublicGraph),
}

/// Where the data of a surrogate come from.
pub(super) struct Ingest {
    /// Name of the dataset.
    pub dataset: String,
    /// Tables below `[ingest]`.
    pub more: String,
}

impl fmt::Display for Surrogate {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Drawn(point) => point.fmt(formatter),
            Self::Public(graph) => graph.fmt(formatter),
        }
    }
}

impl Surrogate {
    /// What it is called in tables.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Drawn(point) => format!("surrogate {}", point.seed + 1),
            Self::Public(graph) => graph.name.clone(),
        }
    }

    /// Its number of nodes and its degrees.
    pub(super) fn degrees(&self) -> PublicKnowledge {
        match self {
            Self::Drawn(Point { nodes, mean_degree, degree_spread, .. }) => {
                PublicKnowledge { nodes: *nodes, mean_degree: *mean_degree, degree_spread: *degree_spread }
            }
            Self::Public(graph) => graph.degrees(),
        }
    }

    /// Whether networks read features.
    pub(super) fn has_features(&self) -> bool {
        match self {
            Self::Drawn(point) => point.features_accuracy.is_some(),
            Self::Public(graph) => graph.reads_features,
        }
    }

    /// The config of this surrogate, with the floors and the ceiling.
    pub(super) fn config(&self, name: &str, arguments: &AdviseArguments) -> String {
        let PublicKnowledge { nodes, mean_degree, degree_spread } = self.degrees();
        let has_features = self.has_features();
        let Ingest { dataset, more } = match self {
            Self::Drawn(point) => point.ingest(),
            Self::Public(graph) => Ingest { dataset: graph.name.clone(), more: String::new() },
        };
        // What a public graph has and the private one has not is kept from the server.
        let holding = if has_features { "public" } else { "withheld" };
        // What is not trained on is for choosing the setting and for the test, half and half.
        let training = arguments.training_share;
        let rest = arguments.test_share();
        let train = if has_features {
            "model = \"gcn\"\nlearning_rate = [0.1, 0.01]\nweight_decay = [1e-3, 1e-4]\ndropout = 0.1"
        } else {
            "task = \"beliefs\""
        };
        let mut text = format!(
            "name = \"{name}\"\nreferences = []\n[privacy]\nfeatures = \"{holding}\"\n[privacy.public_knowledge]\nnodes = {nodes}\n\
             mean_degree = {mean_degree:?}\ndegree_spread = {degree_spread:?}\n[evaluate]\nmetrics = [\"accuracy\"]\n\
             [ingest]\ndataset = \"{dataset}\"\nsplit = {{ train = {training:?}, validation = {rest:?}, test = {rest:?} }}\n\
             {more}[train]\n{train}\n"
        );
        // Without features and links, nothing is left to learn from but how frequent classes are.
        for reference in REFERENCES.into_iter().filter(|reference| has_features || *reference == "majority") {
            text.push_str(&format!("\n[[compare]]\nname = \"{reference}\"\n"));
            text.push_str(match reference {
                "no-links" => "privatize.links.mechanism = \"no-links\"\ntrain.model = \"mlp\"\n",
                "features-only" => "privatize.links.mechanism = \"no-links\"\ntrain = { task = \"beliefs\" }\n",
                "majority" => "privatize.links.mechanism = \"no-links\"\ntrain = { task = \"majority\" }\n",
                _ => "privatize.links.mechanism = \"non-private\"\n",
            });
        }
        text
    }
}
