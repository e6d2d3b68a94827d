//! A grid searched in trials of its own, so that those that are scored train one setting.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{
    Artifact, Column, ColumnType, Draws, Facts, Invalid, Progress, Public, Server, Stage, StageRng, Zone, take,
};
use veilgraph_graph::Curves;

use crate::{Error, Params, Train};

/// How far the models of a grid are trained before one of them is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// All of them to the end.
    #[default]
    Full,
    /// Those that are no longer expected to win are dropped ([`veilgraph_nn::race`]), and are never chosen.
    Racing,
}

/// Trains a grid for its losses alone.
pub struct SearchGrid;

/// Chooses the setting with the lowest mean validation loss over trials.
pub struct ChooseSetting;

/// A setting by its position in the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenSetting {
    /// Position in the grid.
    pub model: u32,
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
        let (_, curves, _) = Train::run(inputs, params, rng, progress)?;
        Ok((curves,))
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
    type Outputs = (ChosenSetting,);
    type Error = Error;

    fn run((curves,): Self::Inputs, params: &Params, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        let n_models = params.settings().len() as u32;
        let none_left = || if Curves::any_dropped(&curves) { Error::NoneLeftByRace } else { Error::NoCommonSetting };
        let (model, _) = Curves::best(&curves, n_models).ok_or_else(none_left)?;
        Ok((ChosenSetting { model },))
    }
}

// It is a function of server artifacts alone.
impl Public for ChosenSetting {}

impl Artifact for ChosenSetting {
    const NAME: &'static str = "chosen_setting";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("model", ColumnType::U32)];

    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(std::iter::once(vec![Column::U32(vec![self.model])]))
    }

    fn from_blocks(_: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut models = Vec::new();
        for block in blocks {
            models.extend(take::<u32>(&mut block.into_iter())?);
        }
        match models[..] {
            [model] => Ok(Self { model }),
            _ => Err(Invalid(format!("{} settings where one was chosen", models.len()))),
        }
    }
}

#[cfg(test)]
mod tests;
