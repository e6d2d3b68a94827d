//! What every accuracy is read beside: floors that need no link, and the ceiling with the true ones.

use toml::{Table, Value};

use super::source::Source;
use super::{Config, ConfigError, MetricGroup};
use crate::nearest::did_you_mean;

/// A reference by its name, and the tables that are laid over the config for it.
struct Reference {
    name: &'static str,
    tables: &'static str,
}

const REFERENCES: [Reference; 5] = [
    Reference { name: "majority", tables: "privatize.links.mechanism = 'no-links'\ntrain.task = 'majority'" },
    Reference { name: "no-links", tables: "privatize.links.mechanism = 'no-links'\ntrain.model = 'mlp'" },
    Reference { name: "similar", tables: "privatize.links.mechanism = 'no-links'\nconstruct.variant = 'similar'" },
    Reference { name: "features-only", tables: "privatize.links.mechanism = 'no-links'\ntrain.task = 'beliefs'" },
    Reference { name: "non-private", tables: "privatize.links.mechanism = 'non-private'" },
];

/// The alternatives that the names of `references` stand for.
pub(super) fn tables(names: &[String], source: &Source) -> Result<Vec<Table>, ConfigError> {
    let mut tables: Vec<Table> = Vec::new();
    for name in names {
        let Some(reference) = REFERENCES.iter().find(|reference| reference.name == name) else {
            let known: Vec<&str> = REFERENCES.iter().map(|reference| reference.name).collect();
            let hint = did_you_mean(name, &known);
            let problem = format!("`{name}` is none of {}{hint}", known.join(", "));
            return Err(source.at("references", &problem));
        };
        let mut table: Table = toml::from_str(reference.tables)
            .unwrap_or_else(|error| unreachable!("the tables of `{name}` are TOML: {error}"));
        table.insert("name".to_owned(), name.as_str().into());
        tables.push(table);
    }
    Ok(tables)
}

/// What the server holds about the nodes of a dataset: floors are made of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeldData {
    /// The labels of training and validation nodes.
    pub labels: bool,
    /// Features.
    pub features: bool,
}

/// The floors that stand beside `configs` where nothing is said of references: those of the labels and features that the
/// server holds, where a simulation classifies nodes by private links. A name that stands for something else already is
/// left out.
pub(super) fn usual_floors(configs: &[Config], held: HeldData) -> Vec<String> {
    let words = |table: &str, field: &str, default: &str| -> Vec<String> {
        let of = |config: &Config| match config.values(table, field) {
            values if values.is_empty() => vec![default.to_owned()],
            values => values.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        };
        configs.iter().flat_map(of).collect()
    };
    let mechanisms = words("privatize.links", "mechanism", "blink");
    let is_private = |name: &String| !matches!(name.as_str(), "public" | "non-private" | "no-links");
    let classifies = |task: &String| matches!(task.as_str(), "classify" | "beliefs" | "majority");
    let is_fit = |config: &Config| {
        !config.is_deployment()
            && !config.tables.contains_key("audit")
            && config.metrics.contains(&MetricGroup::Accuracy)
    };
    let is_classified = mechanisms.iter().any(is_private) && words("train", "task", "classify").iter().all(classifies);
    if !held.labels || !is_classified || !configs.iter().all(is_fit) {
        return Vec::new();
    }
    let are_public = words("privatize.features", "mechanism", "public").iter().all(|name| name == "public");
    let floors: &[&str] =
        if held.features && are_public { &["majority", "no-links", "features-only"] } else { &["majority"] };
    let is_taken = |name: &str| {
        let is_named = |config: &Config| config.alternative.as_deref() == Some(name);
        mechanisms.iter().any(|mechanism| mechanism == name) || configs.iter().any(is_named)
    };
    floors.iter().filter(|name| !is_taken(name)).map(|name| (*name).to_owned()).collect()
}
