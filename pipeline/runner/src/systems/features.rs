//! How features are protected, or what takes their place: a line for each mechanism by which nodes report their features, and a
//! file for each of the others.

mod feature_free;
mod non_private;
mod public;

use std::marker::PhantomData;

use toml::Value;
use veilgraph_contract::{Private, Stage};
use veilgraph_estimate::features::{
    DegreeFeatures, PropagateFeatures, RectifyFeatures, Substitute, SubstituteFeatures, SubstituteParams,
};
use veilgraph_evaluate::EvaluateFeatures;
use veilgraph_graph::{Aggregator, Features, Propagation};
use veilgraph_privacy::NoisyFeatures;
use veilgraph_privatize::features::gaussian::Gaussian;
use veilgraph_privatize::features::laplace::Laplace;
use veilgraph_privatize::features::multi_bit::MultiBit;
use veilgraph_privatize::features::one_bit::OneBit;
use veilgraph_privatize::features::piecewise::Piecewise;
use veilgraph_privatize::features::{FeatureMechanism, FeatureParams, LocalFeatures};

use super::choice::Choice;
use crate::config::sweep::{SweptCell, fields_of};
use crate::config::{ConfigError, Holding, MetricGroup};
use crate::function::{Function, function};
use crate::plan::{Branch, Plan, Run};

/// A value of `[privatize.features] mechanism`, and all that the runner has to know about it.
struct Mechanism {
    /// The value.
    name: &'static str,
    /// Names of the parameters that the mechanism reads.
    fields: fn() -> Vec<String>,
    /// From the data to features that a network can read.
    features: fn(&mut Plan, &Branch) -> Result<Vec<Branch>, ConfigError>,
    /// Stage functions that this mechanism alone has.
    functions: &'static [Function],
}

const MECHANISMS: &[Mechanism] = &[
    public::MECHANISM,
    non_private::MECHANISM,
    Reported::<OneBit>::MECHANISM,
    Reported::<Laplace>::MECHANISM,
    Reported::<Piecewise>::MECHANISM,
    Reported::<MultiBit>::MECHANISM,
    Reported::<Gaussian>::MECHANISM,
    feature_free::MECHANISM,
];

/// Features that every node reports under the mechanism `M`.
struct Reported<M>(PhantomData<M>);

impl<M: FeatureMechanism> Reported<M> {
    const MECHANISM: Mechanism = Mechanism {
        name: M::NAME,
        fields: fields_of::<M::Params>,
        features: reported::<M>,
        functions: &[function::<LocalFeatures<M>>()],
    };
}

/// Table of the mechanisms' parameters.
pub(super) const TABLE: &str = "privatize.features";

/// Table of what the server makes of the reports.
pub(super) const ESTIMATE: &str = "estimate.features";

/// Stage functions of the mechanisms.
pub(super) fn functions() -> impl Iterator<Item = &'static Function> {
    MECHANISMS.iter().flat_map(|mechanism| mechanism.functions)
}

/// Parameters of all mechanisms.
pub(super) fn fields_of_mechanisms() -> Vec<String> {
    MECHANISMS.iter().flat_map(|mechanism| (mechanism.fields)()).chain(["mechanism".to_owned()]).collect()
}

/// The features of every mechanism that the config names.
pub(super) fn features(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    // References read no parameter, and can be laid over any config; what no mechanism knows is still a mistake.
    let is_reference = |name: &Value| matches!(name.as_str(), Some("public" | "non-private" | feature_free::NAME));
    let named = plan.config.values(TABLE, "mechanism");
    if !named.is_empty() && named.iter().all(is_reference) {
        fields_of_mechanisms().iter().for_each(|field| plan.read_field(TABLE, field));
    }
    let choice = Choice {
        table: TABLE,
        field: "mechanism",
        default: "public",
        known: MECHANISMS,
        name: |mechanism| mechanism.name,
    };
    choice.each(plan, data, |plan, mechanism, data| (mechanism.features)(plan, &data))
}

/// Whether nodes will have features of any kind: public, private, or what takes their place.
pub(super) fn are_at_hand(plan: &Plan, data: &Branch) -> bool {
    let are_kept = plan.config.privacy.features == Holding::Withheld && plan.config.table(TABLE).is_empty();
    let are_given = data.has::<Features>() || (data.has::<Private<Features>>() && !are_kept);
    are_given || plan.config.values(TABLE, "mechanism").iter().any(|name| name.as_str() == Some(feature_free::NAME))
}

/// Reports under the mechanism `M`, rectified, with their propagation.
fn reported<M: FeatureMechanism>(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let (n_features, is_deployment) = (data.n_features, plan.config.is_deployment());
    let complete = |params: &mut M::Params| {
        if let Some(n_features) = n_features {
            params.complete_dimension(n_features);
        }
        if is_deployment && !params.declared().clip {
            return Err(
                "in a deployment, whether a feature lies outside the range must not show; set clip = true, with which \
                        every node moves such values to the nearer end by itself"
                    .to_owned(),
            );
        }
        if params.needs_dimension() {
            return Err(
                "what all features of a node cost depends on their number, and a release is charged before data \
                        are read; say it: dimension = NUMBER"
                    .to_owned(),
            );
        }
        Ok(())
    };
    // The two ends of a range belong together: they are no sweep.
    let cells = plan.cells::<M::Params>(TABLE, &["range"], complete)?;
    let reports = plan.sweep_cells::<LocalFeatures<M>>(std::slice::from_ref(data), TABLE, &cells)?;
    rectified(plan, &reports)
}

/// Reports as unbiased estimates, with their propagation.
fn rectified(plan: &mut Plan, reports: &[Branch]) -> Result<Vec<Branch>, ConfigError> {
    let mut made = Vec::new();
    for cell in propagations(plan)? {
        let propagation = cell.params;
        let rectified = plan.sweep_cells::<RectifyFeatures>(reports, ESTIMATE, &[cell])?;
        made.extend(rectified.into_iter().map(|branch| branch.averaged(propagation)));
    }
    Ok(made)
}

/// The cells of `[estimate.features]`. Without a hop, no aggregator is read.
fn propagations(plan: &mut Plan) -> Result<Vec<SweptCell<Propagation>>, ConfigError> {
    plan.cells::<Propagation>(ESTIMATE, &[], |propagation| {
        if propagation.hops == 0 {
            propagation.aggregator = Aggregator::default();
        }
        RectifyFeatures::check_params(propagation).map_err(|error| error.to_string())
    })
}

/// What takes the place of features, as far as it needs no graph.
fn substituted(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let adjust = |params: &mut SubstituteParams| {
        *params = params.with_what_is_read();
        Ok(())
    };
    let mut made = Vec::new();
    for cell in plan.cells::<SubstituteParams>(ESTIMATE, &[], adjust)? {
        let mut data = data.clone().averaged(cell.params.propagation());
        data.mark_absent::<Features>();
        if cell.params.substitute == Substitute::OneHotDegree {
            data.degree_features = Some(cell);
            made.push(data);
        } else {
            made.extend(plan.sweep_cells::<SubstituteFeatures>(&[data], ESTIMATE, &[cell])?);
        }
    }
    Ok(made)
}

/// Features that are read off a graph, where these take the place of others.
pub(super) fn on_graphs(plan: &mut Plan, graphs: Vec<Branch>) -> Result<Vec<Branch>, ConfigError> {
    let of = |mut graph: Branch| match graph.degree_features.take() {
        Some(_) if graph.variant == "soft" => {
            let problem =
                "one-hot-degree counts listed links, and a soft graph lists none; choose another variant or substitute";
            Err(plan.config.error("estimate.features.substitute", problem))
        }
        Some(SweptCell { choices, params }) => {
            let run = Run { table: ESTIMATE, ..Run::default() };
            plan.run::<DegreeFeatures>(&[&graph.with(&choices)], &params, run)
        }
        None => Ok(graph),
    };
    graphs.into_iter().map(of).collect()
}

/// Scores features that were worked out from reports.
pub(super) fn score(plan: &mut Plan, graphs: &[Branch]) -> Result<(), ConfigError> {
    if !plan.wants(MetricGroup::FeatureError) {
        return Ok(());
    }
    let is_reported = |graph: &&Branch| graph.has::<NoisyFeatures>();
    let reported: Vec<Branch> = graphs.iter().filter(is_reported).cloned().collect();
    plan.score::<EvaluateFeatures>(&reported)
}

/// Features that the server is given, with their propagation where one is asked for.
fn propagated(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let mut made = Vec::new();
    for cell in propagations(plan)? {
        if cell.params == Propagation::default() {
            made.push(data.with(&cell.choices));
        } else {
            let data = data.clone().averaged(cell.params);
            made.extend(plan.sweep_cells::<PropagateFeatures>(&[data], ESTIMATE, &[cell])?);
        }
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mechanism_names_its_fields() {
        let of = |name: &str| {
            let mechanism = MECHANISMS.iter().find(|mechanism| mechanism.name == name).expect("a mechanism");
            (mechanism.fields)()
        };
        assert!(of("public").is_empty() && of("feature-free").is_empty());
        for name in ["one-bit", "laplace", "piecewise"] {
            assert!(of(name).contains(&"budget".to_owned()), "{name}: {:?}", of(name));
        }
        assert!(of("multi-bit").contains(&"coordinates".to_owned()) && of("gaussian").contains(&"dp_delta".to_owned()));
    }
}
