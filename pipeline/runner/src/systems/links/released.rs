//! A graph that another program has released, beside the true links: scored and attacked like one that is drawn here.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::Value;
use veilgraph_contract::{Stage, Trust};
use veilgraph_ingest::{Ingest, Params as IngestParams, ReadReleased, ReleasedParams};
use veilgraph_privacy::Epsilon;
use veilgraph_privatize::links::released::{CostOf, Params, TakeReleased};

use super::{Evidence, Mechanism, TABLE, fields_of, given};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan, Run};
use crate::systems::data::own_file;
use crate::task::{BoundSlot, Task, Wire};

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "released",
    fields: fields_of::<Fields>,
    evidence: Evidence::Other,
    graphs,
    functions: &[function::<ReadReleased>(), function::<TakeReleased>()],
};

/// What `[privatize.links]` says about such a graph.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    graph: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_column: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target_column: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weight_column: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directed: Option<bool>,
    epsilon: Epsilon,
    #[serde(default)]
    relation: CostOf,
    #[serde(default = "local")]
    trust: Trust,
}

fn local() -> Trust {
    Trust::Local
}

impl Fields {
    fn cost(&self) -> Params {
        Params { epsilon: self.epsilon, relation: self.relation, trust: self.trust }
    }

    /// The path of the graph in a trial of a dataset.
    fn path(&self, dataset: &str, trial: u32) -> Result<String, String> {
        let path = self.graph.replace("{dataset}", dataset).replace("{trial}", &trial.to_string());
        let path = path.replace("{epsilon}", &self.epsilon.nats().to_string());
        match path.split_once('{').and_then(|(_, rest)| rest.split_once('}')) {
            None => Ok(path),
            Some((unknown, _)) => Err(format!(
                "{{{unknown}}} stands for nothing; {{dataset}}, {{epsilon}} and {{trial}} stand for something"
            )),
        }
    }
}

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    refuse_deployments_and_canaries(plan)?;
    let check = |fields: &mut Fields| TakeReleased::check_params(&fields.cost()).map_err(|error| error.to_string());
    let mut graphs = Vec::new();
    for cell in plan.cells::<Fields>(TABLE, &[], check)? {
        let fields = &cell.params;
        // Where all trials have one graph, it was released once.
        let has_own = fields.graph.contains("{trial}");
        if !has_own && plan.config.trials > 1 {
            plan.warn(format!(
                "{}: all trials have this graph, so intervals and tests cover what trials draw beside it, and not its noise; write \
                 {{trial}} in `graph` for a graph of each trial",
                fields.graph
            ));
        }
        for branch in plan.every_trial(data) {
            let branch = branch.with(&cell.choices);
            let trial = branch.trial.unwrap_or(0);
            let path = fields.path(&data.dataset, trial);
            let path = path.map_err(|problem| plan.config.error("privatize.links.graph", &problem))?;
            let step = if has_own { format!("graph-{trial}") } else { String::new() };
            let run = Run { table: TABLE, step: &step, ..Run::default() };
            let files = [own_file(plan, &path)?];
            let params = ReleasedParams {
                graph: path,
                header: fields.header,
                source_column: fields.source_column.clone(),
                target_column: fields.target_column.clone(),
                weight_column: fields.weight_column.clone(),
                directed: fields.directed,
            };
            let read = plan.run::<ReadReleased>(&[&branch], &params, Run { files: &files, ..run })?;
            graphs.push(plan.run::<TakeReleased>(&[&read], &fields.cost(), run)?);
        }
    }
    for repeated in second_readings(plan)? {
        plan.mark_repeated(repeated);
    }
    given(plan, graphs, "given")
}

fn refuse_deployments_and_canaries(plan: &Plan) -> Result<(), ConfigError> {
    if plan.config.is_deployment() {
        let problem = "in a deployment, what another program has released is public, and its cost is in no ledger of this \
                       program; write \"public\", with the released graph as `edges` of [ingest]";
        return Err(plan.config.error("privatize.links.mechanism", problem));
    }
    let asks = |field: &str, holds: fn(&Value) -> bool| plan.config.values("audit", field).iter().any(holds);
    let plants = asks("canaries", |number| number.as_integer().is_some_and(|number| number > 0));
    if plants && !asks("canaries_of", |kind| kind.as_str() != Some("links")) {
        let problem = "canaries change the links before anything is released, and a graph that another program has drawn knows \
                       nothing of them; leave them out, or leave out mechanism = \"released\"";
        return Err(plan.config.error("audit.canaries", problem));
    }
    Ok(())
}

/// The tasks that release a file once more, with other attributes of the same nodes. Alternatives share the plan.
///
/// # Errors
/// When a file stands at two costs, in two ways of reading, or for the nodes of two graphs: it was released once.
fn second_readings(plan: &Plan) -> Result<Vec<usize>, ConfigError> {
    let mut stated: BTreeMap<&Path, [&Task; 2]> = BTreeMap::new();
    let mut second = Vec::new();
    let tasks = plan.tasks();
    for (index, release) in tasks.iter().enumerate().filter(|(_, task)| task.is_of::<TakeReleased>()) {
        let sources = release.slots.iter().flat_map(BoundSlot::sources).map(|source| &tasks[source]);
        for read in sources.filter(|source| source.is_of::<ReadReleased>()) {
            for wire in read.slots.iter().flat_map(|slot| &slot.wires) {
                let Wire::Raw(file) = wire else { continue };
                let [release_before, read_before] = *stated.entry(&file.path).or_insert([release, read]);
                let problem = if release_before.params != release.params {
                    "at several costs, and was released at one; write {epsilon} in `graph`, or state one cost"
                } else if nodes_of(tasks, read_before) != nodes_of(tasks, read) {
                    "for the nodes of several graphs; write {dataset} in `graph`, with a `dataset` in [ingest] for each where they \
                     have one name"
                } else if without(&read_before.params, &["graph"]) != without(&read.params, &["graph"]) {
                    "for several graphs; say once how it is read"
                } else {
                    if !std::ptr::eq(release_before, release) {
                        second.push(index);
                    }
                    continue;
                };
                let problem = format!("{} would stand {problem}", file.name);
                return Err(plan.config.error("privatize.links.graph", &problem));
            }
        }
    }
    Ok(second)
}

/// What says which nodes a released graph is between: the fields of `[ingest]`, but for what is done with features and labels.
fn nodes_of(tasks: &[Task], read: &Task) -> Option<toml::Table> {
    let of_attributes =
        ["split", "normalize", "binarize", "classes", "label_column", "withhold_features", "withhold_labels"];
    let mut sources = read.slots.iter().flat_map(BoundSlot::sources).map(|source| &tasks[source]);
    let ingest = sources.find(|source| source.is_of::<Ingest>())?;
    let fields = without(&ingest.params, &of_attributes);
    let lists_nodes = ingest.params.clone().try_into().is_ok_and(|params: IngestParams| params.lists_nodes());
    Some(if lists_nodes { without(&Value::Table(fields), &["features", "labels"]) } else { fields })
}

/// Parameters without some fields.
fn without(params: &Value, fields: &[&str]) -> toml::Table {
    let mut table = params.as_table().cloned().unwrap_or_default();
    fields.iter().for_each(|field| _ = table.remove(*field));
    table
}
