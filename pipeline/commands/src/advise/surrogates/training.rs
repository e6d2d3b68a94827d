//! Networks on one graph that takes the place of the private one, by the pipeline itself.

use std::path::{Path, PathBuf};

use anyhow::Context;
use veilgraph_exposure::{DegreeModel, PublicKnowledge, factor_of_equal_exposure};
use veilgraph_runner::belief::{Knowledge, Question};
use veilgraph_runner::config::Config;
use veilgraph_runner::output;
use veilgraph_runner::plan::Options;
use veilgraph_runner::progress::Display;
use veilgraph_runner::systems;
use veilgraph_store::Store;
use veilgraph_train::Device;

use super::point::Point;
use super::surrogate::Surrogate;
use super::worth::Worth;
use crate::cli::{AdviseArguments, RunArguments};
use crate::summary::Row;
use crate::{experiment, summary};

/// Everything that all graphs have in common.
#[derive(Clone, Copy)]
pub(super) struct Training<'a> {
    pub store: &'a Store,
    pub arguments: &'a AdviseArguments,
    pub knowledge: &'a Knowledge,
    pub questions: &'a [&'a Question],
}

impl Training<'_> {
    /// Trains networks on a graph, as the run `name`, and adds what they reach. What was trained before is read from the
    /// store.
    pub(super) fn train(&self, surrogate: &Surrogate, name: &str, worth: &mut Worth) -> anyhow::Result<()> {
        let mut text = surrogate.config(name, self.arguments);
        for (number, question) in self.questions.iter().enumerate().filter(|(_, question)| question.is_trained()) {
            let epsilon = self.equivalent_epsilon(question, surrogate)?;
            let mechanism = &question.mechanism;
            text.push_str(&format!(
                "\n[[compare]]\nname = \"question-{number}\"\nprivatize.links.mechanism = \"{mechanism}\"\n\
                 privatize.links.epsilon = {epsilon:?}\n"
            ));
            if let Some(fraction) = &question.degree_fraction {
                text.push_str(&format!("privatize.links.degree_fraction = {fraction}\n"));
            }
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
        for row in self.rows(text, &[])? {
            let accuracy = *row.values("accuracy").first().with_context(|| format!("{name}: a run has no accuracy"))?;
            match row.cell.alternative.as_str() {
                "no-links" => worth.without_links.push(accuracy),
                "features-only" => worth.beliefs.push(accuracy),
                "majority" => worth.majority.push(accuracy),
                "non-private" => worth.non_private.push(accuracy),
                other => {
                    let number = other.strip_prefix("question-").and_then(|number| number.parse().ok());
                    let number: usize = number.with_context(|| format!("{name}: nobody asked for `{other}`"))?;
                    worth.with_links.entry(number).or_default().push(accuracy);
                }
            }
        }
        worth.runs.push(name.to_owned());
        worth.graphs.push(surrogate.name());
        worth.test_nodes.push(surrogate.degrees().nodes as f64 * self.arguments.test_share());
        Ok(())
    }

    /// The share of topical words at which a classifier that reads features alone is right as often as `accuracy` says, on
    /// this graph.
    pub(super) fn topic_share(&self, point: Point, accuracy: f64) -> anyhow::Result<f64> {
        const TRIED: [f64; 9] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0];
        let mut found = Vec::new();
        let text = Surrogate::Drawn(point).config("advise-features", self.arguments);
        // The floors that a config has are not asked for here, and neither are links.
        let sets = [
            "compare=[]".to_owned(),
            "privatize.links.mechanism=\"no-links\"".to_owned(),
            "train.model=\"mlp\"".to_owned(),
            format!("ingest.synthetic.topic_share={TRIED:?}"),
        ];
        let rows = self.rows(text, &sets)?;
        anyhow::ensure!(rows.len() == TRIED.len(), "{} surrogates were trained of {}", rows.len(), TRIED.len());
        for (row, share) in rows.iter().zip(TRIED) {
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
    fn equivalent_epsilon(&self, question: &Question, surrogate: &Surrogate) -> anyhow::Result<f64> {
        let of_surrogate = surrogate.degrees();
        let of_graph = match surrogate {
            // A surrogate that is drawn stands for a graph of its own degrees.
            Surrogate::Drawn(_) => PublicKnowledge { nodes: self.knowledge.nodes, ..of_surrogate },
            Surrogate::Public(_) => PublicKnowledge {
                nodes: self.knowledge.nodes,
                mean_degree: self.knowledge.mean_degree.range.middle(),
                degree_spread: self.knowledge.degree_spread.range.middle(),
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

    /// The scores of a config with `sets` and those of the user laid over it, from the store where it has run before.
    fn rows(&self, text: String, sets: &[String]) -> anyhow::Result<Vec<Row>> {
        let sets: Vec<String> = sets.iter().chain(&self.arguments.sets).cloned().collect();
        let config = Config::parse(Path::new("advise"), text, &sets)?;
        let data_dir = self.arguments.data_dir.clone();
        let options =
            Options { data_dir: data_dir.as_deref(), published: None, until: None, device: Device::Cpu, spend: false };
        let tasks = systems::plan(&config, &options)?;
        let how =
            RunArguments { data_dir: data_dir.clone(), published: None, ..RunArguments::of(PathBuf::from("advise")) };
        let display = Display::new(&tasks, 1, true);
        let metrics = experiment::bring_and_name(self.store, &config, &tasks, &how, &display)?;
        summary::rows(&metrics, config.trials)
    }
}
