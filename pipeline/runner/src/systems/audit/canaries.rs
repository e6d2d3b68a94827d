//! Canaries (Steinke, Nasr, Jagielski 2023): fair coins decide some links before anything is released, and right guesses
//! bound from below what a link costs.

use veilgraph_audit::{GuessFromGraph, GuessFromNetwork, GuessParams, LinkTellerParams, PlantCanaries, PlantParams};
use veilgraph_contract::Relation;
use veilgraph_evaluate::{EvaluateCanaries, EvaluateRankedCanaries};
use veilgraph_posterior::{LinkEvidence, LinkModel};
use veilgraph_privacy::NoisyLinks;
use veilgraph_privacy::composition::total_epsilon;

use super::{Attack, On, TABLE, cells, fields_of, refuse_learned_links, reports};
use crate::config::ConfigError;
use crate::plan::{Branch, Plan, Run};

/// Guesses from the server's own belief, from reported lists, or from a released graph.
pub(super) const REPORTS: Attack =
    Attack { name: "canary-reports", on: On::Graphs, fields: fields_of::<PlantParams>, run: guess_from_reports };

/// Guesses from the graph that networks are trained on.
pub(super) const GRAPH: Attack =
    Attack { name: "canary-graph", on: On::Graphs, fields: fields_of::<PlantParams>, run: guess_from_graph };

/// Guesses from a trained network.
pub(super) const NETWORK: Attack =
    Attack { name: "canary-network", on: On::Networks, fields: fields_of::<LinkTellerParams>, run: guess_from_network };

/// The data with canaries, once for each trial, or as they are where none are asked for.
pub(in crate::systems) fn planted(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let field = format!("{TABLE}.canaries");
    let attacks = plan.config.values(TABLE, "attacks");
    let guesses = attacks.iter().any(|name| name.as_str().is_some_and(|name| name.starts_with("canary-")));
    let cells = plan.config.cells::<PlantParams>(TABLE, &["attacks", "beliefs"], Ok, |_| Ok(()))?.0;
    let asked: Vec<PlantParams> = cells.iter().map(|cell| cell.params).filter(|params| params.canaries > 0).collect();
    let Some(&params) = asked.first() else {
        return if guesses {
            Err(plan.config.error(&field, "attacks on canaries need some; set [audit] canaries, such as 1000"))
        } else {
            Ok(vec![data.clone()])
        };
    };
    if plan.config.is_deployment() {
        let problem = "in a deployment (randomness = \"os\"), canaries would change the true links; remove them";
        return Err(plan.config.error(&field, problem));
    }
    if asked.len() > 1 || !guesses {
        let problem = "one number of canaries is planted, for attacks = [\"canary-reports\", ...]";
        return Err(plan.config.error(&field, problem));
    }
    plan.read_field(TABLE, "canaries");
    let run = Run { table: TABLE, step: "planted", ..Run::default() };
    plan.every_trial(data).iter().map(|trial| plan.run::<PlantCanaries>(&[trial], &params, run)).collect()
}

fn guess_from_reports(plan: &mut Plan, graphs: &[Branch], _: &[f64]) -> Result<(), ConfigError> {
    let graphs: Vec<Branch> = graphs.iter().cloned().map(reports::with_beliefs).collect();
    let guessed = guessed(plan, &graphs)?;
    plan.score::<EvaluateCanaries>(&guessed)
}

fn guess_from_graph(plan: &mut Plan, graphs: &[Branch], _: &[f64]) -> Result<(), ConfigError> {
    let listed = graphs.iter().filter(|graph| graph.variant != "soft").cloned();
    let graphs: Vec<Branch> = listed
        .map(|mut graph| {
            graph.mark_absent::<LinkModel>();
            graph.mark_absent::<LinkEvidence>();
            graph.mark_absent::<NoisyLinks>();
            graph
        })
        .collect();
    let guessed = guessed(plan, &graphs)?;
    plan.score::<EvaluateCanaries>(&guessed)
}

fn guessed(plan: &mut Plan, graphs: &[Branch]) -> Result<Vec<Branch>, ConfigError> {
    let run = Run { table: TABLE, ..Run::default() };
    let mut guessed = Vec::new();
    for graph in graphs {
        let params = GuessParams { epsilon: total_epsilon(&graph.releases, Relation::Edge) };
        guessed.push(plan.run::<GuessFromGraph>(&[graph], &params, run)?);
    }
    Ok(guessed)
}

fn guess_from_network(plan: &mut Plan, networks: &[Branch], _: &[f64]) -> Result<(), ConfigError> {
    refuse_learned_links(plan, networks)?;
    let run = Run { table: TABLE, ..Run::default() };
    let mut guessed = Vec::new();
    for cell in cells::<LinkTellerParams>(plan, LinkTellerParams::check)? {
        for network in networks {
            let network = network.with(&cell.choices);
            guessed.push(plan.run::<GuessFromNetwork>(&[&network], &cell.params, run)?);
        }
    }
    plan.score::<EvaluateRankedCanaries>(&guessed)
}
