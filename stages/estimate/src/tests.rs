use veilgraph_contract::{Progress, Randomness};
use veilgraph_posterior::Posterior;
use veilgraph_privacy::{Budget, DegreeNoise, ReportFacts};

use super::*;

fn facts(epsilon: f64, degree_fraction: f64) -> ReportFacts {
    let degree = degree_fraction * epsilon;
    ReportFacts {
        mechanism: "blink".to_owned(),
        epsilon,
        degree_fraction,
        budget: Budget { links: epsilon - degree, degree },
        degree_noise: DegreeNoise::DiscreteLaplace,
        randomness: Randomness::Seeded,
    }
}

/// Everybody sent a degree.
fn sent(facts: &ReportFacts, degrees: &[f64]) -> NoisyDegrees {
    NoisyDegrees::from_nodes(facts.clone(), &degrees.iter().copied().map(Some).collect::<Vec<_>>())
}

fn params() -> Params {
    Params {
        prior: Prior::BetaModel,
        degrees: Degrees::Clipped,
        solver: Solver::Newton,
        ridge: 0.0,
        missing_nodes: MissingNodes::Refuse,
    }
}

/// Skewed degrees of a sparse graph, many of them equal.
fn degrees(n: u32) -> Vec<f64> {
    (0..n).map(|i| (1.0 + 40.0 / (1.0 + f64::from(i % 97))).round()).collect()
}

fn expected_degrees(beta: &[f64]) -> Vec<f64> {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let sum = |i: usize| beta.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, b)| sigmoid(beta[i] + b)).sum();
    (0..beta.len()).map(sum).collect()
}

/// At the optimum the model expects of every node the degree it was given.
#[test]
fn newton_reproduces_the_degrees() {
    let extra: Vec<f64> = (0..400).map(|i| 1.0 + f64::from(i) * 0.37).collect();
    for given in [degrees(500), extra, vec![3.0; 8], vec![1.0, 2.0, 2.5, 1.5, 2.0]] {
        let fitted = fit(&given, Solver::Newton, 0.0, &Progress::none()).expect("a fit exists");
        assert!(fitted.iterations < 12, "{} steps", fitted.iterations);
        for (expected, given) in expected_degrees(&fitted.beta).iter().zip(&given) {
            assert!((expected / given - 1.0).abs() < 1e-9, "{expected} for {given}");
        }
    }
}

/// The parity mode is the textbook iteration, run densely.
#[test]
fn two_hundred_fixed_point_steps_equal_the_dense_ones() {
    let given: Vec<f64> = (0..400).map(|i| 1.0 + f64::from(i % 5) * 0.3).collect();
    let mut beta = vec![0.0_f64; given.len()];
    for _ in 0..200 {
        beta = (0..given.len())
            .map(|i| {
                let others = beta.iter().enumerate().filter(|&(j, _)| j != i);
                given[i].ln() - others.map(|(_, b)| 1.0 / ((-b).exp() + beta[i].exp())).sum::<f64>().ln()
            })
            .collect();
    }
    let fitted = fit(&given, Solver::FixedPoint200, 0.0, &Progress::none()).expect("always runs");
    for (fast, dense) in fitted.beta.iter().zip(&beta) {
        assert!((fast - dense).abs() < 1e-10, "{fast} {dense}");
    }
    assert!(fitted.residual > 1e-3, "the published iteration has not converged: {}", fitted.residual);
}

/// Ten nodes, two of degree 8 and eight of degree 1: inside the box, outside the polytope (specs, section 1).
#[test]
fn degrees_without_a_fit_are_refused_and_a_ridge_helps() {
    let given = [8.0, 8.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let error = fit(&given, Solver::Newton, 0.0, &Progress::none()).expect_err("no fit");
    assert!(matches!(error, FitError::NoFit(2, _)) && error.to_string().contains("ridge"), "{error}");
    assert!(fit(&given, Solver::Newton, 0.1, &Progress::none()).is_ok());
}

#[test]
fn claims_are_counted_per_pair() {
    let lists = vec![vec![1, 3], vec![0], vec![3], vec![0]];
    let evidence = pair_claims(NoisyLinks::from_lists(facts(1.0, 0.1), &lists).expect("valid")).expect("valid");
    assert_eq!(evidence.pairs().collect::<Vec<_>>(), [(0, 1, 2), (0, 3, 2), (2, 3, 1)]);
}

/// The closed form against Bayes' rule written out with likelihoods.
#[test]
fn the_posterior_is_bayes_rule() {
    let epsilon = 2.0;
    let lists = vec![vec![1, 2], vec![0, 3], vec![3], vec![1], vec![]];
    let links = NoisyLinks::from_lists(facts(epsilon, 0.1), &lists).expect("valid");
    let given = sent(&links.facts, &[2.2, 1.7, 1.1, -4.0, 90.0]);
    let rng = StageRng::new(0, "estimate", 0);
    let (model, evidence) =
        Estimate::run((links.clone(), given), &params(), &rng, &Progress::none()).expect("valid reports");
    assert_eq!(model.degrees, [2.2, 1.7, 1.1, 1.0, 3.0], "clipped to [1, n - 2]");
    let posterior = Posterior::new(&model, evidence).expect("same size");
    let flip = 1.0 / (1.0 + (0.9 * epsilon).exp());
    for i in 0..5_u32 {
        for j in i + 1..5 {
            let bits = [links.ones(i as usize).any(|one| one == j), links.ones(j as usize).any(|one| one == i)];
            let given_link: f64 = bits.iter().map(|&bit| if bit { 1.0 - flip } else { flip }).product();
            let given_none: f64 = bits.iter().map(|&bit| if bit { flip } else { 1.0 - flip }).product();
            let prior = 1.0 / (1.0 + (-(model.beta[i as usize] + model.beta[j as usize])).exp());
            let bayes = prior * given_link / (prior * given_link + (1.0 - prior) * given_none);
            assert!((posterior.probability(i, j) - bayes).abs() < 1e-12, "pair ({i}, {j})");
        }
    }
}

#[test]
fn without_degrees_the_prior_is_a_fair_coin() {
    let links = NoisyLinks::from_lists(facts(2.0, 0.0), &[vec![1], vec![0], vec![]]).expect("valid");
    let none = NoisyDegrees::none(links.facts.clone(), 3);
    let rng = StageRng::new(0, "estimate", 0);
    let (model, _) = Estimate::run((links, none), &params(), &rng, &Progress::none()).expect("valid");
    assert_eq!(model.beta, [0.0; 3]);
}

#[test]
fn reports_of_two_releases_are_refused() {
    let links = NoisyLinks::from_lists(facts(2.0, 0.1), &[vec![1], vec![0], vec![]]).expect("valid");
    let rng = StageRng::new(0, "estimate", 0);
    let other = sent(&facts(3.0, 0.1), &[1.0; 3]);
    let error = Estimate::run((links.clone(), other), &params(), &rng, &Progress::none()).expect_err("mismatch");
    assert!(error.to_string().contains("different releases"), "{error}");
    let fewer = sent(&facts(2.0, 0.1), &[1.0; 4]);
    let error = Estimate::run((links, fewer), &params(), &rng, &Progress::none()).expect_err("mismatch");
    assert!(error.to_string().contains("3 and 4 nodes"), "{error}");
}

/// Bayes' rule written out for nodes 3 and 4 missing: one bit tells of a pair with one of them, none of both.
#[test]
fn claims_about_missing_nodes_are_one_sided() {
    let epsilon: f64 = 2.0;
    let links = NoisyLinks::from_lists(facts(epsilon, 0.1), &[vec![1, 3], vec![0, 4], vec![3], vec![], vec![]]);
    let links = links.expect("valid");
    let given = NoisyDegrees::from_nodes(links.facts.clone(), &[Some(2.2), Some(1.7), Some(2.1), None, None]);
    let rng = StageRng::new(0, "estimate", 0);
    let refused =
        Estimate::run((links.clone(), given.clone()), &params(), &rng, &Progress::none()).expect_err("missing");
    assert!(refused.to_string().contains("node 3 sent no report (2 of 5") && refused.to_string().contains("one-sided"));

    let allowed = Params { missing_nodes: MissingNodes::OneSided, ..params() };
    let (model, evidence) =
        Estimate::run((links.clone(), given.clone()), &allowed, &rng, &Progress::none()).expect("allowed");
    assert!((model.degrees[3] - 2.0).abs() < 1e-12, "the mean of the others");
    let prior = fit(&model.degrees, Solver::Newton, 0.0, &Progress::none()).expect("a fit exists").beta;
    let posterior = Posterior::new(&model, evidence).expect("same size");
    let flip = 1.0 / (1.0 + (0.9 * epsilon).exp());
    let weight = |from: u32, to: u32| -> f64 {
        match (from < 3, links.ones(from as usize).any(|one| one == to)) {
            (false, _) => 0.0,
            (true, true) => ((1.0 - flip) / flip).ln(),
            (true, false) => (flip / (1.0 - flip)).ln(),
        }
    };
    for i in 0..5_u32 {
        for j in i + 1..5 {
            let logit = prior[i as usize] + prior[j as usize] + weight(i, j) + weight(j, i);
            let found = posterior.logit(i, j, posterior.evidence().claims(i, j));
            assert!((found - logit).abs() < 1e-9, "pair ({i}, {j}): {found} {logit}");
        }
    }
    let lists = [vec![1], vec![0], vec![], vec![0], vec![]];
    let talkative = NoisyLinks::from_lists(links.facts.clone(), &lists).expect("valid");
    let error = Estimate::run((talkative, given), &allowed, &rng, &Progress::none()).expect_err("mismatch");
    assert!(error.to_string().contains("node 3 reported links and no degree"), "{error}");
}
