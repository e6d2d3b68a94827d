//! Guesses about training labels from a curator's model.

use std::collections::BTreeMap;

use veilgraph_attack::{Canaries, PairScores, Record};
use veilgraph_contract::{Auditor, Draws, HeldOut, Invalid, NoParams, Progress, Stage, StageRng};
use veilgraph_graph::Predictions;

use super::plant_labels::other_class;
use super::{about, same_size, scored};
use crate::Error;

/// Scores every coin by the odds that the model gives to the stated class of its node against the other one, beside what it gives on
/// average to the same two classes of all nodes with a coin: it is surer of what it was trained on.
///
/// The attacker knows everything but the coins. What the model answers about a node follows from the released model, from features
/// and links, and from the noisy sums over neighbours that are part of its training; of these, the labels decide the model alone.
///
/// # Source
/// Yeom, Giacomelli, Fredrikson, Jha (2018), Privacy risk in machine learning: analyzing the connection to overfitting,
/// adversary 1.
pub struct GuessFromModel;

impl Stage for GuessFromModel {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "guess-from-model";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = NoParams;
    type Inputs = (Canaries, HeldOut<Predictions>);
    type Outputs = (PairScores,);
    type Error = Error;

    fn run(
        (canaries, HeldOut(predictions)): Self::Inputs,
        _: &NoParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        about(&canaries, Record::TrainingLabel)?;
        let n_classes = predictions.n_classes;
        let [model] = predictions.models.as_slice() else {
            return Err(
                Invalid(format!("a curator releases one model, and here are {}", predictions.models.len())).into()
            );
        };
        same_size(model.probabilities.len() / n_classes.max(1), &canaries)?;
        if n_classes < 2 {
            return Err(Error::OneClass(n_classes));
        }
        if let Some(other) = canaries.coins.iter().find(|coin| coin.1 as usize >= n_classes) {
            return Err(
                Invalid(format!("class {} is that of a canary, and the model does not know it", other.1)).into()
            );
        }
        let sureness = |node: u32, class: u32| {
            let answer = model.probabilities[node as usize * n_classes + class as usize];
            libm::log(f64::from(answer.max(f32::MIN_POSITIVE)))
        };
        let odds = |node: u32, class: u32| sureness(node, class) - sureness(node, other_class(class, n_classes));
        let mut of_classes: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
        for &(node, class, _) in &canaries.coins {
            let (sum, count) = of_classes.entry(class).or_default();
            *sum += odds(node, class);
            *count += 1;
        }
        let usual = |class: u32| of_classes.get(&class).map_or(0.0, |&(sum, count)| sum / f64::from(count));
        Ok((scored(&canaries, |node, class| odds(node, class) - usual(class)),))
    }
}
