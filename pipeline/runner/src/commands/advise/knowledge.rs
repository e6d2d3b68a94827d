//! What is publicly known about a graph, with its sources.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use veilgraph_exposure::{DegreeModel, PublicKnowledge, Signal};

use super::range::Range;
use super::released::Released;
use crate::cli::AdviseArguments;
use crate::config::ConfigError;
use crate::nearest::nearest;

/// `[privacy] public_knowledge`: what everybody knows about the graph of a deployment.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatedKnowledge {
    pub nodes: u64,
    pub mean_degree: Option<Range>,
    pub degree_spread: Option<Range>,
}

/// A number with its source.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// What it is, as people read it.
    pub what: &'static str,
    pub range: Range,
    /// Where it comes from.
    pub source: String,
}

/// Everything that the advice rests on.
#[derive(Clone, Debug)]
pub(crate) struct Knowledge {
    pub nodes: u64,
    pub mean_degree: Known,
    pub degree_spread: Known,
    pub classes: Option<u32>,
    /// Where the numbers of nodes and of classes come from.
    source_of_nodes: String,
    source_of_classes: String,
    pub homophily: Option<Known>,
    pub features_accuracy: Option<Known>,
    /// What the server saw before.
    pub seen_before: Signal,
}

/// What somebody says about a graph.
#[derive(Default)]
struct Given {
    nodes: u64,
    mean_degree: Option<Range>,
    degree_spread: Option<Range>,
    classes: Option<u32>,
    homophily: Option<Range>,
    features_accuracy: Option<Range>,
    /// Sources by what they are given for.
    sources: BTreeMap<String, String>,
}

/// Mean degrees where nothing is known.
const ANY_MEAN_DEGREE: Range = Range { low: 2.0, high: 50.0 };
/// Spreads of the degrees of public graphs are from 1.0 to 1.8 (docs/benchmarks/advise.md).
const USUAL_SPREAD: Range = Range { low: 0.8, high: 2.2 };
/// Shares of links inside classes that are usual in graphs on which networks are trained.
const USUAL_HOMOPHILY: Range = Range { low: 0.6, high: 0.9 };
/// Names of what a source can be given for.
const NAMES: [&str; 6] = ["nodes", "mean-degree", "degree-spread", "classes", "homophily", "features-accuracy"];

impl Given {
    /// A source without its number would be lost.
    fn check_sources(&self) -> Result<(), ConfigError> {
        let lacks = |name: &str| match name {
            "mean-degree" => self.mean_degree.is_none(),
            "degree-spread" => self.degree_spread.is_none(),
            "classes" => self.classes.is_none(),
            "homophily" => self.homophily.is_none(),
            "features-accuracy" => self.features_accuracy.is_none(),
            _ => self.nodes == 0,
        };
        match self.sources.keys().find(|name| lacks(name)) {
            Some(name) => Err(ConfigError(format!("--source {name}: give --{name} as well"))),
            None => Ok(()),
        }
    }
}

impl Knowledge {
    /// What a config says, and what is assumed where it says nothing.
    pub(crate) fn stated(stated: &StatedKnowledge) -> Result<Self, ConfigError> {
        let StatedKnowledge { nodes, mean_degree, degree_spread } = *stated;
        let given = Given { nodes, mean_degree, degree_spread, ..Given::default() };
        Self::of(&given)
    }

    /// What the arguments say, and what is assumed where they say nothing. `released` is what an earlier release tells.
    pub(super) fn asked(arguments: &AdviseArguments, released: Option<Released>) -> Result<Self, ConfigError> {
        let mut given = Given {
            nodes: arguments.nodes.unwrap_or_default(),
            mean_degree: arguments.mean_degree,
            degree_spread: arguments.degree_spread,
            classes: arguments.classes,
            homophily: arguments.homophily,
            features_accuracy: arguments.features_accuracy,
            sources: sources(&arguments.sources)?,
        };
        given.check_sources()?;
        let mut seen_before = Signal::default();
        if let Some(Released { name, nodes, mean_degree, spread, signal }) = released {
            seen_before = signal;
            given.nodes = nodes;
            given.sources.insert("nodes".to_owned(), format!("as in {name}"));
            if given.mean_degree.is_none() {
                // Estimates of few nodes or at small budgets are a fifth off and more.
                given.mean_degree = Some(Range { low: mean_degree / 1.25, high: mean_degree * 1.25 });
                given.sources.insert("mean-degree".to_owned(), format!("a quarter around what {name} estimates"));
            }
            if given.degree_spread.is_none() {
                // Estimates that are drawn towards their mean spread less than the degrees, and noisy ones spread more.
                let (low, high) = (spread.min(USUAL_SPREAD.low), spread.max(USUAL_SPREAD.high));
                given.degree_spread = Some(Range { low, high });
                let source = format!("as in public graphs, widened to the degrees that {name} estimates");
                given.sources.insert("degree-spread".to_owned(), source);
            }
        }
        Ok(Self { seen_before, ..Self::of(&given)? })
    }

    fn of(given: &Given) -> Result<Self, ConfigError> {
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
            seen_before: Signal::default(),
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
    pub(super) fn all(&self) -> Vec<Known> {
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
    pub(crate) fn models(&self) -> Result<Vec<DegreeModel>, ConfigError> {
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
    pub(crate) fn base_rate(&self) -> Range {
        let others = (self.nodes - 1) as f64;
        Range { low: self.mean_degree.range.low / others, high: self.mean_degree.range.high / others }
    }

    /// As JSON.
    pub(super) fn json(&self) -> Value {
        let known: Vec<Value> = self
            .all()
            .iter()
            .map(|known| json!({"what": known.what, "low": known.range.low, "high": known.range.high, "source": known.source}))
            .collect();
        json!({"nodes": self.nodes, "classes": self.classes, "known": known})
    }
}

/// Sources by what they are given for.
fn sources(given: &[String]) -> Result<BTreeMap<String, String>, ConfigError> {
    let parse = |text: &String| {
        let (name, source) = text
            .split_once('=')
            .ok_or_else(|| ConfigError(format!("--source `{text}`: write a name, `=` and a text")))?;
        if !NAMES.contains(&name) {
            let hint = nearest(name, &NAMES).map_or(String::new(), |hint| format!("; did you mean `{hint}`?"));
            return Err(ConfigError(format!(
                "--source: nothing is called `{name}` (there are {}){hint}",
                NAMES.join(", ")
            )));
        }
        Ok((name.to_owned(), source.to_owned()))
    };
    let mut sources = BTreeMap::new();
    for text in given {
        let (name, source) = parse(text)?;
        if source.trim().is_empty() {
            return Err(ConfigError(format!("--source {name}: say where the number comes from, or leave it out")));
        }
        if sources.insert(name.clone(), source).is_some() {
            return Err(ConfigError(format!("--source {name} is given twice; give one text")));
        }
    }
    Ok(sources)
}
