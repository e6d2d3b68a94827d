//! What an experiment does otherwise than those whose figures were published.

use std::collections::BTreeMap;
use std::path::PathBuf;

use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{self, Metric};

use crate::config::{Config, Profile};

/// The protocols of the experiments of a page, by their names.
#[derive(Default)]
pub(crate) struct Protocols(BTreeMap<String, Protocol>);

/// How an experiment differs from the published protocol.
struct Protocol {
    /// Where the published splits are, if the config asks for them.
    splits: Option<PathBuf>,
    has_published_hyperparameters: bool,
    has_published_estimator: bool,
    trials: u32,
}

/// Trials behind every published figure of Blink.
const PUBLISHED_TRIALS: u32 = 30;
/// The value of `[ingest] split` that asks for the published split, where a dataset without one has the usual split, and of
/// `[estimate] method` for the published estimator.
const PUBLISHED: &str = "published";

impl Protocols {
    /// Those of these configs.
    pub(crate) fn of<'a>(configs: impl Iterator<Item = &'a Config>) -> Self {
        let protocol = |config: &Config| Protocol {
            splits: config
                .published
                .clone()
                .filter(|_| config.table("ingest").get("split").and_then(|split| split.as_str()) == Some(PUBLISHED)),
            // A field beside the network's kind is laid over what was published for the cell.
            has_published_hyperparameters: config.profile == Profile::Published
                && config.table("train").keys().all(|key| key == "model"),
            has_published_estimator: has_published_estimator(config),
            trials: config.trials,
        };
        Self(configs.map(|config| (config.name.clone(), protocol(config))).collect())
    }

    /// Whether a score was found as the published one was. Errors of links do not depend on the split, nor on a network.
    pub(crate) fn is_comparable(&self, cell: &Cell, metric: &Metric) -> bool {
        let Some(protocol) = self.0.get(&cell.experiment) else { return false };
        let is_of_network = [metric::ACCURACY, metric::MACRO_F1].contains(metric);
        let is_estimate_published = protocol.has_published_estimator || cell.mechanism != "blink";
        // Whatever an alternative changes, it is not what was published.
        let is_as_published = cell.alternative.is_empty() && is_estimate_published;
        let split = protocol.splits.as_ref().map(|folder| folder.join(format!("split_{}.txt", cell.dataset)));
        let is_trained_alike = split.is_some_and(|file| file.is_file()) && protocol.has_published_hyperparameters;
        is_as_published && (!is_of_network || is_trained_alike)
    }

    /// What differs, in words; a line for each experiment of which something does.
    pub(crate) fn differences(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, protocol) in &self.0 {
            let mut parts = Vec::new();
            if protocol.splits.is_none() {
                parts.push(
                    "its split is not the published one, so that accuracies are those of other test nodes".to_owned(),
                );
            }
            if !protocol.has_published_hyperparameters {
                parts.push("its hyperparameters are not those that were published for each cell".to_owned());
            }
            if !protocol.has_published_estimator {
                parts.push("its estimator is not the published one".to_owned());
            }
            if protocol.trials != PUBLISHED_TRIALS {
                parts.push(format!("it has {} trials where {PUBLISHED_TRIALS} were published", protocol.trials));
            }
            if !parts.is_empty() {
                lines.push(format!("{name}: {}.", parts.join("; ")));
            }
        }
        lines
    }
}

/// Whether all of an experiment's estimates are made as the paper makes them: the profile sees to it, or the config says so.
fn has_published_estimator(config: &Config) -> bool {
    match config.values("estimate", "method").as_slice() {
        [] => config.profile == Profile::Published,
        named => named.iter().all(|method| method.as_str() == Some(PUBLISHED)),
    }
}
