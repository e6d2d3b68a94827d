//! No links at all: a reference that shows what networks make of features alone. A graph of similar nodes may take the place
//! of links.

use toml::Value;
use veilgraph_construct::ConstructWithoutLinks;
use veilgraph_contract::NoParams;
use veilgraph_similarity::SimilarGraph;

use super::{Evidence, Mechanism, TABLE, given};
use crate::config::ConfigError;
use crate::plan::{Branch, Plan, Run};

pub(super) const MECHANISM: Mechanism =
    Mechanism { name: "no-links", fields: Vec::new, evidence: Evidence::Nothing, graphs, functions: &[] };

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let run = Run { table: TABLE, ..Run::default() };
    let variants = plan.config.values("construct", "variant");
    let is_similar = |variant: &Value| variant.as_str() == Some(SIMILAR);
    let mut made = Vec::new();
    if variants.iter().any(is_similar) {
        made.extend(similar(plan, data)?);
    }
    if variants.is_empty() || !variants.iter().all(is_similar) {
        let mut graphs = Vec::new();
        for trial in plan.every_trial(data) {
            graphs.push(plan.run::<ConstructWithoutLinks>(&[&trial], &NoParams {}, run)?);
        }
        made.extend(given(plan, graphs, "given")?);
    }
    Ok(made)
}

/// The variant of a graph that links similar nodes.
pub(super) const SIMILAR: &str = "similar";

/// Every graph of similar nodes, once for each trial that trains on it.
fn similar(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    plan.read_field("construct", "variant");
    let mut graphs = Vec::new();
    for cell in plan.cells_of::<SimilarGraph>("construct", &[])? {
        for trial in plan.every_trial(&data.with(&cell.choices)) {
            let run = Run { table: "construct", ..Run::default() };
            let mut graph = plan.run::<SimilarGraph>(&[&trial], &cell.params, run)?;
            SIMILAR.clone_into(&mut graph.variant);
            graphs.push(graph);
        }
    }
    given(plan, graphs, SIMILAR)
}
