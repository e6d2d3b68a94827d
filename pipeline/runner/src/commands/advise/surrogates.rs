//! What budgets are worth to a network, on graphs that take the place of the private one.

mod point;
mod public_graph;
mod surrogate;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};
use veilgraph_exposure::{DegreeModel, PublicKnowledge, factor_of_equal_exposure};
use veilgraph_store::Store;

use super::answer::Question;
use super::knowledge::Knowledge;
use super::range::Range;
use crate::cli::{Accepted, AdviseArguments, DeviceChoice, RunArguments};
use crate::commands::summary::Row;
use crate::commands::{run, scores, summary};
use crate::config::{Config, ConfigError};
use crate::engine::SideChoice;
use crate::output;
use crate::plan::Options;
use crate::progress::Display;
use crate::{runs, systems};
use point::{Point, van_der_corput};
use public_graph::PublicGraph;
use surrogate::Surrogate;
use veilgraph_train::Device;

/// Surrogates that are drawn have no more nodes: a network is trained for every budget on each of them.
const MOST_NODES: u64 = 12_000;

/// Test accuracies on all surrogates, each list in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Worth {
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
    /// Number of surrogates that were drawn; public graphs follow them in every list.
    pub drawn: usize,
    /// Number of nodes of each that was drawn.
    pub nodes: u64,
    /// Names of the public graphs.
    pub public_graphs: Vec<String>,
    /// Names of the runs in the store.
    pub runs: Vec<String>,
}

impl Worth {
    /// Trains networks on every surrogate. What was trained before is read from the store.
    pub(super) fn of(
        store: &Store,
        arguments: &AdviseArguments,
        knowledge: &Knowledge,
        questions: &[&Question],
    ) -> anyhow::Result<Self> {
        let (Some(classes), Some(_)) = (knowledge.classes, &knowledge.homophily) else {
            let problem = "--surrogates, --public-graphs: networks classify nodes; give --classes, and --homophily if it is known";
            return Err(ConfigError(problem.to_owned()).into());
        };
        let mut worth = Self { nodes: knowledge.nodes.min(MOST_NODES), ..Self::default() };
        let most = (worth.nodes - 1) as f64 / 4.0;
        if arguments.surrogates > 0 && knowledge.mean_degree.range.high > most {
            let problem = format!(
                "--surrogates: a mean degree of {} is too large for surrogates of {} nodes; at most {most:.0} is drawn",
                knowledge.mean_degree.range.high, worth.nodes
            );
            return Err(ConfigError(problem).into());
        }
        if f64::from(classes) * 10.0 > worth.nodes as f64 * arguments.training_share {
            let problem =
                format!("--surrogates: {classes} classes have fewer than ten training nodes each; train on more nodes");
            return Err(ConfigError(problem).into());
        }
        let other = questions.iter().find(|question| question.is_trained() && question.mechanism != "blink");
        if let (None, Some(other)) = (&knowledge.features_accuracy, other) {
            let problem = format!(
                "--surrogates: without --features-accuracy, classes are learned from what is believed about links, and `{}` \
                 leads to no beliefs; ask about blink",
                other.mechanism
            );
            return Err(ConfigError(problem).into());
        }
        let public_graphs = PublicGraph::nearest(knowledge, arguments.data_dir.as_deref(), arguments.public_graphs)?;
        worth.draw(store, arguments, knowledge, questions, classes)?;
        for (number, graph) in (1..).zip(public_graphs) {
            output::error_line(&format!("public graph {number} of {}: {graph}", arguments.public_graphs));
            let run = format!("advise-{}", graph.name);
            worth.public_graphs.push(graph.name.clone());
            worth.train(store, arguments, knowledge, questions, &Surrogate::Public(graph), &run)?;
            worth.runs.push(run);
        }
        Ok(worth)
    }

    /// Draws surrogates and trains networks on them.
    fn draw(
        &mut self,
        store: &Store,
        arguments: &AdviseArguments,
        knowledge: &Knowledge,
        questions: &[&Question],
        classes: u32,
    ) -> anyhow::Result<()> {
        let Some(homophily) = &knowledge.homophily else { return Ok(()) };
        for number in 0..arguments.surrogates {
            // The first surrogate lies in the middle of what is known. The others spread evenly over it.
            // The second number of the sequence is the first one that does not lie in the middle again.
            let place = |base: u32| if number == 0 { 0.5 } else { van_der_corput(number + 1, base) };
            let mut point = Point {
                nodes: self.nodes,
                mean_degree: knowledge.mean_degree.range.at(place(2)),
                degree_spread: knowledge.degree_spread.range.at(place(3)),
                homophily: homophily.range.at(place(5)),
                classes,
                features_accuracy: knowledge.features_accuracy.as_ref().map(|known| known.range.at(place(7))),
                topic_share: 0.5,
                seed: number,
            };
            if let Some(accuracy) = point.features_accuracy {
                point.topic_share = topic_share(store, arguments, point, accuracy)?;
            }
            let name = format!("advise-{number}");
            output::error_line(&format!("surrogate {} of {}: {point}", number + 1, arguments.surrogates));
            self.train(store, arguments, knowledge, questions, &Surrogate::Drawn(point), &name)?;
            self.runs.push(name);
            self.drawn += 1;
        }
        Ok(())
    }

    fn train(
        &mut self,
        store: &Store,
        arguments: &AdviseArguments,
        knowledge: &Knowledge,
        questions: &[&Question],
        surrogate: &Surrogate,
        name: &str,
    ) -> anyhow::Result<()> {
        let mut text = surrogate.config(name, arguments);
        if questions.iter().any(|question| question.mechanism == "blink") {
            // Above the alternatives, so that --set may say something else.
            text = text.replacen("[train]", "[privatize.links]\ndegree_fraction = \"auto-with-bits\"\n[train]", 1);
        }
        for (number, question) in questions.iter().enumerate().filter(|(_, question)| question.is_trained()) {
            let epsilon = equivalent_epsilon(question, surrogate, knowledge)?;
            let mechanism = &question.mechanism;
            text.push_str(&format!(
                "\n[[compare]]\nname = \"question-{number}\"\nprivatize.links.mechanism = \"{mechanism}\"\n"
            ));
            text.push_str(&format!("privatize.links.epsilon = {epsilon:?}\n"));
            if mechanism == "blink" {
                // Without features no network is trained: the prior itself has to know classes.
                text.push_str(if surrogate.has_features() {
                    "construct = { variant = \"hybrid\", edge_multiple = 2 }\n\
                     estimate = { method = \"best\", prior = \"beta-model\", triangles = false }\n"
                } else {
                    "estimate = { method = \"best\", triangles = false }\n"
                });
            }
        }
        for row in rows(store, text, arguments)? {
            let accuracy = *row.values("accuracy").first().with_context(|| format!("{name}: a run has no accuracy"))?;
            match row.cell.alternative.as_str() {
                "no-links" => self.without_links.push(accuracy),
                "beliefs" => self.beliefs.push(accuracy),
                "majority" => self.majority.push(accuracy),
                "non-private" => self.non_private.push(accuracy),
                other => {
                    let number = other.strip_prefix("question-").and_then(|number| number.parse().ok());
                    let number: usize = number.with_context(|| format!("{name}: nobody asked for `{other}`"))?;
                    self.with_links.entry(number).or_default().push(accuracy);
                }
            }
        }
        Ok(())
    }

    /// The floor of each surrogate: the best of what needs no link.
    pub(super) fn floors(&self) -> Vec<f64> {
        let floors = [&self.without_links, &self.beliefs, &self.majority];
        let best = |number: usize| floors.iter().filter_map(|values| values.get(number)).copied().fold(0.0, f64::max);
        (0..self.majority.len()).map(best).collect()
    }

    /// What the links are worth beyond the floor, surrogate by surrogate: the least gain and the largest.
    pub(super) fn gain(&self, question: usize) -> Option<Range> {
        let with = self.with_links.get(&question)?;
        let gains = with.iter().zip(self.floors()).map(|(with, floor)| with - floor);
        Some(Range::over(gains))
    }

    /// As JSON.
    pub(super) fn json(&self) -> Value {
        json!({
            "nodes": self.nodes, "public_graphs": self.public_graphs, "runs": self.runs, "without_links": self.without_links, "beliefs": self.beliefs, "majority": self.majority,
            "non_private": self.non_private,
            "with_links": self.with_links.iter().map(|(question, accuracy)| json!({"answer": question, "accuracy": accuracy})).collect::<Vec<_>>(),
        })
    }
}

/// The share of topical words at which a classifier that reads features alone is right as often as `accuracy` says, on
/// this surrogate.
fn topic_share(store: &Store, arguments: &AdviseArguments, point: Point, accuracy: f64) -> anyhow::Result<f64> {
    const TRIED: [f64; 9] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0];
    let mut found = Vec::new();
    let text = Surrogate::Drawn(point).config("advise-features", arguments);
    // The floors that a config has are not asked for here, and neither are links.
    let text = text.split("\n[[compare]]").next().unwrap_or_default().replace("model = \"gcn\"", "model = \"mlp\"");
    let text = text.replace("topic_share = 0.5", &format!("topic_share = {TRIED:?}"));
    let text = format!("{text}[privatize.links]\nmechanism = \"no-links\"\n");
    for (row, share) in rows(store, text, arguments)?.iter().zip(TRIED) {
        found.push((share, *row.values("accuracy").first().context("a surrogate has no accuracy")?));
    }
    let mut below = *found.first().context("no surrogate was trained")?;
    let most = found.iter().map(|(_, reached)| *reached).fold(0.0, f64::max);
    if !(below.1 - 0.03..=most + 0.03).contains(&accuracy) {
        output::error_line(&format!(
            "features alone are right in {:.0} to {:.0} % of the cases on this surrogate, and not in {:.0} %",
            100.0 * below.1,
            100.0 * most,
            100.0 * accuracy
        ));
    }
    for &(share, reached) in &found {
        if reached >= accuracy {
            let step = if reached > below.1 { (accuracy - below.1) / (reached - below.1) } else { 1.0 };
            return Ok(below.0 + (share - below.0) * step.clamp(0.0, 1.0));
        }
        below = (share, reached);
    }
    Ok(1.0)
}

/// The budget that exposes the same share of a surrogate's links as the asked one of those of the whole graph.
fn equivalent_epsilon(question: &Question, surrogate: &Surrogate, knowledge: &Knowledge) -> anyhow::Result<f64> {
    let of_surrogate = surrogate.degrees();
    let of_graph = match surrogate {
        // A surrogate that is drawn stands for a graph of its own degrees.
        Surrogate::Drawn(_) => PublicKnowledge { nodes: knowledge.nodes, ..of_surrogate },
        Surrogate::Public(_) => PublicKnowledge {
            nodes: knowledge.nodes,
            mean_degree: knowledge.mean_degree.range.middle(),
            degree_spread: knowledge.degree_spread.range.middle(),
        },
    };
    match &question.seen {
        Some(seen) if of_graph != of_surrogate && seen.per_link.is_finite() => {
            let (graph, model) = (DegreeModel::new(of_graph)?, DegreeModel::new(of_surrogate)?);
            Ok(question.epsilon * factor_of_equal_exposure(&graph, &model, &seen.signal))
        }
        _ => Ok(question.epsilon),
    }
}

/// The scores of a config, from the store where it has run before.
fn rows(store: &Store, text: String, arguments: &AdviseArguments) -> anyhow::Result<Vec<Row>> {
    let config = Config::parse(Path::new("advise"), text, &arguments.sets)?;
    let data_dir = arguments.data_dir.as_deref();
    let options = Options { data_dir, published: None, until: None, device: Device::Cpu };
    let tasks = systems::plan(&config, &options)?;
    let how = RunArguments {
        configs: Vec::new(),
        until: None,
        data_dir: arguments.data_dir.clone(),
        published: None,
        sets: Vec::new(),
        device: DeviceChoice::Cpu,
        jobs: None,
        memory_limit: None,
        checkpoint_seconds: 10,
        accepted: Accepted::default(),
        side: SideChoice::All,
        simulation: false,
        json: false,
    };
    let display = Display::new(&tasks, 1, true);
    let done = run::bring(store, &config, &tasks, &how, false, &display)?;
    let metrics = run::read_metrics(&done)?;
    runs::publish(store, &config, &tasks, &done, |folder| scores::write(&metrics, folder))?;
    summary::rows(&metrics, config.trials)
}
