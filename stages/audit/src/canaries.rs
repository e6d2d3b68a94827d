//! Facts that fair coins decide before anything is released, and what an attacker guesses about the coins.
//!
//! `plant_*` decides facts of one kind, and `guess_from_*` guesses the coins at one point of the pipeline. Stage
//! `evaluate` bounds epsilon by the right guesses.

mod guess_from_attributes;
mod guess_from_degrees;
mod guess_from_graph;
mod guess_from_model;
mod guess_from_network;
mod guess_from_predictions;
mod plant_features;
mod plant_labels;
mod plant_links;
mod plant_training_labels;

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use veilgraph_attack::{Canaries, PairScores, Record};
use veilgraph_contract::{Invalid, StageRng};

pub use guess_from_attributes::GuessFromAttributes;
pub use guess_from_degrees::GuessFromDegrees;
pub use guess_from_graph::{GuessFromGraph, GuessParams};
pub use guess_from_model::GuessFromModel;
pub use guess_from_network::GuessFromNetwork;
pub use guess_from_predictions::GuessFromPredictions;
pub use plant_features::{PlantFeatures, PlantFeaturesParams};
pub use plant_labels::PlantLabels;
pub use plant_links::PlantLinks;
pub use plant_training_labels::PlantTrainingLabels;

use crate::Error;

/// What the stage functions that plant canaries read of `[audit]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlantParams {
    /// How many facts; none plants nothing.
    pub canaries: usize,
    /// Which facts.
    pub canaries_of: CanariesOf,
}

/// What coins decide; `canaries_of` in a config.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanariesOf {
    /// Whether two nodes are linked.
    #[default]
    Links,
    /// At which end of their range all features of a node lie.
    Features,
    /// Which of two classes a node has.
    Labels,
    /// Which of two classes a training node has, for a curator's model.
    TrainingLabels,
}

/// So many of the `candidates`, drawn by the trial, ascending.
///
/// # Errors
/// When nothing is asked for, or more than there are.
fn chosen(mut candidates: Vec<u32>, canaries: usize, what: &'static str, rng: &StageRng) -> Result<Vec<u32>, Error> {
    if canaries == 0 || canaries > candidates.len() {
        return Err(Error::Canaries { canaries, most: candidates.len(), what });
    }
    candidates.shuffle(&mut rng.fast_stream("canaries", 0));
    candidates.truncate(canaries);
    candidates.sort_unstable();
    Ok(candidates)
}

/// A score for every canary.
fn scored(canaries: &Canaries, score: impl Fn(u32, u32) -> f64) -> PairScores {
    let pairs = canaries.coins.iter().map(|&(row, column, _)| (row, column, score(row, column)));
    PairScores { record: canaries.record, n_nodes: canaries.n_nodes, pairs: pairs.collect() }
}

/// Whether the canaries are of the kind that a guess is about.
fn about(canaries: &Canaries, record: Record) -> Result<(), Invalid> {
    if canaries.record == record {
        Ok(())
    } else {
        Err(Invalid(format!("the canaries are of the kind `{}`, and the guess is about `{record}`", canaries.record)))
    }
}

fn same_size(found: usize, canaries: &Canaries) -> Result<(), Invalid> {
    if found == canaries.n_nodes {
        Ok(())
    } else {
        Err(Invalid(format!("what is attacked is of {found} nodes, and the canaries are of {}", canaries.n_nodes)))
    }
}

#[cfg(test)]
mod tests;
