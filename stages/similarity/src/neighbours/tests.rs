use rand::RngExt;
use veilgraph_contract::StageRng;
use veilgraph_graph::{Features, SparseMatrix};

use super::*;
use crate::search::tests::{NODES, pairs};

/// Compares the nearest nodes with those of a list of all cosines, for each of these numbers of neighbours. Returns how many nodes
/// have more positive cosines than neighbours.
fn check_against_all_cosines(directions: &Directions, n_nodes: usize, ks: &[usize]) -> usize {
    let (mut cosines, mut n_cut) = (Vec::new(), 0);
    for &k in ks {
        for (node, mut found) in nearest(directions, n_nodes, k).into_iter().enumerate() {
            directions.cosines_from(node, 0, &mut cosines);
            cosines[node] = 0.0;
            let mut expected: Vec<(u32, f32)> =
                (0..).zip(cosines.iter().copied()).filter(|pair| pair.1 > 0.0).collect();
            expected.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            n_cut += usize::from(expected.len() > k);
            expected.truncate(k);
            found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            assert_eq!(found, expected, "node {node}, {k} neighbours");
        }
    }
    n_cut
}

/// Many pairs of short rows have equal cosines, so that ties are met as well.
#[test]
fn the_nearest_nodes_are_those_of_a_look_at_all_pairs() {
    let n_cut = check_against_all_cosines(&pairs(false).directions, NODES, &[1, 10, 60]);
    assert!(n_cut > NODES, "{n_cut} of {} nodes have more", 3 * NODES);
}

#[test]
fn negative_cosines_are_left_out() {
    let mut rng = StageRng::new(7, "embeddings", 0).fast_stream("values", 0);
    let rows = (0..90).map(|_| (0..3).map(|feature| (feature, rng.random::<f32>())).collect());
    let directions = Directions::new(&Features(SparseMatrix::from_rows(3, rows).expect("valid")));
    assert!(!directions.are_positive());
    let n_cut = check_against_all_cosines(&directions, 90, &[10, 60]);
    assert!((90..180).contains(&n_cut), "{n_cut} of 180 nodes have more");
}

/// The second half of the nodes has no word of the first one, so that no round before says which of its cosines are large.
#[test]
fn short_rounds_find_the_same() {
    let mut rng = StageRng::new(8, "halves", 0).fast_stream("words", 0);
    let row = |node: u32| {
        let first = if node < 150 { 0 } else { 20 };
        (first..first + 20).filter(|_| rng.random::<f64>() < 0.2).map(|word| (word, 1.0)).collect()
    };
    let rows: Vec<Vec<(u32, f32)>> = (0..300).map(row).collect();
    let directions = Directions::new(&Features(SparseMatrix::from_rows(40, rows).expect("valid")));
    check_against_all_cosines(&directions, 300, &[5]);
    let sorted = |most_in_round| {
        let mut found = nearest_in_rounds(&directions, 300, 5, most_in_round);
        found.iter_mut().for_each(|others| others.sort_by_key(|&(other, _)| other));
        found
    };
    assert!([1, 7, 64].into_iter().all(|most_in_round| sorted(most_in_round) == sorted(300)));
}

#[test]
fn a_long_search_is_refused() {
    let directions = pairs(false).directions;
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

/// Nearly all nodes have one word, and few have any other.
#[test]
fn nodes_without_a_rare_word_are_found_by_a_frequent_one() {
    let mut rows = vec![vec![9]; 300];
    rows[0] = vec![0, 1, 2, 3, 4, 9];
    rows[1] = vec![3, 4, 9];
    rows[299] = vec![5];
    check_against_all_cosines(&directions_of(&rows), 300, &[1, 10, 1000]);
}

/// Nodes with one or two words have many equal cosines.
#[test]
fn ties_go_to_the_first_nodes() {
    let tied = [&[3, 7][..], &[0, 2, 6], &[7], &[2, 3, 7], &[0, 5, 6], &[2, 4], &[2], &[0, 1, 5, 7], &[0, 1, 2, 6, 7]];
    let tied = tied.into_iter().chain([&[0, 1, 3][..], &[0, 1, 2, 7], &[6]]).map(<[u32]>::to_vec).collect::<Vec<_>>();
    check_against_all_cosines(&directions_of(&tied), tied.len(), &[1, 3, 5]);
    let mut rng = StageRng::new(5, "ties", 0).fast_stream("words", 0);
    for n_nodes in std::iter::repeat_n(12, 2_000).chain([1, 100, 300]) {
        let rows: Vec<Vec<u32>> = (0..n_nodes)
            .map(|_| (0..8_u32).filter(|&word| rng.random::<f64>() < 1.5 / (f64::from(word) + 2.0)).collect())
            .collect();
        check_against_all_cosines(&directions_of(&rows), n_nodes, &[0, 1, 3, 1000]);
    }
}

#[test]
fn of_equal_values_the_first_ones_are_the_largest() {
    // The last block is not a whole one.
    let values: Vec<f32> = (0..2003).map(|at| [1.0, 3.0, 2.0, 0.0][at % 4]).collect();
    let expected: Vec<u32> = (0..2003).filter(|at| at % 4 == 1 || [2, 6].contains(at)).collect();
    let found = largest(0.0, 503, &values);
    assert_eq!(found.iter().map(|&(at, _)| at).collect::<Vec<_>>(), expected);
    assert!(largest(0.0, 3, &[0.0, -1.0]).is_empty());
    assert_eq!(largest(2.0, 3, &values[..7]), [(1, 3.0), (5, 3.0)]);
}

/// Values that come in no order, of which the largest may be in any block.
#[test]
fn the_largest_are_those_of_a_sorted_list() {
    let mut rng = StageRng::new(6, "values", 0).fast_stream("values", 0);
    for n in [1, 15, 16, 17, 500] {
        let values: Vec<f32> = (0..n).map(|_| rng.random::<f32>() - 0.3).collect();
        let mut sorted: Vec<(u32, f32)> = (0..).zip(values.iter().copied()).filter(|&(_, value)| value > 0.0).collect();
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
        sorted.truncate(20);
        let mut found = largest(0.0, 20, &values);
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        assert_eq!(found, sorted, "{n} values");
    }
}

#[test]
fn values_are_compared_with_the_bounds_in_their_places() {
    let values: Vec<f32> = (0..35_u8).map(f32::from).collect();
    let bounds: Vec<f32> =
        (0..35).map(|at| if [3, 16, 34].contains(&at) { at as f32 - 0.5 } else { at as f32 }).collect();
    assert_eq!(larger(&values, &bounds), [(3, 3.0), (16, 16.0), (34, 34.0)]);
}
