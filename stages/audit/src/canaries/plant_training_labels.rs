//! Labels of training nodes that fair coins decide, for models of a curator.

use veilgraph_attack::{Canaries, Record};
use veilgraph_contract::{Draws, Owner, Private, Progress, Stage, StageRng};
use veilgraph_graph::{Labels, Nodes, Split};

use super::PlantParams;
use super::plant_labels::decided;
use crate::Error;

/// Decides the classes of some training nodes by fair coins: the coin chooses between a class that was drawn for the node, which the
/// canary states, and the next one, or the first after the last. Most of these labels are wrong, so that no model guesses them unless
/// it was trained on them.
///
/// The coin chooses between two versions of a node's data. Under the relations `node` and `own-data` each of them is one step from a
/// node whose data are blank.
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
        let (planted, coins) = decided(&labels, candidates, "the training nodes with a label", params, rng)?;
        Ok((Private(planted), Canaries { record: Record::TrainingLabel, n_nodes: nodes.splits.len(), coins }))
    }
}
