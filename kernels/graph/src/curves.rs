//! This module holds how the training of models went.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

/// Holds the losses of every model of a grid, epoch by epoch.
///
/// # Shapes
/// All columns are `[n_rows]`: one row for each model and epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// The model of the row has this position in the grid.
    pub model: Vec<u32>,
    /// The epochs of a model are counted from 0.
    pub epoch: Vec<u32>,
    /// This is the loss of the training nodes in nats, under dropout: the mean cross-entropy, or the corrected loss where labels
    /// are noisy.
    pub train_loss: Vec<f64>,
    /// This is the loss of the validation nodes in nats, without dropout: the mean cross-entropy, or that of the noisy classes
    /// where labels are noisy.
    pub validation_loss: Vec<f64>,
    /// This share of the validation nodes is classified correctly.
    pub validation_accuracy: Vec<f64>,
    /// These models were dropped before their last epoch, because they were no longer expected to win. They have rows for the
    /// epochs until then, and are never the best.
    pub dropped: Vec<u32>,
}

/// Name of the fact that lists the dropped models. Curves of which none was dropped do not have it.
const DROPPED: &str = "dropped";

impl Curves {
    /// Returns the lowest validation loss of `model`, or infinity if the loss was never a number or the model was dropped.
    #[must_use]
    pub fn lowest_validation_loss(&self, model: u32) -> f64 {
        if self.dropped.contains(&model) {
            return f64::INFINITY;
        }
        let losses = self.model.iter().zip(&self.validation_loss).filter(|&(&row_model, _)| row_model == model);
        losses.map(|(_, &loss)| loss).fold(f64::INFINITY, f64::min)
    }

    /// Returns the models whose losses were numbers in every one of `trials`, from the lowest mean of their lowest validation
    /// losses on; of equal means, the first model comes first.
    #[must_use]
    pub fn ranked(trials: &[Self], n_models: u32) -> Vec<u32> {
        let mean = |model: u32| {
            trials.iter().map(|curve| curve.lowest_validation_loss(model)).sum::<f64>() / trials.len() as f64
        };
        let mut ranked: Vec<(f64, u32)> = (0..n_models).map(|model| (mean(model), model)).collect();
        ranked.retain(|(mean, _)| mean.is_finite());
        ranked.sort_by(|(first, _), (second, _)| first.total_cmp(second));
        ranked.into_iter().map(|(_, model)| model).collect()
    }

    /// Finds, among `n_models` models, the one with the lowest mean validation loss over `trials`. Returns its position
    /// in the grid and its lowest loss in each trial, or `None` if every model failed or was dropped in
    /// some trial.
    #[must_use]
    pub fn best(trials: &[Self], n_models: u32) -> Option<(u32, Vec<f64>)> {
        let model = *Self::ranked(trials, n_models).first()?;
        let losses = trials.iter().map(|curve| curve.lowest_validation_loss(model)).collect();
        Some((model, losses))
    }

    /// Returns whether a model was dropped in any of these trials.
    #[must_use]
    pub fn any_dropped(trials: &[Self]) -> bool {
        trials.iter().any(|curve| !curve.dropped.is_empty())
    }
}

// Curves are a function of the server's artifacts alone.
impl Public for Curves {}

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
        if self.dropped.is_empty() {
            return Facts::default();
        }
        let models: Vec<String> = self.dropped.iter().map(u32::to_string).collect();
        Facts::default().with(DROPPED, models.join(" "))
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

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut curves = Self::default();
        for model in facts.0.get(DROPPED).into_iter().flat_map(|models| models.split_whitespace()) {
            let unreadable = || Invalid(format!("fact `{DROPPED}` lists `{model}`, which is no number of a model"));
            curves.dropped.push(model.parse().map_err(|_| unreadable())?);
        }
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
