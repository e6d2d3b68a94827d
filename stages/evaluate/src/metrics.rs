//! A table of scores.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Zone, take};

use crate::cell::Cell;
use crate::metric::Metric;

/// Scores of one cell of an experiment. Not public: whoever computed them knew the truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// What the scores are about.
    pub cell: Cell,
    /// Hyperparameters that were chosen, if any were.
    pub setting: String,
    /// The scores.
    pub rows: Vec<Score>,
}

/// One score.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Repetition, from 0.
    pub trial: u32,
    /// Name of the metric.
    pub metric: String,
    /// Its value.
    pub value: f64,
}

impl Metrics {
    /// An empty table about `cell`.
    #[must_use]
    pub fn about(cell: &Cell) -> Self {
        Self { cell: cell.clone(), setting: String::new(), rows: Vec::new() }
    }

    /// Adds a score; one that is not a finite number says nothing and is left out.
    pub fn push(&mut self, trial: u32, metric: &Metric, value: f64) {
        if value.is_finite() {
            self.rows.push(Score { trial, metric: metric.name.to_owned(), value });
        }
    }
}

/// A value as JSON text.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| unreachable!("a cell is plain data: {error}"))
}

impl Artifact for Metrics {
    const NAME: &'static str = "metrics";
    const ZONE: Zone = Zone::Auditor;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[
        ("experiment", ColumnType::Utf8),
        ("dataset", ColumnType::Utf8),
        ("mechanism", ColumnType::Utf8),
        ("variant", ColumnType::Utf8),
        ("model", ColumnType::Utf8),
        ("epsilon", ColumnType::F64),
        ("epsilon_edge", ColumnType::F64),
        ("degree_fraction", ColumnType::F64),
        ("estimate", ColumnType::Utf8),
        ("trial", ColumnType::U32),
        ("metric", ColumnType::Utf8),
        ("value", ColumnType::F64),
        ("alternative", ColumnType::Utf8),
        ("setting", ColumnType::Utf8),
        ("choices", ColumnType::Utf8),
        ("costs", ColumnType::Utf8),
    ];

    fn facts(&self) -> Facts {
        // The cost may be infinite, which JSON does not know.
        let (epsilon, epsilon_edge) = (self.cell.epsilon, self.cell.epsilon_edge);
        let finite = Cell { epsilon: 0.0, epsilon_edge: 0.0, ..self.cell.clone() };
        let facts = Facts::default().with("cell", json(&finite)).with("setting", &self.setting);
        facts.with("epsilon", epsilon).with("epsilon_edge", epsilon_edge)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let n = self.rows.len();
        let text = |value: &str| Column::Utf8(vec![value.to_owned(); n]);
        let number = |value: f64| Column::F64(vec![value; n]);
        let cell = &self.cell;
        Box::new(std::iter::once(vec![
            text(&cell.experiment),
            text(&cell.dataset),
            text(&cell.mechanism),
            text(&cell.variant),
            text(&cell.model),
            number(cell.epsilon),
            number(cell.epsilon_edge),
            number(cell.degree_fraction),
            text(&cell.estimate()),
            Column::U32(self.rows.iter().map(|row| row.trial).collect()),
            Column::Utf8(self.rows.iter().map(|row| row.metric.clone()).collect()),
            Column::F64(self.rows.iter().map(|row| row.value).collect()),
            text(&cell.alternative),
            text(&self.setting),
            text(&json(&cell.choices)),
            text(&json(&cell.costs)),
        ]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut rows = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter().skip(9);
            let trials: Vec<u32> = take(&mut columns)?;
            let names: Vec<String> = take(&mut columns)?;
            let values: Vec<f64> = take(&mut columns)?;
            let all = trials.into_iter().zip(names).zip(values);
            rows.extend(all.map(|((trial, metric), value)| Score { trial, metric, value }));
        }
        let cell: String = facts.get("cell")?;
        let cell: Cell =
            serde_json::from_str(&cell).map_err(|error| Invalid(format!("fact `cell` is unreadable: {error}")))?;
        let (epsilon, epsilon_edge) = (facts.get("epsilon")?, facts.get("epsilon_edge")?);
        Ok(Self { cell: Cell { epsilon, epsilon_edge, ..cell }, setting: facts.get("setting")?, rows })
    }
}
