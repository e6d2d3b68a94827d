//! Training labels that fair coins decide.

use rand::RngExt;
use veilgraph_attack::{Canaries, Record};
use veilgraph_contract::{Draws, Owner, Private, Progress, Stage, StageRng};
use veilgraph_graph::{Labels, Nodes, Split};

use super::{PlantParams, chosen};
use crate::Error;

/// Decides by fair coins whether the labels of some training nodes count: where a coin says no, the curator does not have the label.
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
        let training: Vec<(u32, u16)> = labels.of_nodes(&nodes.members(Split::Train));
        let candidates = training.iter().map(|&(node, _)| node).collect();
        let drawn = chosen(candidates, params.canaries, "the training nodes with a label", rng)?;
        let mut stream = rng.fast_stream("coins of canaries", 0);
        let mut coins = Vec::new();
        for (node, class) in training {
            if drawn.binary_search(&node).is_ok() {
                coins.push((node, u32::from(class), stream.random::<bool>()));
            }
        }
        let counts = |node: u32| coins.binary_search_by_key(&node, |coin| coin.0).map_or(true, |at| coins[at].2);
        let kept = labels.classes().iter().copied().filter(|&(node, _)| counts(node)).collect();
        let planted = Labels::new(labels.n_classes(), kept)?;
        Ok((Private(planted), Canaries { record: Record::TrainingLabel, n_nodes: nodes.splits.len(), coins }))
    }
}
