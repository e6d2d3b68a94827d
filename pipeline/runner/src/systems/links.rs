//! How links are protected, and how the server comes to a graph: one file for each mechanism, and its name in the list
//! of this file.

use toml::Value;

use crate::config::sweep::fields_of;
use crate::config::{ConfigError, MetricGroup};
use crate::function::Function;
use crate::plan::{Branch, Plan};
use crate::systems::choice::Choice;
use crate::systems::evidence::Evidence;

/// Graphs of reported bits, which several mechanisms build.
mod bits;

/// A value of `[privatize.links] mechanism`, and all that the runner has to know about it.
struct Mechanism {
    /// The value.
    name: &'static str,
    /// Names of the parameters that the mechanism reads.
    fields: fn() -> Vec<String>,
    /// What its reports tell the server about a pair.
    evidence: Evidence,
    /// From the data to the graphs.
    graphs: fn(&mut Plan, &Branch) -> Result<Vec<Branch>, ConfigError>,
    /// Stage functions that this mechanism alone has.
    functions: &'static [Function],
}

/// Each name is a file of this folder with a constant `MECHANISM`.
macro_rules! mechanisms {
    ($($file:ident),* $(,)?) => {
        $(mod $file;)*
        const MECHANISMS: &[Mechanism] = &[$($file::MECHANISM),*];
    };
}

mechanisms! {
    blink,
    rr,
    symrr,
    l_dpgcn,
    dprr,
    ldpgen,
    solitude,
    edgerefine,
    edgerand,
    lapgraph,
    released,
    non_private,
    no_links,
    public,
}

/// Table of the mechanisms' parameters.
const TABLE: &str = "privatize.links";

/// Stage functions of the mechanisms.
pub(crate) fn functions() -> impl Iterator<Item = &'static Function> {
    MECHANISMS.iter().flat_map(|mechanism| mechanism.functions)
}

/// Names of the mechanisms, each with the parameters that it reads.
pub(super) fn fields_of_mechanisms() -> Vec<(&'static str, Vec<String>)> {
    MECHANISMS.iter().map(|mechanism| (mechanism.name, (mechanism.fields)())).collect()
}

/// Whether a mechanism reads a parameter.
#[must_use]
pub fn reads(mechanism: &str, field: &str) -> bool {
    let known = MECHANISMS.iter().find(|known| known.name == mechanism);
    known.is_some_and(|known| (known.fields)().iter().any(|name| name == field))
}

/// What the reports of a mechanism tell the server about a pair; none if there is no such mechanism.
#[must_use]
pub fn evidence(mechanism: &str) -> Option<Evidence> {
    MECHANISMS.iter().find(|known| known.name == mechanism).map(|known| known.evidence)
}

/// The graphs of every mechanism that the config names.
pub(super) fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let named = plan.config.values(TABLE, "mechanism");
    let is_reference = |name: &Value| matches!(name.as_str(), Some("non-private" | "no-links" | "public"));
    if !named.is_empty() && named.iter().all(is_reference) {
        pass_over_parameters(plan)?;
    }
    let everywhere = plan.config.values_anywhere(TABLE, "mechanism");
    let is_public = |value: &Value| value.as_str() == Some("public");
    if plan.config.is_deployment() && everywhere.iter().any(is_public) && !everywhere.iter().all(is_public) {
        let problem = "in a deployment, links are either public or protected; name \"public\" alone, or leave it out";
        return Err(plan.config.error("privatize.links.mechanism", problem));
    }
    let privacy = &plan.config.privacy;
    if plan.config.is_deployment() && privacy.at_most_belief.is_some() && everywhere.iter().any(is_public) {
        let problem = "links are public, so the server knows them all; remove this line, or protect links";
        return Err(plan.config.error("privacy.at_most_belief", problem));
    }
    let choice = Choice {
        table: TABLE,
        field: "mechanism",
        default: "blink",
        known: MECHANISMS,
        name: |mechanism| mechanism.name,
    };
    choice.each(plan, data, |plan, mechanism, mut data| {
        mechanism.name.clone_into(&mut data.mechanism);
        (mechanism.graphs)(plan, &data)
    })
}

/// References read no parameter. Where nothing else is asked for, the parameters of other mechanisms are passed over, so
/// that references can be laid over any config; what no mechanism knows is still a mistake.
fn pass_over_parameters(plan: &mut Plan) -> Result<(), ConfigError> {
    for (_, fields) in fields_of_mechanisms() {
        fields.iter().for_each(|field| plan.read_field(TABLE, field));
    }
    plan.cells::<veilgraph_similarity::Params>("similarity", &[], |_| Ok(()))?;
    plan.cells::<veilgraph_estimate::Params>("estimate", &[], |_| Ok(()))?;
    // A graph of similar nodes is a variant of `no-links` alone.
    let without_similar = |mut table: toml::Table| {
        if table.get("variant").and_then(Value::as_str) == Some(no_links::SIMILAR) {
            table.remove("variant");
        }
        Ok(table)
    };
    plan.prepared_cells::<veilgraph_construct::Params>("construct", &[], without_similar, |_| Ok(()))?;
    plan.cells::<veilgraph_construct::CountsParams>("construct", &[], |_| Ok(()))?;
    Ok(())
}

/// Scores the links of graphs that come without probabilities, and says how they came about.
fn given(plan: &mut Plan, mut graphs: Vec<Branch>, variant: &str) -> Result<Vec<Branch>, ConfigError> {
    graphs.iter_mut().for_each(|graph| variant.clone_into(&mut graph.variant));
    if plan.wants(MetricGroup::LinkError) || plan.wants(MetricGroup::Density) {
        plan.score::<veilgraph_evaluate::EvaluateGraph>(&graphs)?;
    }
    Ok(graphs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mechanism_names_its_fields() {
        let fields = fields_of_mechanisms();
        let of = |name: &str| fields.iter().find(|row| row.0 == name).expect("a mechanism").1.clone();
        assert_eq!(of("rr"), ["epsilon"]);
        assert_eq!(of("symrr"), ["epsilon", "triangle"]);
        let of_blink = [
            "epsilon",
            "degree_fraction",
            "degree_noise",
            "missing_share",
            "lying_share",
            "lie",
            "nested",
            "row_blocks",
        ];
        assert_eq!(of("blink"), of_blink);
        assert!(of("no-links").is_empty());
    }
}
