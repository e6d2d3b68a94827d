use veilgraph_privacy::{DegreeNoise, NoisyDegrees, NoisyLinks};

use super::*;
use crate::links::blink::{Blink, Params};
use crate::tests::{nats, ring, run, share};

const N_NODES: usize = 600;
/// The parts of the budgets, half for the list and half for the degree, from the largest on.
const PARTS: [f64; 3] = [3.0, 1.5, 0.5];

/// Reports with this budget for the list and for the degree, below all larger ones of [`PARTS`].
fn reports(part: f64, degree_noise: DegreeNoise) -> (NoisyLinks, NoisyDegrees) {
    let larger = PARTS.into_iter().filter(|&other| other > part);
    let params = Params {
        epsilon: nats(2.0 * part),
        degree_fraction: share(0.5),
        degree_noise,
        missing_share: 0.0,
        lying_share: 0.0,
        lie: None,
        nested: Nested::Below(larger.map(|part| LargerBudget { links: part, degree: part }).collect()),
    };
    let (links, degrees) = run::<Blink>(&ring(N_NODES as u32), &params, 5).expect("valid");
    (links.collect().expect("valid reports"), degrees)
}

/// The bits that were flipped, as pairs of a node and another.
fn flipped(links: &NoisyLinks) -> Vec<(u32, u32)> {
    let graph = ring(N_NODES as u32);
    let of = |node: u32| {
        let sent: Vec<u32> = links.ones(node as usize).collect();
        let truth = graph.neighbours(node as usize).to_vec();
        let differs = move |other: &u32| sent.contains(other) != truth.contains(other);
        (0..N_NODES as u32).filter(differs).map(move |other| (node, other))
    };
    (0..N_NODES as u32).flat_map(of).collect()
}

/// Whether `count` of `n` events with this probability lie within five standard deviations: one false alarm in 1.7
/// million.
fn is_likely(count: usize, n: usize, probability: f64) -> bool {
    let (mean, variance) = (n as f64 * probability, n as f64 * probability * (1.0 - probability));
    (count as f64 - mean).abs() <= 5.0 * variance.sqrt()
}

/// Three budgets and two steps between them, at five standard deviations each.
#[test]
fn a_list_has_the_law_of_its_budget_and_keeps_most_flips_of_the_one_before() {
    let flips = PARTS.map(|part| flipped(&reports(part, DegreeNoise::DiscreteLaplace).0));
    for (part, flips) in PARTS.into_iter().zip(&flips) {
        let (n_bits, p) = (N_NODES * (N_NODES - 1), flip_probability(part));
        assert!(is_likely(flips.len(), n_bits, p), "{part}: {} of {n_bits} bits, {p}", flips.len());
    }
    for step in 0..2 {
        let (above, below) = (&flips[step], &flips[step + 1]);
        let kept = above.iter().filter(|flip| below.binary_search(flip).is_ok()).count();
        let stays = 1.0 - further_flip(PARTS[step], PARTS[step + 1]);
        assert!(is_likely(kept, above.len(), stays), "{}: {kept} of {}, {stays}", PARTS[step], above.len());
    }
}

/// The first two masses of each law, and how often a degree is that of the larger budget.
#[test]
fn a_degree_has_the_law_of_its_budget_and_often_that_of_the_one_before() {
    let noise = PARTS.map(|part| -> Vec<f64> {
        reports(part, DegreeNoise::DiscreteLaplace).1.degrees.iter().map(|degree| degree - 2.0).collect()
    });
    let mass = |part: f64, at: i32| {
        let alpha = libm::exp(-part);
        (1.0 - alpha) / (1.0 + alpha) * alpha.powi(at)
    };
    for (part, noise) in PARTS.into_iter().zip(&noise) {
        for at in 0..2 {
            let sides = if at == 0 { 1.0 } else { 2.0 };
            let count = noise.iter().filter(|noise| noise.abs() == f64::from(at)).count();
            assert!(is_likely(count, N_NODES, sides * mass(part, at)), "{part}, {at}: {count} of {N_NODES}");
        }
    }
    let at = |part: f64| CountNoise::new(part, DegreeNoise::DiscreteLaplace, 1).expect("a noise");
    for step in 0..2 {
        let same = noise[step].iter().zip(&noise[step + 1]).filter(|(above, below)| above == below).count();
        let nothing = share_of_nothing(at(PARTS[step]), at(PARTS[step + 1]));
        let expected = nothing + (1.0 - nothing) * mass(PARTS[step + 1], 0);
        assert!(is_likely(same, N_NODES, expected), "{}: {same} of {N_NODES}, {expected}", PARTS[step]);
    }
}

/// The mean size of continuous noise is one over its budget, and so is its standard deviation.
#[test]
fn continuous_noise_has_the_law_of_its_budget() {
    for part in PARTS {
        let degrees = reports(part, DegreeNoise::Laplace).1.degrees;
        let mean = degrees.iter().map(|degree| (degree - 2.0).abs()).sum::<f64>() / N_NODES as f64;
        let deviation = 1.0 / part / (N_NODES as f64).sqrt();
        assert!((mean - 1.0 / part).abs() < 5.0 * deviation, "{part}: {mean}");
    }
}

/// `x(α) = α / (1 − α)²` is `1 / (2 sinh(ε / 2))²`, and a step between equal budgets adds nothing.
#[test]
fn the_share_of_nothing_is_a_quotient_of_laws() {
    let at = |part: f64| CountNoise::new(part, DegreeNoise::DiscreteLaplace, 1).expect("a noise");
    let x = |alpha: f64| alpha / (1.0 - alpha).powi(2);
    let expected = x((-2.0_f64).exp()) / x((-0.5_f64).exp());
    assert!((share_of_nothing(at(2.0), at(0.5)) - expected).abs() < 1e-9, "{expected}");
    assert_eq!(share_of_nothing(at(1.0), at(1.0)), 1.0);
    assert!(share_of_nothing(at(2000.0), at(1.0)) < 1e-300, "no overflow");
    assert!((further_flip(f64::INFINITY, 1.0) - flip_probability(1.0)).abs() < 1e-15);
}

#[test]
fn the_largest_budget_is_drawn_as_if_alone() {
    let alone = Params {
        epsilon: nats(2.0 * PARTS[0]),
        degree_fraction: share(0.5),
        degree_noise: DegreeNoise::DiscreteLaplace,
        missing_share: 0.0,
        lying_share: 0.0,
        lie: None,
        nested: Nested::default(),
    };
    let (links, degrees) = run::<Blink>(&ring(N_NODES as u32), &alone, 5).expect("valid");
    let nested = reports(PARTS[0], DegreeNoise::DiscreteLaplace);
    assert_eq!((links.collect().expect("valid reports"), degrees), nested);
    assert_eq!(Nested::Below(Vec::new()).of_lists(1.0), Vec::<f64>::new());
}

/// What a config says, and what a plan makes of it.
#[test]
fn parameters_are_read_as_they_are_written() {
    let larger =
        Nested::Below(vec![LargerBudget { links: 2.0, degree: 0.5 }, LargerBudget { links: 1.0, degree: 0.5 }]);
    for nested in [Nested::Wanted(true), larger.clone()] {
        let text = serde_json::to_string(&nested).expect("JSON");
        assert_eq!(serde_json::from_str::<Nested>(&text).expect("valid"), nested, "{text}");
    }
    assert_eq!(
        (larger.of_lists(0.5), larger.of_lists(1.0), larger.of_degrees(0.1)),
        (vec![2.0, 1.0], vec![2.0], vec![0.5])
    );
}
