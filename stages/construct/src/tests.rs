use proptest::prelude::*;
use veilgraph_contract::{Artifact, NoParams, Progress, Randomness, Stage, StageRng, Stored};
use veilgraph_graph::{BitMatrix, Construction, Links, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior};
use veilgraph_privacy::randomized_response::{RandomizedResponse, flip_probability};
use veilgraph_privacy::{
    Budget, DegreeNoise, Groups, NoisyCounts, NoisyDegrees, NoisyEntries, NoisyLinks, ReportFacts,
};

use super::*;

fn listed(graph: &WeightedGraph) -> Vec<(u32, u32, f32)> {
    graph.links().collect()
}

fn build(model: &LinkModel, evidence: &LinkEvidence, variant: Variant) -> Vec<(u32, u32, f32)> {
    build_more(model, evidence, variant, 1.0)
}

fn build_more(
    model: &LinkModel,
    evidence: &LinkEvidence,
    variant: Variant,
    edge_multiple: f64,
) -> Vec<(u32, u32, f32)> {
    let rng = StageRng::new(0, "construct", 0);
    let inputs = (model.clone(), Stored::held(evidence.clone()));
    let params = Params { variant, edge_multiple };
    listed(&Construct::run(inputs, &params, &rng, &Progress::none()).expect("valid").0)
}

/// The reference's dense code: all n² entries, k-th largest, ties kept.
fn dense(posterior: &Posterior, variant: Variant, multiple: f64) -> Vec<(u32, u32, f32)> {
    let n = posterior.n_nodes() as u32;
    let mut all = Vec::new();
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            all.push((i, j, posterior.probability(i, j)));
        }
    }
    let least = if variant == Variant::Hard {
        0.5
    } else {
        let mut entries: Vec<f64> = all.iter().map(|entry| entry.2).collect();
        let k = ((entries.iter().sum::<f64>() * multiple).floor() as usize).min(entries.len());
        entries.sort_by(|a, b| b.total_cmp(a));
        if k == 0 { f64::INFINITY } else { entries[k - 1] }
    };
    let upper = all.into_iter().filter(|&(i, j, _)| i < j);
    match variant {
        Variant::Hard => upper.filter(|entry| entry.2 > least).map(|(i, j, _)| (i, j, 1.0)).collect(),
        _ => upper.filter(|entry| entry.2 >= least).map(|(i, j, p)| (i, j, p as f32)).collect(),
    }
}

/// The same evidence in planes of bits.
fn planes(evidence: &LinkEvidence) -> LinkEvidence {
    let n = evidence.n_nodes();
    LinkEvidence::from_reports(BitMatrix::from_rows(n, |i, row| {
        for j in 0..n as u32 {
            let claims = if i as u32 == j { 0 } else { evidence.known(i as u32, j).claims };
            // A single claim is made by the lower node.
            if claims == 2 || (claims == 1 && (i as u32) < j) {
                row[j as usize / 64] |= 1 << (j % 64);
            }
        }
    }))
}

proptest! {
    /// Few distinct parameters, so ties are everywhere.
    #[test]
    fn every_variant_equals_the_dense_code(
        levels in prop::collection::vec(-6_i32..3, 3..40),
        claims in prop::collection::vec(0_u8..3, 800),
        epsilon in prop::sample::select(vec![0.0, 0.3, 1.0, 4.0, 30.0]),
    ) {
        let n = levels.len() as u32;
        let beta: Vec<f64> = levels.iter().map(|&level| f64::from(level) * 0.75).collect();
        let mut claims = claims.into_iter();
        let rows: Vec<Vec<(u32, u8)>> = (0..n)
            .map(|i| (i + 1..n).filter_map(|j| Some((j, claims.next()?))).filter(|&(_, c)| c > 0).collect())
            .collect();
        let evidence = LinkEvidence::from_rows(rows).expect("valid");
        // Every second case in planes, as dense reports give them.
        let evidence = if n.is_multiple_of(2) { planes(&evidence) } else { evidence };
        let model = LinkModel { degrees: vec![0.0; beta.len()], beta, epsilon_links: epsilon, ..LinkModel::default() };
        let posterior = Posterior::new(&model, evidence.clone()).expect("same size");
        for variant in [Variant::Hard, Variant::Hybrid] {
            prop_assert_eq!(build(&model, &evidence, variant), dense(&posterior, variant, 1.0));
        }
        let more = build_more(&model, &evidence, Variant::Hybrid, 2.5);
        prop_assert_eq!(more, dense(&posterior, Variant::Hybrid, 2.5));
        prop_assert!(build(&model, &evidence, Variant::Soft).is_empty());
    }
}

/// T4.7: with a huge budget the posterior is the graph itself.
#[test]
fn a_huge_budget_gives_the_graph() {
    let rows = vec![vec![(1, 2), (3, 2)], vec![], vec![(4, 2)], vec![], vec![]];
    let evidence = LinkEvidence::from_rows(rows).expect("valid");
    let beta = vec![-0.5, -0.9, -0.9, -0.9, -0.9];
    for epsilon_links in [54.0, f64::INFINITY] {
        let model = LinkModel { degrees: vec![1.0; 5], beta: beta.clone(), epsilon_links, ..LinkModel::default() };
        let truth = [(0, 1, 1.0), (0, 3, 1.0), (2, 4, 1.0)];
        assert_eq!(build(&model, &evidence, Variant::Hard), truth);
        assert_eq!(build(&model, &evidence, Variant::Hybrid), truth);
    }
}

#[test]
fn a_multiple_that_is_no_positive_number_is_refused() {
    let evidence = LinkEvidence::from_rows(vec![vec![(1, 2)], vec![]]).expect("valid");
    let model = LinkModel { degrees: vec![1.0; 2], beta: vec![0.0; 2], epsilon_links: 1.0, ..LinkModel::default() };
    for edge_multiple in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let params = Params { variant: Variant::Hybrid, edge_multiple };
        let inputs = (model.clone(), Stored::held(evidence.clone()));
        let found = Construct::run(inputs, &params, &StageRng::new(0, "construct", 0), &Progress::none());
        assert!(matches!(found, Err(Error::EdgeMultiple(_))), "{edge_multiple}");
    }
}

/// Facts of reports at `epsilon`, a tenth of which is spent on degrees if they are sent.
pub(crate) fn facts(epsilon: f64, sends_degrees: bool) -> ReportFacts {
    let fraction = if sends_degrees { 0.1 } else { 0.0 };
    ReportFacts {
        mechanism: "test".to_owned(),
        epsilon,
        epsilon_edge: 2.0 * epsilon,
        degree_fraction: fraction,
        budget: Budget { links: (1.0 - fraction) * epsilon, degree: fraction * epsilon },
        degree_noise: DegreeNoise::Laplace,
        randomness: Randomness::Seeded,
        nodes_from_links: false,
        lying_share: 0.0,
    }
}

const DIRECTED: BitsParams = BitsParams { keep: Keep::Directed, learned: false };
const MIRRORED: BitsParams = BitsParams { keep: Keep::Mirrored, learned: false };
const THINNED: BitsParams = BitsParams { keep: Keep::Thinned, learned: false };

fn from_lists(params: BitsParams, epsilon: f64, lists: &[Vec<u32>], degree: Option<f64>, seed: u64) -> WeightedGraph {
    let facts = facts(epsilon, degree.is_some());
    let links = NoisyLinks::from_lists(facts.clone(), lists).expect("valid");
    let degrees = degree.map(|degree| NoisyDegrees::from_nodes(facts, &vec![Some(degree); lists.len()]));
    let rng = StageRng::new(seed, "construct", 0);
    ConstructFromBits::run((links, degrees), &params, &rng, &Progress::none()).expect("valid").0
}

#[test]
fn reported_links_keep_their_direction_unless_the_mechanism_mirrors_them() {
    let lists = [vec![2], vec![0], vec![0, 1]];
    let graph = from_lists(DIRECTED, 6.0, &lists, None, 1);
    assert!(graph.directed && listed(&graph) == [(0, 2, 1.0), (1, 0, 1.0), (2, 0, 1.0), (2, 1, 1.0)]);
    let graph = from_lists(MIRRORED, 6.0, &lists, None, 1);
    assert!(!graph.directed && listed(&graph) == [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0)]);
    let learned = BitsParams { learned: true, ..DIRECTED };
    assert_eq!(from_lists(learned, 6.0, &lists, None, 1).construction, Construction::Learned);
}

/// Bits and lists of the same reports give the same graph.
#[test]
fn dense_reports_stay_bits() {
    let mut bits = BitMatrix::from_rows(90, |_, _| {});
    for (i, j) in
        (0..90).flat_map(|i| (0..90).map(move |j| (i, j))).filter(|(i, j)| i != j && (i * 31 + j * 17) % 3 == 0)
    {
        bits.set(i, j as u32);
    }
    let lists: Vec<Vec<u32>> = (0..90).map(|node| bits.ones(node).collect()).collect();
    for params in [DIRECTED, MIRRORED] {
        let facts = facts(1.0, false);
        let reports = (NoisyLinks::from_bits(facts, bits.clone()).expect("valid"), None);
        let rng = StageRng::new(1, "construct", 0);
        let (dense,) = ConstructFromBits::run(reports, &params, &rng, &Progress::none()).expect("valid");
        assert!(matches!(dense.links, Links::Bits(_)));
        let sparse = from_lists(params, 1.0, &lists, None, 1);
        assert_eq!(listed(&dense), listed(&sparse), "{params:?}");
        assert_eq!(dense.n_entries(), sparse.n_entries());
        for graph in [dense, sparse] {
            assert_eq!(WeightedGraph::from_blocks(&graph.facts(), &mut graph.blocks()).expect("round trip"), graph);
        }
    }
}

/// Kept links have the degree as their mean, where nothing is clipped. Chance of a false alarm: 1e-3.
#[test]
fn thinning_keeps_as_many_links_as_the_degree_says() {
    let (n, degree, epsilon) = (2000_u32, 40_u32, 4.0);
    let response = RandomizedResponse::new(facts(epsilon, true).budget.links, n as usize);
    let rng = StageRng::new(8, "privatize", 0);
    let truth = |node: u32| {
        let mut list: Vec<u32> = (1..=degree).map(|step| (node + step * 37) % n).collect();
        list.sort_unstable();
        list
    };
    let lists: Vec<Vec<u32>> =
        (0..n).map(|node| response.noisy_list(node, &truth(node), &mut rng.stream("links", node.into()))).collect();
    let graph = from_lists(THINNED, epsilon, &lists, Some(f64::from(degree)), 2);
    let mean = graph.n_entries() as f64 / f64::from(n);
    // The number kept by a node has a variance of at most its mean.
    assert!((mean - f64::from(degree)).abs() < 3.3 * (f64::from(degree) / f64::from(n)).sqrt(), "{mean}");
    assert!(from_lists(THINNED, epsilon, &lists, Some(-5.0), 2).n_entries() == 0);
}

#[test]
fn a_sampling_rate_is_a_share_even_for_absurd_degrees() {
    let flip = flip_probability(0.9);
    for degree in [f64::MIN, -1e4, -1.0, 0.0, 1.0, 3.9, 1e4, f64::MAX] {
        let share = bits::sampling_rate(degree, flip, 2707.0);
        assert!((0.0..=1.0).contains(&share) && (degree > 0.0 || share == 0.0), "{degree}: {share}");
    }
    assert_eq!(bits::sampling_rate(5.0, 0.0, 100.0), 1.0, "without noise all are kept");
}

#[test]
fn the_largest_entries_are_linked_as_many_as_their_sum_says() {
    let pairs = vec![(0, 3, 1.5, 1.0), (1, 2, 1.0, 0.5), (0, 1, 0.75, 0.75), (2, 3, 0.0, 0.25)];
    let build = |sum: f64| {
        let entries = NoisyEntries { facts: facts(2.0, false), n_nodes: 4, sum, pairs: pairs.clone() };
        let rng = StageRng::new(0, "construct", 0);
        ConstructFromEntries::run((entries,), &NoParams {}, &rng, &Progress::none()).map(|graph| listed(&graph.0))
    };
    assert!(build(-3.0).expect("valid").is_empty() && build(0.9).expect("valid").is_empty());
    assert_eq!(build(2.0).expect("valid"), [(0, 3, 1.0)]);
    assert_eq!(build(4.0).expect("valid"), [(0, 1, 1.0), (0, 3, 1.0), (1, 2, 1.0)], "a tie is kept");
    assert!(build(10.0).is_err_and(|error| error.to_string().contains("5 links")));
}

/// With one group and no noise both readings give every node its degree, in expectation. Chance of a false alarm: 1e-3.
#[test]
fn counts_are_kept_by_the_links_that_are_drawn() {
    let n = 600;
    let one = Groups { of: vec![0; n], n_groups: 1 };
    let counts = NoisyCounts { facts: facts(2.0, false), n_groups: 1, counts: vec![6.0; n] };
    for (edge_model, expected) in [(EdgeModel::PublishedCode, 3.0), (EdgeModel::ChungLu, 6.0)] {
        let params = CountsParams { edge_model };
        let inputs = (vec![one.clone(), one.clone()], counts.clone());
        let rng = StageRng::new(3, "construct", 0);
        let (graph,) = ConstructFromCounts::run(inputs, &params, &rng, &Progress::none()).expect("valid");
        assert_eq!(graph.directed, edge_model == EdgeModel::PublishedCode);
        let mean = graph.n_entries() as f64 / n as f64;
        // The published weight halves the links of a node: its group is counted twice in the denominator.
        assert!((mean - expected).abs() < 3.3 * (2.0 * expected / n as f64).sqrt() + 0.02, "{edge_model:?}: {mean}");
    }
}

#[test]
fn a_graph_without_degrees_cannot_be_thinned_and_one_without_links_has_none() {
    let links = NoisyLinks::from_lists(facts(4.0, false), &[vec![1], vec![0], vec![]]).expect("valid");
    let rng = StageRng::new(1, "construct", 0);
    let error = ConstructFromBits::run((links, None), &THINNED, &rng, &Progress::none()).expect_err("refused");
    assert!(error.to_string().contains("noisy_degrees"), "{error}");
}
