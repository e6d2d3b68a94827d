//! Blink (Zhu, Tan, Xiao 2023): noisy lists and degrees, a posterior, a graph.

mod nested;
mod row_blocks;

use std::sync::Arc;

use veilgraph_construct::{Construct, Variant};
use veilgraph_contract::{Artifact, Stage};
use veilgraph_estimate::{
    Degrees, Error as EstimateError, Estimate, EstimateWithBins, EstimateWithClasses, Params as EstimateParams,
};
use veilgraph_evaluate::{EvaluateGraph, EvaluateLinks};
use veilgraph_graph::{Features, Labels};
use veilgraph_posterior::{LinkEvidence, LinkModel, SimilarPairs};
use veilgraph_privacy::NoisyFeatures;
use veilgraph_privatize::Local;
use veilgraph_privatize::links::blink::{Blink, Params as BlinkParams};
use veilgraph_similarity::{Measure, Params as SimilarityParams, Similarity};

use super::{Evidence, Mechanism, TABLE, fields_of};
use crate::config::sweep::SweptCell;
use crate::config::{ConfigError, Holding, MetricGroup};
use crate::function::function;
use crate::plan::{Branch, Plan};
use crate::systems::advised_fraction::resolved;
use crate::systems::learn::before_reports;
use row_blocks::RowBlocks;

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "blink",
    fields: || [fields_of::<BlinkParams>(), vec![RowBlocks::FIELD.to_owned()]].concat(),
    evidence: Evidence::Bits,
    graphs,
    functions: &[function::<Local<Blink>>()],
};

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let (mut graphs, row_blocks) = (Vec::new(), RowBlocks::read(plan)?);
    for cell in cells(plan, data)? {
        let mut data = data.clone();
        let BlinkParams { epsilon, degree_fraction, .. } = cell.params;
        data.degree_fraction = degree_fraction.share(epsilon, data.n_nodes);
        let row_blocks = row_blocks.at(cell.params.budget().links, plan);
        let reports = plan.sweep_cells::<Local<Blink>>(&[data], TABLE, &[cell])?;
        let beliefs = beliefs(plan, &reports, row_blocks)?;
        if plan.wants(MetricGroup::LinkError) {
            plan.score::<EvaluateLinks>(&beliefs)?;
        }
        graphs.extend(constructed(plan, &beliefs, row_blocks)?);
    }
    Ok(graphs)
}

/// What the nodes report: a cell for each release, with its budget divided.
fn cells(plan: &mut Plan, data: &Branch) -> Result<Vec<SweptCell<BlinkParams>>, ConfigError> {
    let mut cells = plan.cells::<BlinkParams>(TABLE, &[], |_| Ok(()))?;
    for cell in &mut cells {
        if plan.config.is_deployment() && cell.params.missing_share > 0.0 {
            let problem = "in a deployment (randomness = \"os\"), missing_share simulates missing nodes; remove it";
            return Err(plan.config.error("privatize.links.missing_share", problem));
        }
        if plan.config.is_deployment() && cell.params.lying_share > 0.0 {
            let problem = "in a deployment (randomness = \"os\"), lying_share simulates lying nodes; remove it";
            return Err(plan.config.error("privatize.links.lying_share", problem));
        }
        if cell.params.lie.is_some() && cell.params.lying_share == 0.0 {
            let problem = "`lie` says what lying nodes send, and none lies; set lying_share, or remove `lie`";
            return Err(plan.config.error("privatize.links.lie", problem));
        }
        cell.params = cell.params.clone().with_what_is_read();
        // Two rules that come to one share ask for one release.
        let BlinkParams { epsilon, degree_fraction, .. } = cell.params;
        cell.params.degree_fraction = resolved(&plan.config, degree_fraction, epsilon, data.n_nodes, 0.0)?;
    }
    nested::fill(plan, &mut cells)?;
    Ok(cells)
}

/// Every way to read the same reports.
fn beliefs(plan: &mut Plan, reports: &[Branch], row_blocks: RowBlocks) -> Result<Vec<Branch>, ConfigError> {
    // Pairing depends on the release alone.
    let paired: Result<Vec<Branch>, ConfigError> =
        reports.iter().map(|branch| row_blocks.paired(plan, branch)).collect();
    let paired = paired?;
    let cells = plan.cells_of::<Estimate>("estimate", &[])?;
    let mut beliefs = Vec::new();
    for mut cell in cells {
        let holds_labels = paired.first().is_some_and(Branch::has::<Labels>);
        let believes_classes = cell.params.uses_classes() && holds_labels;
        let holds_features = paired.first().is_some_and(Branch::has::<Features>);
        let learns_score = cell.params.learns_score() && believes_classes && holds_features;
        if cell.params.learned_score == Some(true) && !learns_score {
            let problem = "learned_score = true reads public features and true labels, and the server does not hold both; \
                           remove learned_score";
            return Err(plan.config.error("estimate.learned_score", problem));
        }
        // Written out, so that what is said and what follows by default are one task.
        cell.params.learned_score = Some(learns_score);
        let needs_degrees = cell.params.match_degrees && cell.params.degrees != Degrees::EmpiricalBayesBits;
        if needs_degrees && paired.iter().any(|branch| branch.degree_fraction == 0.0) {
            let problem = EstimateError::NothingToMatch.to_string();
            return Err(plan.config.error("estimate.match", &problem));
        }
        check_latent_blocks(plan, &cell.params, believes_classes, paired.first().and_then(|branch| branch.n_nodes))?;
        let mut start = with_similar_pairs(plan, &paired, &cell, believes_classes)?;
        let cell = [cell];
        beliefs.extend(if believes_classes {
            for branch in &mut start {
                *branch = before_reports(plan, branch)?;
            }
            with_classes(plan, &start, &cell)?
        } else if cell[0].params.uses_bins() {
            plan.sweep_cells::<EstimateWithBins>(&start, "estimate", &cell)?
        } else {
            plan.sweep_cells::<Estimate>(&start, "estimate", &cell)?
        });
    }
    Ok(beliefs)
}

/// Links and classes believed together. Features are read only where a score is learned from them, whatever reads them
/// later.
fn with_classes(
    plan: &mut Plan,
    start: &[Branch],
    cell: &[SweptCell<EstimateParams>; 1],
) -> Result<Vec<Branch>, ConfigError> {
    let [SweptCell { params, .. }] = cell;
    if params.learns_score() {
        return plan.sweep_cells::<EstimateWithClasses>(start, "estimate", cell);
    }
    let mut beliefs = Vec::new();
    for branch in start {
        let mut without_features = branch.clone();
        without_features.mark_absent::<Features>();
        for mut believed in plan.sweep_cells::<EstimateWithClasses>(&[without_features], "estimate", cell)? {
            believed.take(Features::NAME, branch);
            beliefs.push(believed);
        }
    }
    Ok(beliefs)
}

/// Refuses latent blocks beside classes, and more of them than nodes, before anything is released.
fn check_latent_blocks(
    plan: &Plan,
    params: &EstimateParams,
    believes_classes: bool,
    n_nodes: Option<usize>,
) -> Result<(), ConfigError> {
    let problem = match (params.latent_blocks.asked_for(), n_nodes) {
        (Some(_), _) if believes_classes => {
            "latent blocks take the place of classes where the server holds no labels, and here it holds labels; remove \
             latent_blocks"
                .to_owned()
        }
        (Some(_), Some(n_nodes)) => match params.check_nodes(n_nodes) {
            Ok(()) => return Ok(()),
            Err(error) => error.to_string(),
        },
        _ => return Ok(()),
    };
    Err(plan.config.error("estimate.latent_blocks", &problem))
}

/// Only a prior that reads features asks for similar pairs; nodes are compared once for all releases.
fn with_similar_pairs(
    plan: &mut Plan,
    paired: &[Branch],
    cell: &SweptCell<EstimateParams>,
    believes_classes: bool,
) -> Result<Vec<Branch>, ConfigError> {
    if !cell.params.uses_features() {
        return Ok(paired.iter().cloned().map(without_similar_pairs).collect());
    }
    let first = paired.first();
    let are_public = first.is_some_and(Branch::has::<Features>);
    // Reports about features tell something; what takes the place of features tells nothing.
    let are_reported = first.is_some_and(Branch::has::<NoisyFeatures>);
    if !are_public && !are_reported {
        // Where the config does not name what it wants, the default goes without them.
        let is_named = ["method", "prior"].iter().any(|field| !plan.config.values("estimate", field).is_empty());
        if plan.config.privacy.features == Holding::Withheld && !believes_classes && is_named {
            let problem =
                "the prior reads features that the server does not hold; set [estimate] prior = \"beta-model\"";
            return Err(plan.config.error("privacy.features", problem));
        }
        let rest = if believes_classes {
            "degrees and classes"
        } else if cell.params.finds_latent_blocks() {
            "degrees, and blocks of nodes where the reports tell of any"
        } else {
            "degrees alone"
        };
        plan.warn(format!("{}: the server holds no features, so the prior uses {rest}", paired[0].dataset));
        plan.pass_over("similarity");
        return Ok(paired.iter().cloned().map(without_similar_pairs).collect());
    }
    let adjust = |params: &mut SimilarityParams| {
        // What classes say must not count twice.
        params.bins.get_or_insert(if believes_classes { Measure::Cosine } else { Measure::Score });
        Similarity::check_params(params).map_err(|error| error.to_string())
    };
    let cells = plan.cells::<SimilarityParams>("similarity", &[], adjust)?;
    plan.sweep_cells::<Similarity>(paired, "similarity", &cells)
}

fn without_similar_pairs(mut branch: Branch) -> Branch {
    branch.mark_absent::<SimilarPairs>();
    branch
}

/// Every graph from the same posteriors.
fn constructed(plan: &mut Plan, beliefs: &[Branch], row_blocks: RowBlocks) -> Result<Vec<Branch>, ConfigError> {
    let field = "construct.variant";
    let misplaced = "\"similar\" links nodes by their features alone; it belongs to mechanism = \"no-links\", in a [[compare]] \
                     of its own (a posterior has hard, soft and hybrid graphs)";
    if plan.config.values("construct", "variant").iter().any(|value| value.as_str() == Some(super::no_links::SIMILAR)) {
        return Err(plan.config.error(field, misplaced));
    }
    let mut graphs = Vec::new();
    for cell in plan.cells_of::<Construct>("construct", &[])? {
        let variant = cell.params.variant;
        let mut made = row_blocks.graphs(plan, beliefs, &cell)?;
        for graph in &mut made {
            graph.variant = variant.to_string();
            graph.beliefs = Some(Arc::new(graph.clone()));
        }
        if variant != Variant::Soft {
            if plan.wants(MetricGroup::Density) {
                plan.score::<EvaluateGraph>(&made)?;
            }
            // Only a soft graph reads the posterior; the others must stay fresh when it changes and they do not.
            for graph in &mut made {
                graph.mark_absent::<LinkModel>();
                graph.mark_absent::<LinkEvidence>();
            }
        }
        graphs.extend(made);
    }
    Ok(graphs)
}
