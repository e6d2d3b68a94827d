//! This module holds what trained models say about the classes of the nodes.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

/// Holds the class probabilities of every node, from every model of a grid that was trained successfully.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// The dataset has this many classes.
    pub n_classes: usize,
    /// These are the hyperparameters of each model in words; models whose training failed are included.
    pub settings: Vec<String>,
    /// The models come in ascending order of their position in the grid.
    pub models: Vec<ModelPredictions>,
}

/// Holds the class probabilities of every node, from one model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelPredictions {
    /// The model has this position in the grid.
    pub model: u32,
    /// The probabilities are row-major `[n_nodes, n_classes]`.
    pub probabilities: Vec<f32>,
}

impl ModelPredictions {
    /// Returns the most likely class of each node; of several equally likely ones, the first.
    #[must_use]
    pub fn classes(&self, n_classes: usize) -> Vec<u16> {
        let first_largest = |row: &[f32]| {
            row.iter().enumerate().fold(0, |best, (class, &value)| if value > row[best] { class } else { best }) as u16
        };
        self.probabilities.chunks_exact(n_classes).map(first_largest).collect()
    }
}

// Predictions are a function of the server's artifacts alone.
impl Public for Predictions {}

impl Artifact for Predictions {
    const NAME: &'static str = "predictions";
    const HELD_OUT_NAME: &'static str = "held_out_predictions";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[
        ("model", ColumnType::U32),
        ("node", ColumnType::U32),
        ("class", ColumnType::U16),
        ("probabilities", ColumnType::ListF32),
    ];

    fn facts(&self) -> Facts {
        Facts::default().with("n_classes", self.n_classes).with("settings", self.settings.join("; "))
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(self.models.iter().map(|model| {
            let classes = model.classes(self.n_classes);
            let n = classes.len();
            vec![
                Column::U32(vec![model.model; n]),
                Column::U32((0..n as u32).collect()),
                Column::U16(classes),
                Column::ListF32(model.probabilities.chunks_exact(self.n_classes).map(<[f32]>::to_vec).collect()),
            ]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_classes: usize = facts.get("n_classes")?;
        if n_classes == 0 {
            return Err(Invalid("predictions without a class".to_owned()));
        }
        let settings: String = facts.get("settings")?;
        let mut models: Vec<ModelPredictions> = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let numbers: Vec<u32> = take(&mut columns)?;
            let mut columns = columns.skip(2);
            for (model, row) in numbers.into_iter().zip(take::<Vec<f32>>(&mut columns)?) {
                if row.len() != n_classes {
                    return Err(Invalid(format!("model {model}: {} probabilities for {n_classes} classes", row.len())));
                }
                if models.last().is_none_or(|last| last.model != model) {
                    models.push(ModelPredictions { model, probabilities: Vec::new() });
                }
                if let Some(last) = models.last_mut() {
                    last.probabilities.extend(row);
                }
            }
        }
        Ok(Self { n_classes, settings: settings.split("; ").map(str::to_owned).collect(), models })
    }
}
