//! Guesses about training labels from a curator's model.

use std::collections::BTreeMap;

use veilgraph_attack::{Canaries, PairScores, Record};
use veilgraph_contract::{Auditor, Draws, HeldOut, Invalid, NoParams, Progress, Stage, StageRng};
use veilgraph_graph::Predictions;

use super::{about, same_size, scored};
use crate::Error;

/// Scores every coin by how much surer the model is of the drawn class of its node than it is, on average, of that class of other
/// nodes with a coin: it is surer of what it was trained on.
///
/// The attacker knows features, links and drawn classes, and asks which of these labels counted. What the model answers about a node follows from
/// what was released, from the node's features, and from what its neighbours have.
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
        if let Some(other) = canaries.coins.iter().find(|coin| coin.1 as usize >= n_classes) {
            return Err(
                Invalid(format!("class {} is that of a canary, and the model does not know it", other.1)).into()
            );
        }
        let sureness = |node: u32, class: u32| {
            let answer = model.probabilities[node as usize * n_classes + class as usize];
            libm::log(f64::from(answer.max(f32::MIN_POSITIVE)))
        };
        let mut of_classes: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
        for &(node, class, _) in &canaries.coins {
            let (sum, count) = of_classes.entry(class).or_default();
            *sum += sureness(node, class);
            *count += 1;
        }
        let usual = |class: u32| of_classes.get(&class).map_or(0.0, |&(sum, count)| sum / f64::from(count));
        Ok((scored(&canaries, |node, class| sureness(node, class) - usual(class)),))
    }
}
