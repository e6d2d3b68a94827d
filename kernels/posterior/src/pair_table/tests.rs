use super::*;

/// A table with rows up to the node 4,000,000,000 would take 32 GB.
#[test]
fn no_row_is_added_for_a_pair_that_is_refused() {
    let mut table = PairTable::new(2);
    for (i, j, code) in [(4_000_000_000, 5, 1), (4_000_000_000, 4_000_000_000, 1), (4_000_000_000, 4_000_000_001, 3)] {
        let problem = table.push(i, j, code).expect_err("refused");
        assert_eq!(problem.0, format!("pair ({i}, {j}) with {code} is out of order or range"));
    }
    assert_eq!(table.n_nodes(), 0);
    table.push(1, 3, 2).expect("the first pair");
    for (i, j) in [(1, 3), (1, 2), (0, 2)] {
        table.push(i, j, 1).expect_err("out of order");
    }
    assert_eq!((table.n_pairs(), table.n_nodes()), (1, 1));
}
