use veilgraph_graph::{Propagation, Rescale};

use super::*;

/// Three nodes with two features, two of them listed.
fn listed() -> SparseMatrix {
    SparseMatrix::from_rows(2, [vec![(0, 0.5)], vec![], vec![(1, 2.0)]]).expect("valid")
}

fn beliefs() -> ClassBeliefs {
    ClassBeliefs::new(2, vec![0.25, 0.75, 1.0, 0.0, 0.5, 0.5]).expect("sums to 1")
}

fn run(public: Option<Features>, estimated: Option<EstimatedFeatures>) -> Result<EstimatedFeatures, Invalid> {
    let rng = StageRng::new(0, "append-beliefs", 0);
    AppendBeliefs::run((public, estimated, beliefs()), &NoParams {}, &rng, &Progress::none()).map(|outputs| outputs.0)
}

fn rows(features: &EstimatedFeatures) -> Vec<Vec<f32>> {
    (0..features.values.n_nodes()).map(|node| features.values.row(node)).collect()
}

#[test]
fn every_node_has_its_features_and_then_its_classes() {
    let expected = [vec![0.5, 0.0, 0.25, 0.75], vec![0.0, 0.0, 1.0, 0.0], vec![0.0, 2.0, 0.5, 0.5]];
    let public = run(Some(Features(listed())), None).expect("appended");
    assert_eq!(rows(&public), expected);
    assert!(matches!(public.values, FeatureMatrix::Sparse { .. }), "it stays sparse");
    let dense = DenseMatrix::new(3, 2, vec![0.5, 0.0, 0.0, 0.0, 0.0, 2.0]).expect("finite");
    let dense = run(None, Some(EstimatedFeatures::unpropagated(FeatureMatrix::Dense(dense)))).expect("appended");
    assert_eq!(rows(&dense), expected);
}

/// Reports about few features stand around a common value, which is not a value of the beliefs.
#[test]
fn a_common_value_is_none_of_the_beliefs() {
    let values = FeatureMatrix::Sparse { fill: 0.5, entries: listed() };
    let propagation = Propagation { rescale: Rescale::RootMeanSquare, ..Propagation::default() };
    let found = run(None, Some(EstimatedFeatures { values, propagation })).expect("appended");
    assert_eq!(rows(&found), [vec![1.0, 0.5, 0.25, 0.75], vec![0.5, 0.5, 1.0, 0.0], vec![0.5, 2.5, 0.5, 0.5]]);
    assert_eq!(found.propagation, propagation);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let values = || FeatureMatrix::Sparse { fill: 0.0, entries: listed() };
    let hops = Propagation { hops: 2, ..Propagation::default() };
    let other = SparseMatrix::from_rows(2, vec![Vec::new(); 4]).expect("valid");
    let cases = [
        (run(None, None), "no features"),
        (run(Some(Features(listed())), Some(EstimatedFeatures::unpropagated(values()))), "give one"),
        (run(None, Some(EstimatedFeatures { values: values(), propagation: hops })), "2 hops"),
        (run(Some(Features(other)), None), "4 nodes"),
    ];
    for (found, words) in cases {
        let problem = found.expect_err(words).to_string();
        assert!(problem.contains(words), "{words}: {problem}");
    }
}
