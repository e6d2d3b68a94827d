use veilgraph_contract::Randomness;
use veilgraph_graph::{Aggregator, Construction, DenseMatrix, Nodes, Rescale, SparseMatrix, Split, WeightedGraph};
use veilgraph_privacy::FeatureReportFacts;

use super::*;

fn rng() -> StageRng {
    StageRng::new(3, "estimate", 0)
}

fn facts(offset: f64, scale: f64) -> FeatureReportFacts {
    FeatureReportFacts {
        mechanism: "any".into(),
        epsilon: 1.0,
        dp_delta: 0.0,
        range: [0.0, 1.0],
        offset,
        scale,
        sound: true,
        randomness: Randomness::Seeded,
    }
}

#[test]
fn reports_become_what_their_facts_say() {
    let sparse = SparseMatrix::from_rows(3, vec![vec![(1, -1.0)], vec![(0, 1.0), (2, 1.0)]]).expect("valid");
    let sparse = FeatureMatrix::Sparse { fill: 0.0, entries: sparse };
    let dense = FeatureMatrix::Dense(DenseMatrix::new(2, 2, vec![0.0, 1.0, 1.0, 0.0]).expect("valid"));
    let propagation = Propagation { hops: 2, aggregator: Aggregator::Hoa, rescale: Rescale::None };
    let rectified = |reports: FeatureMatrix, facts: FeatureReportFacts| {
        let inputs = (NoisyFeatures { facts, reports },);
        RectifyFeatures::run(inputs, &propagation, &rng(), &Progress::none()).expect("finite").0
    };
    let partly = rectified(sparse, facts(0.5, 3.0));
    assert_eq!((partly.values.row(0), partly.values.row(1)), (vec![0.5, -2.5, 0.5], vec![3.5, 0.5, 3.5]));
    assert_eq!(partly.propagation, propagation);
    let wholly = rectified(dense.clone(), facts(-0.5, 2.0));
    assert_eq!((wholly.values.row(0), wholly.values.row(1)), (vec![-0.5, 1.5], vec![1.5, -0.5]));
    assert_eq!(rectified(dense.clone(), facts(0.0, 1.0)).values, dense);
}

fn substituted(substitute: Substitute, dimension: Option<usize>, n_nodes: usize) -> Result<EstimatedFeatures, Error> {
    let nodes = Nodes {
        dataset: "any".into(),
        n_classes: 2,
        splits: vec![Split::Train; n_nodes],
        nodes_from_links: false,
        class_names: Vec::new(),
    };
    let params = SubstituteParams { substitute, dimension, ..SubstituteParams::default() };
    SubstituteFeatures::run((nodes,), &params, &rng(), &Progress::none()).map(|(features,)| features)
}

#[test]
fn substitutes_tell_nodes_apart_or_not_at_all() {
    let profile = substituted(Substitute::PropagationProfile, None, 4).expect("made").values;
    assert_eq!(profile.row(2), [0.0, 0.0, 1.0, 0.0]);
    let constant = substituted(Substitute::Constant, None, 4).expect("made").values;
    assert!((0..4).all(|node| constant.row(node) == [1.0]));
    for dimension in [0, 100_000_000_000] {
        let refused = substituted(Substitute::Random, Some(dimension), 4);
        assert!(matches!(refused, Err(Error::Dimension(named)) if named == dimension));
    }
}

/// Of 200,000 independent standard normal numbers the mean lies within 0.01 of 0 (|z| < 4.5), and so does the variance
/// of 1 within 0.015: a false alarm once in 70,000 seeds, and the seed is fixed.
#[test]
fn random_features_are_standard_normal() {
    let features = substituted(Substitute::Random, Some(101), 2000).expect("made").values;
    let all: Vec<f64> = (0..2000).flat_map(|node| features.row(node)).map(f64::from).collect();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let variance = all.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / all.len() as f64;
    assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.015, "{mean} {variance}");
    assert_ne!(features.row(0), features.row(1));
}

#[test]
fn degrees_are_those_of_the_graph() {
    let degrees = |graph| DegreeFeatures::run((graph,), &SubstituteParams::default(), &rng(), &Progress::none());
    let star = WeightedGraph::undirected(Construction::Given, 4, vec![(0, 1, 1.0), (0, 2, 1.0)]);
    let (features,) = degrees(star).expect("listed");
    let rows: Vec<Vec<f32>> = (0..4).map(|node| features.values.row(node)).collect();
    assert_eq!(rows, [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]);
    let soft = WeightedGraph::undirected(Construction::Soft, 4, Vec::new());
    assert!(matches!(degrees(soft), Err(Error::SoftDegrees)));
}
