//! This module holds how the training of models went.

use std::collections::BTreeMap;

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
    /// These models keep the weights of another epoch than that of their lowest validation loss, each with that epoch: under noisy
    /// labels, a lower loss may come from having learned the noise.
    pub kept: BTreeMap<u32, u32>,
}

/// Name of the fact that lists the dropped models. Curves of which none was dropped do not have it.
const DROPPED: &str = "dropped";

/// Name of the fact that lists the epochs of [`Curves::kept`]. Curves without any do not have it.
const KEPT: &str = "kept";

impl Curves {
    /// Returns the validation loss of `model` at the epoch whose weights it keeps, which is its lowest one unless [`Curves::kept`]
    /// names another, or infinity if the loss was never a number or the model was dropped.
    #[must_use]
    pub fn kept_validation_loss(&self, model: u32) -> f64 {
        if self.dropped.contains(&model) {
            return f64::INFINITY;
        }
        let kept = self.kept.get(&model);
        let rows = self.model.iter().zip(&self.epoch).zip(&self.validation_loss);
        let is_asked_for = |of: u32, epoch: u32| of == model && kept.is_none_or(|kept| *kept == epoch);
        let losses = rows.filter(|((of, epoch), _)| is_asked_for(**of, **epoch)).map(|(_, loss)| *loss);
        losses.fold(f64::INFINITY, f64::min)
    }

    /// Returns the models whose losses were numbers in every one of `trials`, from the lowest mean of their kept validation
    /// losses on; of equal means, the first model comes first.
    #[must_use]
    pub fn ranked(trials: &[Self], n_models: u32) -> Vec<u32> {
        let mean = |model: u32| {
            trials.iter().map(|curve| curve.kept_validation_loss(model)).sum::<f64>() / trials.len() as f64
        };
        let mut ranked: Vec<(f64, u32)> = (0..n_models).map(|model| (mean(model), model)).collect();
        ranked.retain(|(mean, _)| mean.is_finite());
        ranked.sort_by(|(first, _), (second, _)| first.total_cmp(second));
        ranked.into_iter().map(|(_, model)| model).collect()
    }

    /// Finds, among `n_models` models, the one with the lowest mean validation loss over `trials`. Returns its position
    /// in the grid and its loss in each trial, or `None` if every model failed or was dropped in
    /// some trial.
    #[must_use]
    pub fn best(trials: &[Self], n_models: u32) -> Option<(u32, Vec<f64>)> {
        let model = *Self::ranked(trials, n_models).first()?;
        let losses = trials.iter().map(|curve| curve.kept_validation_loss(model)).collect();
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
        let mut facts = Facts::default();
        if !self.dropped.is_empty() {
            let models: Vec<String> = self.dropped.iter().map(u32::to_string).collect();
            facts = facts.with(DROPPED, models.join(" "));
        }
        if !self.kept.is_empty() {
            let epochs: Vec<String> = self.kept.iter().map(|(model, epoch)| format!("{model}:{epoch}")).collect();
            facts = facts.with(KEPT, epochs.join(" "));
        }
        facts
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
        for kept in facts.0.get(KEPT).into_iter().flat_map(|kept| kept.split_whitespace()) {
            let unreadable = || Invalid(format!("fact `{KEPT}` lists `{kept}`, which is no model with its epoch"));
            let (model, epoch) = kept.split_once(':').ok_or_else(unreadable)?;
            let number = |text: &str| text.parse().map_err(|_| unreadable());
            curves.kept.insert(number(model)?, number(epoch)?);
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
