use super::*;

fn star() -> AdjacencyList {
    AdjacencyList::from_pairs(5, [(0, 1), (0, 2), (0, 3), (0, 4)]).expect("a graph")
}

#[test]
fn without_noise_a_sum_is_the_sum() {
    let sums = Contributions::new(&star(), None, &StageRng::new(1, "train", 0));
    let rows = [0.6, 0.8, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0_f32];
    let found = sums.noisy_sums(&rows, 2, 0.0, &StageRng::new(1, "train", 0), 0);
    // Node 0 gets (2, 2), the others what node 0 has.
    let expected = [0.5_f32.sqrt(), 0.5_f32.sqrt(), 0.6, 0.8, 0.6, 0.8, 0.6, 0.8, 0.6, 0.8];
    assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-4), "{found:?}");
}

#[test]
fn a_node_contributes_to_no_more_than_it_may() {
    let capped = Contributions::new(&star(), Some(2), &StageRng::new(1, "train", 0));
    let receivers = (1..5).filter(|&node| capped.senders(node) == [0]).count();
    assert_eq!(receivers, 2);
    assert_eq!(capped.senders(0), [1, 2, 3, 4]);
}

/// The promise that the accounting rests on: whoever another node contributes to does not depend on a blanked one's list.
#[test]
fn a_blanked_list_moves_no_contribution_of_others() {
    let pairs: Vec<(u32, u32)> =
        (0..30).flat_map(|i| (i + 1..30).filter(move |j| (i * 7 + j * 3) % 4 == 0).map(move |j| (i, j))).collect();
    let links = AdjacencyList::from_pairs(30, pairs).expect("a graph");
    let rng = StageRng::new(3, "train", 0);
    let whole = Contributions::new(&links, Some(3), &rng);
    let blanked = Contributions::of_lists(30, Some(3), &rng, |node| {
        if node == 4 { Vec::new() } else { links.neighbours(node as usize).to_vec() }
    });
    for node in 0..30 {
        let without =
            |sums: &Contributions| sums.senders(node).iter().copied().filter(|&sender| sender != 4).collect::<Vec<_>>();
        assert_eq!(without(&whole), without(&blanked));
    }
}

#[test]
fn no_normalized_row_is_longer_than_one() {
    for seed in 1..200_u32 {
        let mut row: Vec<f32> = (0..16).map(|at| ((seed * 31 + at * 17) as f32).sin()).collect();
        normalize(&mut row);
        let norm = row.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        assert!(norm <= 1.0 && norm > 0.99999, "{norm}");
    }
}
