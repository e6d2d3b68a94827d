use veilgraph_contract::{NoParams, Progress, Randomness};
use veilgraph_posterior::Posterior;
use veilgraph_privacy::{Budget, DegreeNoise, ReportFacts};

use super::*;
use crate::beta_model::{fit_posterior, with_smallest_ridge};
use crate::known_pairs::KnownPairs;
use crate::matching::{TypicalClaims, fit_with_typical};
use crate::newton::{Goal, Ridge};
use crate::similar_claims::SimilarClaims;

fn facts(epsilon: f64, degree_fraction: f64) -> ReportFacts {
    let degree = degree_fraction * epsilon;
    ReportFacts {
        mechanism: "blink".to_owned(),
        epsilon,
        epsilon_edge: 2.0 * epsilon,
        degree_fraction,
        budget: Budget { links: epsilon - degree, degree },
        degree_noise: DegreeNoise::DiscreteLaplace,
        randomness: Randomness::Seeded,
        nodes_from_links: false,
        lying_share: 0.0,
    }
}

/// Degrees as estimated, of which the true ones vary as much as their mean.
fn used(degrees: &[f64]) -> degrees::UsedDegrees {
    degrees::UsedDegrees { degrees: degrees.to_vec(), squared_variation: 1.0 }
}

/// Everybody sent a degree.
fn sent(facts: &ReportFacts, degrees: &[f64]) -> NoisyDegrees {
    NoisyDegrees::from_nodes(facts.clone(), &degrees.iter().copied().map(Some).collect::<Vec<_>>())
}

/// Pairs the reports and reads them.
fn estimate(links: NoisyLinks, degrees: NoisyDegrees, params: &Params) -> Result<(LinkModel, LinkEvidence), Error> {
    let rng = StageRng::new(0, "estimate", 0);
    let (evidence,) = PairReports::run((links, degrees.clone()), &NoParams {}, &rng, &Progress::none())?;
    EstimateWithBins::run((evidence, degrees, None), params, &rng, &Progress::none())
}

fn params() -> Params {
    Params {
        method: Method::Published,
        prior: Prior::BetaModel,
        degrees: Degrees::Clipped,
        match_degrees: false,
        triangles: false,
        learned_score: None,
        solver: Solver::Newton,
        ridge: 0.0,
        centred_ridge: None,
        missing_nodes: MissingNodes::Refuse,
        latent_blocks: LatentBlocks::Auto,
    }
}

/// Returns skewed degrees of a sparse graph, many of which are equal.
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

/// Ten nodes have two degrees of 8 and eight degrees of 1: these lie inside the box and outside the polytope.
#[test]
fn degrees_without_a_fit_are_refused_and_a_ridge_helps() {
    let given = [8.0, 8.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let error = fit(&given, Solver::Newton, 0.0, &Progress::none()).expect_err("no fit");
    assert!(matches!(error, FitError::NoFit(2, _)), "{error}");
    let said = Error::from(error).to_string();
    assert!(said.contains("the 2 largest ask for") && said.contains("set a larger [estimate] ridge"), "{said}");
    assert!(fit(&given, Solver::Newton, 0.1, &Progress::none()).is_ok());
    // The smallest penalty that fits is found, and none is used where a fit exists.
    let fit_to = |degrees: &[f64], ridge| fit(degrees, Solver::Newton, ridge, &Progress::none());
    let (fitted, ridge) = with_smallest_ridge(0.0, true, |ridge| fit_to(&given, ridge)).expect("fits somehow");
    assert!(ridge > 0.0 && fit_to(&given, ridge).expect("fits") == fitted);
    assert_eq!(with_smallest_ridge(0.0, true, |ridge| fit_to(&[2.0; 10], ridge)).expect("fits").1, 0.0);
    assert!(with_smallest_ridge(0.0, false, |ridge| fit_to(&given, ridge)).is_err(), "none was allowed");
}

#[test]
fn claims_are_counted_per_pair() {
    let lists = vec![vec![1, 3], vec![0], vec![3], vec![0]];
    let evidence = pair_claims(NoisyLinks::from_lists(facts(1.0, 0.1), &lists).expect("valid")).expect("valid");
    let claims: Vec<_> = evidence.pairs().map(|(i, j, known)| (i, j, known.claims)).collect();
    assert_eq!(claims, [(0, 1, 2), (0, 3, 2), (2, 3, 1)]);
}

/// The closed form equals Bayes' rule written out with likelihoods.
#[test]
fn the_posterior_is_bayes_rule() {
    let epsilon = 2.0;
    let lists = vec![vec![1, 2], vec![0, 3], vec![3], vec![1], vec![]];
    let links = NoisyLinks::from_lists(facts(epsilon, 0.1), &lists).expect("valid");
    let given = sent(&links.facts, &[2.2, 1.7, 1.1, -4.0, 90.0]);
    let (model, evidence) = estimate(links.clone(), given, &params()).expect("valid reports");
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
    let (model, _) = estimate(links, none, &params()).expect("valid");
    assert_eq!(model.beta, [0.0; 3]);
}

#[test]
fn reports_of_two_releases_are_refused() {
    let links = NoisyLinks::from_lists(facts(2.0, 0.1), &[vec![1], vec![0], vec![]]).expect("valid");
    let other = sent(&facts(3.0, 0.1), &[1.0; 3]);
    let error = estimate(links.clone(), other, &params()).expect_err("mismatch");
    assert!(error.to_string().contains("different releases"), "{error}");
    let fewer = sent(&facts(2.0, 0.1), &[1.0; 4]);
    let error = estimate(links, fewer, &params()).expect_err("mismatch");
    assert!(error.to_string().contains("3 and 4 nodes"), "{error}");
}

/// The posterior equals Bayes' rule written out for nodes 3 and 4 missing: a pair with one of them has one bit, and the
/// pair of both has none.
#[test]
fn claims_about_missing_nodes_are_one_sided() {
    let epsilon: f64 = 2.0;
    let links = NoisyLinks::from_lists(facts(epsilon, 0.1), &[vec![1, 3], vec![0, 4], vec![3], vec![], vec![]]);
    let links = links.expect("valid");
    let given = NoisyDegrees::from_nodes(links.facts.clone(), &[Some(2.2), Some(1.7), Some(2.1), None, None]);
    let refused = estimate(links.clone(), given.clone(), &params()).expect_err("missing");
    assert!(refused.to_string().contains("node 3 sent no report (2 of 5") && refused.to_string().contains("one-sided"));

    let allowed = Params { missing_nodes: MissingNodes::OneSided, ..params() };
    let (model, evidence) = estimate(links.clone(), given.clone(), &allowed).expect("allowed");
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
            let found = posterior.logit(i, j, posterior.evidence().known(i, j));
            assert!((found - logit).abs() < 1e-9, "pair ({i}, {j}): {found} {logit}");
        }
    }
    let lists = [vec![1], vec![0], vec![], vec![0], vec![]];
    let talkative = NoisyLinks::from_lists(links.facts.clone(), &lists).expect("valid");
    let error = estimate(talkative, given, &allowed).expect_err("mismatch");
    assert!(error.to_string().contains("node 3 reported links and no degree"), "{error}");
}

/// Returns a fixed sequence of numbers in [0, 1).
fn uniform() -> impl FnMut() -> f64 {
    let mut state = 88_172_645_463_325_252_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Returns the claims about a small graph at this budget, and its degrees.
fn noisy_evidence(n: u32, epsilon: f64) -> (LinkEvidence, Vec<f64>) {
    let mut uniform = uniform();
    let flip = 1.0 / (1.0 + epsilon.exp());
    let mut degrees = vec![0.0; n as usize];
    let mut rows = vec![Vec::new(); n as usize];
    for i in 0..n {
        for j in i + 1..n {
            let linked = uniform() < 8.0 / f64::from(1 + i) / f64::from(1 + j % 50);
            let claims: u8 = (0..2).map(|_| u8::from(linked != (uniform() < flip))).sum();
            if linked {
                degrees[i as usize] += 1.0;
                degrees[j as usize] += 1.0;
            }
            if claims > 0 {
                rows[i as usize].push((j, claims));
            }
        }
    }
    (LinkEvidence::from_rows(rows).expect("valid"), degrees)
}

/// Every node's posterior probabilities sum to its degree, summed densely.
#[test]
fn matching_gives_the_degrees_to_the_posterior() {
    for epsilon in [0.3, 1.0, 3.0, 7.0] {
        let (evidence, truth) = noisy_evidence(250, epsilon);
        let degrees: Vec<f64> = truth.iter().map(|degree| degree + 0.4).collect();
        let similar = (0..250_u32).map(|i| (i + 1..250).step_by(7).map(|j| (j, 1 + (j % 2) as u8)).collect());
        let similar = SimilarPairs::from_rows(2, similar).expect("valid");
        let evidence = evidence.with_similar(similar).expect("same size");
        let bin_logits = vec![-0.6, 2.2];
        let claims = SimilarClaims::new(&evidence);
        let known = KnownPairs::posterior(&claims, epsilon, &bin_logits);
        let prior = fit(&degrees, Solver::Newton, 0.0, &Progress::none()).expect("a fit exists").beta;
        let fitted = fit_posterior(&degrees, prior, &known, Ridge::default(), Goal::EXACT, &Progress::none())
            .unwrap_or_else(|error| panic!("epsilon {epsilon}: {error}"));
        let model = LinkModel {
            degrees: degrees.clone(),
            beta: fitted.beta,
            epsilon_links: epsilon,
            bin_logits,
            ..LinkModel::default()
        };
        let posterior = Posterior::new(&model, evidence).expect("same size");
        for i in 0..250 {
            let sum: f64 = (0..250).filter(|&j| j != i).map(|j| posterior.probability(i, j)).sum();
            let expected = degrees[i as usize];
            assert!((sum / expected - 1.0).abs() < 1e-4, "epsilon {epsilon}, node {i}: {sum} for {expected}");
        }
    }
}

/// Matching by typical claims finds the parameters that Newton's method finds on the claims themselves, with one-sided,
/// listed and counted double claims.
#[test]
fn typical_claims_lead_to_the_same_parameters() {
    let goal = Goal { residual: 1e-7, most_steps: 100 };
    for epsilon in [0.5, 1.5, 3.0] {
        let (evidence, truth) = noisy_evidence(600, epsilon);
        let degrees: Vec<f64> = truth.iter().map(|degree| degree + 0.4).collect();
        let similar = (0..600_u32).map(|i| (i + 1..600).step_by(9).map(|j| (j, 1 + (j % 2) as u8)).collect());
        let similar = SimilarPairs::from_rows(2, similar).expect("valid");
        let evidence = evidence.with_similar(similar).expect("same size");
        for evidence in [evidence.clone(), evidence.into_planes()] {
            let (bin_logits, ridge) = ([-0.6, 2.2], Ridge { to_mean: 1.0, ..Ridge::default() });
            let similar = SimilarClaims::new(&evidence);
            let known = KnownPairs::posterior(&similar, epsilon, &bin_logits);
            let start = fit(&degrees, Solver::Newton, 0.0, &Progress::none()).expect("a fit exists").beta;
            let slow = fit_posterior(&degrees, start.clone(), &known, ridge, goal, &Progress::none());
            let slow = slow.expect("a fit exists").beta;
            for (most_listed, residual) in [(0, 1e-7), (usize::MAX, 1e-7), (usize::MAX, 1e-2)] {
                let goal = Goal { residual, ..goal };
                let claims = TypicalClaims::counted(&similar, most_listed);
                let typical = claims.known(epsilon, &bin_logits);
                let fitted =
                    fit_with_typical(&degrees, start.clone(), &known, &typical, ridge, goal, &Progress::none())
                        .expect("a fit exists");
                assert!(fitted.residual <= goal.residual, "ε {epsilon}: {}", fitted.residual);
                let farthest = fitted.beta.iter().zip(&slow).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(farthest < 100.0 * residual, "ε {epsilon}, listed {most_listed}: {farthest}");
            }
        }
    }
}

/// A penalty towards the mean keeps the sum of all degrees, and makes links likelier at nodes whose degrees are given as
/// nearly 0 than these degrees allow.
#[test]
fn a_centred_ridge_keeps_the_sum_of_degrees() {
    let (evidence, truth) = noisy_evidence(250, 2.0);
    let mut degrees: Vec<f64> = truth.iter().map(|degree| degree + 0.4).collect();
    degrees[7] = 0.01;
    let claims = SimilarClaims::new(&evidence);
    let known = KnownPairs::posterior(&claims, 2.0, &[]);
    let prior = fit(&degrees, Solver::Newton, 0.0, &Progress::none()).expect("a fit exists").beta;
    let sums = |ridge: Ridge| -> Vec<f64> {
        let beta = fit_posterior(&degrees, prior.clone(), &known, ridge, Goal::EXACT, &Progress::none());
        let beta = beta.expect("a fit exists").beta;
        let model = LinkModel { degrees: degrees.clone(), beta, epsilon_links: 2.0, ..LinkModel::default() };
        let posterior = Posterior::new(&model, evidence.clone()).expect("same size");
        (0..250).map(|i| (0..250).filter(|&j| j != i).map(|j| posterior.probability(i, j)).sum()).collect()
    };
    let (exact, drawn) = (sums(Ridge::default()), sums(Ridge { to_mean: 1.0, ..Ridge::default() }));
    let total = |sums: &[f64]| sums.iter().sum::<f64>();
    assert!((total(&drawn) / total(&degrees) - 1.0).abs() < 1e-4, "{} for {}", total(&drawn), total(&degrees));
    assert!((exact[7] - 0.01).abs() < 1e-4 && drawn[7] > 0.1, "{} {}", exact[7], drawn[7]);
}

/// The parameters of nodes that sent nothing make up for the bits that their pairs lack, and a penalty towards the mean is not about
/// that part: it would take the links of these nodes away.
#[test]
fn a_centred_ridge_leaves_missing_nodes_their_links() {
    let (n, epsilon) = (250_u32, 4.0_f64);
    let (complete, truth) = noisy_evidence(n, epsilon);
    let is_missing = |node: u32| node.is_multiple_of(10);
    // One claim of two is that of the other end; a pair of two missing nodes has none.
    let claims_of = |i: u32, j: u32| {
        let both = complete.known(i, j).claims;
        match (is_missing(i), is_missing(j)) {
            (false, false) => both,
            (true, true) => 0,
            _ if both == 1 => u8::from((i + j).is_multiple_of(2)),
            _ => both / 2,
        }
    };
    let row = |i: u32| (i + 1..n).map(|j| (j, claims_of(i, j))).filter(|(_, claims)| *claims > 0).collect::<Vec<_>>();
    let evidence = LinkEvidence::from_rows((0..n).map(row)).expect("valid");
    let degrees: Vec<f64> = truth.iter().map(|degree| degree + 0.4).collect();
    let offsets: Vec<f64> = (0..n).map(|node| if is_missing(node) { epsilon } else { 0.0 }).collect();
    let similar = SimilarClaims::new(&evidence);
    let known = KnownPairs::posterior(&similar, epsilon, &[]);
    let prior = fit(&degrees, Solver::Newton, 0.0, &Progress::none()).expect("a fit exists").beta;
    let kept = |offsets: &[f64]| {
        let ridge = Ridge { to_mean: 1.0, offsets, ..Ridge::default() };
        let fitted = fit_posterior(&degrees, prior.clone(), &known, ridge, Goal::EXACT, &Progress::none());
        let beta = fitted.expect("a fit exists").beta;
        let model = LinkModel { degrees: degrees.clone(), beta, epsilon_links: epsilon, ..LinkModel::default() };
        let posterior = Posterior::new(&model, evidence.clone()).expect("same size");
        let missing = || (0..n).filter(|&node| is_missing(node));
        let of_others = |i: u32| (0..n).filter(|&j| j != i).map(|j| posterior.probability(i, j)).sum::<f64>();
        missing().map(of_others).sum::<f64>() / missing().map(|node| degrees[node as usize]).sum::<f64>()
    };
    let (with, without) = (kept(&offsets), kept(&[]));
    assert!((with - 1.0).abs() < 0.15 && without < with - 0.1, "{with} {without}");
}

/// Bits that are nearly without noise say that all nodes are linked, and matching to degrees does not deny it.
#[test]
fn a_node_may_be_linked_to_all_others() {
    for n in [3_u32, 40] {
        let all = |i: u32| (0..n).filter(|&j| j != i).collect::<Vec<u32>>();
        let lists: Vec<Vec<u32>> = (0..n).map(all).collect();
        let links = NoisyLinks::from_lists(facts(20.0, 0.0), &lists).expect("valid");
        let unsent = NoisyDegrees::none(links.facts.clone(), n as usize);
        let params = toml::from_str("method = \"best\"").expect("valid");
        let (model, evidence) = estimate(links, unsent, &params).expect("a fit exists");
        let posterior = Posterior::new(&model, evidence).expect("same size");
        let least = posterior.probability(0, 1).min(posterior.probability(1, 2));
        assert!(least > 1.0 - 1e-3, "{n} nodes: {least}");
    }
}

/// Without a degree the bits tell it; the mean error is then that of the bits (3.7 links at 3 nats, n = 250)
/// or less, since the distribution of degrees is learned.
#[test]
fn bits_alone_tell_the_degrees() {
    let (evidence, truth) = noisy_evidence(250, 3.0);
    let unsent = NoisyDegrees::none(facts(3.0, 0.0), 250);
    let found = degrees::used(&unsent, &evidence, Degrees::EmpiricalBayesBits).degrees;
    let squares: f64 = found.iter().zip(&truth).map(|(found, truth)| (found - truth).powi(2)).sum();
    let flip = 1.0 / (1.0 + 3.0_f64.exp());
    let spread = (250.0 * flip * flip + 2.0 * flip * 5.0).sqrt() / (1.0 - 2.0 * flip);
    assert!((squares / 250.0).sqrt() < spread, "{} {spread}", (squares / 250.0).sqrt());
    let sums: [f64; 2] = [&found, &truth].map(|degrees| degrees.iter().sum());
    assert!((sums[0] / sums[1] - 1.0).abs() < 0.05, "{sums:?}");
}

#[test]
fn matching_nothing_is_refused() {
    let links = NoisyLinks::from_lists(facts(2.0, 0.0), &[vec![1], vec![0], vec![]]).expect("valid");
    let unsent = NoisyDegrees::none(links.facts.clone(), 3);
    let params = Params { match_degrees: true, ..params() };
    let error = estimate(links, unsent, &params);
    assert!(matches!(error, Err(Error::NothingToMatch)));
}

/// Pairs of bin 1 are linked thirty times as often as the others; their log odds are found within a third of a nat:
/// 250 nodes have some 400 such links, so the standard error is below 0.1 at 3 nats and 0.15 at 2.
#[test]
fn log_odds_of_a_bin_are_learned_from_the_reports() {
    let n = 250_u32;
    for epsilon in [2.0, 3.0] {
        let is_alike = |i: u32, j: u32| (i + j).is_multiple_of(10);
        let mut uniform = uniform();
        let flip = 1.0 / (1.0 + f64::exp(epsilon));
        let (mut rows, mut degrees) = (vec![Vec::new(); n as usize], vec![0.0; n as usize]);
        for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
            let linked = uniform() < if is_alike(i, j) { 0.13 } else { 0.13 / 26.0 };
            let claims: u8 = (0..2).map(|_| u8::from(linked != (uniform() < flip))).sum();
            degrees[i as usize] += f64::from(u8::from(linked));
            degrees[j as usize] += f64::from(u8::from(linked));
            rows[i as usize].extend(Some((j, claims)).filter(|pair| pair.1 > 0));
        }
        let similar = (0..n).map(|i| (i + 1..n).filter(|&j| is_alike(i, j)).map(|j| (j, 1)).collect());
        let similar = SimilarPairs::from_rows(1, similar).expect("valid");
        let evidence = LinkEvidence::from_rows(rows).expect("valid").with_similar(similar).expect("same size");
        let degrees: Vec<f64> = degrees.into_iter().map(|degree: f64| degree.max(0.5)).collect();
        let params = Params { prior: Prior::BetaModelFeatures, match_degrees: true, ..params() };
        let (model, _) = belief::believe(
            &used(&degrees),
            evidence,
            Bins::Learned,
            Budget { links: epsilon, degree: 0.0 },
            &[],
            &params,
            &Progress::none(),
        )
        .expect("a fit exists");
        let truth = libm::log(0.13 / 0.87) - libm::log((0.13 / 26.0) / (1.0 - 0.13 / 26.0));
        assert!((model.bin_logits[0] - truth).abs() < 0.35, "epsilon {epsilon}: {:?} for {truth}", model.bin_logits);
    }
}

/// The listed pairs are those with the largest `Σ_k P_ik P_kj / d_k`, summed densely over the likely links.
#[test]
fn common_neighbours_are_those_of_a_dense_product() {
    let n = 250_usize;
    let (evidence, degrees) = noisy_evidence(n as u32, 3.0);
    let degrees: Vec<f64> = degrees.iter().map(|degree| degree + 0.4).collect();
    let similar = (0..n as u32).map(|i| (i + 1..n as u32).step_by(31).map(|j| (j, 1 + (j % 2) as u8)).collect());
    let evidence = evidence.with_similar(SimilarPairs::from_rows(2, similar).expect("valid")).expect("same size");
    let params = Params { match_degrees: true, ..params() };
    let (model, evidence) = belief::believe(
        &used(&degrees),
        evidence,
        Bins::Learned,
        Budget { links: 3.0, degree: 0.0 },
        &[],
        &params,
        &Progress::none(),
    )
    .expect("a fit exists");
    let posterior = Posterior::new(&model, evidence).expect("same size");
    let mut links = vec![0.0; n * n];
    for (i, j, probability) in posterior.most_likely(3.0) {
        links[i as usize * n + j as usize] = f64::from(probability);
        links[j as usize * n + i as usize] = f64::from(probability);
    }
    let index =
        |i: usize, j: usize| -> f64 { (0..n).map(|k| links[i * n + k] * links[k * n + j] / degrees[k].max(0.5)).sum() };
    let crossed = triangles::cross(&posterior, &degrees, 0.05, usize::MAX).expect("bins fit");
    let mut range = vec![(f64::INFINITY, 0.0_f64); 9];
    for i in 0..n {
        for j in i + 1..n {
            let code = crossed.pairs.bin(i, j as u32);
            let in_no_bin = triangles::CrossedBin { features: 0, neighbours: 0 };
            let bin = code.checked_sub(1).map_or(in_no_bin, |code| crossed.bins[usize::from(code)]);
            assert_eq!(bin.features, posterior.evidence().similar().bin(i, j as u32), "features of ({i}, {j})");
            let (least, most) = &mut range[usize::from(bin.neighbours)];
            (*least, *most) = (least.min(index(i, j)), most.max(index(i, j)));
        }
    }
    let used: Vec<_> = range.into_iter().filter(|bin| bin.0.is_finite()).collect();
    assert!(used.len() > 3, "{used:?}");
    // A cell, an interval of the index, is a sixteenth of a factor of two wide, so bins may overlap by that much.
    assert!(used.windows(2).all(|bins| bins[0].1 <= bins[1].0 * 1.05 + 1e-12), "bins ascend: {used:?}");
}

#[test]
fn a_method_is_a_choice_of_everything_that_is_not_said() {
    let parse = |text: &str| toml::from_str::<Params>(text).expect("valid");
    let best = parse("method = \"best\"");
    assert_eq!(parse(""), best);
    let said = "method = \"published\"\nprior = \"blocks\"\ndegrees = \"empirical-bayes+bits\"\nmatch = true\ntriangles = true";
    assert_eq!(best, Params { method: Method::Best, ..parse(said) }, "the method stands for the rest");
    assert_eq!(parse("method = \"best\"\ntriangles = false"), Params { triangles: false, ..best.clone() });
    assert_eq!(parse("match = false"), Params { match_degrees: false, triangles: false, ..best });
    assert_eq!(parse("method = \"published\""), params());
}

#[test]
fn a_score_is_learned_where_the_prior_has_blocks() {
    let parse = |text: &str| toml::from_str::<Params>(text).expect("valid");
    let blocks = "prior = \"blocks\"\n";
    for (text, learns) in
        [("", true), ("method = \"published\"\n", false), ("prior = \"beta-model+features\"\n", false)]
    {
        let asked_for = parse(&format!("{text}learned_score = true")).check();
        assert_eq!(parse(text).learns_score(), learns, "{text}");
        assert_eq!(asked_for.is_ok(), learns, "{text}: {asked_for:?}");
        assert!(parse(&format!("{text}learned_score = false")).check().is_ok(), "{text}");
    }
    assert!(parse(&format!("method = \"published\"\n{blocks}")).learns_score());
    assert!(!parse(&format!("{blocks}learned_score = false")).learns_score());
}

#[test]
fn triangles_without_matching_are_refused() {
    let links = NoisyLinks::from_lists(facts(2.0, 0.0), &[vec![1], vec![0], vec![]]).expect("valid");
    let unsent = NoisyDegrees::none(links.facts.clone(), 3);
    let params = Params { triangles: true, degrees: Degrees::EmpiricalBayesBits, ..params() };
    let error = estimate(links, unsent, &params);
    assert!(matches!(error, Err(Error::TrianglesUnmatched)));
}

/// A number of blocks is a whole number or chosen; nonsense, blocks that nothing reads and more blocks than nodes are named.
#[test]
fn impossible_latent_blocks_are_refused() {
    let parse = |text: &str| toml::from_str::<Params>(text);
    assert_eq!(parse("").expect("valid").latent_blocks, LatentBlocks::Auto);
    assert_eq!(parse("latent_blocks = \"auto\"").expect("valid").latent_blocks, LatentBlocks::Auto);
    assert_eq!(parse("latent_blocks = 12").expect("valid").latent_blocks, LatentBlocks::Number(12));
    for text in ["\"many\"", "-1", "2.5", "65536"] {
        let error = parse(&format!("latent_blocks = {text}")).expect_err(text);
        assert!(error.to_string().contains("whole number from 0 to 255"), "{text}: {error}");
    }
    let error = parse("method = \"published\"\nlatent_blocks = 4").expect("a table").check().expect_err("unread");
    assert!(error.to_string().contains("set [estimate] prior = \"blocks\""), "{error}");
    let links = NoisyLinks::from_lists(facts(2.0, 0.0), &[vec![1], vec![0], vec![]]).expect("valid");
    let unsent = NoisyDegrees::none(links.facts.clone(), 3);
    let error = estimate(links, unsent, &parse("latent_blocks = 4").expect("valid")).expect_err("too many");
    assert!(error.to_string().contains("latent_blocks = 4 is more than the graph's 3 nodes"), "{error}");
}
