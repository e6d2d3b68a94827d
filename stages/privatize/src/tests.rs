use veilgraph_contract::{NoParams, Private, Progress, Relation, Stage, StageRng, Streamed};
use veilgraph_graph::AdjacencyList;
use veilgraph_privacy::composition::total_epsilon;
use veilgraph_privacy::discrete_laplace::Rate;
use veilgraph_privacy::randomized_response::threshold;
use veilgraph_privacy::{DegreeFraction, DegreeNoise, Epsilon, Groups, NoisyLinks};

use crate::links::Nested;
use crate::links::blink::{Blink, Params as BlinkParams};
use crate::links::dprr::{Dprr, Params as DprrParams};
use crate::links::l_dpgcn::{LDpGcn, Params as LDpGcnParams};
use crate::links::ldpgen::{LdpGen, Params as LdpGenParams};
use crate::links::non_private::NonPrivate;
use crate::links::rr::{Params as RrParams, Rr};
use crate::links::symrr::{Params as SymRrParams, SymRr, Triangle};
use crate::{Error, Ideal, Local, LocalMechanism, NodeView};

/// A ring of `n_nodes` nodes.
pub(crate) fn ring(n_nodes: u32) -> AdjacencyList {
    AdjacencyList::from_pairs(n_nodes as usize, (0..n_nodes).map(|i| (i, (i + 1) % n_nodes))).expect("a ring")
}

pub(crate) fn nats(epsilon: f64) -> Epsilon {
    Epsilon::try_from(epsilon).expect("epsilon")
}

pub(crate) fn share(fraction: f64) -> DegreeFraction {
    DegreeFraction::try_from(fraction).expect("fraction")
}

/// What a mechanism without a question sends about `graph`.
pub(crate) fn run<M: LocalMechanism<Question = ()>>(
    graph: &AdjacencyList,
    params: &M::Params,
    seed: u64,
) -> Result<M::Reports, Error> {
    let rng = StageRng::new(seed, "privatize", 0);
    Local::<M>::run((Private(graph.clone()),), params, &rng, &Progress::none())
}

/// Largest log-likelihood ratio over all outputs: the noise of different values is independent, so each value may be at
/// its worst at once.
fn largest_ratio(a: &[Ideal], b: &[Ideal]) -> f64 {
    let ratio = |(a, b): (&Ideal, &Ideal)| match (*a, *b) {
        (Ideal::Bit { is_set: a, epsilon }, Ideal::Bit { is_set: b, .. }) => {
            let flip = threshold(epsilon) as f64 / 2.0_f64.powi(64);
            if a == b { 0.0 } else { ((1.0 - flip) / flip).ln() }
        }
        (Ideal::Count { count: a, epsilon, steps }, Ideal::Count { count: b, .. }) => {
            let rate = Rate::at_most(epsilon / steps as f64).expect("representable").nats();
            a.abs_diff(b) as f64 * steps as f64 * rate
        }
        _ => unreachable!("both are sent by the same mechanism"),
    };
    a.iter().zip(b).map(ratio).sum()
}

/// What all nodes of a graph of four send before noise, in a fixed order.
fn sent<M: LocalMechanism>(question: &M::Question, params: &M::Params, lists: [[bool; 4]; 4]) -> Vec<Ideal> {
    let of_node = |node: u32| {
        let neighbours: Vec<u32> = (0..4).filter(|&other| lists[node as usize][other as usize]).collect();
        M::ideal(NodeView::new(node, 4, &neighbours), question, params)
    };
    (0..4).flat_map(of_node).collect()
}

/// Compares the claimed cost of a mechanism with the largest likelihood ratio, over every graph of four nodes, every
/// bit of every list and every link.
pub(crate) fn costs_what_it_claims<M: LocalMechanism>(question: &M::Question, params: &M::Params) {
    let releases = M::releases(params);
    let pairs = || (0..4).flat_map(|i| (0..4).filter(move |&j| j != i).map(move |j| (i, j)));
    let (mut list_bit, mut edge) = (0.0_f64, 0.0_f64);
    for code in 0..1_u32 << 12 {
        let mut lists = [[false; 4]; 4];
        pairs().enumerate().for_each(|(bit, (i, j))| lists[i][j] = code >> bit & 1 == 1);
        let before = sent::<M>(question, params, lists);
        for (i, j) in pairs() {
            let mut changed = lists;
            changed[i][j] = !changed[i][j];
            list_bit = list_bit.max(largest_ratio(&before, &sent::<M>(question, params, changed)));
            if lists[i][j] == lists[j][i] {
                changed[j][i] = !changed[j][i];
                edge = edge.max(largest_ratio(&before, &sent::<M>(question, params, changed)));
            }
        }
    }
    for (found, relation) in [(list_bit, Relation::ListBit), (edge, Relation::Edge)] {
        let claimed = total_epsilon(&releases, relation);
        // The claim is never exceeded, and exceeds the truth by no more than the fixed point of integer noise.
        let is_exact = found <= claimed + 1e-12 && found >= claimed * 0.999;
        assert!(is_exact, "{}, {relation}: {found} of {claimed}", M::NAME);
    }
}

#[test]
fn every_mechanism_costs_what_the_ledger_says() {
    let (epsilon, noise) = (nats(1.5), DegreeNoise::DiscreteLaplace);
    for fraction in [0.1, 0.4] {
        let degree_fraction = share(fraction);
        let blink = BlinkParams {
            epsilon,
            degree_fraction,
            degree_noise: noise,
            missing_share: 0.0,
            lying_share: 0.0,
            lie: None,
            nested: Nested::default(),
        };
        costs_what_it_claims::<Blink>(&(), &blink);
        // Whoever lies protects nobody, and costs the honest nodes nothing.
        costs_what_it_claims::<Blink>(&(), &BlinkParams { lying_share: 0.5, ..blink });
        costs_what_it_claims::<Dprr>(&(), &DprrParams { epsilon, degree_fraction, degree_noise: noise });
    }
    costs_what_it_claims::<Rr>(&(), &RrParams { epsilon });
    for triangle in [Triangle::Strict, Triangle::PublishedCode] {
        costs_what_it_claims::<SymRr>(&(), &SymRrParams { epsilon, triangle });
    }
    costs_what_it_claims::<LDpGcn>(&(), &LDpGcnParams { epsilon, degree_noise: noise });
    let groups = Groups { of: vec![0, 1, 1, 0], n_groups: 2 };
    costs_what_it_claims::<LdpGen<1>>(&groups, &LdpGenParams { epsilon, degree_noise: noise });
    costs_what_it_claims::<LdpGen<2>>(&groups, &LdpGenParams { epsilon, degree_noise: noise });
    let all = NonPrivate::releases(&NoParams {});
    assert!([Relation::ListBit, Relation::Edge].iter().all(|&of| total_epsilon(&all, of).is_infinite()));
}

/// The bits that a mechanism says it sends about `other`, and those that it sends without noise.
fn sends_what_it_says<M: LocalMechanism<Question = ()>>(params: &M::Params, links: &NoisyLinks) {
    let graph = ring(50);
    for node in 0..50_u32 {
        let ideal = M::ideal(NodeView::new(node, 50, graph.neighbours(node as usize)), &(), params);
        let bits = ideal.iter().filter(|value| matches!(value, Ideal::Bit { is_set: true, .. })).count();
        let sent: Vec<u32> = links.ones(node as usize).collect();
        assert!(sent.iter().all(|&other| graph.contains(node as usize, other)), "{}, node {node}", M::NAME);
        assert_eq!(sent.len(), bits, "{}, node {node}", M::NAME);
    }
}

/// Without noise, what is sent is what `ideal` says, mechanism by mechanism.
#[test]
fn without_noise_the_reports_are_what_they_are_said_to_be() {
    let (graph, epsilon, noise) = (ring(50), Epsilon::INFINITE, DegreeNoise::DiscreteLaplace);
    let collected = |links: Streamed<NoisyLinks>| links.collect().expect("valid reports");
    let none = NoParams {};
    let (links,) = run::<NonPrivate>(&graph, &none, 1).expect("valid");
    sends_what_it_says::<NonPrivate>(&none, &collected(links));
    let rr = RrParams { epsilon };
    let (links,) = run::<Rr>(&graph, &rr, 1).expect("valid");
    sends_what_it_says::<Rr>(&rr, &collected(links));
    for triangle in [Triangle::Strict, Triangle::PublishedCode] {
        let symrr = SymRrParams { epsilon, triangle };
        let (links,) = run::<SymRr>(&graph, &symrr, 1).expect("valid");
        sends_what_it_says::<SymRr>(&symrr, &collected(links));
    }
    let blink = honest_blink(epsilon, noise);
    let (links, degrees) = run::<Blink>(&graph, &blink, 1).expect("valid");
    sends_what_it_says::<Blink>(&blink, &collected(links));
    assert!(degrees.degrees.iter().all(|&degree| degree == 2.0), "the last value of `ideal` is the degree");
    let dprr = DprrParams { epsilon, degree_fraction: share(0.5), degree_noise: noise };
    let (links, degrees) = run::<Dprr>(&graph, &dprr, 1).expect("valid");
    sends_what_it_says::<Dprr>(&dprr, &collected(links));
    assert!(degrees.degrees.iter().all(|&degree| degree == 2.0));
    let (entries,) = run::<LDpGcn>(&graph, &LDpGcnParams { epsilon, degree_noise: noise }, 1).expect("valid");
    let entries = entries.collect().expect("valid reports");
    let is_bit = |&(i, j, from_i, from_j): &(u32, u32, f32, f32)| {
        let bit = if graph.contains(i as usize, j) { 1.0 } else { 0.0 };
        from_i == bit && from_j == bit
    };
    assert!(entries.pairs.len() == 50 * 49 / 2 && entries.pairs.iter().all(is_bit));
}

#[test]
fn two_nodes_are_refused() {
    let graph = AdjacencyList::from_pairs(2, [(0, 1)]).expect("graph");
    let error = run::<Rr>(&graph, &RrParams { epsilon: nats(1.0) }, 1).err().expect("too small");
    assert!(error.to_string().contains("at least 3"), "{error}");
}

/// Mechanisms that flip the same bits at the same budget draw the same flips: trials are paired across mechanisms.
#[test]
fn equal_flips_are_drawn_alike_by_every_mechanism() {
    let graph = ring(300);
    let rr = run::<Rr>(&graph, &RrParams { epsilon: nats(2.0) }, 3).expect("valid").0.collect().expect("valid");
    let symrr = SymRrParams { epsilon: nats(2.0), triangle: Triangle::Strict };
    let symrr = run::<SymRr>(&graph, &symrr, 3).expect("valid").0.collect().expect("valid");
    for node in 0..300 {
        let below: Vec<u32> = rr.ones(node).filter(|&other| (other as usize) < node).collect();
        assert_eq!(symrr.ones(node).collect::<Vec<_>>(), below, "node {node}");
    }
}

/// Blink with half of the budget for the degree, of nodes that all report as they should.
fn honest_blink(epsilon: Epsilon, degree_noise: DegreeNoise) -> BlinkParams {
    let degree_fraction = share(0.5);
    BlinkParams {
        epsilon,
        degree_fraction,
        degree_noise,
        missing_share: 0.0,
        lying_share: 0.0,
        lie: None,
        nested: Nested::default(),
    }
}

/// Every mechanism passes on that the set of nodes was taken from the links, and no such report may be deployed.
#[test]
fn the_origin_of_the_nodes_is_a_fact_of_every_report() {
    let (graph, epsilon, noise) = (ring(9), nats(2.0), DegreeNoise::DiscreteLaplace);
    let blink = honest_blink(epsilon, noise);
    let groups = Groups { of: vec![0, 1, 1, 0, 1, 0, 1, 0, 1], n_groups: 2 };
    for from_links in [false, true] {
        let graph = graph.clone().with_nodes_from_links(from_links);
        let rng = StageRng::from_os(&[7; 32]);
        let inputs = || (Private(graph.clone()),);
        let none = Progress::none();
        let (links, degrees) = Local::<Blink>::run(inputs(), &blink, &rng, &none).expect("valid");
        let (rr,) = Local::<Rr>::run(inputs(), &RrParams { epsilon }, &rng, &none).expect("valid");
        let entries = LDpGcnParams { epsilon, degree_noise: noise };
        let (entries,) = Local::<LDpGcn>::run(inputs(), &entries, &rng, &none).expect("valid");
        let counts = LdpGenParams { epsilon, degree_noise: noise };
        let asked = (Private(graph.clone()), groups.clone());
        let (counts,) = Local::<LdpGen<1>>::run(asked, &counts, &rng, &none).expect("valid");
        let of_links = [links, rr].map(|links| links.collect().expect("valid reports").facts);
        let entries = entries.collect().expect("valid reports").facts;
        for facts in of_links.iter().chain([&degrees.facts, &counts.facts, &entries]) {
            assert_eq!(facts.nodes_from_links, from_links, "{facts:?}");
            assert_eq!(facts.are_deployable(), !from_links, "{facts:?}");
        }
    }
}
