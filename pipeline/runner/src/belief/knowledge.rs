//! What is publicly known about a graph, with its sources.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use veilgraph_exposure::{DegreeModel, PublicKnowledge, Signal};

use super::range::Range;
use crate::config::ConfigError;

/// `[privacy] public_knowledge`: what everybody knows about the graph of a deployment.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedKnowledge {
    /// Number of nodes.
    pub nodes: u64,
    /// Mean degree, in links.
    pub mean_degree: Option<Range>,
    /// Standard deviation of the degrees over their mean.
    pub degree_spread: Option<Range>,
}

/// A number with its source.
#[derive(Clone, Debug)]
pub struct Known {
    /// What it is, as people read it.
    pub what: &'static str,
    /// The least and the most that it can be.
    pub range: Range,
    /// Where it comes from.
    pub source: String,
}

/// Reports of an earlier release, with noise of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeenBefore {
    /// What they show of a pair and of degrees.
    pub signal: Signal,
    /// Nats that all of them together cost an undirected link.
    pub per_link: f64,
}

/// Everything that the advice rests on.
#[derive(Clone, Debug)]
pub struct Knowledge {
    /// Number of nodes.
    pub nodes: u64,
    /// Mean degree, in links.
    pub mean_degree: Known,
    /// Standard deviation of the degrees over their mean.
    pub degree_spread: Known,
    /// Number of classes.
    pub classes: Option<u32>,
    /// Where the numbers of nodes and of classes come from.
    source_of_nodes: String,
    source_of_classes: String,
    /// Share of the links that lie inside a class.
    pub homophily: Option<Known>,
    /// Accuracy of a network that reads features alone, as a share.
    pub features_accuracy: Option<Known>,
    /// What the server saw before.
    pub seen_before: SeenBefore,
}

/// What somebody says about a graph.
#[derive(Default)]
pub struct Given {
    /// Number of nodes; 0 where it is not given.
    pub nodes: u64,
    /// Mean degree, in links.
    pub mean_degree: Option<Range>,
    /// Standard deviation of the degrees over their mean.
    pub degree_spread: Option<Range>,
    /// Number of classes.
    pub classes: Option<u32>,
    /// Share of the links that lie inside a class.
    pub homophily: Option<Range>,
    /// Accuracy of a network that reads features alone, as a share.
    pub features_accuracy: Option<Range>,
    /// Sources by what they are given for.
    pub sources: BTreeMap<String, String>,
}

/// Mean degrees where nothing is known.
const ANY_MEAN_DEGREE: Range = Range { low: 2.0, high: 50.0 };
/// Spreads of the degrees of public graphs are from 1.0 to 1.8 (docs/benchmarks/advise.md).
pub const USUAL_SPREAD: Range = Range { low: 0.8, high: 2.2 };
/// Shares of links inside classes that are usual in graphs on which networks are trained.
const USUAL_HOMOPHILY: Range = Range { low: 0.6, high: 0.9 };

impl Knowledge {
    /// What a config says, and what is assumed where it says nothing.
    pub(crate) fn stated(stated: &StatedKnowledge) -> Result<Self, ConfigError> {
        let StatedKnowledge { nodes, mean_degree, degree_spread } = *stated;
        let given = Given { nodes, mean_degree, degree_spread, ..Given::default() };
        Self::of(&given)
    }

    /// What somebody says, and what is assumed where nothing is said.
    ///
    /// # Errors
    /// When no graph is like that: the message says what is impossible.
    pub fn of(given: &Given) -> Result<Self, ConfigError> {
        let sources = &given.sources;
        let stated = |name: &str| sources.get(name).cloned().unwrap_or_else(|| "given, no source stated".to_owned());
        let known = |what, name: &str, range: Option<Range>, usual: Range, why: &str| match range {
            Some(range) => Known { what, range, source: stated(name) },
            None => Known { what, range: usual, source: format!("not given; assumed {why}") },
        };
        let mean_degree = known(
            "mean degree",
            "mean-degree",
            given.mean_degree,
            Range {
                low: ANY_MEAN_DEGREE.low.min(given.nodes.saturating_sub(1) as f64 / 4.0),
                high: ANY_MEAN_DEGREE.high.min(given.nodes.saturating_sub(1) as f64 / 4.0),
            },
            "between those of sparse and of dense social networks; give --mean-degree for narrower answers",
        );
        // A graph of few nodes cannot have the widest spread.
        let most_spread = (given.nodes.saturating_sub(1) as f64 / mean_degree.range.high - 1.0).max(0.0).sqrt();
        let usual = Range { low: USUAL_SPREAD.low.min(most_spread), high: USUAL_SPREAD.high.min(most_spread) };
        let degree_spread =
            known("spread of degrees", "degree-spread", given.degree_spread, usual, "as in public graphs");
        let homophily = || {
            known(
                "homophily",
                "homophily",
                given.homophily,
                USUAL_HOMOPHILY,
                "as in graphs on which networks are trained",
            )
        };
        let features_accuracy = given.features_accuracy.map(|range| Known {
            what: "accuracy on features alone",
            range,
            source: stated("features-accuracy"),
        });
        let knowledge = Self {
            nodes: given.nodes,
            mean_degree,
            degree_spread,
            classes: given.classes,
            source_of_nodes: stated("nodes"),
            source_of_classes: stated("classes"),
            homophily: (given.classes.is_some() || given.homophily.is_some()).then(homophily),
            features_accuracy,
            seen_before: SeenBefore::default(),
        };
        knowledge.check()?;
        Ok(knowledge)
    }

    fn check(&self) -> Result<(), ConfigError> {
        for mean_degree in [self.mean_degree.range.low, self.mean_degree.range.high] {
            for degree_spread in [self.degree_spread.range.low, self.degree_spread.range.high] {
                let point = PublicKnowledge { nodes: self.nodes, mean_degree, degree_spread };
                point.checked().map_err(|problem| ConfigError(format!("impossible public knowledge: {problem}")))?;
            }
        }
        let shares = [("--homophily", &self.homophily), ("--features-accuracy", &self.features_accuracy)];
        for (argument, known) in shares {
            if let Some(Known { range, .. }) = known
                && !range.is_within(0.0, 1.0)
            {
                return Err(ConfigError(format!("{argument}: {range} is a share and must lie in [0, 1]")));
            }
        }
        match self.classes {
            Some(classes) if classes < 2 || u64::from(classes) > self.nodes => {
                Err(ConfigError(format!("--classes: {classes} is not between 2 and the number of nodes")))
            }
            _ => Ok(()),
        }
    }

    /// Everything with its source.
    pub fn all(&self) -> Vec<Known> {
        let exact = |what, number: f64, source: &String| Known {
            what,
            range: Range { low: number, high: number },
            source: source.clone(),
        };
        let classes = self.classes.map(|classes| exact("classes", f64::from(classes), &self.source_of_classes));
        let mut all = vec![exact("nodes", self.nodes as f64, &self.source_of_nodes)];
        all.extend([&self.mean_degree, &self.degree_spread].map(Known::clone));
        all.extend(classes);
        all.extend(self.homophily.iter().chain(&self.features_accuracy).cloned());
        all
    }

    /// The graph in the middle of what is known, then those at its ends and between them.
    ///
    /// # Errors
    /// When no graph has such degrees.
    pub fn models(&self) -> Result<Vec<DegreeModel>, ConfigError> {
        const PLACES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
        let along = |range: Range| {
            let mut values = PLACES.map(|place| range.at(place)).to_vec();
            values.dedup();
            values
        };
        let middle = (self.mean_degree.range.middle(), self.degree_spread.range.middle());
        let mut points = vec![middle];
        for mean_degree in along(self.mean_degree.range) {
            let beside = along(self.degree_spread.range).into_iter().map(|spread| (mean_degree, spread));
            points.extend(beside.filter(|point| *point != middle));
        }
        let model = |(mean_degree, degree_spread)| {
            DegreeModel::new(PublicKnowledge { nodes: self.nodes, mean_degree, degree_spread })
                .map_err(|problem| ConfigError(format!("impossible public knowledge: {problem}")))
        };
        points.into_iter().map(model).collect()
    }

    /// Share of the pairs that are linked.
    #[must_use]
    pub fn base_rate(&self) -> Range {
        let others = (self.nodes - 1) as f64;
        Range { low: self.mean_degree.range.low / others, high: self.mean_degree.range.high / others }
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let known: Vec<Value> = self
            .all()
            .iter()
            .map(|known| json!({"what": known.what, "low": known.range.low, "high": known.range.high, "source": known.source}))
            .collect();
        json!({"nodes": self.nodes, "classes": self.classes, "known": known})
    }
}
