//! What an experiment does otherwise than those whose figures were published.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toml::{Table, Value};
use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{self, Metric};
use veilgraph_runner::config::fields::leaves;
use veilgraph_runner::config::{Config, Profile};

/// The protocols of the experiments of a page, by their names.
#[derive(Default)]
pub(crate) struct Protocols(BTreeMap<String, Protocol>);

/// How an experiment differs from the published protocol.
struct Protocol {
    /// Where the published splits are, if the config asks for them.
    splits: Option<PathBuf>,
    has_published_hyperparameters: bool,
    /// Fields of the server and of the mechanism that the published protocol does not have, or not with these values.
    other_fields: Vec<Field>,
    trials: u32,
}

/// A field of a config by its dotted path, with the values that it sweeps over.
struct Field {
    path: String,
    values: Vec<String>,
}

/// Trials behind every published figure of Blink.
const PUBLISHED_TRIALS: u32 = 30;
/// The value of `[ingest] split` that asks for the published split, where a dataset without one has the usual split, and of
/// `[estimate] method` for the published estimator.
const PUBLISHED: &str = "published";
/// Tables whose fields change what is compared, beside `[train]` and the split.
const COMPARED_TABLES: [&str; 3] = ["privatize", "estimate", "construct"];
/// Fields that the published protocol has or that change nothing in it, with the values that it has them with; no values
/// stand for any. Whatever is not here was not published.
const PUBLISHED_FIELDS: [(&str, &[&str]); 21] = [
    ("privatize.links.mechanism", &[]),
    ("privatize.links.epsilon", &[]),
    ("privatize.links.degree_fraction", &[]),
    // Exact noise is of the size of the published one.
    ("privatize.links.degree_noise", &[]),
    ("privatize.links.triangle", &[]),
    ("privatize.links.row_blocks", &[]),
    ("privatize.links.missing_share", &["0", "0.0"]),
    ("privatize.links.lying_share", &["0", "0.0"]),
    ("privatize.features.mechanism", &["public"]),
    ("privatize.labels.mechanism", &["public"]),
    ("estimate.method", &[PUBLISHED]),
    ("estimate.prior", &["beta-model"]),
    ("estimate.degrees", &["clipped"]),
    ("estimate.match", &["false"]),
    ("estimate.triangles", &["false"]),
    ("estimate.learned_score", &["false"]),
    // Both find one model, as far as the published one converges.
    ("estimate.solver", &[]),
    ("estimate.ridge", &["0", "0.0"]),
    ("construct.variant", &[]),
    ("construct.edge_multiple", &["1", "1.0"]),
    ("construct.edge_model", &["published-code"]),
];

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
            other_fields: other_fields(config),
            trials: config.trials,
        };
        Self(configs.map(|config| (config.name.clone(), protocol(config))).collect())
    }

    /// Whether a score was found as the published one was. Errors of links do not depend on the split, nor on a network.
    pub(crate) fn is_comparable(&self, cell: &Cell, metric: &Metric) -> bool {
        let Some(protocol) = self.0.get(&cell.experiment) else { return false };
        let is_of_network = [metric::ACCURACY, metric::MACRO_F1].contains(metric);
        // Whatever an alternative changes, it is not what was published.
        let is_as_published = cell.alternative.is_empty()
            && protocol
                .other_fields
                .iter()
                .all(|field| !field.matters(cell, is_of_network) || field.is_published(cell));
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
            if !protocol.other_fields.is_empty() {
                let fields: Vec<&str> = protocol.other_fields.iter().map(|field| field.path.as_str()).collect();
                parts.push(format!("it sets {} otherwise than was published", fields.join(", ")));
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

impl Field {
    /// Whether a score depends on it. Features and labels are read by networks alone, since the published estimator reads
    /// neither.
    fn matters(&self, cell: &Cell, is_of_network: bool) -> bool {
        let is_of_attributes = ["privatize.features.", "privatize.labels.", "estimate.features."];
        match self.path.as_str() {
            path if is_of_attributes.iter().any(|table| path.starts_with(*table)) => is_of_network,
            "construct.edge_model" => cell.mechanism == "ldpgen",
            _ => cell.mechanism == "blink",
        }
    }

    /// Whether the cell has it with a value of the published protocol.
    fn is_published(&self, cell: &Cell) -> bool {
        match cell.choice(&self.path) {
            Some(value) => is_published(&self.path, value),
            None => self.values.iter().all(|value| is_published(&self.path, value)),
        }
    }
}

/// Whether the published protocol has a field with this value.
fn is_published(path: &str, value: &str) -> bool {
    let known = PUBLISHED_FIELDS.iter().find(|(known, _)| *known == path);
    known.is_some_and(|(_, values)| values.is_empty() || values.contains(&value))
}

/// The fields that have a value which was not published.
fn other_fields(config: &Config) -> Vec<Field> {
    let tables = &config.tables;
    let is_compared = |path: &String| path.split('.').next().is_some_and(|table| COMPARED_TABLES.contains(&table));
    let mut fields: Vec<Field> = leaves(tables, "")
        .into_iter()
        .filter(is_compared)
        .map(|path| {
            let values = values_at(tables, &path);
            Field { path, values }
        })
        .collect();
    // Where nothing is said, the profile sees to the published estimator, and without it the estimator is ours.
    if config.profile != Profile::Published && config.table("estimate").get("method").is_none() {
        fields.push(Field { path: "estimate.method".to_owned(), values: vec!["best".to_owned()] });
    }
    fields.retain(|field| field.values.iter().any(|value| !is_published(&field.path, value)));
    fields
}

/// The values of a field by its dotted path, as texts.
fn values_at(tables: &Table, path: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut parts = path.split('.');
    let first = parts.next().and_then(|table| tables.get(table));
    match first.and_then(|first| parts.try_fold(first, |value, part| value.get(part))) {
        Some(Value::Array(values)) => values.iter().map(text).collect(),
        Some(value) => vec![text(value)],
        None => Vec::new(),
    }
}
