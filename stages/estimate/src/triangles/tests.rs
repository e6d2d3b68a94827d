use super::*;

/// The cell of an index is that of its logarithm, also at powers of two and where the index is 0 or beyond all cells.
#[test]
fn cells_follow_the_logarithm() {
    let cells = Cells::new();
    let mut index = 1e-20_f32;
    while index < 1e3 {
        let expected = ((libm::log2(f64::from(index)) + 60.0) * 16.0).clamp(0.0, 1023.0) as usize;
        assert_eq!(cells.of(index), expected, "{index}");
        index *= 1.0007;
    }
    assert_eq!([0.0, f32::MIN_POSITIVE, 1.0, 2.0, 0.5, 1e30].map(|index| cells.of(index)), [0, 0, 960, 976, 944, 1023]);
}

/// The index of every pair is the sum over all nodes, written out, and no node is met twice where products round to 0.
#[test]
fn indices_are_those_of_all_common_neighbours() {
    let n = 40_usize;
    let probability = |i: usize, j: usize| match (i.min(j) * 13 + i.max(j) * 7) % 9 {
        0 => 0.5_f32,
        1 => 0.03,
        2 => 1e-30,
        _ => 0.0,
    };
    let row = |i: usize| -> Vec<(u32, f32)> {
        let linked = (0..n).filter(|&j| j != i && probability(i, j) > 0.0);
        linked.map(|j| (j as u32, probability(i, j))).collect()
    };
    let inverse_degrees = (0..n).map(|node| 1.0 / (1 + node % 5) as f32).collect();
    let graph = LikelyLinks { rows: (0..n).map(row).collect(), inverse_degrees };
    let mut sums = Sums::new(n);
    let mut n_found = 0;
    for i in 0..n {
        let mut found = vec![None; n];
        graph.visit_later(i, &mut sums, |j, index| {
            assert!(j as usize > i && found[j as usize].is_none(), "{i} {j}");
            found[j as usize] = Some(index);
        });
        for (j, &found) in found.iter().enumerate().skip(i + 1) {
            let common = (0..n).filter(|&k| k != i && k != j && probability(i, k) > 0.0 && probability(k, j) > 0.0);
            let terms: Vec<f32> =
                common.map(|k| probability(i, k) * probability(k, j) * graph.inverse_degrees[k]).collect();
            assert_eq!(found.is_some(), !terms.is_empty(), "{i} {j}");
            if let Some(index) = found {
                let expected: f32 = terms.iter().sum();
                assert!((index - expected).abs() <= 1e-5 * expected + 1e-36, "{i} {j}: {index} {expected}");
                n_found += 1;
            }
        }
    }
    let counts = graph.cell_counts(&Cells::new());
    assert_eq!(counts.iter().sum::<u64>(), n_found, "every pair is in one cell");
}

/// Nodes of one, two, three and forty links: the last one alone makes 800 pairs of links.
#[test]
fn nodes_with_very_many_links_are_no_common_neighbours() {
    assert_eq!(hubs(&[1, 3, 40, 2], 1e3), [0; 0], "all count");
    assert_eq!(hubs(&[1, 3, 40, 2], 100.0), [2]);
    assert_eq!(hubs(&[1, 3, 40, 2], 5.0), [1, 2]);
    assert_eq!(hubs(&[10; 8], 200.0), [4, 5, 6, 7], "of equal nodes as many count as may");
    let links = |k: u32| vec![(k, 0.5_f32), (2, 0.5)];
    let rows = vec![links(1), vec![(0, 0.5), (3, 0.5)], vec![(0, 0.5), (3, 0.5)], links(1)];
    let visited = |inverse_degrees: Vec<f32>| {
        let graph = LikelyLinks { rows: rows.clone(), inverse_degrees };
        let mut found = Vec::new();
        graph.visit_later(0, &mut Sums::new(4), |j, index| found.push((j, index)));
        found
    };
    assert_eq!(visited(vec![0.5; 4]), [(3, 0.25)]);
    assert_eq!(visited(vec![0.5, 0.5, 0.0, 0.5]), [(3, 0.125)], "node 2 does not count");
    assert_eq!(visited(vec![0.0; 4]), []);
}
