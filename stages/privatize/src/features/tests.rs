use serde::de::value::{Error as ValueError, MapDeserializer};
use serde_json::json;
use veilgraph_contract::{Artifact, Cost, Private, Progress, Relation, Stage, StageRng};
use veilgraph_graph::{FeatureMatrix, Features, SparseMatrix};
use veilgraph_privacy::NoisyFeatures;
use veilgraph_privacy::composition::{total_epsilon, totals};

use super::gaussian::Gaussian;
use super::laplace::Laplace;
use super::multi_bit::MultiBit;
use super::one_bit::OneBit;
use super::piecewise::Piecewise;
use super::{FeatureMechanism, FeatureParams, LocalFeatures};
use crate::Error;

/// Parameters of a mechanism as a config writes them.
pub(crate) fn params<P: FeatureParams>(written: serde_json::Value) -> P {
    serde_json::from_value(written).expect("parameters")
}

/// Why parameters are refused before anything runs.
fn refusal<P: FeatureParams>(written: serde_json::Value) -> String {
    serde_json::from_value::<P>(written).map(|_| ()).expect_err("refused").to_string()
}

/// Features of `n_nodes` nodes from what each lists.
pub(crate) fn features(n_features: usize, rows: impl IntoIterator<Item = Vec<(u32, f32)>>) -> Features {
    Features(SparseMatrix::from_rows(n_features, rows).expect("valid rows"))
}

pub(crate) fn run<M: FeatureMechanism>(
    features: &Features,
    params: &M::Params,
    seed: u64,
) -> Result<NoisyFeatures, Error> {
    let rng = StageRng::new(seed, "privatize", 0);
    LocalFeatures::<M>::run((Private(features.clone()),), params, &rng, &Progress::none()).map(|(reports,)| reports)
}

/// Estimates of the first `n_columns` features of all nodes, each of which has the value `x` in all its features.
pub(crate) fn estimates<M: FeatureMechanism>(
    params: &M::Params,
    x: f32,
    [n_nodes, n_features, n_columns]: [usize; 3],
) -> Vec<f64> {
    let row = || (0..n_features as u32).map(|feature| (feature, x)).collect();
    let sent = run::<M>(&features(n_features, (0..n_nodes).map(|_| row())), params, 61).expect("valid");
    rectified(&sent, n_columns)
}

/// What the server makes of the first `n_columns` features.
fn rectified(sent: &NoisyFeatures, n_columns: usize) -> Vec<f64> {
    let (offset, scale) = (sent.facts.offset, sent.facts.scale);
    let estimate = |value: &f32| offset + scale * f64::from(*value);
    (0..sent.reports.n_nodes())
        .flat_map(|node| sent.reports.row(node)[..n_columns].iter().map(estimate).collect::<Vec<_>>())
        .collect()
}

/// Compares mean and variance of independent draws with what they should be. The mean may be off by 4.5 standard
/// deviations (one seed in 150,000), the variance by 3.9 of its own, estimated from the fourth moment (one in 10,000).
/// Some hundred comparisons are made in all, so one seed in a hundred raises a false alarm; seeds are fixed.
pub(crate) fn has_moments(draws: &[f64], mean: f64, variance: f64) -> Result<(), String> {
    let n = draws.len() as f64;
    let moment = |power: i32| draws.iter().map(|draw| (draw - mean).powi(power)).sum::<f64>() / n;
    let score = (draws.iter().sum::<f64>() / n - mean) / (variance / n).sqrt();
    if score.abs() >= 4.5 {
        return Err(format!("the mean is {score} standard deviations from {mean}"));
    }
    let (second, fourth) = (moment(2), moment(4));
    // A fair coin has the same deviation on both sides, so that rounding alone decides.
    let allowed = 3.9 * ((fourth - second * second).max(0.0) / n).sqrt() + 1e-6 * variance;
    if (second - variance).abs() >= allowed {
        return Err(format!("the variance is {second}, not {variance} up to {allowed}"));
    }
    Ok(())
}

/// Features of five nodes, three of them each, in the range [-1, 2].
fn five_nodes() -> Features {
    let rows =
        [vec![(0, 1.0), (1, 2.0)], vec![], vec![(2, -1.0)], vec![(0, 0.5), (1, 0.25), (2, 0.125)], vec![(1, 2.0)]];
    features(3, rows)
}

fn written(more: &serde_json::Value) -> serde_json::Value {
    let mut written = json!({"epsilon": 2.0, "range": [-1, 2]});
    let fields = written.as_object_mut().expect("a table");
    fields.extend(more.as_object().expect("a table").clone());
    written
}

/// What holds for every mechanism.
fn behaves<M: FeatureMechanism>(costs: &[(Relation, f64)])
where
    M::Params: Clone + PartialEq + std::fmt::Debug,
{
    let nodes = five_nodes();
    let usual: M::Params = params(written(&json!({"dimension": 3})));

    // The reports are a valid artifact, and another number of threads gives the same ones.
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let [alone, together] = [1, 3].map(|threads| pool(threads).install(|| run::<M>(&nodes, &usual, 5).expect("valid")));
    assert_eq!(alone, together, "{}", M::NAME);
    let again = NoisyFeatures::from_blocks(&alone.facts(), &mut alone.blocks()).expect("round trip");
    assert_eq!(again, alone, "{}", M::NAME);
    assert_ne!(run::<M>(&nodes, &usual, 6).expect("valid").reports, alone.reports, "{}", M::NAME);

    // A report depends on the features of its own node alone.
    let mut rows: Vec<Vec<(u32, f32)>> = vec![vec![(0, 2.0)]; 5];
    rows[0] = vec![(0, 1.0), (1, 2.0)];
    let others = run::<M>(&features(3, rows), &usual, 5).expect("valid");
    assert_eq!(others.reports.row(0), alone.reports.row(0), "{}", M::NAME);

    // The ledger says what the mechanism costs, and the facts say the same.
    let rows = M::releases(&usual);
    let by_relation = |is_wanted: fn(&Relation) -> bool| -> Vec<(Relation, f64)> {
        let rows = rows.iter().filter(|row| is_wanted(&row.relation));
        rows.map(|row| (row.relation, row.cost.epsilon())).collect()
    };
    assert_eq!(by_relation(|relation| *relation != Relation::NodeAttrs), costs, "{}", M::NAME);
    let of_both = by_relation(|relation| *relation == Relation::NodeAttrs);
    assert_eq!(of_both, [(Relation::NodeAttrs, total_epsilon(&rows, Relation::NodeFeatures))], "{}", M::NAME);
    assert!(rows.iter().all(|row| row.sound) && alone.facts.sound);
    assert_eq!(alone.facts.epsilon, total_epsilon(&rows, Relation::NodeFeatures));
    assert_eq!(alone.facts.dp_delta, totals(&rows)[&Relation::NodeFeatures].dp_delta());

    // Without noise the features themselves are sent, and nothing of them is protected.
    let none: M::Params = without_noise();
    let sent = run::<M>(&nodes, &none, 5).expect("valid");
    assert_eq!(sent.reports, FeatureMatrix::Sparse { fill: 0.0, entries: nodes.0.clone() }, "{}", M::NAME);
    assert_eq!((sent.facts.offset, sent.facts.scale), (0.0, 1.0));
    assert!(M::releases(&none).iter().all(|row| row.cost == Cost::Pure(f64::INFINITY) && row.noise == "none"));

    // The control has reports of the same form, says the same whatever the features are, and costs nothing.
    let control: M::Params = params(written(&json!({"message": "constant"})));
    let (of_nodes, of_others) = (
        run::<M>(&nodes, &control, 5).expect("valid"),
        run::<M>(&features(3, vec![vec![(0, 99.0)]; 5]), &control, 5).expect("valid"),
    );
    assert_eq!(of_nodes, of_others, "{}", M::NAME);
    assert_eq!((of_nodes.facts.offset, of_nodes.facts.scale), (alone.facts.offset, alone.facts.scale));
    let rows = M::releases(&control);
    assert!(!rows.is_empty() && rows.iter().all(|row| row.cost == Cost::Pure(0.0) && !row.why.is_empty()));

    // A range of the data is not sound, and every row says why.
    let of_data: M::Params = params(json!({"epsilon": 2.0, "range": "data", "dimension": 3}));
    assert!(M::releases(&of_data).iter().all(|row| !row.sound && row.why.contains("no node may know")));
    let sent = run::<M>(&nodes, &of_data, 5).expect("valid");
    assert_eq!((sent.facts.range, sent.facts.sound), ([-1.0, 2.0], false));

    // Bad inputs are refused with a message that names the remedy, and never the private value.
    let error =
        |params: &M::Params, features: &Features| run::<M>(features, params, 5).expect_err("refused").to_string();
    let narrow: M::Params = params(json!({"epsilon": 2.0, "dimension": 3}));
    let message = error(&narrow, &nodes);
    assert!(message.contains("range = [0, 1]") && message.contains("clip = true"), "{message}");
    assert!(!message.contains('2') && !message.contains("-1"), "{message}");
    let clipped: M::Params = params(json!({"epsilon": 2.0, "dimension": 3, "clip": true}));
    assert!(run::<M>(&nodes, &clipped, 5).is_ok());
    let wide: M::Params = params(written(&json!({"dimension": 7})));
    assert!(error(&wide, &nodes).contains("write dimension = 3"));
    assert!(error(&usual, &features(0, vec![vec![]; 5])).contains("no features"));
    let mut of_data = of_data;
    of_data.complete_dimension(3);
    assert!(error(&of_data, &features(3, vec![vec![]; 5])).contains("same value"));
    for range in [json!([1, 0]), json!([1, 1])] {
        let message = refusal::<M::Params>(json!({"epsilon": 1.0, "range": range}));
        assert!(message.contains("is empty"), "{message}");
    }
    assert!(refusal::<M::Params>(json!({"epsilon": 1.0, "range": "public"})).contains("neither two numbers"));
    assert!(refusal::<M::Params>(json!({"epsilon": 1.0, "colour": 1})).contains("unknown field"));
    let written = serde_json::to_value(&usual).expect("JSON");
    assert_eq!(params::<M::Params>(written), usual, "parameters survive a round trip");
}

/// Parameters with an infinite budget, which JSON cannot write, and nothing else.
fn without_noise<P: FeatureParams>() -> P {
    P::deserialize(MapDeserializer::<_, ValueError>::new([("epsilon", f64::INFINITY)].into_iter())).expect("parameters")
}

#[test]
fn every_mechanism_behaves() {
    let by_feature = [(Relation::FeatureCoord, 2.0), (Relation::NodeFeatures, 6.0)];
    behaves::<OneBit>(&by_feature);
    behaves::<Laplace>(&by_feature);
    behaves::<Piecewise>(&by_feature);
    let by_node = [(Relation::FeatureCoord, 2.0), (Relation::NodeFeatures, 2.0)];
    behaves::<MultiBit>(&by_node);
    behaves::<Gaussian>(&by_node);
}

/// What a budget of three nats for a node costs, and what is not known without the number of features.
fn costs_by_node<M: FeatureMechanism>(of_feature: f64) {
    let declared: M::Params = params(json!({"epsilon": 3.0, "budget": "per-node", "dimension": 4}));
    let rows = M::releases(&declared);
    assert_eq!(total_epsilon(&rows, Relation::FeatureCoord), of_feature, "{}", M::NAME);
    assert_eq!(total_epsilon(&rows, Relation::NodeFeatures), 3.0);
    let mut bare: M::Params = params(json!({"epsilon": 3.0, "budget": "per-node"}));
    assert!(bare.needs_dimension());
    bare.complete_dimension(4);
    assert!(!bare.needs_dimension());
    let mut bare: M::Params = params(json!({"epsilon": 3.0}));
    assert!(bare.needs_dimension(), "{}", M::NAME);
    let rows = M::releases(&bare);
    assert!(total_epsilon(&rows, Relation::NodeFeatures).is_infinite(), "nothing is claimed that is not known");
    let error = run::<M>(&features(4, [vec![]]), &bare, 1).expect_err("refused").to_string();
    assert!(error.contains("write dimension = 4"), "{error}");
    bare.complete_dimension(4);
    assert_eq!(total_epsilon(&M::releases(&bare), Relation::NodeFeatures), 12.0);
}

#[test]
fn a_budget_by_node_is_shared_by_the_features_that_are_reported() {
    costs_by_node::<OneBit>(0.75);
    costs_by_node::<Laplace>(0.75);
    // ⌊3 / 2.5⌋ = 1 feature is reported, with all of the budget.
    costs_by_node::<Piecewise>(3.0);
}

/// A range is a part of what is released, so that a correction would be a second release.
#[test]
fn estimates_that_overflow_are_refused_before_anything_is_read() {
    fn refused<M: FeatureMechanism>(range: [f64; 2], epsilon: f64) -> bool {
        let params = params(json!({"epsilon": epsilon, "dimension": 2, "range": range}));
        let checked = LocalFeatures::<M>::check_params(&params);
        assert!(checked.as_ref().is_ok() || matches!(checked, Err(Error::LargeEstimates(_))), "{checked:?}");
        checked.is_err()
    }
    for range in [[0.0, 3e38], [-1e300, 1.0]] {
        assert!(refused::<OneBit>(range, 1.0) && refused::<Piecewise>(range, 1.0) && refused::<MultiBit>(range, 1.0));
        assert!(refused::<Laplace>(range, 1.0));
    }
    assert!(refused::<OneBit>([0.0, 1e17], 0.001) && !refused::<OneBit>([0.0, 1e17], 1.0));
}

/// No random word serves at two budgets: nearly equal ones have other noise in nearly every feature.
#[test]
fn another_budget_draws_other_noise() {
    let nodes = features(500, vec![vec![]; 4]);
    let at = |epsilon: f64| {
        let params = params(json!({"epsilon": epsilon, "dimension": 500}));
        run::<Laplace>(&nodes, &params, 5).expect("valid").reports
    };
    let (a, b) = (at(1.0), at(1.0 + 1e-9));
    let equal: usize = (0..4).map(|node| a.row(node).iter().zip(b.row(node)).filter(|(a, b)| **a == *b).count()).sum();
    assert!(equal < 20, "{equal} of 2000 noisy features are the same");
}
