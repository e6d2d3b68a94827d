//! The name of a score: what it is about.

use serde::{Deserialize, Serialize};
use veilgraph_attack::Record;
use veilgraph_contract::Relation;

/// What a score is about. Trials of one cell are repetitions of the same thing, and nothing else is.
///
/// The plan of an experiment fills it in; tables, figures, JSON and Parquet print it, and none of them parses it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Name of the config.
    pub experiment: String,
    /// Name of the dataset.
    pub dataset: String,
    /// Name of the `[[compare]]` table; empty where there is none.
    pub alternative: String,
    /// How links are protected.
    pub mechanism: String,
    /// How the graph was built; empty for scores of link probabilities.
    pub variant: String,
    /// Kind of network; empty where none was trained.
    pub model: String,
    /// Cost of everything that the score rests on, in nats per list bit.
    pub epsilon: f64,
    /// The same in nats per undirected link.
    pub epsilon_edge: f64,
    /// Share of the budget that was spent on degrees.
    pub degree_fraction: f64,
    /// Every swept field that the score depends on, with its value.
    pub choices: Vec<Choice>,
    /// What everything that the score rests on costs together, under each relation.
    pub costs: Vec<RelationCost>,
}

/// A swept field with one of its values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The field with its tables, such as `train.hidden`.
    pub field: String,
    /// The end of the field's name that tells it from other swept fields.
    pub name: String,
    /// The value, as a config writes it.
    pub value: String,
}

/// A total cost under one relation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelationCost {
    /// What the cost protects.
    pub relation: Relation,
    /// In nats; the text `inf` where nothing is protected, because JSON has no infinity.
    #[serde(with = "veilgraph_contract::nats")]
    pub epsilon: f64,
    /// The delta of `(epsilon, dp_delta)`-differential privacy.
    pub dp_delta: f64,
    /// Whether the guarantee holds as executed.
    pub sound: bool,
    /// What the source of the method states for the same noise, in nats, where that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "veilgraph_contract::optional_nats")]
    pub claimed_epsilon: Option<f64>,
}

/// Fields that have columns of their own in every table.
const WITH_COLUMN: [&str; 6] = [
    "ingest.dataset",
    "privatize.links.mechanism",
    "privatize.links.epsilon",
    "privatize.links.degree_fraction",
    "construct.variant",
    "train.model",
];

impl Choice {
    /// Whether the field has a column of its own, whatever is swept.
    #[must_use]
    pub fn has_column(&self) -> bool {
        WITH_COLUMN.contains(&self.field.as_str())
    }

    /// Name of the stage whose table the field stands in.
    #[must_use]
    pub fn stage(&self) -> &str {
        self.field.split('.').next().unwrap_or_default()
    }

    /// Whether tables need a column for the field. A share of the budget that is decided by a rule needs one beside the
    /// share: two rules may come to the same share.
    #[must_use]
    pub fn needs_column(&self) -> bool {
        let is_rule = self.field == "privatize.links.degree_fraction" && self.value.parse::<f64>().is_err();
        is_rule || !self.has_column()
    }
}

impl Cell {
    /// What tells this cell from others and has no column of its own: the alternative and the other choices.
    #[must_use]
    pub fn estimate(&self) -> String {
        self.told_apart_by(|_| true)
    }

    /// The same, of the choices that `is_wanted`.
    #[must_use]
    pub fn told_apart_by(&self, is_wanted: impl Fn(&Choice) -> bool) -> String {
        let alternative = Some(self.alternative.clone()).filter(|name| !name.is_empty());
        let choices = self.choices.iter().filter(|choice| !choice.has_column() && is_wanted(choice));
        let named = choices.map(|choice| format!("{}-{}", choice.name, choice.value));
        alternative.into_iter().chain(named).collect::<Vec<_>>().join(", ")
    }

    /// What a fact costs, in nats, and the delta of its `(epsilon, dp_delta)`-differential privacy. 0 where nothing that
    /// was released depends on it, and infinite where no cost is stated.
    #[must_use]
    pub fn cost_of(&self, record: Record) -> (f64, f64) {
        if record == Record::TrainingLabel {
            let is_of_node = |cost: &&RelationCost| matches!(cost.relation, Relation::Node | Relation::OwnData);
            // Where links alone are protected, labels are not.
            let cost = self.costs.iter().find(is_of_node);
            return cost.map_or((f64::INFINITY, 0.0), |cost| (cost.epsilon, cost.dp_delta));
        }
        match record.relation() {
            Some(Relation::Edge) => (self.epsilon_edge, self.dp_delta(Relation::Edge)),
            Some(relation) => {
                let cost = self.costs.iter().find(|cost| cost.relation == relation);
                (cost.map_or(0.0, |cost| cost.epsilon), self.dp_delta(relation))
            }
            None => (f64::INFINITY, 0.0),
        }
    }

    fn dp_delta(&self, relation: Relation) -> f64 {
        self.costs.iter().find(|cost| cost.relation == relation).map_or(0.0, |cost| cost.dp_delta)
    }

    /// The value of a swept field.
    #[must_use]
    pub fn choice(&self, field: &str) -> Option<&str> {
        self.choices.iter().find(|choice| choice.field == field).map(|choice| choice.value.as_str())
    }
}
