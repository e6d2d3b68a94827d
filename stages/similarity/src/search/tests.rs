use rand::RngExt;
use veilgraph_contract::StageRng;
use veilgraph_graph::{Features, SparseMatrix};

use super::*;
use crate::classes::Classes;
use crate::cosine::Directions;

pub(crate) const NODES: usize = 700;

/// Nodes with a few of 300 words each, of which the first are frequent, and probabilities of three classes.
pub(crate) fn pairs(with_classes: bool) -> AllPairs {
    let mut rng = StageRng::new(3, "search", 0).fast_stream("words", 0);
    let row = |_| {
        let words = (0..300_u32).filter(|&word| rng.random::<f64>() < 3.0 / (f64::from(word) + 6.0));
        words.map(|word| (word, 1.0)).collect()
    };
    let mut rows: Vec<Vec<(u32, f32)>> = (0..NODES).map(row).collect();
    // Some nodes have the words of another one.
    (50..NODES).step_by(50).for_each(|node| rows[node] = rows[node - 7].clone());
    let features = Features(SparseMatrix::from_rows(300, rows).expect("valid"));
    let mut rng = StageRng::new(3, "search", 0).fast_stream("classes", 0);
    let probabilities: Vec<f32> = (0..NODES)
        .flat_map(|node| {
            let rest = 0.5 * rng.random::<f32>();
            (0..3).map(move |class| if class == node % 3 { 1.0 - rest } else { rest / 2.0 })
        })
        .collect();
    let classes = with_classes.then(|| Classes::new(3, &probabilities));
    AllPairs { directions: Directions::new(&features), classes, n_nodes: NODES }
}

#[test]
fn a_search_lists_what_a_scan_of_all_pairs_lists() {
    for with_classes in [false, true] {
        let pairs = pairs(with_classes);
        for (most_pairs, most_bins) in [(500, 8), (3_000, 24), (20_000, 24)] {
            for bins_by in [Measure::Score, Measure::Cosine] {
                let limits = BinLimits { most_pairs, least_pairs: NODES / 4, most_bins };
                let scanned = pairs.by_scan(limits, bins_by);
                let searched = pairs.by_search(limits, bins_by).expect("short").expect("few enough");
                assert!(scanned.rows.iter().map(Vec::len).sum::<usize>() > most_pairs / 2);
                assert_eq!(searched.n_bins, scanned.n_bins, "{most_pairs} {bins_by:?}");
                assert_eq!(searched.rows, scanned.rows, "{most_pairs} {bins_by:?}");
            }
        }
    }
}

/// How many pairs are missed is that of this graph: another one may lose more.
#[test]
fn a_short_search_lists_most_of_the_pairs() {
    let pairs = pairs(true);
    let limits = BinLimits { most_pairs: 3_000, least_pairs: NODES / 4, most_bins: 24 };
    let listed = |found: BinnedRows| -> Vec<(usize, u32)> {
        let rows = found.rows.into_iter().enumerate();
        rows.flat_map(|(node, row)| row.into_iter().map(move |(other, _)| (node, other))).collect()
    };
    let whole = listed(pairs.by_search(limits, Measure::Score).expect("short").expect("few enough"));
    let mut shares = Vec::new();
    for few in [60_000.0, 120_000.0] {
        let effort = Effort { few, most_minutes: f64::INFINITY };
        let short = listed(pairs.by_search_within(effort, limits, Measure::Score).expect("short").expect("few enough"));
        assert!(short.len() <= limits.most_pairs && short.is_sorted(), "{}", short.len());
        shares.push(whole.iter().filter(|pair| short.contains(pair)).count() as f64 / whole.len() as f64);
    }
    assert!(shares[0] < shares[1] && shares[1] < 1.0 && shares[0] > 0.5, "{shares:?}");
}

/// Where no heads are short enough, the exact search is taken, however long it is.
#[test]
fn where_short_heads_do_not_help_no_pair_is_missed() {
    let pairs = pairs(true);
    let limits = BinLimits { most_pairs: 3_000, least_pairs: NODES / 4, most_bins: 24 };
    let effort = |most_minutes: f64| Effort { few: 0.0, most_minutes };
    let searched =
        pairs.by_search_within(effort(f64::INFINITY), limits, Measure::Score).expect("short").expect("few enough");
    assert_eq!(searched.rows, pairs.by_scan(limits, Measure::Score).rows);
    let refused = pairs.by_search_within(effort(0.0), limits, Measure::Score).err().expect("long").to_string();
    let threads = format!("hours on {} threads", rayon::current_num_threads());
    assert!(refused.contains(&threads) && refused.contains("prior = \"beta-model\""), "{refused}");
}

/// Sums are formed block by block: these nodes fill two blocks and a part of a third one.
#[test]
fn the_join_finds_pairs_of_several_blocks() {
    const N: usize = 20_000;
    let mut rng = StageRng::new(5, "search", 0).fast_stream("words", 0);
    let row = |_| {
        let mut words: Vec<u32> = (0..4).map(|_| (2_000.0 * rng.random::<f64>().powi(2)) as u32).collect();
        words.sort_unstable();
        words.dedup();
        words.into_iter().map(|word| (word, 1.0)).collect()
    };
    let features = Features(SparseMatrix::from_rows(2_000, (0..N).map(row)).expect("valid"));
    let directions = Directions::new(&features);
    let join = CosineJoin::new(&directions, 0.25, 0.125);
    let (mut scratch, mut cosines, mut n_found) = (JoinScratch::default(), Vec::new(), 0);
    for node in (0..N).step_by(331).chain([8_191, 8_192, 16_383, 16_384, N - 2, N - 1]) {
        let mut found = Vec::new();
        join.search(node, &mut scratch, |other, cosine| found.push((other, cosine)));
        found.sort_unstable_by_key(|&(other, _)| other);
        directions.cosines_from(node, node + 1, &mut cosines);
        let later = (node as u32 + 1..).zip(cosines.iter().copied());
        assert_eq!(found, later.filter(|&(_, cosine)| cosine >= 0.25).collect::<Vec<_>>(), "{node}");
        n_found += found.len();
    }
    assert!(n_found > 100, "{n_found}");
}

#[test]
fn where_nearly_all_pairs_are_listed_there_is_nothing_to_search() {
    let limits = BinLimits { most_pairs: NODES * NODES / 3, least_pairs: 1, most_bins: 4 };
    assert!(pairs(true).by_search(limits, Measure::Score).expect("short").is_none());
}

#[test]
fn the_join_finds_every_pair_with_a_large_cosine_and_its_cosine() {
    let directions = pairs(false).directions;
    for least in [0.05, 0.2, 0.4, 0.6] {
        let join = CosineJoin::new(&directions, least, least / 2.0);
        let n_plain = n_common(directions.by_feature());
        let n_steps = CosineJoin::n_steps(&directions, &[least / 2.0])[0];
        assert!(n_steps <= if least > 0.5 { n_plain / 2.0 } else { n_plain }, "{least}");
        let (mut scratch, mut cosines, mut n_found) = (JoinScratch::default(), Vec::new(), 0);
        for node in 0..NODES {
            let mut found = Vec::new();
            join.search(node, &mut scratch, |other, cosine| found.push((other, cosine)));
            found.sort_unstable_by_key(|&(other, _)| other);
            directions.cosines_from(node, node + 1, &mut cosines);
            let later = (node as u32 + 1..).zip(cosines.iter().copied());
            assert_eq!(found, later.filter(|&(_, cosine)| cosine >= least).collect::<Vec<_>>(), "{node} {least}");
            n_found += found.len();
        }
        assert!(n_found > 0, "{least}");
    }
}
