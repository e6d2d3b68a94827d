//! Training labels that fair coins decide.

use rand::RngExt;
use veilgraph_attack::{Canaries, Record};
use veilgraph_contract::{Draws, Owner, Private, Progress, Stage, StageRng};
use veilgraph_graph::{Labels, Nodes, Split};

use super::{PlantParams, chosen};
use crate::Error;

/// Draws the classes of some training nodes, and decides by fair coins whether these labels count: where a coin says no, the curator
/// does not have the label. A class that was drawn is often a wrong one, which no model guesses unless it was trained on it.
///
/// Whether its label counts is a part of what a node's data are under the relations `node` and `own-data`, so a model may tell no
/// more about a coin than it may about a node.
pub struct PlantTrainingLabels;

impl Stage for PlantTrainingLabels {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "plant-training-labels";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = PlantParams;
    type Inputs = (Nodes, Private<Labels>);
    type Outputs = (Private<Labels>, Canaries);
    type Error = Error;

    fn run(
        (nodes, Private(labels)): Self::Inputs,
        params: &PlantParams,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let training = labels.of_nodes(&nodes.members(Split::Train));
        let candidates = training.iter().map(|&(node, _)| node).collect();
        let drawn = chosen(candidates, params.canaries, "the training nodes with a label", rng)?;
        let mut stream = rng.fast_stream("coins of canaries", 0);
        let n_classes = labels.n_classes();
        let coin = |&node: &u32| (node, u32::from(stream.random_range(0..n_classes as u16)), stream.random::<bool>());
        let coins: Vec<(u32, u32, bool)> = drawn.iter().map(coin).collect();
        let mut decided = coins.iter().peekable();
        let label = |&(node, class): &(u32, u16)| match decided.next_if(|coin| coin.0 == node) {
            Some(&(_, class, counts)) => counts.then_some((node, class as u16)),
            None => Some((node, class)),
        };
        let planted = Labels::new(n_classes, labels.classes().iter().filter_map(label).collect())?;
        Ok((Private(planted), Canaries { record: Record::TrainingLabel, n_nodes: nodes.splits.len(), coins }))
    }
}
