//! What trained models say about the nodes, and how their training went.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

/// Class probabilities of every node by every model of a grid that was trained successfully.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// Number of classes.
    pub n_classes: usize,
    /// Hyperparameters of each model, readable; failed models included.
    pub settings: Vec<String>,
    /// The models, ascending.
    pub models: Vec<ModelPredictions>,
}

/// Class probabilities of every node by one model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelPredictions {
    /// Position in the grid.
    pub model: u32,
    /// Row-major `[n_nodes, n_classes]`.
    pub probabilities: Vec<f32>,
}

/// Losses of every model of a grid, epoch by epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// Position in the grid.
    pub model: Vec<u32>,
    /// From 0.
    pub epoch: Vec<u32>,
    /// Nats, with dropout.
    pub train_loss: Vec<f64>,
    /// Nats.
    pub validation_loss: Vec<f64>,
    /// Share.
    pub validation_accuracy: Vec<f64>,
}

impl ModelPredictions {
    /// Most likely class of each node (the first, if several).
    #[must_use]
    pub fn classes(&self, n_classes: usize) -> Vec<u16> {
        let first_largest = |row: &[f32]| {
            row.iter().enumerate().fold(0, |best, (class, &value)| if value > row[best] { class } else { best }) as u16
        };
        self.probabilities.chunks_exact(n_classes).map(first_largest).collect()
    }
}

impl Curves {
    /// Lowest validation loss of `model`; infinite if it was never a number.
    #[must_use]
    pub fn lowest_validation_loss(&self, model: u32) -> f64 {
        let losses = self.model.iter().zip(&self.validation_loss).filter(|&(&of, _)| of == model);
        losses.map(|(_, &loss)| loss).fold(f64::INFINITY, f64::min)
    }

    /// Of `n_models` models, the one with the lowest mean validation loss over trials, and its loss in each; none if
    /// every model failed in some trial.
    #[must_use]
    pub fn best(trials: &[Self], n_models: u32) -> Option<(u32, Vec<f64>)> {
        let losses = (0..n_models).map(|model| {
            let losses: Vec<f64> = trials.iter().map(|curve| curve.lowest_validation_loss(model)).collect();
            (model, losses.iter().sum::<f64>() / losses.len() as f64, losses)
        });
        let best = losses.filter(|(_, mean, _)| mean.is_finite()).min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((best.0, best.2))
    }
}

// Functions of server artifacts alone.
impl Public for Predictions {}
impl Public for Curves {}

impl Artifact for Predictions {
    const NAME: &'static str = "predictions";
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

impl Artifact for Curves {
    const NAME: &'static str = "curve";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[
        ("model", ColumnType::U32),
        ("epoch", ColumnType::U32),
        ("train_loss", ColumnType::F64),
        ("validation_loss", ColumnType::F64),
        ("validation_accuracy", ColumnType::F64),
    ];

    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(std::iter::once(vec![
            Column::U32(self.model.clone()),
            Column::U32(self.epoch.clone()),
            Column::F64(self.train_loss.clone()),
            Column::F64(self.validation_loss.clone()),
            Column::F64(self.validation_accuracy.clone()),
        ]))
    }

    fn from_blocks(_: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut curves = Self::default();
        for block in blocks {
            let mut columns = block.into_iter();
            curves.model.extend(take::<u32>(&mut columns)?);
            curves.epoch.extend(take::<u32>(&mut columns)?);
            curves.train_loss.extend(take::<f64>(&mut columns)?);
            curves.validation_loss.extend(take::<f64>(&mut columns)?);
            curves.validation_accuracy.extend(take::<f64>(&mut columns)?);
        }
        Ok(curves)
    }
}
