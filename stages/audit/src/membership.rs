//! Membership: was a network trained on the label of a node?

use veilgraph_attack::{PairScores, Record};
use veilgraph_contract::{Auditor, Draws, HeldOut, Invalid, NoParams, Private, Progress, Stage, StageRng};
use veilgraph_graph::{Labels, Nodes, Predictions, Split};
use veilgraph_nn::ModelWeights;

use crate::Error;
use crate::answers::Answers;

/// Scores training and test nodes by how likely the network takes their true class to be: it is surer of what it was
/// trained on.
///
/// The attacker knows features and label of a node, and asks whether the label was used.
///
/// # Source
/// Yeom, Giacomelli, Fredrikson, Jha (2018), Privacy risk in machine learning: analyzing the connection to overfitting,
/// adversary 1; on graphs, Olatunji, Nejdl, Khosla (2021), Membership inference attack on graph neural networks.
pub struct Membership;

impl Stage for Membership {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "membership";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = NoParams;
    /// The labels of training nodes are the server's or their owners'.
    type Inputs = (Predictions, ModelWeights, Nodes, Option<Labels>, Option<Private<Labels>>, Option<HeldOut<Labels>>);
    type Outputs = (PairScores,);
    type Error = Error;

    fn run(
        (predictions, weights, nodes, public, private, held_out): Self::Inputs,
        _: &NoParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let answers = Answers::of(&predictions, &weights)?;
        let n_nodes = nodes.splits.len();
        if answers.n_nodes() != n_nodes {
            let found = answers.n_nodes();
            return Err(Invalid(format!("the network knows {found} nodes, and the data have {n_nodes}")).into());
        }
        let known = [public, private.map(|labels| labels.0), held_out.map(|labels| labels.0)];
        let class = |node: u32| known.iter().flatten().find_map(|labels| labels.class(node));
        if let Some(other) = known.iter().flatten().find(|labels| labels.n_classes() != answers.n_classes()) {
            let (found, known) = (answers.n_classes(), other.n_classes());
            return Err(Invalid(format!("the network knows {found} classes, and the labels have {known}")).into());
        }
        let asked = (0..n_nodes as u32).filter(|&node| {
            let split = nodes.splits[node as usize];
            split == Split::Train || split == Split::Test
        });
        let score =
            |node: u32| class(node).map(|class| (node, 0, f64::from(answers.of_node(node)[usize::from(class)])));
        Ok((PairScores { record: Record::Membership, n_nodes, pairs: asked.filter_map(score).collect() },))
    }
}
