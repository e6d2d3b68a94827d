use rand::RngExt;
use veilgraph_contract::StageRng;
use veilgraph_graph::{Features, SparseMatrix};

use super::*;
use crate::search::tests::{NODES, pairs};

/// Many pairs of short rows have equal cosines, so that ties are met as well.
#[test]
fn the_nearest_nodes_are_those_of_a_look_at_all_pairs() {
    let directions = pairs(false).directions;
    for k in [1, 10, 60] {
        let (mut scratch, mut cosines) = (Scratch::default(), Vec::new());
        let mut n_cut = 0;
        for node in 0..NODES {
            directions.cosines_from(node, 0, &mut cosines);
            cosines[node] = 0.0;
            let mut expected: Vec<(u32, f32)> =
                (0..).zip(cosines.iter().copied()).filter(|pair| pair.1 > 0.0).collect();
            expected.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            n_cut += usize::from(expected.len() > k);
            expected.truncate(k);
            let mut found = nearest_by_rare_features(&directions, node, k, &mut scratch);
            found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            assert_eq!(found, expected, "node {node}, {k} neighbours");
            assert!(scratch.sums.iter().chain(&scratch.weights).all(|&value| value == 0.0), "memory is left clean");
        }
        assert!(n_cut > NODES / 2, "{n_cut} nodes have more than {k}");
    }
}

/// The seed is fixed: a third of the nodes say what all of them take.
#[test]
fn a_sample_says_how_long_the_search_takes_and_a_long_one_is_refused() {
    let directions = pairs(false).directions;
    let mut scratch = Scratch::default();
    for node in 0..NODES {
        nearest_by_rare_features(&directions, node, 10, &mut scratch);
    }
    let share = products_by_rare_features(&directions, NODES, 10) / (3.0 * scratch.n_steps as f64);
    assert!((share - 1.0).abs() < 0.1, "{share}");
    let refused = nearest_neighbours_within(0.0, &directions, NODES, 10).expect_err("long").to_string();
    let threads = format!("hours on {} threads", rayon::current_num_threads());
    assert!(refused.contains("700 nodes") && refused.contains(&threads), "{refused}");
    assert!(nearest_neighbours(&directions, NODES, 10).is_ok());
}

/// The nodes of rows like these, `[nodes]`, each with its words.
fn directions_of(rows: &[Vec<u32>]) -> Directions {
    let n_words = rows.iter().flatten().max().map_or(0, |&word| word as usize + 1);
    let entries = rows.iter().map(|row| row.iter().map(|&word| (word, 1.0)).collect());
    Directions::new(&Features(SparseMatrix::from_rows(n_words, entries).expect("valid")))
}

fn is_as_by_scan(rows: &[Vec<u32>], ks: &[usize]) {
    let directions = directions_of(rows);
    let (mut scratch, mut cosines) = (Scratch::default(), Vec::new());
    for (&k, node) in ks.iter().flat_map(|k| (0..rows.len()).map(move |node| (k, node))) {
        directions.cosines_from(node, 0, &mut cosines);
        cosines[node] = 0.0;
        let mut expected: Vec<(u32, f32)> = (0..).zip(cosines.iter().copied()).filter(|pair| pair.1 > 0.0).collect();
        expected.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        expected.truncate(k);
        let mut found = nearest_by_rare_features(&directions, node, k, &mut scratch);
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        assert_eq!(found, expected, "node {node}, {k} neighbours of {rows:?}");
    }
}

/// Where a word that nearly all nodes have is left for the end, and few nodes are met before.
#[test]
fn frequent_words_are_taken_up_where_rare_ones_do_not_suffice() {
    let mut rows = vec![vec![9]; 300];
    rows[0] = vec![0, 1, 2, 3, 4, 9];
    rows[1] = vec![3, 4, 9];
    rows[299] = vec![5];
    is_as_by_scan(&rows, &[1, 10, 1000]);
}

/// Nodes with one or two words have many equal cosines, some of them with nodes that only the frequent words lead to.
#[test]
fn ties_go_to_the_first_nodes_however_they_are_met() {
    let tied = [&[3, 7][..], &[0, 2, 6], &[7], &[2, 3, 7], &[0, 5, 6], &[2, 4], &[2], &[0, 1, 5, 7], &[0, 1, 2, 6, 7]];
    let tied = tied.into_iter().chain([&[0, 1, 3][..], &[0, 1, 2, 7], &[6]]).map(<[u32]>::to_vec).collect::<Vec<_>>();
    is_as_by_scan(&tied, &[1, 3, 5]);
    let mut rng = StageRng::new(5, "ties", 0).fast_stream("words", 0);
    for _ in 0..2_000 {
        let rows: Vec<Vec<u32>> = (0..12)
            .map(|_| (0..8_u32).filter(|&word| rng.random::<f64>() < 1.5 / (f64::from(word) + 2.0)).collect())
            .collect();
        if rows.iter().any(|row| !row.is_empty()) {
            is_as_by_scan(&rows, &[1, 3]);
        }
    }
}

#[test]
fn of_equal_values_the_first_ones_are_the_largest() {
    // The last block is not a whole one.
    let values: Vec<f32> = (0..2003).map(|at| [1.0, 3.0, 2.0, 0.0][at % 4]).collect();
    let expected: Vec<u32> = (0..2003).filter(|at| at % 4 == 1 || [2, 6].contains(at)).collect();
    for mut found in [largest(503, (0..).zip(values.iter().copied())), largest_of_all(503, &values)] {
        found.sort_by_key(|&(at, _)| at);
        assert_eq!(found.iter().map(|&(at, _)| at).collect::<Vec<_>>(), expected);
    }
    assert!(largest_of_all(0, &values).is_empty() && largest_of_all(3, &[0.0, -1.0]).is_empty());
}

/// Values that come in no order, of which the largest may be in any block.
#[test]
fn the_largest_of_all_are_those_of_a_sorted_list() {
    let mut rng = StageRng::new(6, "values", 0).fast_stream("values", 0);
    for n in [1, 15, 16, 17, 500] {
        let values: Vec<f32> = (0..n).map(|_| rng.random::<f32>() - 0.3).collect();
        let mut sorted: Vec<(u32, f32)> = (0..).zip(values.iter().copied()).filter(|&(_, value)| value > 0.0).collect();
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
        sorted.truncate(20);
        let mut found = largest_of_all(20, &values);
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        assert_eq!(found, sorted, "{n} values");
    }
}
