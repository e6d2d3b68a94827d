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
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).filter(|&(i, j)| probability(i, j) > 0.0);
    // The order of the pairs says nothing.
    let mut links: Vec<(u32, u32, f32)> = pairs.map(|(i, j)| (i as u32, j as u32, probability(i, j))).collect();
    links.sort_by_key(|&(i, j, _)| (i * 31 + j * 17) % 53);
    let inverse_degrees: Vec<f32> = (0..n).map(|node| 1.0 / (1 + node % 5) as f32).collect();
    let graph = LikelyLinks::new(n, &links, |_| inverse_degrees.clone());
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
            let terms: Vec<f32> = common.map(|k| probability(i, k) * probability(k, j) * inverse_degrees[k]).collect();
            assert_eq!(found.is_some(), !terms.is_empty(), "{i} {j}");
            if let Some(index) = found {
                let expected: f32 = terms.iter().sum();
                assert!((index - expected).abs() <= 1e-5 * expected + 1e-36, "{i} {j}: {index} {expected}");
                n_found += 1;
            }
        }
    }
    let found = graph.found(&(0..n).collect::<Vec<_>>(), &Cells::new(), 0);
    assert_eq!(found.counts.iter().sum::<u64>(), n_found, "every pair is in one cell");
}

/// The first cell that is kept leaves out a cell that is too large, however few pairs that leaves.
#[test]
fn cells_are_kept_as_long_as_they_fit() {
    assert_eq!(first_cell_kept(&[5, 0, 3, 2], 4.9), 3);
    assert_eq!(first_cell_kept(&[5, 0, 3, 2], 5.0), 1);
    assert_eq!(first_cell_kept(&[5, 0, 3, 2], 10.0), 0);
    assert_eq!(first_cell_kept(&[5, 0, 3, 2_000], 4.9), 4, "nothing is kept");
}

#[test]
fn the_sample_follows_no_pattern_of_numbers() {
    for (step, first) in [(1, 0), (2, 1), (16, 0), (16, 5), (1_000, 3), (1 << 16, 1)] {
        let n_sampled = (0..8_000).filter(|k| is_sampled(first + k * step)).count();
        assert!((450..550).contains(&n_sampled), "{n_sampled} of every {step} nodes, a sixteenth is 500");
    }
}

/// Wherever the sampled nodes have their links, and whatever the number of threads, the list is that of a visit that keeps
/// all pairs.
#[test]
fn lists_depend_neither_on_the_sample_nor_on_threads() {
    let n = 96_usize;
    // Each node has links to some of the next eleven, fewer of those where `is_sparse` says so.
    let graph = |is_sparse: fn(usize) -> bool| {
        let mut links = Vec::new();
        for i in 0..n {
            for j in (i + 1..n.min(i + 12)).filter(|j| (i * 7 + j * 5) % if is_sparse(i) { 11 } else { 2 } == 0) {
                links.push((i as u32, j as u32, 0.1 + ((i * 13 + j * 29) % 97) as f32 / 110.0));
            }
        }
        LikelyLinks::new(n, &links, |_| vec![0.2; n])
    };
    let limits = BinLimits { most_pairs: 300, least_pairs: n / 4, most_bins: MOST_BINS };
    let scores: Vec<f64> = (0..CELLS).map(|cell| cell as f64).collect();
    let mut were_kept = Vec::new();
    for is_sparse in [|_| false, |i| is_sampled(i), |i| i % 16 > 4, |i| !is_sampled(i)] {
        let graph = graph(is_sparse);
        let all = graph.found(&(0..n).collect::<Vec<_>>(), &Cells::new(), 0);
        let bins = bins_of_cells(&all.counts, &scores, limits);
        let listed = |rows: &[Vec<(u32, u16)>]| -> Vec<Vec<(u32, u16)>> {
            let is_listed = |&(_, cell): &(u32, u16)| bins.bin_of_cell[usize::from(cell)] > 0;
            rows.iter().map(|row| row.iter().copied().filter(is_listed).collect()).collect()
        };
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let found = pool.install(|| graph.most_with_common_neighbours(limits));
            assert_eq!((&found.bin_of_cell, found.n_bins), (&bins.bin_of_cell, bins.n_bins));
            assert!(found.n_bins > 0);
            assert_eq!(listed(&found.rows), listed(&all.rows));
            // Nodes that were visited again keep listed pairs alone.
            were_kept.push(found.rows != listed(&found.rows));
        }
    }
    assert!(were_kept.contains(&true) && were_kept.contains(&false), "{were_kept:?}");
}

/// Nodes of one, two, three and forty links: the last one alone makes 800 pairs of links.
#[test]
fn nodes_with_very_many_links_are_no_common_neighbours() {
    assert_eq!(hubs(&[1, 3, 40, 2], 1e3), [0; 0], "all count");
    assert_eq!(hubs(&[1, 3, 40, 2], 100.0), [2]);
    assert_eq!(hubs(&[1, 3, 40, 2], 5.0), [1, 2]);
    assert_eq!(hubs(&[10; 8], 200.0), [4, 5, 6, 7], "of equal nodes as many count as may");
    let links = [(0, 1, 0.5), (0, 2, 0.5), (1, 3, 0.5), (2, 3, 0.5)];
    let visited = |inverse_degrees: [f32; 4]| {
        let graph = LikelyLinks::new(4, &links, |n_links| {
            assert_eq!(n_links, [2; 4]);
            inverse_degrees.to_vec()
        });
        let mut found = Vec::new();
        graph.visit_later(0, &mut Sums::new(4), |j, index| found.push((j, index)));
        found
    };
    assert_eq!(visited([0.5; 4]), [(3, 0.25)]);
    assert_eq!(visited([0.5, 0.5, 0.0, 0.5]), [(3, 0.125)], "node 2 does not count");
    assert_eq!(visited([0.0; 4]), []);
}
