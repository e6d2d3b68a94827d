//! What reports about features cost, as rows of the ledger.

use veilgraph_contract::{Cost, Relation, Release, Subject, Trust};
use veilgraph_privacy::composition::of_group;

use super::local::FeatureMechanism;
use super::params::{BudgetUnit, CoordinateParams, FeatureParams, Message};
use super::range::Range;

/// A cost of the reports of one node under one relation, and why it is what it is, where that is no matter of course.
#[derive(Clone, Debug, PartialEq)]
pub struct Stated {
    /// What the cost protects.
    pub relation: Relation,
    /// What it costs.
    pub cost: Cost,
    /// Empty where the cost needs no explanation.
    pub why: String,
}

impl Stated {
    /// A pure cost.
    pub(super) fn pure(relation: Relation, epsilon: f64, why: &str) -> Self {
        Self { relation, cost: Cost::Pure(epsilon), why: why.to_owned() }
    }
}

/// The rows of a mechanism, with what all mechanisms have in common.
pub(super) fn rows<M: FeatureMechanism>(params: &M::Params) -> Vec<Release> {
    let declared = params.declared();
    // A report on another range is another release, so that the ledger states it.
    let mut noise = match declared.range {
        Range::Declared([lower, upper]) => format!("{} in [{lower}, {upper}]", M::NOISE),
        Range::Data => format!("{} in the range of the data", M::NOISE),
    };
    let mut costs = M::costs(params);
    if declared.message == Message::Constant {
        let why = "every node encodes the middle of the range in place of its features";
        costs = costs.iter().map(|stated| Stated::pure(stated.relation, 0.0, why)).collect();
    } else if declared.hides_nothing() {
        "none".clone_into(&mut noise);
        costs = costs.iter().map(|stated| Stated::pure(stated.relation, f64::INFINITY, "")).collect();
    }
    let row = |Stated { relation, cost, why }: Stated| Release {
        noise: noise.clone(),
        subject: Subject::Features,
        trust: Trust::Local,
        relation,
        cost,
        sound: declared.range != Range::Data,
        claimed_epsilon: None,
        why: match declared.range {
            Range::Declared(_) => why,
            Range::Data => {
                "the range is the least and the largest value of all nodes, which no node may know".to_owned()
            }
        },
    };
    let rows = costs.into_iter().map(row);
    rows.flat_map(|row| {
        // Features are a part of features and label, which together cost the sum of what each costs.
        let of_both =
            (row.relation == Relation::NodeFeatures).then(|| Release { relation: Relation::NodeAttrs, ..row.clone() });
        std::iter::once(row).chain(of_both)
    })
    .collect()
}

/// Costs of a mechanism that reports on `n_reported(number of features)` features, each independently with the same
/// budget.
pub(super) fn of_coordinates(params: &CoordinateParams, n_reported: impl Fn(usize) -> usize) -> Vec<Stated> {
    let epsilon = params.epsilon.nats();
    let (feature, node) = match (params.budget, params.dimension) {
        (BudgetUnit::PerFeature, Some(n_features)) => {
            let why = format!("each of {n_features} features costs as much as one");
            (epsilon, Stated::pure(Relation::NodeFeatures, of_group(epsilon, n_features as f64), &why))
        }
        (BudgetUnit::PerFeature, None) => {
            let why = "the number of features is not declared (`dimension`)";
            (epsilon, Stated::pure(Relation::NodeFeatures, f64::INFINITY, why))
        }
        (BudgetUnit::PerNode, dimension) => {
            // One feature never costs more than all of them.
            let shares = dimension.map_or(1, |n_features| n_reported(n_features).max(1));
            (epsilon / shares as f64, Stated::pure(Relation::NodeFeatures, epsilon, ""))
        }
    };
    vec![Stated::pure(Relation::FeatureCoord, feature, ""), node]
}
