//! The tables of an experiment, expanded.

use veilgraph_construct::EdgeModel;
use veilgraph_graph::Construction;
use veilgraph_privacy::{DegreeFraction, Epsilon, Mechanism};
use veilgraph_train::{Architecture, Device};

use super::Options;
use crate::config::{Cell, Config, ConfigError, Holding, MetricGroup};

/// The tables of the config, typed and expanded: a mistake in any is found before anything runs.
pub(super) struct Cells {
    /// Name of the alternative, if there are several: scores are told apart by it.
    pub name: Vec<String>,
    /// What names of runs begin with.
    pub label: Vec<String>,
    pub privatize: Vec<Cell<veilgraph_privatize::Params>>,
    pub similarity: Vec<Cell<veilgraph_similarity::Params>>,
    pub estimate: Vec<Cell<veilgraph_estimate::Params>>,
    pub construct: Vec<Cell<veilgraph_construct::Params>>,
    pub train: Vec<Cell<veilgraph_train::Params>>,
    /// Trials that search the grid, beside those that are scored; 0 where there is nothing to choose.
    pub search_trials: u32,
}

impl Cells {
    /// The datasets.
    pub(super) fn of_ingest(config: &Config) -> Result<Vec<Cell<veilgraph_ingest::Params>>, ConfigError> {
        config.cells("ingest", &config.ingest, &[])
    }

    pub(super) fn new(config: &Config, options: &Options) -> Result<Self, ConfigError> {
        let grid = ["learning_rate", "weight_decay", "dropout", "initial_seed"];
        let mut cells = Self {
            name: config.alternative.iter().cloned().collect(),
            label: config.label.clone(),
            privatize: config.cells("privatize.links", &config.privatize, &[])?,
            similarity: config.cells("similarity", &config.similarity, &[])?,
            estimate: config.cells("estimate", &config.estimate, &[])?,
            construct: config.cells("construct", &config.construct, &[])?,
            train: config.cells("train", &config.train, &grid)?,
            search_trials: 0,
        };
        cells.privatize = distinct(cells.privatize);
        let is_grid = cells.train.iter().any(|cell| cell.params.settings().len() > 1);
        if is_grid && config.metrics.contains(&MetricGroup::Accuracy) {
            cells.search_trials = config.search_trials;
        }
        for train in &mut cells.train {
            train.params.check().map_err(|problem| config.error("train", &problem))?;
            if options.device != Device::Cpu {
                train.params.device = options.device;
            }
        }
        if config.is_deployment()
            && let Some(problem) = cells.privatize.iter().find_map(|cell| cell.params.refused_in_deployment())
        {
            return Err(config.error("privatize.links", &format!("in a deployment (randomness = \"os\"), {problem}")));
        }
        let learns_links = cells.privatize.iter().any(|cell| cell.params.mechanism == Mechanism::Solitude);
        if learns_links && cells.train.iter().any(|cell| cell.params.model == Architecture::Gat) {
            let problem = "solitude learns links for gcn and graphsage (its published figures with gat are numerical \
                           failures); leave gat to a config without solitude";
            return Err(config.error("train.model", problem));
        }
        if config.privacy.features == Holding::Withheld && cells.estimate.iter().any(|cell| cell.params.uses_features())
        {
            let problem =
                "the prior reads features that the server does not hold; set [estimate] prior = \"beta-model\"";
            return Err(config.error("privacy.features", problem));
        }
        Ok(cells)
    }

    /// How a graph is built where no posterior is: `[construct]` says one thing about it, and of LDPGen alone.
    pub(super) fn constructs_of(&self, mechanism: Mechanism) -> Vec<Cell<veilgraph_construct::Params>> {
        let mut cells: Vec<Cell<veilgraph_construct::Params>> = Vec::new();
        for cell in &self.construct {
            let edge_model = if mechanism == Mechanism::LdpGen { cell.params.edge_model } else { EdgeModel::default() };
            let params = veilgraph_construct::Params { variant: Construction::Given, edge_multiple: 1.0, edge_model };
            let label = cell.label.iter().filter(|part| part.starts_with("edge_model-")).cloned().collect();
            add_new(&mut cells, Cell { label, params });
        }
        cells
    }

    /// Networks over the graph of a mechanism: without links, the perceptron alone.
    pub(super) fn networks_of(&self, mechanism: Mechanism) -> Vec<Cell<veilgraph_train::Params>> {
        if mechanism != Mechanism::NoLinks {
            return self.train.clone();
        }
        let mut cells: Vec<Cell<veilgraph_train::Params>> = Vec::new();
        for cell in &self.train {
            let params = veilgraph_train::Params { model: Architecture::Mlp, ..cell.params.clone() };
            let label = cell.label.iter().filter(|part| !part.starts_with("model-")).cloned().collect();
            add_new(&mut cells, Cell { label, params });
        }
        cells
    }
}

/// Adds a cell whose parameters no other has.
fn add_new<P: PartialEq>(cells: &mut Vec<Cell<P>>, cell: Cell<P>) {
    if cells.iter().all(|known| known.params != cell.params) {
        cells.push(cell);
    }
}

/// What a mechanism does not ask for is not swept over: a fraction without a degree, a budget where nothing or
/// everything is spent.
fn distinct(cells: Vec<Cell<veilgraph_privatize::Params>>) -> Vec<Cell<veilgraph_privatize::Params>> {
    let mut kept: Vec<Cell<veilgraph_privatize::Params>> = Vec::new();
    for mut cell in cells {
        if !cell.params.mechanism.sends_degree() {
            cell.params.degree_fraction = DegreeFraction::NONE;
            cell.label.retain(|part| !part.starts_with("degree_fraction-"));
        }
        if matches!(cell.params.mechanism, Mechanism::NonPrivate | Mechanism::NoLinks) {
            cell.params.epsilon = Epsilon::INFINITE;
            cell.label.retain(|part| !part.starts_with("epsilon-"));
        }
        add_new(&mut kept, cell);
    }
    kept
}
