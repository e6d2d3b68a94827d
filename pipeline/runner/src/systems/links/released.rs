//! A graph that another program has released, beside the true links: scored and attacked like one that is drawn here.

use std::collections::BTreeMap;

use toml::Value;
use veilgraph_privatize::links::released::{Params, TakeReleased};

use super::{Evidence, Mechanism, TABLE, fields_of, given};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan, Run};
use crate::systems::data::own_file;

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "released",
    fields: fields_of::<Params>,
    evidence: Evidence::Other,
    graphs,
    functions: &[function::<TakeReleased>()],
};

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
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
    let mut costs = BTreeMap::new();
    let mut graphs = Vec::new();
    for cell in plan.cells_of::<TakeReleased>(TABLE, &[])? {
        for branch in plan.every_trial(data) {
            let branch = branch.with(&cell.choices);
            let trial = branch.trial.unwrap_or(0).to_string();
            // Where all trials have one graph, it was released once.
            let has_own = cell.params.graph.contains("{trial}");
            if !has_own && plan.config.trials > 1 {
                plan.warn(format!(
                    "{}: all trials have this graph, so intervals and tests cover what trials draw beside it, and not its \
                     noise; write {{trial}} in `graph` for a graph of each trial",
                    cell.params.graph
                ));
            }
            let step = if has_own { format!("graph-{trial}") } else { String::new() };
            let name = cell.params.graph.replace("{trial}", &trial);
            let name = name.replace("{epsilon}", &cell.params.epsilon.nats().to_string());
            let cost = (cell.params.epsilon.nats().to_bits(), cell.params.relation, cell.params.trust);
            if *costs.entry(name.clone()).or_insert(cost) != cost {
                let problem = format!(
                    "{name} would stand at several budgets, and was released at one; write {{epsilon}} in `graph`, or one \
                     `epsilon` in a [[compare]] of its own"
                );
                return Err(plan.config.error("privatize.links.graph", &problem));
            }
            let files = [own_file(plan, &name)?];
            let params = Params { graph: name, ..cell.params.clone() };
            let run = Run { table: TABLE, step: &step, files: &files, ..Run::default() };
            graphs.push(plan.run::<TakeReleased>(&[&branch], &params, run)?);
        }
    }
    given(plan, graphs, "given")
}
