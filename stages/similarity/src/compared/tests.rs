use veilgraph_graph::{DenseMatrix, SparseMatrix};

use super::*;

/// The rows of the features once they are held with their length.
fn rows(held: HeldFeatures) -> Vec<Vec<f32>> {
    match held.with_length().expect("finite") {
        HeldFeatures::Public(Features(matrix)) => {
            (0..matrix.n_rows()).map(|node| matrix.row(node).1.to_vec()).collect()
        }
        HeldFeatures::Estimated(estimated) => {
            (0..estimated.values.n_nodes()).map(|node| estimated.values.row(node)).collect()
        }
    }
}

fn public(rows: Vec<Vec<(u32, f32)>>) -> HeldFeatures {
    HeldFeatures::Public(Features(SparseMatrix::from_rows(9, rows).expect("valid")))
}

fn estimated(values: FeatureMatrix) -> HeldFeatures {
    HeldFeatures::Estimated(EstimatedFeatures::unpropagated(values))
}

fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

#[test]
fn the_words_of_every_node_have_the_length() {
    let words = rows(public(vec![vec![(0, 0.5), (3, -0.5)], vec![(1, 40.0)], vec![]]));
    assert!(words[2].is_empty(), "{words:?}");
    for row in &words[..2] {
        assert!((squared_distance(row, &[0.0; 2][..row.len()]) - 9.0).abs() < 1e-4, "{row:?}");
    }
}

/// Two rows at the squared distance `d` deviate by `d / 4` from their mean.
#[test]
fn deviations_of_dense_and_estimated_features_have_the_length() {
    let embedding = |value: f32| (0..9).map(|feature| (feature, value + feature as f32)).collect();
    let dense = FeatureMatrix::Dense(DenseMatrix::new(2, 2, vec![101.0, -101.0, 100.0, -96.0]).expect("finite"));
    let sparse = |fill| {
        let entries = SparseMatrix::from_rows(3, [vec![(1, 2.0)], vec![(0, -1.0), (2, 3.0)]]).expect("valid");
        FeatureMatrix::Sparse { fill, entries }
    };
    let held = [public(vec![embedding(1.0), embedding(7.0)]), estimated(dense), estimated(sparse(0.0))];
    for held in held.into_iter().chain([estimated(sparse(500.0))]) {
        let rows = rows(held);
        assert!((squared_distance(&rows[0], &rows[1]) / 4.0 - 9.0).abs() < 1e-2, "{rows:?}");
    }
}

#[test]
fn features_that_tell_no_node_apart_stay_as_they_are() {
    for values in [vec![0.0; 4], vec![3.7; 4]] {
        let same = FeatureMatrix::Dense(DenseMatrix::new(2, 2, values.clone()).expect("finite"));
        assert_eq!(rows(estimated(same)).concat(), values);
    }
    let nothing = FeatureMatrix::Sparse { fill: 0.5, entries: SparseMatrix::from_rows(3, Vec::new()).expect("valid") };
    assert_eq!(rows(estimated(nothing)), Vec::<Vec<f32>>::new());
    assert_eq!(rows(public(vec![vec![], vec![]])), [[0.0; 0]; 2]);
}
