use veilgraph_graph::{Features, SparseMatrix};

use super::*;

const N: usize = 300;
const N_GROUPS: usize = 6;

/// All pairs of nodes in six groups, each group with a coordinate of its own, as reported with 3 nats for each bit. Every
/// pair is linked with probability 0.02, times `factor` between the groups 0 and 1, 2 and 3, 4 and 5.
fn drawn(factor: f64, seed: u64) -> (Vec<Vec<ListedPair>>, Coordinates) {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_add(1);
        (mixed(state) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let flip = 1.0 / (1.0 + 3.0_f64.exp());
    let mut rows: Vec<Vec<ListedPair>> = Vec::new();
    for i in 0..N {
        let mut row = Vec::new();
        for j in i + 1..N {
            let theta = 0.02 * if are_attracted(i, j) { factor } else { 1.0 };
            let linked = uniform() < theta;
            let claims: u8 = (0..2).map(|_| u8::from(linked != (uniform() < flip))).sum();
            let less_one = (6.0 * (f64::from(claims) - 1.0)).exp_m1() as f32;
            row.push(ListedPair { partner: j as u32, theta: 0.02, less_one });
        }
        rows.push(row);
    }
    let one = |node: usize| -> [f32; RANK] { std::array::from_fn(|at| if at == node % N_GROUPS { 1.0 } else { 0.0 }) };
    (rows, Coordinates::from_values((0..N).map(one).collect()))
}

fn are_attracted(i: usize, j: usize) -> bool {
    let (a, b) = (i % N_GROUPS, j % N_GROUPS);
    a != b && a / 2 == b / 2
}

/// Returns the mean score of the pairs between groups that attract each other, less that of all other pairs.
fn contrast(learned: &LearnedScore) -> f64 {
    let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
    for i in 0..N {
        let score = learned.of_row(i);
        for j in i + 1..N {
            let side = usize::from(are_attracted(i, j));
            sums[side] += f64::from(score(j as u32));
            counts[side] += 1.0;
        }
    }
    sums[1] / counts[1] - sums[0] / counts[0]
}

/// About 1100 of the 7500 pairs are linked, so that the log odds have a standard deviation below 0.05, and the prior takes
/// off less than 0.1 of 2 nats. An error of half a nat is ten standard deviations.
#[test]
fn reports_tell_which_groups_attract_each_other() {
    for seed in [1, 2] {
        let (rows, coordinates) = drawn(2.0_f64.exp(), seed << 40);
        let learned = LearnedScore::learn(&rows, &coordinates).expect("held-out reports agree");
        let contrast = contrast(&learned);
        assert!((contrast - 2.0).abs() < 0.5, "{contrast}");
    }
}

/// An eighth of the pairs that say anything teaches the same. Of the three pairs of groups that attract each other, it has
/// about 400 pairs that nobody claims, so their sum is known to 5 %, and log odds have a standard deviation below 0.07. The
/// prior takes off less than 0.1, so an error of half a nat is more than five standard deviations (one false alarm in a
/// million seeds).
#[test]
fn a_part_of_the_pairs_teaches_the_same() {
    for seed in [1, 2] {
        let (rows, coordinates) = drawn(2.0_f64.exp(), seed << 40);
        let chosen = Chosen::new(&rows, 10_000);
        let learned = LearnedScore::learn_from(&chosen, &coordinates).expect("held-out reports agree");
        let contrast = contrast(&learned);
        assert!((contrast - 2.0).abs() < 0.5, "{contrast}");
    }
}

/// All stripes of both kinds: how many pairs were chosen, and as how many they count.
fn counts(chosen: &Chosen) -> (usize, f64) {
    let pairs = || chosen.learned_from.iter().chain(&chosen.held_out).flat_map(|stripe| &stripe.pairs);
    (pairs().count(), pairs().map(|pair| f64::from(pair.weight)).sum())
}

/// Pairs with one claim are never chosen. All others are, unless there are too many: then fewer are, those with larger
/// slopes rather, and they count as all. Some 900 pairs have two claims, and half of all slopes. The others, nearly 40,000
/// without a claim, are chosen with probability 1/8, so their number is 5,000 with a standard deviation below 70, and their
/// weights sum to all of them with one below 560. All bounds are more than five of these (one false alarm in a million
/// seeds).
#[test]
fn pairs_are_chosen_by_what_they_say() {
    let (rows, _) = drawn(1.0, 7 << 40);
    let telling = rows.iter().flatten().filter(|pair| pair.less_one != 0.0).count();
    assert!(telling < N * (N - 1) / 2, "some pairs have one claim");
    assert_eq!(counts(&Chosen::new(&rows, telling)), (telling, telling as f64));
    let (count, total) = counts(&Chosen::new(&rows, 10_000));
    assert!((5_000..7_000).contains(&count), "{count}");
    assert!((total - telling as f64).abs() < 3_000.0, "{total} for {telling}");
    let chosen = Chosen::new(&rows, 10_000);
    let twice: Vec<f32> = chosen
        .learned_from
        .iter()
        .flat_map(|stripe| &stripe.pairs)
        .filter(|chosen| chosen.pair.less_one > 0.0)
        .map(|chosen| chosen.weight)
        .collect();
    assert!(!twice.is_empty() && twice.iter().all(|&weight| weight == 1.0), "two claims say most");
    let held_out: usize = chosen.held_out.iter().map(|stripe| stripe.pairs.len()).sum();
    assert!((held_out as f64 / count as f64 - 0.2).abs() < 0.03, "a fifth is held out: {held_out} of {count}");
}

/// The product is compared with a sum over pairs in double precision.
#[test]
fn the_curvature_is_a_sum_of_squared_slopes() {
    let (rows, coordinates) = drawn(4.0, 5 << 40);
    let chosen = Chosen::new(&rows, 10_000);
    let fit = Fit { stripes: &chosen.learned_from, coordinates: &coordinates };
    let here = fit.likelihood(&[0.0; N_PARAMETERS]);
    let mut direction: Vec<f64> =
        (0..RANK * RANK).map(|index| ((index / RANK + index % RANK) as f64 * 0.7).sin()).collect();
    direction.push(0.5);
    let found = fit.curvature_times(&here.slopes, &direction);
    let mut expected: Vec<f64> = direction.iter().enumerate().map(|(index, at)| precision(index) * at).collect();
    for (stripe, slopes) in chosen.learned_from.iter().zip(&here.slopes) {
        for (i, numbers) in &stripe.rows {
            for number in numbers.clone() {
                let (chosen, slope) = (&stripe.pairs[number], f64::from(slopes[number]));
                let change = f64::from(chosen.pair.theta) * f64::from(chosen.pair.less_one);
                assert!((slope - change / (1.0 + change)).abs() < 1e-6, "the slope of ln(1 + θ R)");
                // The coordinates of a node are 0 but for that of its group.
                let (a, b) = (i % N_GROUPS, chosen.pair.partner as usize % N_GROUPS);
                let score = direction[a * RANK + b] + direction[RANK * RANK];
                let weight = f64::from(chosen.weight) * slope * slope * score;
                expected[a * RANK + b] += 0.5 * weight;
                expected[b * RANK + a] += 0.5 * weight;
                expected[RANK * RANK] += weight;
            }
        }
    }
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{found} {expected}");
    }
}

/// Bytes must not depend on the machine.
#[test]
fn any_number_of_threads_learns_the_same_bits() {
    let (rows, coordinates) = drawn(2.0_f64.exp(), 1 << 40);
    let learn = |threads: usize| -> Vec<u32> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        let learned = pool.install(|| LearnedScore::learn(&rows, &coordinates)).expect("held-out reports agree");
        (1..N).map(|j| learned.of_row(0)(j as u32).to_bits()).collect()
    };
    assert_eq!(learn(1), learn(3));
}

/// Where coordinates say nothing, no score is used, or a small one: each of the 21 pairs of groups has at least 20 links, so
/// log odds have a standard deviation below 0.3 each, and their mean over three of them one below 0.2; 0.8 is four of these
/// (one false alarm in 15,000).
#[test]
fn nothing_large_is_learned_from_coordinates_that_say_nothing() {
    let (rows, coordinates) = drawn(1.0, 3 << 40);
    if let Some(learned) = LearnedScore::learn(&rows, &coordinates) {
        let contrast = contrast(&learned);
        assert!(contrast.abs() < 0.8, "{contrast}");
    }
}

/// The gradient is compared with differences of the likelihood, at scores that are not 0. Scores and slopes have seven digits.
#[test]
fn the_gradient_is_that_of_the_likelihood() {
    let (rows, coordinates) = drawn(4.0, 5 << 40);
    let chosen = Chosen::new(&rows, N * N);
    let fit = Fit { stripes: &chosen.learned_from, coordinates: &coordinates };
    // A symmetric matrix.
    let entry = |a: usize, b: usize| 0.3 * ((a * b + a + b) as f64).sin();
    let mut at: Vec<f64> = (0..RANK * RANK).map(|index| entry(index / RANK, index % RANK)).collect();
    at.push(0.2);
    let gradient = fit.likelihood(&at).gradient;
    for changed in [vec![0], vec![1, RANK], vec![2 * RANK + 3, 3 * RANK + 2], vec![RANK * RANK]] {
        let moved = |by: f64| {
            let mut moved = at.clone();
            changed.iter().for_each(|&index| moved[index] += by);
            fit.likelihood(&moved).logarithm
        };
        let difference = (moved(0.01) - moved(-0.01)) / 0.02;
        let expected: f64 = changed.iter().map(|&index| gradient[index]).sum();
        assert!((difference - expected).abs() < 0.02 * (1.0 + expected.abs()), "{difference} {expected}");
    }
}

/// Two groups of nodes with no feature in common have orthogonal coordinates, and nodes with equal features have equal ones.
#[test]
fn coordinates_keep_the_products_of_features() {
    let rows = (0..20).map(|node| if node < 10 { vec![(0, 1.0), (1, 1.0)] } else { vec![(2, 1.0)] });
    let features = Features(SparseMatrix::from_rows(4, rows).expect("valid"));
    let coordinates = Coordinates::new(&features).expect("valid");
    let product =
        |a: usize, b: usize| -> f32 { coordinates.row(a).iter().zip(coordinates.row(b)).map(|(a, b)| a * b).sum() };
    for (a, b, expected) in [(0, 0, 1.0), (0, 9, 1.0), (0, 10, 0.0), (10, 19, 1.0)] {
        assert!((product(a, b) - expected).abs() < 1e-3, "({a}, {b}): {}", product(a, b));
    }
}
