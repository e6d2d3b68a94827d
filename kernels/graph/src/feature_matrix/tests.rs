use super::*;

fn dense() -> FeatureMatrix {
    FeatureMatrix::Dense(DenseMatrix::new(3, 2, vec![1.0, -2.0, 0.0, 4.0, 0.5, 6.0]).expect("valid"))
}

fn sparse() -> FeatureMatrix {
    let rows = vec![vec![(1, 2.0)], vec![], vec![(0, -1.0), (2, 3.0)]];
    FeatureMatrix::Sparse { fill: 0.5, entries: SparseMatrix::from_rows(3, rows).expect("valid") }
}

#[test]
fn both_forms_come_back_as_they_were() {
    for matrix in [dense(), sparse()] {
        let again = FeatureMatrix::from_blocks(&matrix.facts(), &mut matrix.blocks()).expect("round trip");
        assert_eq!(again, matrix);
    }
}

#[test]
fn some_nodes_keep_their_rows_in_the_order_asked_for() {
    for matrix in [dense(), sparse()] {
        let part = matrix.of_nodes(&[2, 0]);
        assert_eq!([part.n_nodes(), part.n_features()], [2, matrix.n_features()]);
        assert_eq!([part.row(0), part.row(1)], [matrix.row(2), matrix.row(0)]);
    }
}

#[test]
fn rows_are_whole() {
    assert_eq!(sparse().row(2), [-0.5, 0.5, 3.5]);
    assert_eq!(dense().row(1), [0.0, 4.0]);
    assert_eq!(sparse().rescaled(1.0, 2.0).expect("finite").row(2), [0.0, 2.0, 8.0]);
    assert_eq!(dense().rescaled(1.0, 2.0).expect("finite").row(1), [1.0, 9.0]);
    dense().rescaled(f32::INFINITY, 1.0).expect_err("not finite");
    sparse().rescaled(0.0, f32::MAX).expect_err("not finite");
}

#[test]
fn tables_that_do_not_belong_to_their_facts_are_refused() {
    let (dense, sparse) = (dense(), sparse());
    let fewer = dense.facts().with("n_nodes", 2);
    let more = dense.facts().with("n_nodes", 4);
    let wider = dense.facts().with("n_features", 3);
    for facts in [fewer, more, wider, sparse.facts()] {
        FeatureMatrix::from_blocks(&facts, &mut dense.blocks()).expect_err("another matrix");
    }
    for facts in [sparse.facts().with("fill", f32::NAN), sparse.facts().with("n_features", 2), dense.facts()] {
        FeatureMatrix::from_blocks(&facts, &mut sparse.blocks()).expect_err("another matrix");
    }
}
