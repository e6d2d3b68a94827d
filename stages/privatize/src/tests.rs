use veilgraph_privacy::degree_noise::Rate;
use veilgraph_privacy::randomized_response::threshold;
use veilgraph_privacy::{DegreeFraction, DegreeNoise, Epsilon, Groups, NoisyEntries, Relation};

use super::*;

fn params(epsilon: f64, fraction: f64) -> Params {
    Params {
        mechanism: Mechanism::Blink,
        epsilon: Epsilon::try_from(epsilon).expect("epsilon"),
        degree_fraction: DegreeFraction::try_from(fraction).expect("fraction"),
        degree_noise: DegreeNoise::DiscreteLaplace,
        missing_share: 0.0,
        triangle: Triangle::Strict,
    }
}

fn of(mechanism: Mechanism, epsilon: f64) -> Params {
    Params { mechanism, ..params(epsilon, 0.1) }
}

fn run_with(graph: &AdjacencyList, params: &Params, seed: u64) -> (NoisyLinks, NoisyDegrees) {
    let rng = StageRng::new(seed, "privatize", 0);
    let (links, degrees) =
        Privatize::run((Private(graph.clone()),), params, &rng, &Progress::none()).expect("valid graph");
    (links.collect().expect("valid reports"), degrees)
}

fn run(graph: &AdjacencyList, epsilon: f64, fraction: f64, seed: u64) -> (NoisyLinks, NoisyDegrees) {
    run_with(graph, &params(epsilon, fraction), seed)
}

/// Ones of a node's report.
fn ones(links: &NoisyLinks, node: usize) -> Vec<u32> {
    links.ones(node).collect()
}

fn ring(n_nodes: u32) -> AdjacencyList {
    AdjacencyList::from_pairs(n_nodes as usize, (0..n_nodes).map(|i| (i, (i + 1) % n_nodes))).expect("a ring")
}

#[test]
fn without_privacy_the_reports_are_the_truth() {
    let graph = ring(200);
    let (links, degrees) = run(&graph, f64::INFINITY, 0.5, 1);
    for node in 0..200 {
        assert_eq!(ones(&links, node), graph.neighbours(node));
    }
    assert!(degrees.degrees.iter().all(|&degree| degree == 2.0));
}

#[test]
fn a_part_without_budget_is_not_sent() {
    let (links, degrees) = run(&ring(100), 1.0, 1.0, 1);
    assert!((0..100).all(|node| ones(&links, node).is_empty()) && degrees.degrees.len() == 100);
    let (links, degrees) = run(&ring(100), 1.0, 0.0, 1);
    assert!((0..100).any(|node| !ones(&links, node).is_empty()) && degrees.degrees.is_empty());
}

#[test]
fn a_report_depends_on_its_own_node_alone() {
    let few = run(&ring(300), 1.0, 0.1, 9);
    let changed = AdjacencyList::from_pairs(300, (0..300).map(|i| (i, (i + 1) % 300)).chain([(7, 90)])).expect("graph");
    let more = run(&changed, 1.0, 0.1, 9);
    for node in (0..300).filter(|&node| node != 7 && node != 90) {
        assert_eq!(ones(&few.0, node), ones(&more.0, node), "node {node}");
        assert_eq!(few.1.degrees[node], more.1.degrees[node], "node {node}");
    }
    assert_ne!(ones(&few.0, 7).contains(&90), ones(&more.0, 7).contains(&90), "the bit of the new link differs");
}

/// The budgets lie on both sides of the rule; the same streams give the same ones.
#[test]
fn bits_and_lists_hold_the_same_reports() {
    use veilgraph_contract::Artifact;
    for (epsilon, dense) in [(1.0, true), (3.3, true), (4.1, true), (4.2, false), (6.0, false)] {
        let (links, _) = run(&ring(300), epsilon, 0.0, 5);
        assert_eq!(links.bits().is_some(), dense, "ε {epsilon}");
        let again = NoisyLinks::from_blocks(&links.facts(), &mut links.blocks()).expect("round trip");
        assert_eq!(again, links, "ε {epsilon}");
        let lists: Vec<_> = (0..300).map(|node| ones(&links, node)).collect();
        let listed = NoisyLinks::from_lists(links.facts.clone(), &lists).expect("valid");
        assert!((0..300).all(|node| ones(&listed, node) == ones(&links, node)));
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("pool");
    assert_eq!(alone.install(|| run(&ring(500), 1.0, 0.1, 4)), run(&ring(500), 1.0, 0.1, 4));
}

#[test]
fn another_budget_draws_other_noise() {
    let all = |epsilon| (0..300).map(|node| ones(&run(&ring(300), epsilon, 0.0, 3).0, node)).collect::<Vec<_>>();
    let (one, two) = (all(1.0), all(1.0 + 1e-9));
    assert_ne!(one, two, "almost equal thresholds must not share random words");
}

#[test]
fn a_link_costs_twice_a_list_bit() {
    let params = params(4.0, 0.1);
    let total = |relation| -> f64 {
        params.releases().iter().filter(|row| row.relation == relation).map(|row| row.epsilon).sum()
    };
    assert!((total(Relation::ListBit) - 4.0).abs() < 1e-12 && (total(Relation::Edge) - 8.0).abs() < 1e-12);
}

#[test]
fn two_nodes_are_refused() {
    let graph = AdjacencyList::from_pairs(2, [(0, 1)]).expect("graph");
    let rng = StageRng::new(1, "privatize", 0);
    let error = Privatize::run((Private(graph),), &params(1.0, 0.1), &rng, &Progress::none()).err().expect("too small");
    assert!(error.to_string().contains("at least 3"), "{error}");
}

#[test]
fn a_missing_node_sends_nothing_and_leaves_the_others_as_they_are() {
    let all = run(&ring(400), 2.0, 0.1, 6);
    let (links, degrees) = run_with(&ring(400), &Params { missing_share: 0.25, ..params(2.0, 0.1) }, 6);
    let missing = degrees.missing();
    assert!((60..140).contains(&missing.len()), "{} of 400", missing.len());
    for node in 0..400 {
        let is_missing = missing.contains(&(node as u32));
        assert_eq!(ones(&links, node), if is_missing { Vec::new() } else { ones(&all.0, node) }, "node {node}");
    }
}

#[test]
fn a_share_of_missing_nodes_must_be_one_that_can_be_noticed() {
    for (share, fraction) in [(1.0, 0.1), (-0.1, 0.1), (f64::NAN, 0.1), (0.1, 0.0)] {
        let params = Params { missing_share: share, ..params(1.0, fraction) };
        let rng = StageRng::new(1, "privatize", 0);
        let error = Privatize::run((Private(ring(9)),), &params, &rng, &Progress::none()).err().expect("refused");
        assert!(error.to_string().contains("missing_share"), "{error}");
    }
}

/// One value that a node sends, with what noise sees of it.
#[derive(Clone, Copy, PartialEq)]
enum Sent {
    /// A bit under randomized response.
    Bit(bool),
    /// A count under integer noise with this budget for a step of one.
    Count(i64, f64),
}

/// What all nodes of a graph of four send, in a fixed order. `groups`: those that LDPGen asks about.
fn sent(mechanism: Mechanism, epsilon: f64, lists: [[bool; 4]; 4], triangle: Triangle) -> Vec<Sent> {
    const GROUPS: [usize; 4] = [0, 1, 1, 0];
    let params = Params { triangle, ..of(mechanism, epsilon) };
    let budget = params.budget();
    let rate = |epsilon: f64, steps: u64| steps as f64 * Rate::at_most(epsilon / steps as f64).expect("rate").nats();
    let pairs = (0..4).flat_map(|i| (0..4).filter(move |&j| j != i).map(move |j| (i, j)));
    let count = |i: usize, of: &dyn Fn(usize) -> bool| (0..4).filter(|&j| lists[i][j] && of(j)).count() as i64;
    match mechanism {
        Mechanism::NoLinks | Mechanism::NonPrivate => Vec::new(),
        Mechanism::LocalDpGcn => {
            pairs.map(|(i, j)| Sent::Count(i64::from(lists[i][j]), rate(budget.links, NoisyEntries::STEPS))).collect()
        }
        Mechanism::LdpGen => (0..4)
            .flat_map(|i| {
                [0, 1, 0, 1].map(|group| Sent::Count(count(i, &|j| GROUPS[j] == group), rate(budget.links / 2.0, 1)))
            })
            .collect(),
        _ => {
            let reported = pairs.filter(|&(i, j)| {
                mechanism != Mechanism::SymmetricRandomizedResponse || triangle.holds(i as u32, j as u32)
            });
            let bits = reported.map(|(i, j)| Sent::Bit(lists[i][j]));
            let degrees = (0..4).filter(|_| budget.degree > 0.0);
            bits.chain(degrees.map(|i| Sent::Count(count(i, &|_| true), rate(budget.degree, 1)))).collect()
        }
    }
}

/// Largest log-likelihood ratio over all outputs: noise of different values is independent, so each may be at its
/// worst at once.
fn largest_ratio(a: &[Sent], b: &[Sent], epsilon_links: f64) -> f64 {
    let flip = threshold(epsilon_links) as f64 / 2.0_f64.powi(64);
    let ratio = |(a, b): (&Sent, &Sent)| match (a, b) {
        (Sent::Bit(a), Sent::Bit(b)) => {
            if a == b {
                0.0
            } else {
                ((1.0 - flip) / flip).ln()
            }
        }
        (Sent::Count(a, rate), Sent::Count(b, _)) => (a - b).abs() as f64 * rate,
        _ => unreachable!("the same mechanism"),
    };
    a.iter().zip(b).map(ratio).sum()
}

/// Over every graph of four nodes, every bit of every list and every link.
#[test]
fn every_mechanism_costs_what_the_ledger_says() {
    let graphs = || {
        (0..1_u32 << 12).map(|code| {
            let mut lists = [[false; 4]; 4];
            let pairs = (0..4).flat_map(|i| (0..4).filter(move |&j| j != i).map(move |j| (i, j)));
            for (bit, (i, j)) in pairs.enumerate() {
                lists[i][j] = code >> bit & 1 == 1;
            }
            lists
        })
    };
    for mechanism in Mechanism::ALL {
        for triangle in [Triangle::Strict, Triangle::PublishedCode] {
            let params = Params { triangle, ..of(mechanism, 1.5) };
            let rounds = if mechanism == Mechanism::LdpGen { 2.0 } else { 1.0 };
            let claimed = |relation| -> f64 {
                rounds
                    * params
                        .releases()
                        .iter()
                        .filter(|row| row.relation == relation)
                        .map(|row| row.epsilon)
                        .sum::<f64>()
            };
            if mechanism == Mechanism::NonPrivate {
                assert!(claimed(Relation::ListBit).is_infinite() && claimed(Relation::Edge).is_infinite());
                continue;
            }
            let (mut bit, mut edge) = (0.0_f64, 0.0_f64);
            for lists in graphs() {
                let before = sent(mechanism, 1.5, lists, triangle);
                for (i, j) in (0..4).flat_map(|i| (0..4).filter(move |&j| j != i).map(move |j| (i, j))) {
                    let mut changed = lists;
                    changed[i][j] = !changed[i][j];
                    let ratio =
                        |lists| largest_ratio(&before, &sent(mechanism, 1.5, lists, triangle), params.budget().links);
                    bit = bit.max(ratio(changed));
                    if lists[i][j] == lists[j][i] {
                        changed[j][i] = !changed[j][i];
                        edge = edge.max(ratio(changed));
                    }
                }
            }
            for (found, relation) in [(bit, Relation::ListBit), (edge, Relation::Edge)] {
                let claimed = claimed(relation);
                // Never exceeded; short of it by no more than the fixed point of integer noise.
                assert!(found <= claimed + 1e-12 && found >= claimed * 0.999, "{mechanism}: {found} of {claimed}");
            }
        }
    }
}

#[test]
fn symmetric_reports_name_each_pair_once() {
    for (triangle, most) in [(Triangle::Strict, 0), (Triangle::PublishedCode, 1)] {
        let params = Params { triangle, ..of(Mechanism::SymmetricRandomizedResponse, 0.5) };
        let (links, degrees) = run_with(&ring(300), &params, 3);
        assert!(!degrees.were_sent());
        let ahead: Vec<u32> = (0..300)
            .flat_map(|node| ones(&links, node).into_iter().map(move |one| one.saturating_sub(node as u32)))
            .collect();
        assert!(ahead.iter().all(|&ahead| ahead <= most), "{triangle:?}");
        assert_eq!(ahead.contains(&1), most == 1);
    }
}

#[test]
fn a_baseline_without_privacy_is_the_truth_and_one_without_links_is_silent() {
    let graph = ring(200);
    let (links, _) = run_with(&graph, &of(Mechanism::NonPrivate, 1.0), 1);
    assert!((0..200).all(|node| ones(&links, node) == graph.neighbours(node)) && links.facts.epsilon.is_infinite());
    let (links, _) = run_with(&graph, &of(Mechanism::NoLinks, 1.0), 1);
    assert!((0..200).all(|node| ones(&links, node).is_empty()) && links.facts.epsilon == 0.0);
    assert!(of(Mechanism::NoLinks, 1.0).releases().is_empty());
}

/// Chance of a false alarm: 1e-3 for each of four comparisons.
#[test]
fn entries_are_the_bits_with_noise_of_the_right_size() {
    let graph = ring(900);
    for noise in [DegreeNoise::DiscreteLaplace, DegreeNoise::Laplace] {
        let params = Params { degree_noise: noise, ..of(Mechanism::LocalDpGcn, 2.0) };
        let rng = StageRng::new(5, "privatize", 0);
        let (entries, _) =
            PrivatizeEntries::run((Private(graph.clone()),), &params, &rng, &Progress::none()).expect("valid");
        let entries = entries.collect().expect("valid");
        assert_eq!(entries.pairs.len(), 900 * 899 / 2, "all pairs are there");
        let noise = |&(i, j, from_i, from_j): &(u32, u32, f32, f32)| {
            let bit = if graph.contains(i as usize, j) { 1.0 } else { 0.0 };
            [f64::from(from_i) - bit, f64::from(from_j) - bit]
        };
        let values: Vec<f64> = entries.pairs.iter().flat_map(noise).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let square = values.iter().map(|value| value * value).sum::<f64>() / n;
        // Laplace with scale 1/2: variance 1/2, variance of the square 5/4.
        assert!(mean.abs() < 3.3 * (0.5 / n).sqrt(), "{mean}");
        assert!((square - 0.5).abs() < 3.3 * (1.25 / n).sqrt() + 1e-3, "{square}");
        let sum: f64 = entries.pairs.iter().map(|pair| f64::from(pair.2) + f64::from(pair.3)).sum();
        assert!((entries.sum - sum).abs() < 1e-6);
        assert!(entries.pairs.is_sorted_by(|a, b| a.2 + a.3 >= b.2 + b.3));
    }
}

#[test]
fn entries_survive_their_table() {
    use veilgraph_contract::Artifact;
    let rng = StageRng::new(5, "privatize", 0);
    let params = of(Mechanism::LocalDpGcn, 1.0);
    let (entries, _) = PrivatizeEntries::run((Private(ring(40)),), &params, &rng, &Progress::none()).expect("valid");
    let entries = entries.collect().expect("valid");
    assert_eq!(NoisyEntries::from_blocks(&entries.facts(), &mut entries.blocks()).expect("valid"), entries);
}

#[test]
fn counts_without_noise_are_the_numbers_of_neighbours() {
    let groups = Groups { of: (0..30).map(|node| u32::from(node % 3 == 0)).collect(), n_groups: 2 };
    let links = Params { epsilon: Epsilon::INFINITE, ..of(Mechanism::LdpGen, 1.0) };
    let rng = StageRng::new(5, "privatize", 0);
    let run = |groups: Groups, links: Params| {
        PrivatizeCounts::run((Private(ring(30)), groups), &CountParams { links, round: 1 }, &rng, &Progress::none())
    };
    let (counts, _) = run(groups.clone(), links.clone()).expect("valid");
    // Every third node is in group 1: its two neighbours are not, and each other node has one such neighbour.
    assert!((0..30).all(|node| counts.of(node) == if node % 3 == 0 { [2.0, 0.0] } else { [1.0, 1.0] }));
    let (noisy, _) = run(groups.clone(), Params { epsilon: Epsilon::try_from(1.0).expect("valid"), ..links.clone() })
        .expect("valid");
    assert_ne!(noisy.counts, counts.counts);
    let few = Groups { of: vec![0; 29], n_groups: 2 };
    assert!(run(few, links).is_err_and(|error| error.to_string().contains("29 nodes")));
}
