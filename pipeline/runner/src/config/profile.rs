//! Every cell with the hyperparameters that were published for it.

use serde::Deserialize;
use toml::{Table, Value};

use super::fields::{number, plain};
use super::overlay::merge;
use super::{Config, ConfigError, Whole};
use crate::published::{Published, PublishedCell, Setting};

/// Whose hyperparameters are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Those of the config: one grid, one number of epochs and one way of choosing for all.
    #[default]
    Fair,
    /// Those that a study chose for each cell, with its numbers of epochs.
    Published,
}

impl Config {
    /// One alternative for each mechanism, budget, variant and model of the config that was published for `dataset`.
    pub(super) fn published_cells(
        &self,
        dataset: &str,
        published: Option<&Published>,
    ) -> Result<Vec<Self>, ConfigError> {
        let Whole { table, alternatives } = &self.whole;
        let Some(published) = published else {
            let problem = "\"published\" needs --published DIR, a folder with published_best_hp.csv";
            return Err(self.error("profile", problem));
        };
        if self.references.as_ref().is_some_and(|names| !names.is_empty()) {
            return Err(self.error("references", "profile = \"published\" names its references as mechanisms"));
        }
        if !alternatives.is_empty() {
            return Err(self.error("compare", "alternatives have no place in profile = \"published\""));
        }
        let mut cells = Vec::new();
        for mechanism in self.words("privatize.links", "mechanism", "blink") {
            let (variants, epsilons) = match mechanism.as_str() {
                "blink" => (self.words("construct", "variant", "hybrid"), self.values("privatize.links", "epsilon")),
                "non-private" => (vec![String::new()], vec![Value::Float(f64::INFINITY)]),
                "no-links" => (vec![String::new()], vec![Value::Float(0.0)]),
                _ => (vec![String::new()], self.values("privatize.links", "epsilon")),
            };
            let models = match mechanism.as_str() {
                "no-links" => vec!["mlp".to_owned()],
                _ => self.words("train", "model", "gcn"),
            };
            for epsilon in &epsilons {
                for (variant, model) in variants.iter().flat_map(|v| models.iter().map(move |m| (v, m))) {
                    let number = number(epsilon);
                    let cell = PublishedCell {
                        dataset: dataset.to_owned(),
                        mechanism: mechanism.clone(),
                        variant: variant.clone(),
                        model: model.clone(),
                        epsilon: number.unwrap_or(f64::NAN),
                        degree_fraction: None,
                    };
                    let Some(setting) = published.setting(&cell) else {
                        tracing::info!(
                            "nothing was published for {dataset}, {mechanism} {variant}, {model}, {epsilon}"
                        );
                        continue;
                    };
                    let mut whole = table.clone();
                    let names_fraction = self.table("privatize.links").contains_key("degree_fraction");
                    let names_method = self.table("estimate").contains_key("method");
                    merge(&mut whole, overlay(&cell, epsilon, setting, names_fraction, names_method));
                    let mut config = Self::from_table(whole, Vec::new(), self.source.clone())?;
                    let label = [mechanism.clone(), plain(epsilon), variant.clone(), model.clone()];
                    config.published.clone_from(&self.published);
                    config.label = label.into_iter().filter(|part| !part.is_empty()).collect();
                    cells.push(config);
                }
            }
        }
        if cells.is_empty() {
            return Err(self.error("profile", &format!("nothing was published for {dataset}; leave it out")));
        }
        Ok(cells)
    }

    /// The values of a field that are texts; `default` if there are none.
    fn words(&self, table: &str, field: &str, default: &str) -> Vec<String> {
        let found: Vec<String> =
            self.values(table, field).iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
        if found.is_empty() { vec![default.to_owned()] } else { found }
    }
}

/// The tables that a published setting lays over a config, whose own fraction and estimator stay if it names them.
fn overlay(
    cell: &PublishedCell,
    epsilon: &Value,
    setting: &Setting,
    keeps_fraction: bool,
    keeps_method: bool,
) -> Table {
    let table =
        |pairs: Vec<(&str, Value)>| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Table>();
    let float = |number: f64| Value::Float(number);
    let mut links = vec![("mechanism", cell.mechanism.clone().into())];
    if !matches!(cell.mechanism.as_str(), "no-links" | "non-private") {
        links.push(("epsilon", epsilon.clone()));
    }
    if let Some(fraction) = setting.delta.filter(|_| !keeps_fraction) {
        links.push(("degree_fraction", float(fraction)));
    }
    // The published code trains these mechanisms for 200 epochs and all others for 300.
    let epochs = if matches!(cell.mechanism.as_str(), "rr" | "symrr" | "l-dpgcn" | "solitude") { 200 } else { 300 };
    let mut train = vec![
        ("model", cell.model.clone().into()),
        ("epochs", Value::Integer(epochs)),
        ("learning_rate", float(setting.lr.or(setting.lr_theta).unwrap_or(0.01))),
        ("weight_decay", float(setting.weight_decay)),
        ("dropout", float(setting.dropout)),
    ];
    if let (Some(rate), Some(deviation), Some(sparsity)) = (setting.lr_adj, setting.lam1, setting.lam2) {
        let links =
            table(vec![("learning_rate", float(rate)), ("deviation", float(deviation)), ("sparsity", float(sparsity))]);
        train.push(("links", links.into()));
    }
    let mut over =
        vec![("privatize", Value::Table(table(vec![("links", table(links).into())]))), ("train", table(train).into())];
    if cell.mechanism == "blink" && !keeps_method {
        over.push(("estimate", table(vec![("method", "published".into())]).into()));
    }
    if !cell.variant.is_empty() {
        over.push(("construct", table(vec![("variant", cell.variant.clone().into())]).into()));
    }
    table(over)
}
