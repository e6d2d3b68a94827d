use veilgraph_contract::{Private, Progress, Relation, Stage, StageRng};
use veilgraph_graph::AdjacencyList;
use veilgraph_privacy::composition::total_epsilon;
use veilgraph_privacy::discrete_laplace::Rate;
use veilgraph_privacy::randomized_response::threshold;
use veilgraph_privacy::{DegreeFraction, DegreeNoise, Epsilon, Groups};

use crate::links::{
    Blink, BlinkParams, Dprr, DprrParams, LDpGcn, LDpGcnParams, LdpGen, LdpGenParams, NonPrivate, Rr, RrParams, SymRr,
    SymRrParams, Triangle,
};
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

/// What one kind of local mechanism claims to cost, and what its nodes send.
struct Claim<'a> {
    name: &'static str,
    /// Claimed epsilon per list bit and per undirected link, in nats.
    claimed: [f64; 2],
    /// What all nodes send before noise, in a fixed order.
    sent: Box<dyn Fn([[bool; 4]; 4]) -> Vec<Ideal> + 'a>,
}

fn claim<'a, M: LocalMechanism>(question: &'a M::Question, params: &'a M::Params) -> Claim<'a> {
    let releases = M::releases(params);
    Claim {
        name: M::NAME,
        claimed: [Relation::ListBit, Relation::Edge].map(|relation| total_epsilon(&releases, relation)),
        sent: Box::new(move |lists| {
            let of_node = |node: u32| {
                let neighbours: Vec<u32> = (0..4).filter(|&other| lists[node as usize][other as usize]).collect();
                M::ideal(NodeView::new(node, 4, &neighbours), question, params)
            };
            (0..4).flat_map(of_node).collect()
        }),
    }
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

/// Over every graph of four nodes, every bit of every list and every link.
#[test]
fn every_mechanism_costs_what_the_ledger_says() {
    let (epsilon, noise) = (nats(1.5), DegreeNoise::DiscreteLaplace);
    let blink = BlinkParams { epsilon, degree_fraction: share(0.1), degree_noise: noise, missing_share: 0.0 };
    let dprr = DprrParams { epsilon, degree_fraction: share(0.4), degree_noise: noise };
    let rr = RrParams { epsilon };
    let strict = SymRrParams { epsilon, triangle: Triangle::Strict };
    let published = SymRrParams { epsilon, triangle: Triangle::PublishedCode };
    let entries = LDpGcnParams { epsilon, degree_noise: noise };
    let counts = LdpGenParams { epsilon, degree_noise: noise };
    let groups = Groups { of: vec![0, 1, 1, 0], n_groups: 2 };
    let claims = [
        claim::<Blink>(&(), &blink),
        claim::<Dprr>(&(), &dprr),
        claim::<Rr>(&(), &rr),
        claim::<SymRr>(&(), &strict),
        claim::<SymRr>(&(), &published),
        claim::<LDpGcn>(&(), &entries),
        claim::<LdpGen<1>>(&groups, &counts),
        claim::<LdpGen<2>>(&groups, &counts),
    ];
    let pairs = || (0..4).flat_map(|i| (0..4).filter(move |&j| j != i).map(move |j| (i, j)));
    for Claim { name, claimed, sent } in claims {
        let mut found = [0.0_f64; 2];
        for code in 0..1_u32 << 12 {
            let mut lists = [[false; 4]; 4];
            pairs().enumerate().for_each(|(bit, (i, j))| lists[i][j] = code >> bit & 1 == 1);
            let before = sent(lists);
            for (i, j) in pairs() {
                let mut changed = lists;
                changed[i][j] = !changed[i][j];
                found[0] = found[0].max(largest_ratio(&before, &sent(changed)));
                if lists[i][j] == lists[j][i] {
                    changed[j][i] = !changed[j][i];
                    found[1] = found[1].max(largest_ratio(&before, &sent(changed)));
                }
            }
        }
        for (found, claimed) in found.into_iter().zip(claimed) {
            // The claim is never exceeded, and exceeds the truth by no more than the fixed point of integer noise.
            assert!(found <= claimed + 1e-12 && found >= claimed * 0.999, "{name}: {found} of {claimed}");
        }
    }
    let all = NonPrivate::releases(&veilgraph_contract::NoParams {});
    assert!([Relation::ListBit, Relation::Edge].iter().all(|&of| total_epsilon(&all, of).is_infinite()));
}

/// What is sent is what `ideal` says, wherever noise leaves it as it is.
#[test]
fn without_noise_the_reports_are_what_they_are_said_to_be() {
    let graph = ring(50);
    let (links,) = run::<NonPrivate>(&graph, &veilgraph_contract::NoParams {}, 1).expect("valid");
    let links = links.collect().expect("valid reports");
    assert!((0..50).all(|node| links.ones(node).eq(graph.neighbours(node).iter().copied())));
    assert!(links.facts.epsilon.is_infinite());
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
