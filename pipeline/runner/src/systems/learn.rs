//! Networks on the graphs: they classify nodes or predict links. Every grid is searched, trained and scored.

mod beliefs;
mod learned_links;
mod link_prediction;
mod majority;
mod search;

pub(super) use beliefs::before_reports;
pub(super) use search::search_trials;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use veilgraph_contract::{NoParams, Stage};
use veilgraph_evaluate::EvaluateClasses;
use veilgraph_graph::{EstimatedFeatures, Features, Labels};
use veilgraph_privacy::NoisyLabels;
use veilgraph_train::{Architecture, Device, LabelUse, Params, Search, Train};

use super::choice::Choice;
use crate::config::sweep::{SweptCell, fields_of};
use crate::config::{ConfigError, MetricGroup, Profile};
use crate::plan::{Branch, Plan, Run};

const TABLE: &str = "train";

/// Fields whose lists are a grid to choose from, not a sweep.
pub const GRID: [&str; 4] = ["learning_rate", "weight_decay", "dropout", "initial_seed"];

/// A value of `[train] task`.
type Learner = (&'static str, fn(&mut Plan, &[Branch]) -> Result<Vec<Branch>, ConfigError>);

const CLASSIFY: &str = "classify";

const LEARNERS: &[Learner] = &[
    (CLASSIFY, classify),
    ("link-prediction", link_prediction::predict_links),
    ("beliefs", beliefs::predict),
    ("majority", majority::predict),
];

/// Fields of `[train]` that other learners than the classifier read.
pub(super) fn fields_of_learners() -> Vec<String> {
    fields_of::<veilgraph_train::LinkPredictionParams>().into_iter().chain(["task".to_owned()]).collect()
}

/// Learns on every graph what `[train] task` names; returns the ways to networks that classify.
pub(super) fn learn(plan: &mut Plan, graphs: &[Branch]) -> Result<Vec<Branch>, ConfigError> {
    let graphs: Vec<Branch> = graphs.iter().cloned().map(with_one_kind_of_features).collect();
    let choice = Choice { table: TABLE, field: "task", default: CLASSIFY, known: LEARNERS, name: |learner| learner.0 };
    let named = Branch::default();
    let follow = |plan: &mut Plan, (_, learn): &Learner, named: Branch| {
        let graphs: Vec<Branch> = graphs.iter().map(|graph| graph.with(&named.choices)).collect();
        learn(plan, &graphs)
    };
    choice.each(plan, &named, follow)
}

/// A network reads the features that were worked out, or else those that everybody knows.
fn with_one_kind_of_features(mut graph: Branch) -> Branch {
    if graph.has::<EstimatedFeatures>() {
        graph.mark_absent::<Features>();
    }
    graph
}

/// Whether a network has something to read.
fn has_features(graph: &Branch) -> bool {
    graph.has::<Features>() || graph.has::<EstimatedFeatures>()
}

/// Classifies the nodes of every graph.
fn classify(plan: &mut Plan, graphs: &[Branch]) -> Result<Vec<Branch>, ConfigError> {
    let has_labels = |graph: &Branch| graph.has::<Labels>() || graph.has::<NoisyLabels>();
    // The table is read once for each kind of graph, however many graphs there are.
    let mut known: BTreeMap<GraphTraits, Vec<SweptCell<Params>>> = BTreeMap::new();
    let mut trained = Vec::new();
    for trials in by_cell(graphs) {
        let traits = GraphTraits::of(&trials[0]);
        let cells = match known.entry(traits) {
            Entry::Occupied(cells) => cells.into_mut(),
            Entry::Vacant(place) => place.insert(cells(plan, traits, true)?),
        };
        // Networks that nobody scores or attacks are not trained, unless training is all that is wanted.
        let is_wanted = predicts_classes(plan) || super::audit::attacks_networks(plan);
        if !is_wanted || !has_labels(&trials[0]) {
            continue;
        }
        if !has_features(&trials[0]) {
            let wanted = "no network is trained, because nodes have no features that the server may read";
            let remedy =
                "`[privatize.features] mechanism = \"feature-free\"` lets networks read something in their place";
            plan.warn(format!("{}: {wanted}; {remedy} (docs/config.md, `substitute`)", trials[0].dataset));
            continue;
        }
        if traits.is_learned {
            learned_links::refuse_averages(plan, &trials[0], cells)?;
        }
        for cell in cells.iter() {
            trained.extend(train(plan, &trials, cell)?);
        }
    }
    Ok(trained)
}

/// Whether predictions are scored, or training is all that is wanted.
fn predicts_classes(plan: &Plan) -> bool {
    plan.wants(MetricGroup::Accuracy) || plan.options.until == Some("train")
}

/// Takes what `S` says about every graph for the predictions of a model of this name. Nothing is trained, so no attack has a
/// network to ask, and no branch is handed on.
fn predict_without_training<S: Stage<Params = NoParams>>(
    plan: &mut Plan,
    graphs: &[Branch],
    model: &str,
    prepare: impl Fn(&mut Plan, &Branch) -> Result<Branch, ConfigError>,
) -> Result<Vec<Branch>, ConfigError> {
    let n_scored = plan.config.trials;
    for trials in by_cell(graphs) {
        if !predicts_classes(plan) || !trials[0].has::<Labels>() {
            continue;
        }
        let mut predicted = Vec::new();
        for branch in trials.iter().filter(|branch| branch.is_scored(n_scored)) {
            let mut branch = prepare(plan, branch)?;
            model.clone_into(&mut branch.model);
            predicted.push(plan.run::<S>(&[&branch], &NoParams {}, Run { table: TABLE, ..Run::default() })?);
        }
        plan.score_together::<EvaluateClasses>(&predicted)?;
    }
    Ok(Vec::new())
}

/// What `[train]` means for a graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct GraphTraits {
    /// Networks learn weights of its links.
    is_learned: bool,
    /// It has no links.
    is_empty: bool,
    /// It lists links, which training may leave out.
    is_listed: bool,
}

impl GraphTraits {
    fn of(graph: &Branch) -> Self {
        let is_listed = !matches!(graph.variant.as_str(), "learned" | "soft");
        Self {
            is_learned: graph.variant == "learned",
            is_empty: graph.mechanism == "no-links" && graph.variant != "similar",
            is_listed,
        }
    }
}

/// The cells of `[train]` for networks that read no links.
pub(super) fn cells_without_links(plan: &mut Plan) -> Result<Vec<SweptCell<Params>>, ConfigError> {
    let mut cells = cells(plan, GraphTraits { is_learned: false, is_empty: true, is_listed: true }, false)?;
    cells.iter_mut().for_each(|cell| (cell.params.blend, cell.params.beliefs) = (false, false));
    Ok(cells)
}

/// The cells of `[train]` for networks over graphs of this kind. If it `is_searched`, trials of a search may choose settings.
fn cells(plan: &mut Plan, traits: GraphTraits, is_searched: bool) -> Result<Vec<SweptCell<Params>>, ConfigError> {
    let GraphTraits { is_learned, is_empty, is_listed } = traits;
    let device = plan.options.device;
    let is_published = plan.config.profile == Profile::Published;
    let has_no_search = plan.config.search_trials < 2;
    // To say that every model is trained to the end is no mistake, although parameters do not hold it.
    plan.read_field(TABLE, "search");
    let adjust = |params: &mut Params| {
        if device != Device::Cpu {
            params.device = device;
        }
        // Without links, all networks are the perceptron.
        if is_empty {
            params.model = Architecture::Mlp;
            params.label_hops = 0;
            params.inductive = false;
            if params.labels == LabelUse::Drop {
                params.labels = LabelUse::Forward;
            }
        }
        params.check()?;
        if params.inductive && (params.blend || params.beliefs) {
            let field = if params.blend { "blend" } else { "beliefs" };
            return Err(format!(
                "inductive = true keeps links of test nodes out of training, and {field} = true adds beliefs that were \
                 read off all links; remove one of them"
            ));
        }
        if params.inductive && !is_listed {
            return Err(
                "inductive = true leaves out the links of test nodes, and soft graphs and solitude list none; choose \
                        another variant"
                    .to_owned(),
            );
        }
        if is_published && params.search != Search::Full {
            return Err("profile = \"published\" trains the settings that were published, of which there is nothing to search; \
                        remove `search`"
                .to_owned());
        }
        params.links = if is_learned { Some(params.links.unwrap_or_default()) } else { None };
        // Halving gives settings up between the trials of a search.
        let can_give_up = match params.search {
            Search::Full => false,
            Search::Racing => params.can_race(),
            Search::Halving => is_searched,
        };
        if params.settings().len() == 1 || !can_give_up {
            params.search = Search::Full;
        }
        if params.search == Search::Halving && has_no_search {
            return Err("search = \"halving\" keeps the better settings for the next trial of a search; give \
                        search_trials, two or more of them, or remove `search`"
                .to_owned());
        }
        if is_learned && params.model == Architecture::Gat {
            return Err("solitude learns links for gcn and graphsage (its published figures with gat are numerical \
                        failures); leave gat to a config without solitude"
                .to_owned());
        }
        Ok(())
    };
    plan.cells(TABLE, &GRID, adjust)
}

/// Trains one cell in every trial: the grid, or the setting that other trials have chosen from it.
fn train(plan: &mut Plan, trials: &[Branch], cell: &SweptCell<Params>) -> Result<Vec<Branch>, ConfigError> {
    let run = Run { table: TABLE, ..Run::default() };
    let named = |branch: &Branch| {
        let mut branch = branch.with(&cell.choices);
        cell.params.model.name().clone_into(&mut branch.model);
        branch
    };
    let mut trials: Vec<Branch> = trials.iter().map(named).collect();
    if cell.params.beliefs {
        trials = trials.iter().map(|branch| beliefs::appended(plan, branch)).collect::<Result<_, ConfigError>>()?;
    }
    let (scored, searching): (Vec<Branch>, Vec<Branch>) =
        trials.into_iter().partition(|branch| branch.is_scored(plan.config.trials));
    // Training does not know where its features come from, and what is made of its answers.
    let mut params = Params { blend: false, beliefs: false, ..cell.params.clone() };
    let mut chosen = None;
    if cell.params.settings().len() > 1 && !searching.is_empty() {
        chosen = Some(search::search(plan, &searching, &params)?);
    }
    // The setting that was chosen is trained to the end, and without a search nothing is halved.
    if chosen.is_some() || params.search == Search::Halving {
        params.search = Search::Full;
    }
    let (mut trained, mut answering) = (Vec::new(), Vec::new());
    for mut branch in scored {
        if let Some(chosen) = &chosen {
            branch.take("chosen_setting", chosen);
        }
        let network = plan.run::<Train>(&[&branch], &params, run)?;
        answering.push(if cell.params.blend { beliefs::blended(plan, &network)? } else { network.clone() });
        trained.push(network);
    }
    if plan.wants(MetricGroup::Accuracy) {
        plan.score_together::<EvaluateClasses>(&answering)?;
    }
    // Attacks ask the networks themselves.
    Ok(trained)
}

/// Graphs that differ in their trial alone, together.
fn by_cell(graphs: &[Branch]) -> Vec<Vec<Branch>> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut cells: Vec<Vec<Branch>> = Vec::new();
    for graph in graphs {
        let name = format!("{:?} {} {}", graph.choices, graph.mechanism, graph.variant);
        let place = *places.entry(name).or_insert(cells.len());
        if place == cells.len() {
            cells.push(Vec::new());
        }
        cells[place].push(graph.clone());
    }
    cells
}
