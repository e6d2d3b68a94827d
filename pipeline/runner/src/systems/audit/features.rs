//! The floor of likeness: the same attack, on a network that never saw a link.

use veilgraph_audit::PosteriorSimilarityParams;
use veilgraph_construct::ConstructWithoutLinks;
use veilgraph_contract::{Artifact, NoParams};
use veilgraph_graph::{EstimatedFeatures, Predictions, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel};
use veilgraph_train::{ModelWeights, Train};

use super::{Attack, On, TABLE, always, fields_of, posterior_similarity};
use crate::config::ConfigError;
use crate::plan::{Branch, Plan, Run};
use crate::systems::learn;

pub(super) const ATTACK: Attack = Attack {
    name: "features",
    on: On::Networks,
    is_about_links: always,
    fields: fields_of::<PosteriorSimilarityParams>,
    run,
    functions: &[],
};

fn run(plan: &mut Plan, networks: &[Branch], beliefs: &[f64]) -> Result<(), ConfigError> {
    let cells = learn::cells_without_links(plan)?;
    let mut trained = Vec::new();
    for network in networks {
        if network.has::<EstimatedFeatures>() {
            let problem = "the attack `features` trains a network on public features, and here they are estimated; leave it \
                           out, and put [privatize.links] mechanism = \"no-links\" beside the others for this floor";
            return Err(plan.config.error(&format!("{TABLE}.attacks"), problem));
        }
        for cell in &cells {
            let floor = without_links(network.clone());
            let floor = plan.run::<ConstructWithoutLinks>(&[&floor], &NoParams {}, Run::default())?;
            let floor = floor.with(&cell.choices);
            // The network on links may have the same choices and would have the same name.
            let run = Run { table: "train", step: "without-links", ..Run::default() };
            trained.push(plan.run::<Train>(&[&floor], &cell.params, run)?);
        }
    }
    posterior_similarity::run(plan, &trained, beliefs)
}

/// The way to the data, without graph and network. Ways that differ in their links become one.
fn without_links(network: Branch) -> Branch {
    let mut floor =
        network.without(&[WeightedGraph::NAME, Predictions::NAME, ModelWeights::NAME, "curve", "chosen_setting"]);
    floor.mark_absent::<LinkModel>();
    floor.mark_absent::<LinkEvidence>();
    floor.choices.retain(|choice| {
        !["privatize.links.", "similarity.", "estimate.", "construct.", "train."]
            .iter()
            .any(|table| choice.field.starts_with(table))
    });
    "no-links".clone_into(&mut floor.mechanism);
    "given".clone_into(&mut floor.variant);
    "mlp".clone_into(&mut floor.model);
    floor.degree_fraction = 0.0;
    floor
}
