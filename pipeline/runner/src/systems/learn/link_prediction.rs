//! Link prediction: a variational graph autoencoder learns from the links of a graph, and is judged on links that were
//! held out.

use veilgraph_evaluate::EvaluateLinkPrediction;
use veilgraph_graph::LinkSample;
use veilgraph_train::{LinkPrediction, LinkPredictionParams};

use super::{TABLE, by_cell, has_features};
use crate::config::{ConfigError, MetricGroup};
use crate::plan::{Branch, Plan, Run};

/// Trains on every graph, and scores the links that were held out of it.
pub(super) fn predict_links(plan: &mut Plan, graphs: &[Branch]) -> Result<Vec<Branch>, ConfigError> {
    let cells = plan.cells::<LinkPredictionParams>(TABLE, &[], |params| params.training().map(|_| ()))?;
    let is_wanted = plan.wants(MetricGroup::Accuracy) || plan.options.until == Some("train");
    let n_scored = plan.config.trials;
    for trials in by_cell(graphs) {
        if !trials[0].has::<LinkSample>() {
            let problem = "link prediction is judged on links that the graph does not have; set [privatize.links] \
                           mechanism = \"public\" with hold_out_links = { validation = 0.05, test = 0.1 }";
            return Err(plan.config.error("train.task", problem));
        }
        if !is_wanted || !has_features(&trials[0]) {
            continue;
        }
        for cell in &cells {
            let run = Run { table: TABLE, ..Run::default() };
            let mut trained = Vec::new();
            for branch in trials.iter().filter(|branch| branch.is_scored(n_scored)) {
                let mut branch = branch.with(&cell.choices);
                "vgae".clone_into(&mut branch.model);
                trained.push(plan.run::<LinkPrediction>(&[&branch], &cell.params, run)?);
            }
            plan.score_together::<EvaluateLinkPrediction>(&trained)?;
        }
    }
    // No attack asks a model of links about classes.
    Ok(Vec::new())
}
