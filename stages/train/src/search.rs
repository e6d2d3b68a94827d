//! A grid searched in trials of its own, so that those that are scored train one setting.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{
    Artifact, Column, ColumnType, Draws, Facts, Invalid, Progress, Public, Server, Stage, StageRng, Zone, take,
};
use veilgraph_graph::Curves;

use crate::{Error, Params, Read, Train};

/// How far the models of a grid are trained before one of them is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// All of them to the end.
    #[default]
    Full,
    /// Those that are no longer expected to win are dropped ([`veilgraph_nn::race`]), and are never chosen.
    Racing,
    /// The first trial of a search is a race where there can be one, and else trains all of them. Every later one trains those that
    /// [`HalveSettings`] keeps, to the end.
    Halving,
}

/// Trains a grid for its losses alone.
pub struct SearchGrid;

/// Chooses the setting with the lowest mean validation loss over trials.
pub struct ChooseSetting;

/// Keeps the settings with the lowest mean validation losses over the trials so far, for the next one
/// ([`HalveSettings::n_left`] of them). It is called halving although only a quarter goes on after the first trial. Settings that
/// were dropped or could not be trained count among those that are given up.
///
/// # Source
/// Jamieson, Talwalkar (2016), Non-stochastic best arm identification and hyperparameter optimization, with trials in the
/// place of epochs: a setting that goes on was trained to the end, also where the first trial is a race. To keep a quarter
/// after the first trial is our choice.
pub struct HalveSettings;

/// Settings by their positions in the grid: the one that is trained for scores, or those that the next trial of a search trains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenSettings {
    /// Positions in the grid, in ascending order; at least one.
    pub models: Vec<u32>,
}

impl Stage for SearchGrid {
    const STAGE: &'static str = "train";
    const TASK: &'static str = "search-grid";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Server;
    type Params = Params;
    type Inputs = <Train as Stage>::Inputs;
    type Outputs = (Curves,);
    type Error = Error;

    fn run(inputs: Self::Inputs, params: &Params, rng: &StageRng, progress: &Progress) -> Result<Self::Outputs, Error> {
        let (.., chosen) = &inputs;
        let chosen = chosen.clone();
        let (_, mut curves, _) =
            Train::run_for(inputs, params, rng, progress, Read::Curves).map_err(|error| match error {
                // Settings that were kept can all fail, where others of the grid would not.
                Error::AllFailed(_) if chosen.is_some() => Error::NoneLeft,
                other => other,
            })?;
        // A network counts under the position of its setting in the grid, although not all of the grid was trained.
        if let Some(ChosenSettings { models }) = chosen {
            let position = |model: &mut u32| *model = models[*model as usize];
            curves.model.iter_mut().chain(&mut curves.dropped).for_each(position);
        }
        Ok((curves,))
    }
}

impl HalveSettings {
    /// Says how many of `n_left` settings go on to the next trial of a search after `n_trials` of them: a quarter after the first
    /// one, but at least four (of fewer than eight settings a half), and a half after every later one; all rounded up.
    ///
    /// The first trial, which begins with all settings, tells which learning rates are hopeless. Later ones choose among
    /// settings that differ by little more than noise.
    fn n_kept(n_left: usize, n_trials: usize) -> usize {
        let half = n_left.div_ceil(2);
        if n_trials == 1 { n_left.div_ceil(4).max(half.min(4)) } else { half }
    }

    /// Says how many of `n_settings` settings are left for the next trial of a search after `n_trials` of them.
    #[must_use]
    pub fn n_left(n_settings: usize, n_trials: usize) -> usize {
        (1..=n_trials).fold(n_settings, Self::n_kept)
    }
}

impl Stage for ChooseSetting {
    const STAGE: &'static str = "train";
    const TASK: &'static str = "choose-setting";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = Params;
    /// The curves of every trial of the search.
    type Inputs = (Vec<Curves>,);
    type Outputs = (ChosenSettings,);
    type Error = Error;

    fn run((curves,): Self::Inputs, params: &Params, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        let n_models = params.settings().len() as u32;
        let none_left = || if Curves::any_dropped(&curves) { Error::NoneLeft } else { Error::NoCommonSetting };
        let (model, _) = Curves::best(&curves, n_models).ok_or_else(none_left)?;
        Ok((ChosenSettings { models: vec![model] },))
    }
}

impl Stage for HalveSettings {
    const STAGE: &'static str = "train";
    const TASK: &'static str = "halve-settings";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = Params;
    /// The curves of the trials so far.
    type Inputs = (Vec<Curves>,);
    type Outputs = (ChosenSettings,);
    type Error = Error;

    fn run((curves,): Self::Inputs, params: &Params, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        let mut ranked = Curves::ranked(&curves, params.settings().len() as u32);
        // As many as the plan says, also where some settings were dropped or failed: then fewer of the others are given up.
        ranked.truncate(Self::n_left(params.settings().len(), curves.len()));
        ranked.sort_unstable();
        if !ranked.is_empty() {
            return Ok((ChosenSettings { models: ranked },));
        }
        // In the first trial of a search something is given up only where something else was trained to the end.
        Err(if curves.len() > 1 { Error::NoneLeft } else { Error::NoCommonSetting })
    }
}

// It is a function of server artifacts alone.
impl Public for ChosenSettings {}

impl Artifact for ChosenSettings {
    const NAME: &'static str = "chosen_setting";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("model", ColumnType::U32)];

    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(std::iter::once(vec![Column::U32(self.models.clone())]))
    }

    fn from_blocks(_: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut models = Vec::new();
        for block in blocks {
            models.extend(take::<u32>(&mut block.into_iter())?);
        }
        if models.is_empty() || !models.is_sorted_by(|a, b| a < b) {
            return Err(Invalid(format!("{models:?} is no ascending list of settings")));
        }
        Ok(Self { models })
    }
}

#[cfg(test)]
mod tests;
