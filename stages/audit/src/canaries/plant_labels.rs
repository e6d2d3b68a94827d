//! Labels that fair coins decide.

use rand::RngExt;
use veilgraph_attack::{Canaries, Record};
use veilgraph_contract::{Draws, Owner, Private, Progress, Stage, StageRng};
use veilgraph_graph::Labels;

use super::{PlantParams, chosen};
use crate::Error;

/// Decides the classes of some nodes by fair coins, before anything is released: the coin chooses between a class that
/// was drawn for the node, which the canary states, and the next one, or the first after the last.
///
/// Both classes are drawn without a look at the label, and only nodes that send a label are chosen.
pub struct PlantLabels;

impl Stage for PlantLabels {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "plant-labels";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = PlantParams;
    type Inputs = (Private<Labels>,);
    type Outputs = (Private<Labels>, Canaries);
    type Error = Error;

    fn run(
        (Private(labels),): Self::Inputs,
        params: &PlantParams,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let senders = labels.classes().iter().map(|&(node, _)| node).collect();
        let (planted, coins) = decided(&labels, senders, "the nodes that send a label", params, rng)?;
        // The last known node is the largest that the labels say anything about.
        let n_nodes = labels.classes().last().map_or(0, |&(node, _)| node as usize + 1);
        Ok((Private(planted), Canaries { record: Record::Label, n_nodes, coins }))
    }
}

/// The coins of [`Canaries`].
type Coins = Vec<(u32, u32, bool)>;

/// The labels with those of some of the `candidates` decided by coins, which are returned too. `what` says what the candidates are.
pub(super) fn decided(
    labels: &Labels,
    candidates: Vec<u32>,
    what: &'static str,
    params: &PlantParams,
    rng: &StageRng,
) -> Result<(Labels, Coins), Error> {
    let n_classes = labels.n_classes();
    if n_classes < 2 {
        return Err(Error::OneClass(n_classes));
    }
    let nodes = chosen(candidates, params.canaries, what, rng)?;
    let mut stream = rng.fast_stream("coins of canaries", 0);
    let coin = |&node: &u32| (node, u32::from(stream.random_range(0..n_classes as u16)), stream.random::<bool>());
    let coins: Coins = nodes.iter().map(coin).collect();
    let mut open = coins.iter().peekable();
    let class = |&(node, class): &(u32, u16)| match open.next_if(|coin| coin.0 == node) {
        Some(&(_, class, true)) => (node, class as u16),
        Some(&(_, class, false)) => (node, other_class(class, n_classes) as u16),
        None => (node, class),
    };
    let decided = Labels::new(n_classes, labels.classes().iter().map(class).collect())?;
    Ok((decided, coins))
}

/// The class that a canary has where it has not the stated one: the next, and the first after the last.
pub(crate) fn other_class(class: u32, n_classes: usize) -> u32 {
    (class + 1) % n_classes as u32
}
