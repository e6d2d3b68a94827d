//! The classes that are believed, as predictions of their own; without links, these are the floor of what features and
//! training labels give.

use veilgraph_contract::{Artifact, NoParams};
use veilgraph_graph::{ClassBeliefs, EstimatedFeatures, Features, Labels};
use veilgraph_privacy::NoisyFeatures;
use veilgraph_similarity::BelieveClasses;
use veilgraph_train::{AppendBeliefs, Blend, PredictBeliefs};

use super::{TABLE, by_cell, has_features, predict_without_training, predicts_classes};
use crate::config::ConfigError;
use crate::plan::{Branch, Plan, Run};

/// Takes the beliefs about every graph for predictions.
pub(super) fn predict(plan: &mut Plan, graphs: &[Branch]) -> Result<Vec<Branch>, ConfigError> {
    let has_labels = |trials: &[Branch]| trials[0].has::<Labels>();
    let are_asked_for = predicts_classes(plan);
    for trials in by_cell(graphs).iter().filter(|trials| are_asked_for && !has_labels(trials)) {
        plan.warn(format!("{}: the server holds no true labels, so no classes are believed", trials[0].dataset));
    }
    predict_without_training::<PredictBeliefs>(plan, graphs, "beliefs", |plan, branch| {
        with_beliefs(plan, branch, "train.task", "task = \"beliefs\" predicts")
    })
}

/// Blends what a network says with the beliefs about its graph.
pub(super) fn blended(plan: &mut Plan, network: &Branch) -> Result<Branch, ConfigError> {
    if matches!(network.mechanism.as_str(), "non-private" | "public") {
        plan.warn(format!("blend: nothing is believed about classes with mechanism \"{}\"", network.mechanism));
        return Ok(network.clone());
    }
    // The blend has losses of its own.
    let network = with_beliefs(plan, network, "train.blend", "blend = true adds")?.without(&["curve"]);
    plan.run::<Blend>(&[&network], &NoParams {}, Run { table: TABLE, ..Run::default() })
}

/// Puts the beliefs about a graph behind the features that a network reads.
pub(super) fn appended(plan: &mut Plan, branch: &Branch) -> Result<Branch, ConfigError> {
    let field = "train.beliefs";
    if branch.propagation.hops > 0 {
        let problem = "beliefs = true puts beliefs behind the features, and [estimate.features] hops averages all of them \
                       over the graph, which beliefs have read already; remove one of them";
        return Err(plan.config.error(field, problem));
    }
    let branch = with_beliefs(plan, branch, field, "beliefs = true adds")?;
    let mut branch = plan.run::<AppendBeliefs>(&[&branch], &NoParams {}, Run { table: TABLE, ..Run::default() })?;
    // They are among those that the beliefs stand behind.
    branch.mark_absent::<Features>();
    Ok(branch)
}

/// The branch with beliefs about classes: those that its posterior came with, or, where no link is read, those of features
/// and training labels.
fn with_beliefs(plan: &mut Plan, branch: &Branch, field: &str, what: &str) -> Result<Branch, ConfigError> {
    if branch.has::<ClassBeliefs>() {
        return Ok(branch.clone());
    }
    let holds_labels = branch.has::<Labels>();
    if branch.mechanism == "no-links" && has_features(branch) && holds_labels {
        return before_reports(plan, branch);
    }
    let problem = format!(
        "{what} what is believed about classes, and nothing is (mechanism \"{}\"); use mechanism = \"blink\" with \
         [estimate] prior = \"blocks\" and labels that the server holds, or mechanism = \"no-links\" with features and such labels",
        branch.mechanism
    );
    Err(plan.config.error(field, &problem))
}

/// The branch with what features and training labels say about classes, before any report about links is read.
///
/// What takes the place of features says nothing about classes, so it is not read.
pub(crate) fn before_reports(plan: &mut Plan, branch: &Branch) -> Result<Branch, ConfigError> {
    let mut start = branch.clone();
    let are_estimates = branch.has::<NoisyFeatures>() || branch.has::<Features>();
    if !are_estimates {
        start.mark_absent::<EstimatedFeatures>();
    }
    let believed =
        plan.run::<BelieveClasses>(&[&start], &NoParams {}, Run { table: "similarity", ..Run::default() })?;
    let mut branch = branch.clone();
    branch.take(ClassBeliefs::NAME, &believed);
    Ok(branch)
}
