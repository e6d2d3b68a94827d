//! A table of scores.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Zone, take};

/// Scores of one cell of an experiment. Not public: whoever computed them knew the truth.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are the columns of the artifact, described in ARCHITECTURE.md")]
pub struct Metrics {
    pub experiment: String,
    pub dataset: String,
    pub mechanism: String,
    pub estimate: String,
    pub variant: String,
    pub model: String,
    pub epsilon: f64,
    pub epsilon_edge: f64,
    pub degree_fraction: f64,
    /// Hyperparameters that were chosen, if any were.
    pub setting: String,
    pub rows: Vec<Metric>,
}

/// One score.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Repetition, from 0.
    pub trial: u32,
    /// Name of the score.
    pub metric: String,
    /// Its value.
    pub value: f64,
}

impl Metrics {
    /// Adds a score; one that is not a finite number says nothing and is left out.
    pub fn push(&mut self, trial: u32, metric: &str, value: f64) {
        if value.is_finite() {
            self.rows.push(Metric { trial, metric: metric.to_owned(), value });
        }
    }
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
    ];

    fn facts(&self) -> Facts {
        let facts = Facts::default().with("experiment", &self.experiment).with("dataset", &self.dataset);
        let facts = facts.with("mechanism", &self.mechanism).with("variant", &self.variant).with("model", &self.model);
        let facts = facts.with("epsilon", self.epsilon).with("epsilon_edge", self.epsilon_edge);
        facts
            .with("degree_fraction", self.degree_fraction)
            .with("estimate", &self.estimate)
            .with("setting", &self.setting)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let n = self.rows.len();
        let text = |value: &str| Column::Utf8(vec![value.to_owned(); n]);
        let number = |value: f64| Column::F64(vec![value; n]);
        Box::new(std::iter::once(vec![
            text(&self.experiment),
            text(&self.dataset),
            text(&self.mechanism),
            text(&self.variant),
            text(&self.model),
            number(self.epsilon),
            number(self.epsilon_edge),
            number(self.degree_fraction),
            text(&self.estimate),
            Column::U32(self.rows.iter().map(|row| row.trial).collect()),
            Column::Utf8(self.rows.iter().map(|row| row.metric.clone()).collect()),
            Column::F64(self.rows.iter().map(|row| row.value).collect()),
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
            rows.extend(all.map(|((trial, metric), value)| Metric { trial, metric, value }));
        }
        Ok(Self {
            experiment: facts.get("experiment")?,
            dataset: facts.get("dataset")?,
            mechanism: facts.get("mechanism")?,
            estimate: facts.get("estimate")?,
            variant: facts.get("variant")?,
            model: facts.get("model")?,
            epsilon: facts.get("epsilon")?,
            epsilon_edge: facts.get("epsilon_edge")?,
            degree_fraction: facts.get("degree_fraction")?,
            setting: facts.get("setting")?,
            rows,
        })
    }
}
