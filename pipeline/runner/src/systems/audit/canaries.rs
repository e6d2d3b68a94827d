//! Canaries (Steinke, Nasr, Jagielski 2023): fair coins decide some facts before anything is released, and right guesses
//! bound from below what a fact costs.

use veilgraph_audit::{
    CanariesOf, GuessFromAttributes, GuessFromDegrees, GuessFromGraph, GuessFromNetwork, GuessFromPredictions,
    GuessParams, LinkTellerParams, PlantFeatures, PlantFeaturesParams, PlantLabels, PlantLinks, PlantParams,
};
use veilgraph_contract::{Artifact, NoParams, Private, Relation, Release, Subject, Zone};
use veilgraph_evaluate::{CanaryParams, EvaluateCanaries, EvaluateRankedCanaries};
use veilgraph_graph::{Features, Labels, WeightedGraph};
use veilgraph_privacy::composition::total_epsilon;
use veilgraph_privacy::{NoisyDegrees, NoisyEntries, NoisyFeatures, NoisyLabels, NoisyLinks};

use super::{Attack, On, TABLE, fields_of, refuse_averaged_features, refuse_learned_links};
use crate::config::ConfigError;
use crate::config::fields::number;
use crate::function::{Function, function};
use crate::plan::{Branch, Plan, Run};

/// Stage functions of all attacks on canaries.
const FUNCTIONS: &[Function] = &[
    function::<PlantLinks>(),
    function::<PlantFeatures>(),
    function::<PlantLabels>(),
    function::<GuessFromGraph>(),
    function::<GuessFromDegrees>(),
    function::<GuessFromAttributes>(),
    function::<GuessFromNetwork>(),
    function::<GuessFromPredictions>(),
    function::<EvaluateCanaries>(),
    function::<EvaluateRankedCanaries>(),
];

/// Guesses from what nodes report, or from a released graph.
pub(super) const REPORTS: Attack = Attack {
    name: "canary-reports",
    on: On::Graphs,
    is_about_links: are_links,
    fields: fields_of::<PlantParams>,
    run: guess_from_reports,
    functions: FUNCTIONS,
};

/// Guesses from reported degrees.
pub(super) const DEGREES: Attack = Attack {
    name: "canary-degrees",
    on: On::Graphs,
    is_about_links: are_links,
    fields: fields_of::<PlantParams>,
    run: guess_from_degrees,
    functions: &[],
};

/// Guesses from the graph that networks are trained on.
pub(super) const GRAPH: Attack = Attack {
    name: "canary-graph",
    on: On::Graphs,
    is_about_links: are_links,
    fields: fields_of::<PlantParams>,
    run: guess_from_graph,
    functions: &[],
};

/// Guesses from a trained network.
pub(super) const NETWORK: Attack = Attack {
    name: "canary-network",
    on: On::Networks,
    is_about_links: are_links,
    fields: fields_of::<LinkTellerParams>,
    run: guess_from_network,
    functions: &[],
};

/// The field that says what coins decide.
pub(super) const KIND: &str = "canaries_of";

/// The canaries that the config asks for, if any.
pub(super) fn asked_for(plan: &mut Plan) -> Result<Option<PlantParams>, ConfigError> {
    let field = format!("{TABLE}.canaries");
    let attacks = plan.config.values(TABLE, "attacks");
    let guesses = attacks.iter().any(|name| name.as_str().is_some_and(|name| name.starts_with("canary-")));
    let cells = plan.config.cells::<PlantParams>(TABLE, &["attacks", "beliefs"], Ok, |_| Ok(()))?.0;
    let asked: Vec<PlantParams> = cells.iter().map(|cell| cell.params).filter(|params| params.canaries > 0).collect();
    let Some(&params) = asked.first() else {
        return if guesses {
            Err(plan.config.error(&field, "attacks on canaries need some; set [audit] canaries, such as 1000"))
        } else {
            Ok(None)
        };
    };
    let says = |field: &str, word: &str| {
        plan.config.values_anywhere(TABLE, field).iter().any(|name| name.as_str() == Some(word))
    };
    match (says(KIND, "training-labels"), says("attacks", "canary-model")) {
        (true, false) => {
            let problem = "coins of canaries_of = \"training-labels\" are guessed from a curator's model; choose \"canary-model\"";
            return Err(plan.config.error(&format!("{TABLE}.attacks"), problem));
        }
        (false, true) => {
            let problem = "`canary-model` guesses coins of canaries_of = \"training-labels\", and no part of the config has these";
            return Err(plan.config.error(&format!("{TABLE}.{KIND}"), problem));
        }
        _ => {}
    }
    if plan.config.is_deployment() {
        let problem = "in a deployment (randomness = \"os\"), canaries would change the true data; remove them";
        return Err(plan.config.error(&field, problem));
    }
    if asked.len() > 1 || !guesses {
        let problem = "one number of canaries of one kind is planted, for attacks = [\"canary-reports\", ...]";
        return Err(plan.config.error(&field, problem));
    }
    plan.read_field(TABLE, "canaries");
    plan.read_field(TABLE, KIND);
    Ok(Some(params))
}

/// The data with canaries, once for each trial, or as they are where none are asked for.
pub(in crate::systems) fn planted(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let Some(params) = asked_for(plan)? else { return Ok(vec![data.clone()]) };
    let run = Run { table: TABLE, step: "planted", ..Run::default() };
    let trials = plan.every_trial(data);
    match params.canaries_of {
        CanariesOf::Links => trials.iter().map(|trial| plan.run::<PlantLinks>(&[trial], &params, run)).collect(),
        CanariesOf::Features => {
            require::<Features>(plan, data, "features")?;
            let params = PlantFeaturesParams { canaries: params.canaries, range: declared_range(plan) };
            trials.iter().map(|trial| plan.run::<PlantFeatures>(&[trial], &params, run)).collect()
        }
        CanariesOf::Labels => {
            require::<Labels>(plan, data, "labels")?;
            trials.iter().map(|trial| plan.run::<PlantLabels>(&[trial], &params, run)).collect()
        }
        // Another part of the config trains models of a curator.
        CanariesOf::TrainingLabels if plan.config.alternative.is_some() => Ok(vec![data.clone()]),
        CanariesOf::TrainingLabels => {
            let problem = "canaries_of = \"training-labels\" audits models of a curator ([train] task = \"dp-mlp\", \"gap\", …); \
                           what nodes report is audited by the other kinds";
            Err(plan.config.error(&format!("{TABLE}.{KIND}"), problem))
        }
    }
}

/// Refuses canaries of data that no owner keeps.
fn require<A: Artifact>(plan: &Plan, data: &Branch, what: &str) -> Result<(), ConfigError> {
    if data.has::<Private<A>>() {
        return Ok(());
    }
    let problem = format!(
        "canaries_of = \"{what}\" needs private {what}, and here they are public or absent; set [privatize.{what}]"
    );
    Err(plan.config.error(&format!("{TABLE}.{KIND}"), &problem))
}

/// The range that `[privatize.features]` declares, or its default; none where it is that of the data.
fn declared_range(plan: &Plan) -> Option<[f64; 2]> {
    let written = plan.config.values("privatize.features", "range");
    let declared: Vec<f64> = written.iter().filter_map(number).collect();
    if written.is_empty() { Some([0.0, 1.0]) } else { declared.try_into().ok() }
}

/// What the coins of this config decide.
fn kind(plan: &Plan) -> CanariesOf {
    let cells = plan.config.cells::<PlantParams>(TABLE, &["attacks", "beliefs"], Ok, |_| Ok(()));
    let first = cells.ok().and_then(|(cells, _)| cells.first().map(|cell| cell.params.canaries_of));
    first.unwrap_or_default()
}

fn are_links(plan: &Plan) -> bool {
    kind(plan) == CanariesOf::Links
}

/// Refuses guesses about other facts than links where there is nothing to guess them from.
fn links_alone(plan: &Plan, attack: &str) -> Result<(), ConfigError> {
    if are_links(plan) {
        return Ok(());
    }
    let problem =
        format!("`{attack}` guesses links; for canaries of features or labels, use canary-reports and canary-network");
    Err(plan.config.error(&format!("{TABLE}.attacks"), &problem))
}

fn guess_from_reports(plan: &mut Plan, graphs: &[Branch], _: &[f64]) -> Result<(), ConfigError> {
    if are_links(plan) {
        for graph in graphs.iter().cloned().map(with_reports) {
            let guessed = guessed(plan, &graph)?;
            // Lists and entries say nothing of what is told by degrees; a graph may follow from both.
            let read = (!graph.has_named(WeightedGraph::NAME, Zone::Server)).then_some(Subject::Links);
            score(plan, &guessed, read)?;
        }
        return Ok(());
    }
    let run = Run { table: TABLE, ..Run::default() };
    let (own, other) = if kind(plan) == CanariesOf::Features {
        (NoisyFeatures::NAME, NoisyLabels::NAME)
    } else {
        (NoisyLabels::NAME, NoisyFeatures::NAME)
    };
    if let Some(silent) = graphs.iter().find(|graph| !graph.has_named(own, Zone::Server)) {
        let problem = format!("`{}` guesses from {own}, and none are sent here ({})", REPORTS.name, silent.dataset);
        return Err(plan.config.error(&format!("{TABLE}.attacks"), &problem));
    }
    // Reports about the other attribute say nothing about these coins.
    let reported = graphs.iter().map(|graph| super::attributes::without_graph(graph).without(&[other]));
    let reported: Vec<Branch> = reported.collect();
    let guessed: Result<Vec<Branch>, ConfigError> =
        reported.iter().map(|branch| plan.run::<GuessFromAttributes>(&[branch], &NoParams {}, run)).collect();
    guessed?.iter().try_for_each(|guessed| score(plan, guessed, None))
}

/// Scores guesses about links that read what was released about one subject, or all that was.
fn score(plan: &mut Plan, guessed: &Branch, read: Option<Subject>) -> Result<(), ConfigError> {
    let cost = |releases: &[&Release]| total_epsilon(releases.iter().copied(), Relation::Edge);
    let all: Vec<&Release> = guessed.releases.iter().collect();
    let epsilon_read = read.and_then(|subject| {
        let of_subject: Vec<&Release> = all.iter().copied().filter(|release| release.subject == subject).collect();
        Some(cost(&of_subject)).filter(|&read| read < cost(&all))
    });
    let params = |params| CanaryParams { epsilon_read, ..CanaryParams::from(params) };
    plan.score_under::<EvaluateCanaries>(std::slice::from_ref(guessed), &[], params)
}

/// The way to the reports of nodes where there are any, so that all graphs that were built from them are one.
fn with_reports(mut graph: Branch) -> Branch {
    let sends = |name| graph.has_named(name, Zone::Server);
    if sends(NoisyLinks::NAME) || sends(NoisyEntries::NAME) {
        graph.mark_absent::<WeightedGraph>();
        graph.variant.clear();
    }
    graph
}

fn guess_from_degrees(plan: &mut Plan, graphs: &[Branch], _: &[f64]) -> Result<(), ConfigError> {
    links_alone(plan, DEGREES.name)?;
    let sent: Vec<&Branch> = graphs.iter().filter(|graph| graph.has::<NoisyDegrees>()).collect();
    if sent.is_empty() {
        let problem =
            "`canary-degrees` reads noisy degrees, and no mechanism of this config sends any; blink and dprr do";
        return Err(plan.config.error(&format!("{TABLE}.attacks"), problem));
    }
    let run = Run { table: TABLE, ..Run::default() };
    for graph in sent {
        let guessed = plan.run::<GuessFromDegrees>(&[&with_reports(graph.clone())], &NoParams {}, run)?;
        score(plan, &guessed, Some(Subject::Degrees))?;
    }
    Ok(())
}

fn guess_from_graph(plan: &mut Plan, graphs: &[Branch], _: &[f64]) -> Result<(), ConfigError> {
    links_alone(plan, GRAPH.name)?;
    for mut graph in graphs.iter().filter(|graph| graph.variant != "soft").cloned() {
        graph.mark_absent::<NoisyLinks>();
        graph.mark_absent::<NoisyEntries>();
        let guessed = guessed(plan, &graph)?;
        score(plan, &guessed, None)?;
    }
    Ok(())
}

fn guessed(plan: &mut Plan, graph: &Branch) -> Result<Branch, ConfigError> {
    let params = GuessParams { epsilon: total_epsilon(&graph.releases, Relation::Edge) };
    plan.run::<GuessFromGraph>(&[graph], &params, Run { table: TABLE, ..Run::default() })
}

fn guess_from_network(plan: &mut Plan, networks: &[Branch], _: &[f64]) -> Result<(), ConfigError> {
    let run = Run { table: TABLE, ..Run::default() };
    let mut guessed = Vec::new();
    if are_links(plan) {
        refuse_learned_links(plan, networks)?;
        refuse_averaged_features(plan, networks, NETWORK.name)?;
        for cell in plan.cells_of::<GuessFromNetwork>(TABLE, &["beliefs"])? {
            for network in networks {
                let network = network.with(&cell.choices);
                guessed.push(plan.run::<GuessFromNetwork>(&[&network], &cell.params, run)?);
            }
        }
    } else {
        for network in networks {
            guessed.push(plan.run::<GuessFromPredictions>(&[network], &NoParams {}, run)?);
        }
    }
    if kind(plan) == CanariesOf::Labels {
        return plan.score_under::<EvaluateCanaries>(&guessed, &[], CanaryParams::from);
    }
    plan.score_under::<EvaluateRankedCanaries>(&guessed, &[], CanaryParams::from)
}
