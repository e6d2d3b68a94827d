use super::*;
use crate::LatentBlocks;
use veilgraph_posterior::SimilarPairs;

/// A graph of three classes, in which links within a class are likelier, as reported with a budget of `epsilon` for each
/// bit; with it go the true classes and degrees.
struct Drawn {
    evidence: LinkEvidence,
    classes: Vec<u16>,
    degrees: Vec<f64>,
}

const N_CLASSES: usize = 3;

/// Draws links with the homophily `h` and a mean degree of 8.
fn drawn(n: u32, homophily: f64, epsilon: f64, seed: u64) -> Drawn {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let flip = 1.0 / (1.0 + epsilon.exp());
    let classes: Vec<u16> = (0..n).map(|node| (node % 3) as u16).collect();
    let (mut rows, mut degrees) = (vec![Vec::new(); n as usize], vec![0.0; n as usize]);
    for i in 0..n {
        for j in i + 1..n {
            let same = if classes[i as usize] == classes[j as usize] { 3.0 } else { 0.0 };
            let linked = uniform() < 8.0 / f64::from(n) * (1.0 - homophily + homophily * same);
            if linked {
                degrees[i as usize] += 1.0;
                degrees[j as usize] += 1.0;
            }
            let claims: u8 = (0..2).map(|_| u8::from(linked != (uniform() < flip))).sum();
            rows[i as usize].extend((claims > 0).then_some((j, claims)));
        }
    }
    let degrees = degrees.into_iter().map(|degree: f64| degree.max(0.5)).collect();
    Drawn { evidence: LinkEvidence::from_rows(rows).expect("valid"), classes, degrees }
}

/// The classes of two thirds of all nodes are known: of a third for training, and of a third for validation.
fn known(classes: &[u16]) -> KnownClasses {
    let prior = ClassBeliefs::new(N_CLASSES, vec![1.0 / 3.0; classes.len() * N_CLASSES]).expect("sums to 1");
    let part = |node: usize| (node / 3) % 3;
    let known = classes.iter().enumerate().map(|(node, &class)| (part(node) == 0).then_some(class)).collect();
    let validation = (0_u32..).zip(classes.iter().copied()).filter(|&(node, _)| part(node as usize) == 1).collect();
    KnownClasses { prior, known, validation, coordinates: None }
}

fn fit(drawn: &Drawn, epsilon: f64) -> Blocks {
    fit_blocks(&drawn.evidence, &drawn.degrees, &[], epsilon, &known(&drawn.classes), &Progress::none())
}

/// Reports alone tell the homophily, and the classes of nodes whose classes were not known. (Three seeds; where links
/// follow no class, the share of right classes has a standard deviation of 2.2 points, so 43 % is reached by chance once in
/// 100,000 tries.)
#[test]
fn links_tell_classes_where_there_is_homophily() {
    for (homophily, seed) in [(0.8, 1), (0.8, 2), (0.0, 3)] {
        let drawn = drawn(900, homophily, 4.0, seed);
        let blocks = fit(&drawn, 4.0);
        let test: Vec<usize> = (0..900).filter(|node| (node / 3) % 3 == 2).collect();
        let right = test.iter().filter(|&&node| {
            let row = blocks.classes.row(node);
            row.iter().all(|&p| p <= row[usize::from(drawn.classes[node])])
        });
        let accuracy = right.count() as f64 / test.len() as f64;
        assert!((blocks.scores.homophily - homophily).abs() < 0.15, "{} for {homophily}", blocks.scores.homophily);
        if homophily > 0.5 {
            assert!(accuracy > 0.75, "homophily {homophily}: {accuracy}");
        }
    }
}

/// A pair of one class that both nodes claim scores higher than one of two classes, by about as much as links are likelier.
#[test]
fn scores_follow_the_classes() {
    let drawn = drawn(600, 0.8, 4.0, 5);
    let blocks = fit(&drawn, 4.0);
    let mean = |same: bool| {
        let (mut sum, mut count) = (0.0, 0.0);
        for (i, row) in blocks.scores.rows.iter().enumerate() {
            for &(j, score) in row {
                // Classes of nodes 0, 1, 2, 9, 10, 11, ... are known.
                let are_known = [i, j as usize].into_iter().all(|node| (node / 3).is_multiple_of(3));
                if are_known && same == (drawn.classes[i] == drawn.classes[j as usize]) {
                    (sum, count) = (sum + f64::from(score), count + 1.0);
                }
            }
        }
        sum / count
    };
    // ln((1 − h + 3 h) / (1 − h)) with h = 0.8; what is learned of h may be off by .1.
    let expected = (2.6_f64 / 0.2).ln();
    assert!((mean(true) - mean(false) - expected).abs() < 0.7, "{} {} {expected}", mean(true), mean(false));
}

/// With one double claim, the belief is `φ (1 + gain · affinity)^{3/4}`, worked out by hand.
#[test]
fn one_claim_moves_a_belief_as_the_formula_says() {
    let rows = vec![vec![(1, 2)], vec![], vec![], vec![], vec![], vec![]];
    let evidence = LinkEvidence::from_rows(rows).expect("valid");
    let classes: Vec<u16> = vec![0, 1, 2, 0, 1, 2];
    let mut known = known(&classes);
    known.known = vec![Some(2), None, None, None, None, None];
    let similar = SimilarClaims::new(&evidence);
    let pairs = DoubleClaimPairs::new(&evidence);
    let learned = Learned::new(&[1.0; 6], &similar, N_CLASSES);
    let mut messages = Messages::new(&pairs, &known);
    let ratios = ClaimRatios { less_one: [0.0, 0.0, 40.0], unclaimed: 0.0 };
    messages.propagate(&learned, &Unclaimed::new(&similar), &known, ratios, usize::MAX, 25);
    // Weights are 1 / √6, the homophily ½, and each class has a third of all link ends.
    let factor = |same: f64| (1.0 + 40.0 / 6.0 * (0.5 + 0.5 * 3.0 * same)).powf(0.75);
    let total = factor(1.0) + 2.0 * factor(0.0);
    let belief = &messages.beliefs()[3..6];
    for (class, expected) in [(0, factor(0.0) / total), (1, factor(0.0) / total), (2, factor(1.0) / total)] {
        assert!((f64::from(belief[class]) - expected).abs() < 2e-3, "class {class}: {} {expected}", belief[class]);
    }
    assert_eq!(&messages.beliefs()[..3], [0.0, 0.0, 1.0], "a known class stays");
}

/// Messages that are not kept are replaced by what is right to first order, so beliefs hardly change.
#[test]
fn beliefs_are_nearly_the_same_without_stored_messages() {
    let drawn = drawn(600, 0.8, 1.5, 7);
    let known = known(&drawn.classes);
    let similar = SimilarClaims::new(&drawn.evidence);
    let pairs = DoubleClaimPairs::new(&drawn.evidence);
    let ratios = ClaimRatios::new(1.5);
    let mut learned = Learned::new(&drawn.degrees, &similar, N_CLASSES);
    learned.homophily = 0.8;
    let beliefs = |most_stored: usize| {
        let mut messages = Messages::new(&pairs, &known);
        messages.propagate(&learned, &Unclaimed::new(&similar), &known, ratios, most_stored, 25);
        messages.beliefs().to_vec()
    };
    let exact = beliefs(usize::MAX);
    let moved =
        exact.iter().map(|belief| (belief - 1.0 / 3.0).abs()).filter(|change| *change < 0.6).sum::<f32>() / 1200.0;
    for most_stored in [0, 5_000] {
        let error = beliefs(most_stored).iter().zip(&exact).map(|(a, b)| (a - b).abs()).sum::<f32>() / 1200.0;
        assert!(error < 0.1 * moved, "{most_stored} stored: {error} of {moved}");
    }
}

/// Equal intervals of scores are bins, whose log odds lie in their intervals, and a function between them is linear.
#[test]
fn scores_are_divided_into_equal_intervals() {
    let rows: Vec<Vec<(u32, f32)>> =
        vec![vec![(1, -1.0), (2, 0.0), (3, 3.0)], vec![(2, 0.9), (3, 1.1)], vec![], vec![]];
    let intervals = Intervals::new(&rows, 4);
    assert_eq!(intervals.logits.len(), 4);
    assert!(intervals.logits.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", intervals.logits);
    let pairs: SimilarPairs = intervals.pairs(&rows).expect("in order");
    let bins = [pairs.bin(0, 1), pairs.bin(0, 2), pairs.bin(0, 3), pairs.bin(1, 2), pairs.bin(1, 3)];
    assert_eq!(bins, [1, 0, 4, 2, 3], "a score of 0 needs no bin");
    let doubled: Vec<f64> = intervals.logits.iter().map(|logit| 2.0 * logit).collect();
    let middle = f32::midpoint(intervals.logits[1] as f32, intervals.logits[2] as f32);
    assert!((intervals.mapped(middle, &doubled) - 2.0 * middle).abs() < 1e-5);
    assert!((intervals.mapped(3.5, &doubled) - (3.5 + intervals.logits[3] as f32)).abs() < 1e-5);
}

/// Whatever budget and graph: no claims at all, no labels, one class, nodes that sent nothing.
#[test]
fn extreme_inputs_have_finite_scores_and_beliefs() {
    let silent = LinkEvidence::from_rows(vec![Vec::new(); 9]).expect("valid");
    let classes: Vec<u16> = (0..9).map(|node| node % 3).collect();
    let some = drawn(60, 0.5, 2.0, 11);
    for epsilon in [1e-3, 1.0, 20.0, 700.0] {
        for (evidence, classes, degrees) in
            [(&silent, &classes, vec![0.01; 9]), (&some.evidence, &some.classes, some.degrees.clone())]
        {
            let known = known(classes);
            let nobody = KnownClasses { known: vec![None; classes.len()], validation: Vec::new(), ..known.clone() };
            let one = ClassBeliefs::new(1, vec![1.0; classes.len()]).expect("sums to 1");
            let all_known = vec![Some(0); classes.len()];
            let alone = KnownClasses { prior: one, known: all_known, validation: vec![(0, 0)], coordinates: None };
            for classes in [known, nobody, alone] {
                let blocks = fit_blocks(evidence, &degrees, &[0, 1], epsilon, &classes, &Progress::none());
                let finite = blocks.scores.rows.iter().flatten().all(|(_, score)| score.is_finite());
                assert!(finite && blocks.classes.n_nodes() == degrees.len(), "epsilon {epsilon}");
                let intervals = Intervals::new(&blocks.scores.rows, 27);
                assert!(intervals.logits.iter().all(|logit| logit.is_finite()), "{:?}", intervals.logits);
                assert!(intervals.pairs(&blocks.scores.rows).is_ok());
            }
        }
    }
}

fn latent(drawn: &Drawn, epsilon: f64, wanted: LatentBlocks) -> Option<PairScores> {
    fit_latent_blocks(&drawn.evidence, &drawn.degrees, &[], epsilon, wanted, &Progress::none())
}

/// Reports alone tell three blocks, how much they decide about links, and which pairs are in one block. (Three seeds. The
/// homophily has a standard error of about .04, so it is off by .15 by chance twice in 10,000 tries.)
#[test]
fn links_alone_tell_blocks() {
    for seed in 1..=3 {
        let drawn = drawn(600, 0.8, 4.0, seed);
        let scores = latent(&drawn, 4.0, LatentBlocks::Auto).expect("there are blocks");
        assert_eq!(scores.n_latent, Some(3), "seed {seed}");
        assert!((scores.homophily - 0.8).abs() < 0.15, "seed {seed}: {}", scores.homophily);
        let mean = |same: bool| {
            let pairs = (0..).zip(&scores.rows).flat_map(|(i, row)| row.iter().map(move |&(j, score)| (i, j, score)));
            let wanted = pairs.filter(|&(i, j, _)| same == (drawn.classes[i] == drawn.classes[j as usize]));
            let (sum, count) = wanted.fold((0.0, 0.0), |(sum, count), pair| (sum + f64::from(pair.2), count + 1.0));
            sum / count
        };
        // With certain blocks the difference is ln 13, which is 2.6.
        assert!(mean(true) - mean(false) > 1.0, "seed {seed}: {} {}", mean(true), mean(false));
    }
}

/// Where links follow no blocks, none are found. A number of blocks gains 7 nats by chance with a probability of at most
/// e^-7, so that ten graphs and eight numbers would give a false alarm in at most 7 % of all choices of seeds.
#[test]
fn no_blocks_are_found_where_there_are_none() {
    for seed in 1..=5 {
        for epsilon in [2.0, 4.0] {
            let found = latent(&drawn(300, 0.0, epsilon, seed), epsilon, LatentBlocks::Auto);
            assert!(found.is_none(), "seed {seed}, epsilon {epsilon}: {:?}", found.map(|scores| scores.n_latent));
        }
    }
}

/// The number of blocks that is asked for is the one that is used, as many as there are nodes at most; one block is none.
#[test]
fn a_number_of_blocks_is_kept() {
    let drawn = drawn(60, 0.5, 3.0, 11);
    for number in [0, 1] {
        assert!(latent(&drawn, 3.0, LatentBlocks::Number(number)).is_none());
    }
    for number in [2, 5, 60] {
        let scores = latent(&drawn, 3.0, LatentBlocks::Number(number)).expect("it is asked for");
        assert_eq!(scores.n_latent, Some(u16::from(number)));
        assert!(scores.rows.iter().flatten().all(|(_, score)| score.is_finite()), "{number} blocks");
    }
}

/// Whatever the budget: no claims at all, and nodes that sent nothing.
#[test]
fn latent_blocks_of_extreme_inputs_are_finite() {
    let silent = LinkEvidence::from_rows(vec![Vec::new(); 9]).expect("valid");
    let some = drawn(60, 0.5, 2.0, 11);
    for epsilon in [1e-3, 1.0, 20.0, 700.0] {
        for (evidence, degrees) in
            [(&silent, vec![0.01; 9]), (&silent, vec![0.0; 9]), (&some.evidence, some.degrees.clone())]
        {
            for wanted in [LatentBlocks::Auto, LatentBlocks::Number(2), LatentBlocks::Number(9)] {
                let found = fit_latent_blocks(evidence, &degrees, &[0, 1], epsilon, wanted, &Progress::none());
                let is_finite = |scores: &PairScores| scores.rows.iter().flatten().all(|(_, score)| score.is_finite());
                assert!(found.as_ref().is_none_or(is_finite), "epsilon {epsilon}, {wanted:?}");
                assert!(found.is_none() || degrees.iter().sum::<f64>() > 0.0, "nobody has a link");
            }
        }
    }
}

/// The number of threads changes no bit.
#[test]
fn latent_blocks_are_the_same_on_any_number_of_threads() {
    let drawn = drawn(300, 0.8, 4.0, 3);
    let with_threads = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool");
        pool.install(|| latent(&drawn, 4.0, LatentBlocks::Auto)).expect("there are blocks")
    };
    let (one, four) = (with_threads(1), with_threads(4));
    assert_eq!((one.n_latent, one.homophily.to_bits()), (four.n_latent, four.homophily.to_bits()));
    assert_eq!(one.rows, four.rows);
}

/// Two groups of nodes in which everybody claims everybody lie on two sides of the first eigenvector, and its value is that
/// of the matrix written out.
#[test]
fn the_first_eigenvector_tells_two_groups() {
    let rows = (0..12_u32).map(|i| (i + 1..12).filter(|j| i / 6 == j / 6).map(|j| (j, 2)).collect());
    let evidence = LinkEvidence::from_rows(rows).expect("valid");
    let (similar, pairs, degrees) = (SimilarClaims::new(&evidence), DoubleClaimPairs::new(&evidence), vec![5.0; 12]);
    let alone = Learned::new(&degrees, &similar, 1);
    let ratios = ClaimRatios::new(3.0);
    let links = spectral::ExpectedLinks::new(&degrees, &alone, &similar, &pairs, ratios);
    let vectors = links.leading(2);
    assert!((0..12).all(|node| (vectors[2 * node] > 0.0) == ((vectors[0] > 0.0) == (node < 6))), "{vectors:?}");
    let product = |a: usize, b: usize| (0..12).map(|node| vectors[2 * node + a] * vectors[2 * node + b]).sum::<f64>();
    assert!((product(0, 0) - 1.0).abs() < 1e-9 && product(0, 1).abs() < 1e-9, "{} {}", product(0, 0), product(0, 1));
    let same = (0..12).all(|node| (vectors[2 * node].abs() - 1.0 / 12.0_f64.sqrt()).abs() < 1e-6);
    assert!(same, "all nodes have the same size: {vectors:?}");
}

/// `χ² Σ w⁴` written out for equal degrees `d`: `χ² d² / n`.
#[test]
fn the_threshold_of_blocks_is_that_of_equal_degrees() {
    let divergence = (2.0_f64.exp() - 1.0).powi(2) + (1.0 - (-2.0_f64).exp()).powi(2);
    let limit = divergence * 64.0;
    assert!(latent::are_tellable(&vec![8.0; limit as usize - 1], 2.0));
    assert!(!latent::are_tellable(&vec![8.0; limit as usize + 2], 2.0));
    assert!(!latent::are_tellable(&[0.0; 3], 2.0), "nobody has a link");
}
