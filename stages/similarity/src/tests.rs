use veilgraph_contract::Artifact;
use veilgraph_graph::{ClassBeliefs, DenseMatrix, FeatureMatrix, SparseMatrix, Split};

use super::*;
use crate::bins::COSINE_CELLS;

/// Sixty nodes of two classes have words of their class and other words; every third node is for training.
fn inputs() -> (Nodes, Features, Labels) {
    let splits = (0..60).map(|node| [Split::Train, Split::Validation, Split::Test][node % 3]).collect();
    let nodes =
        Nodes { dataset: "tiny".into(), n_classes: 2, splits, nodes_from_links: false, class_names: Vec::new() };
    let words = |node: usize| {
        let mut words = vec![(node % 2) as u32, 2 + (node * 7 % 5) as u32, 7 + (node * 11 % 13) as u32];
        words.dedup();
        words.into_iter().map(|word| (word, 1.0)).collect()
    };
    let features = SparseMatrix::from_rows(20, (0..60).map(words)).expect("valid");
    let labels = (0..60).filter(|node| node % 3 != 2).map(|node| (node, (node % 2) as u16)).collect();
    (nodes, Features(features), Labels::new(2, labels).expect("valid"))
}

fn run(features: Features, labels: Option<Labels>, params: &Params) -> Result<SimilarPairs, Error> {
    let rng = StageRng::new(1, "similarity", 0);
    let inputs = (inputs().0, Some(features), None, labels, None);
    Similarity::run(inputs, params, &rng, &Progress::none()).map(|(pairs,)| pairs)
}

/// The cosine is computed by hand from the weights `ln(n / count)` of the words.
fn cosine(features: &Features, i: usize, j: usize) -> f64 {
    let matrix = &features.0;
    let weight = |word: u32| {
        let count = (0..matrix.n_rows()).filter(|&node| matrix.row(node).0.contains(&word)).count();
        (matrix.n_rows() as f64 / count as f64).ln()
    };
    let length = |node: usize| matrix.row(node).0.iter().map(|&word| weight(word).powi(2)).sum::<f64>().sqrt();
    let common = matrix.row(i).0.iter().filter(|word| matrix.row(j).0.contains(word));
    common.map(|&word| weight(word).powi(2)).sum::<f64>() / (length(i) * length(j))
}

#[test]
fn a_cosine_lies_in_the_interval_that_ends_above_it() {
    let last = (COSINE_CELLS - 1) as f32;
    let mut cosines = vec![0.0, -0.0, -0.5, 1.0, 1.0 + f32::EPSILON, f32::MIN_POSITIVE, f32::NAN];
    for cell in 0..COSINE_CELLS {
        let end = cell as f32 / last;
        cosines.extend([end.next_down(), end, end.next_up()]);
    }
    for cosine in cosines {
        let expected = ((cosine * last).ceil() as usize).min(COSINE_CELLS - 1);
        assert_eq!(bins::cosine_cell(cosine), expected, "{cosine:e}");
    }
}

#[test]
fn the_listed_pairs_are_those_with_the_largest_cosines() {
    let (_, features, _) = inputs();
    let params = Params { classes: false, share: 0.3, ..Params::default() };
    let pairs = run(features.clone(), None, &params).expect("compared");
    assert!(pairs.n_pairs() > 200 && pairs.n_pairs() <= 531, "{} of 1770 pairs", pairs.n_pairs());
    assert!(pairs.n_bins() > 2, "{} bins", pairs.n_bins());
    let mut range = vec![(f64::INFINITY, 0.0_f64); usize::from(pairs.n_bins()) + 1];
    for i in 0..60 {
        for j in i + 1..60 {
            let (cosine, bin) = (cosine(&features, i, j), pairs.bin(i, j as u32));
            let (least, most) = &mut range[usize::from(bin)];
            (*least, *most) = (least.min(cosine), most.max(cosine));
        }
    }
    // A cell, an interval of cosines, is 1 / 2047 wide, so bins may overlap by that much.
    assert!(range.windows(2).all(|bins| bins[0].1 <= bins[1].0 + 5e-4), "bins ascend: {range:?}");
}

#[test]
fn predicted_classes_bring_nodes_of_one_class_together() {
    let (_, features, labels) = inputs();
    let share_of_one_class = |params: &Params| {
        let pairs = run(features.clone(), Some(labels.clone()), params).expect("compared");
        let alike = (0..60).flat_map(|i| pairs.row(i).map(move |(j, _)| i % 2 == j as usize % 2));
        alike.filter(|alike| *alike).count() as f64 / pairs.n_pairs() as f64
    };
    let with = share_of_one_class(&Params::default());
    let without = share_of_one_class(&Params { classes: false, ..Params::default() });
    assert!(with > without && with > 0.7, "{with} with classes, {without} without");
}

/// Every feature gets uniform noise as wide as twice the size of a word; pairs of one class are still listed more often than
/// chance. If the noise hid everything, 36 of 40 seeds would win once in ten million tries.
#[test]
fn noisy_features_still_bring_like_nodes_together() {
    let (nodes, Features(words), _) = inputs();
    let rng = StageRng::new(1, "similarity", 0);
    let params = Params { classes: false, share: 0.1, ..Params::default() };
    let mut wins = 0;
    for seed in 0..40_u64 {
        let mut stream = rng.fast_stream("test noise", seed);
        let mut values = vec![0.0; 60 * 20];
        for (node, row) in values.chunks_exact_mut(20).enumerate() {
            words.row(node).0.iter().for_each(|&word| row[word as usize] = 1.0);
            row.iter_mut().for_each(|value| *value += rand::RngExt::random::<f32>(&mut stream) * 2.0 - 1.0);
        }
        let values = FeatureMatrix::Dense(DenseMatrix::new(60, 20, values).expect("finite"));
        let inputs = (nodes.clone(), None, Some(EstimatedFeatures::unpropagated(values)), None, None);
        let (pairs,) = Similarity::run(inputs, &params, &rng, &Progress::none()).expect("compared");
        let alike = (0..60).flat_map(|i| pairs.row(i).map(move |(j, _)| i % 2 == j as usize % 2));
        let (all, alike) = (pairs.n_pairs(), alike.filter(|alike| *alike).count());
        wins += usize::from(alike as f64 > all as f64 * 29.0 / 59.0);
    }
    assert!(wins >= 36, "{wins} of 40");
}

#[test]
fn what_tells_nothing_lists_nothing() {
    let same = Features(SparseMatrix::from_rows(2, (0..60).map(|_| vec![(1, 1.0)])).expect("valid"));
    let pairs = run(same, Some(inputs().2), &Params::default()).expect("no error");
    assert_eq!((pairs.n_pairs(), pairs.n_bins()), (0, 0));
}

/// With one class only, or with a class that has no training node, the features decide alone.
#[test]
fn classes_that_cannot_be_learned_are_left_out() {
    let (_, features, _) = inputs();
    let alone = run(features.clone(), None, &Params::default()).expect("compared");
    let one = Labels::new(1, (0..60).step_by(3).map(|node| (node, 0)).collect()).expect("valid");
    let unseen = Labels::new(3, (0..60).filter(|node| node % 3 != 2).map(|node| (node, (node % 2) as u16)).collect());
    for labels in [one, unseen.expect("valid")] {
        assert_eq!(run(features.clone(), Some(labels), &Params::default()).expect("compared"), alone);
    }
}

#[test]
fn pairs_are_the_same_for_any_number_of_threads_and_survive_the_disk() {
    let (_, features, labels) = inputs();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| run(features.clone(), Some(labels.clone()), &Params::default()).expect("compared"))
    };
    let pairs = with(1);
    assert_eq!(pairs, with(3));
    let again = SimilarPairs::from_blocks(&pairs.facts(), &mut pairs.blocks()).expect("round trip");
    assert_eq!(again, pairs);
}

#[test]
fn impossible_shares_are_refused() {
    for share in [0.0, -1.0, 1.5, f64::NAN] {
        let error = run(inputs().1, None, &Params { share, ..Params::default() }).expect_err("no share");
        assert!(error.to_string().contains("share must be"), "{error}");
    }
}

#[test]
fn so_few_pairs_that_no_bin_is_made_are_refused() {
    for params in [Params { most_pairs: 14, ..Params::default() }, Params { share: 0.001, ..Params::default() }] {
        let error = run(inputs().1, None, &params).expect_err("too few").to_string();
        assert!(error.contains("a bin needs 15") && error.contains("raise them"), "{error}");
    }
    assert!(run(inputs().1, None, &Params { most_pairs: 15, ..Params::default() }).is_ok());
}

/// Four million nodes with two dense features have 1.6e13 products.
#[test]
fn too_many_nodes_with_dense_features_are_refused() {
    let dense = |n_nodes: usize| {
        let values = (0..2 * n_nodes).map(|at| (at % 7) as f32).collect();
        let values = FeatureMatrix::Dense(DenseMatrix::new(n_nodes, 2, values).expect("finite"));
        compared::HeldFeatures::Estimated(EstimatedFeatures::unpropagated(values)).directions()
    };
    assert!(dense(1_000).is_ok());
    let refused = dense(4_000_000).err().expect("too many").to_string();
    assert!(refused.contains("of 4000000 nodes") && refused.contains("prior = \"beta-model\""), "{refused}");
}

/// Embeddings have every feature at every node, so that how many nodes have a feature tells nothing: their values do.
#[test]
fn embeddings_are_compared_by_their_values() {
    let (nodes, ..) = inputs();
    let row = |node: usize| {
        let side = if node.is_multiple_of(2) { 1.0 } else { -1.0 };
        (0..6)
            .map(|k| (k, (0.3 * f64::from(k + 1) + side + ((node * 7 + k as usize * 5) % 9) as f64 / 9.0) as f32))
            .collect()
    };
    let features = Features(SparseMatrix::from_rows(6, (0..60).map(row)).expect("valid"));
    let params = Params { classes: false, share: 0.2, ..Params::default() };
    let pairs = run(features.clone(), None, &params).expect("compared");
    let alike = (0..60).flat_map(|i| pairs.row(i).map(move |(j, _)| i % 2 == j as usize % 2)).filter(|alike| *alike);
    assert!(alike.count() as f64 > 0.95 * pairs.n_pairs() as f64 && pairs.n_pairs() > 100, "{}", pairs.n_pairs());
    let inputs = (nodes, Some(features), None, None);
    let rng = StageRng::new(1, "similarity", 0);
    let params = SimilarGraphParams { neighbours: 5, ..SimilarGraphParams::default() };
    let (graph,) = SimilarGraph::run(inputs, &params, &rng, &Progress::none()).expect("linked");
    let links: Vec<_> = graph.links().collect();
    assert!(links.len() >= 150 && links.iter().all(|&(i, j, _)| i < j && i % 2 == j % 2), "{}", links.len());
}

/// Words tell the class of most nodes, and what is believed of a training node does not follow its own label: with one
/// label turned round, the belief about its node stays.
#[test]
fn classes_are_believed_without_a_nodes_own_label() {
    let (nodes, features, labels) = inputs();
    let believe = |labels: Labels| {
        let rng = StageRng::new(1, "class-beliefs", 0);
        let inputs = (nodes.clone(), Some(features.clone()), None, labels);
        BelieveClasses::run(inputs, &veilgraph_contract::NoParams {}, &rng, &Progress::none()).expect("predicted").0
    };
    let right = |beliefs: &ClassBeliefs, node: usize| beliefs.row(node)[node % 2];
    let beliefs = believe(labels.clone());
    let correct = (0..60).filter(|&node| right(&beliefs, node) > 0.5).count();
    assert!(correct >= 54, "{correct} of 60");
    let turned = labels.classes().iter().map(|&(node, class)| (node, if node == 6 { 1 - class } else { class }));
    let turned = believe(Labels::new(2, turned.collect()).expect("valid"));
    assert!(right(&turned, 6) > 0.5, "{}", right(&turned, 6));
}

/// A result must not depend on how much memory a machine has, so that no network is left out for want of it.
#[test]
fn networks_that_do_not_fit_into_memory_are_an_error() {
    let ((nodes, features, labels), rng) = (inputs(), StageRng::new(1, "similarity", 0));
    let progress = Progress::within(1000);
    let listed = (nodes.clone(), Some(features.clone()), None, Some(labels.clone()), None);
    let listed = Similarity::run(listed, &Params::default(), &rng, &progress);
    assert!(matches!(listed, Err(Error::TooLarge(Failure::TooLarge { limit: 1000, .. }))), "{:?}", listed.err());
    let no_params = veilgraph_contract::NoParams {};
    let believed = BelieveClasses::run((nodes, Some(features), None, labels), &no_params, &rng, &progress);
    // All five perceptrons are counted.
    let failure = believed.err();
    assert!(
        matches!(failure, Some(Error::TooLarge(Failure::TooLarge { n_models: 5, limit: 1000, .. }))),
        "{failure:?}"
    );
}

/// A class with a single training node is still learned, and without features every node has the frequencies.
#[test]
fn rare_classes_and_missing_features_leave_beliefs() {
    let (nodes, features, labels) = inputs();
    let rare = labels.classes().iter().map(|&(node, class)| (node, if node == 3 { 2 } else { class })).collect();
    let rare = Labels::new(3, rare).expect("valid");
    let rng = StageRng::new(1, "class-beliefs", 0);
    let believe = |features: Option<Features>| {
        let inputs = (nodes.clone(), features, None, rare.clone());
        BelieveClasses::run(inputs, &veilgraph_contract::NoParams {}, &rng, &Progress::none()).expect("believed").0
    };
    let learned = believe(Some(features));
    let correct = (0..60).filter(|&node| node != 3 && learned.row(node)[node % 2] > 0.5).count();
    assert!(correct >= 50, "{correct} of 59");
    let frequent = believe(None);
    // Of 20 training nodes, 10, 9 and 1 are of each class; one node more of each is counted.
    assert!((frequent.row(5)[0] - 11.0 / 23.0).abs() < 1e-6 && (frequent.row(5)[2] - 2.0 / 23.0).abs() < 1e-6);
}

/// Networks learn the same from features in any unit: a power of two changes no digit of what is believed.
#[test]
fn beliefs_do_not_depend_on_the_unit_of_features() {
    let (nodes, Features(words), labels) = inputs();
    let rng = StageRng::new(1, "class-beliefs", 0);
    let believe = |public: Option<Features>, estimated: Option<FeatureMatrix>| {
        let estimated = estimated.map(EstimatedFeatures::unpropagated);
        let inputs = (nodes.clone(), public, estimated, labels.clone());
        BelieveClasses::run(inputs, &veilgraph_contract::NoParams {}, &rng, &Progress::none()).expect("predicted").0
    };
    let in_unit = |unit: f32| Features(words.clone().with_scaled_rows(|_| unit).expect("finite"));
    let dense = |unit: f32| {
        let mut values = vec![7.0 * unit; 60 * 20];
        for (node, row) in values.chunks_exact_mut(20).enumerate() {
            words.row(node).0.iter().for_each(|&word| row[word as usize] += unit);
        }
        FeatureMatrix::Dense(DenseMatrix::new(60, 20, values).expect("finite"))
    };
    let around = |unit: f32| FeatureMatrix::Sparse { fill: 7.0 * unit, entries: in_unit(unit).0 };
    for unit in [1024.0, 1.0 / 1024.0] {
        assert_eq!(believe(Some(in_unit(unit)), None), believe(Some(in_unit(1.0)), None), "words, {unit}");
        assert_eq!(believe(None, Some(dense(unit))), believe(None, Some(dense(1.0))), "dense, {unit}");
        assert_eq!(believe(None, Some(around(unit))), believe(None, Some(around(1.0))), "around a value, {unit}");
    }
    // What all nodes have in common does not hide what tells them apart.
    for beliefs in [believe(None, Some(dense(1.0))), believe(None, Some(around(1.0)))] {
        let correct = (0..60).filter(|&node| beliefs.row(node)[node % 2] > 0.5).count();
        assert!(correct >= 48, "{correct} of 60");
    }
}
