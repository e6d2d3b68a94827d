//! Guesses about features and labels from what a trained network answers.

use veilgraph_attack::{Canaries, PairScores, Record};
use veilgraph_contract::{Auditor, Draws, Invalid, NoParams, Progress, Stage, StageRng};
use veilgraph_graph::Predictions;
use veilgraph_nn::ModelWeights;

use super::plant_labels::other_class;
use super::scored;
use crate::Error;
use crate::answers::Answers;

/// What a trained network answers about the node of each coin.
///
/// About labels, the network says itself how much likelier one of two classes is than the other: these are log odds. About
/// features, the score is larger for likelier coins, and nothing more: the attacker is told every
/// second coin, and measures along the difference of mean answers how much a node is like those whose coin fell on the
/// upper end; it guesses the other coins alone.
pub struct GuessFromPredictions;

impl Stage for GuessFromPredictions {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "guess-from-predictions";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = NoParams;
    type Inputs = (Canaries, Predictions, ModelWeights);
    type Outputs = (PairScores,);
    type Error = Error;

    fn run(
        (canaries, predictions, weights): Self::Inputs,
        _: &NoParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let answers = Answers::of(&predictions, &weights)?;
        if let Some(last) = canaries.coins.last().filter(|coin| coin.0 as usize >= answers.n_nodes()) {
            return Err(Invalid(format!(
                "node {} is a canary, and the network knows {} nodes",
                last.0,
                answers.n_nodes()
            ))
            .into());
        }
        match canaries.record {
            Record::Label => {
                if let Some(other) = canaries.coins.iter().find(|coin| coin.1 as usize >= answers.n_classes()) {
                    return Err(
                        Invalid(format!("class {} is a canary, and the network does not know it", other.1)).into()
                    );
                }
                let class = |node: u32, class: u32| {
                    libm::log(f64::from(answers.of_node(node)[class as usize].max(f32::MIN_POSITIVE)))
                };
                let n_classes = predictions.n_classes;
                Ok((scored(&canaries, |node, stated| {
                    class(node, stated) - class(node, other_class(stated, n_classes))
                }),))
            }
            Record::Features => Ok((by_difference_of_means(&canaries, &answers),)),
            record => Err(Invalid(format!("what a network answers is no guess about canaries `{record}`")).into()),
        }
    }
}

/// Every second canary, by the answer along the difference of mean answers of the others.
fn by_difference_of_means(canaries: &Canaries, answers: &Answers) -> PairScores {
    let mut means = [vec![0.0; answers.n_classes()], vec![0.0; answers.n_classes()]];
    let told = canaries.coins.iter().step_by(2);
    let counts = [false, true].map(|side| told.clone().filter(|coin| coin.2 == side).count().max(1));
    for &(node, _, side) in told {
        let mean = &mut means[usize::from(side)];
        mean.iter_mut().zip(answers.of_node(node)).for_each(|(sum, &answer)| {
            *sum += f64::from(answer) / counts[usize::from(side)] as f64;
        });
    }
    let direction: Vec<f64> = means[1].iter().zip(&means[0]).map(|(upper, lower)| upper - lower).collect();
    let score = |node: u32| -> f64 {
        direction.iter().zip(answers.of_node(node)).map(|(along, &answer)| along * f64::from(answer)).sum()
    };
    let guessed = canaries.coins.iter().skip(1).step_by(2);
    let pairs = guessed.map(|&(node, column, _)| (node, column, score(node))).collect();
    PairScores { record: canaries.record, n_nodes: canaries.n_nodes, pairs }
}
