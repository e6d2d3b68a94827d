use super::*;

#[test]
fn blocks_give_the_features_back() {
    let rows = [vec![(0, 1.0), (2, 2.0)], vec![], vec![(1, -1.0)]];
    let features = Features(SparseMatrix::from_rows(3, rows).expect("valid"));
    assert_eq!(Features::from_blocks(&features.facts(), &mut features.blocks()).expect("round trip"), features);
}
