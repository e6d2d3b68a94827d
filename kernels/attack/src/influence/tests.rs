use std::sync::Arc;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use veilgraph_graph::{
    AdjacencyList, Construction, EstimatedFeatures, FeatureMatrix, Features, Links, Propagation, SparseMatrix,
};
use veilgraph_nn::{Architecture, GraphOperator, GridDescription, NetworkOptions, Parameter, Unit};

use super::*;

const NODES: usize = 40;
const FEATURES: usize = 9;
const CLASSES: usize = 3;

fn features(scaled: Option<(usize, f32)>) -> Features {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let rows = (0..NODES).map(|node| {
        let factor = scaled.map_or(1.0, |(changed, by)| if changed == node { 1.0 + by } else { 1.0 });
        let row: Vec<(u32, f32)> = (0..FEATURES as u32)
            .map(|column| (column, rng.random::<f32>() - 0.3))
            .filter(|entry| entry.1 > 0.0)
            .collect();
        row.into_iter().map(|(column, value)| (column, value * factor)).collect()
    });
    Features(SparseMatrix::from_rows(FEATURES, rows.collect::<Vec<_>>()).expect("valid"))
}

/// A ring with some chords, so that most pairs are more than two links apart.
fn graph(directed: bool) -> WeightedGraph {
    let mut links: Vec<(u32, u32, f32)> = (0..NODES as u32 - 1).map(|i| (i, i + 1, 1.0)).collect();
    links.extend([(0, 17, 0.4), (3, 29, 0.7), (11, 35, 0.2)]);
    links.sort_unstable_by_key(|link| (link.0, link.1));
    WeightedGraph { construction: Construction::Hybrid, n_nodes: NODES, directed, links: Links::Listed(links) }
}

fn saved(architecture: Architecture, layers: usize, activation: Unit) -> SavedModel {
    let options = NetworkOptions { layers, hidden: 5, activation, heads: 2, ..NetworkOptions::default() };
    let heads = if architecture == Architecture::Gat { 2 } else { 1 };
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut parameter = |name: String, shape: [usize; 2]| {
        let values = (0..shape[0] * shape[1]).map(|_| rng.random::<f32>() - 0.45).collect();
        Parameter { name, shape, values }
    };
    let mut parameters = Vec::new();
    for number in 1..=layers {
        let inputs = if number == 1 { FEATURES } else { 5 * heads };
        let (outputs, heads) = if number == layers { (CLASSES, 1) } else { (5 * heads, heads) };
        let name = |role: &str| format!("layer{number}.{role}");
        let weight = if architecture == Architecture::GraphSage { "weight_neighbours" } else { "weight" };
        parameters.push(parameter(name(weight), [inputs, outputs]));
        parameters.push(parameter(name("bias"), [1, outputs]));
        match architecture {
            Architecture::GraphSage => parameters.push(parameter(name("weight_self"), [inputs, outputs])),
            Architecture::Gat => {
                for role in ["attention_source", "attention_target"] {
                    parameters.push(parameter(name(role), [outputs / heads, heads]));
                }
            }
            Architecture::Gcn | Architecture::Mlp => {}
        }
    }
    let grid =
        GridDescription { architecture, options, n_classes: CLASSES, class_names: Vec::new(), models: Vec::new() };
    SavedModel { grid, model: 0, parameters }
}

const ARCHITECTURES: [Architecture; 4] =
    [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat, Architecture::Mlp];

fn influence(saved: &SavedModel, features: &Features, graph: &WeightedGraph) -> Influence {
    Influence::new(saved, features.into(), graph, None).expect("they fit")
}

#[test]
fn answers_are_those_of_the_network() {
    for (architecture, directed) in ARCHITECTURES.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        for unit in [Unit::Relu, Unit::Selu] {
            let (saved, features, graph) = (saved(architecture, 2, unit), features(None), graph(directed));
            let operator = Arc::new(GraphOperator::explicit(&graph));
            let expected = saved.probabilities(&features, &operator).expect("they fit");
            let found = influence(&saved, &features, &graph);
            for (logits, expected) in found.logits().chunks_exact(CLASSES).zip(expected.chunks_exact(CLASSES)) {
                for (found, expected) in softmax(logits).iter().zip(expected) {
                    assert!((found - f64::from(*expected)).abs() < 2e-6, "{architecture:?} {directed} {unit:?}");
                }
            }
        }
    }
}

/// A perturbation of one half, against the network on changed features.
#[test]
fn a_perturbed_node_costs_its_neighbourhood_and_gives_the_same_as_a_whole_pass() {
    let targets: Vec<u32> = (0..NODES as u32).filter(|node| node % 3 != 1).collect();
    for (architecture, layers) in ARCHITECTURES.into_iter().flat_map(|kind| [(kind, 1), (kind, 2), (kind, 3)]) {
        let (saved, graph) = (saved(architecture, layers, Unit::Selu), graph(false));
        let at_rest = influence(&saved, &features(None), &graph);
        for output in [Output::Logits, Output::Probabilities] {
            let found = at_rest.of(&targets, 0.5, output);
            for (from, &node) in targets.iter().enumerate() {
                let whole = influence(&saved, &features(Some((node as usize, 0.5))), &graph);
                for (on, &reader) in targets.iter().enumerate() {
                    let row = |logits: &[f64]| {
                        let row = &logits[reader as usize * CLASSES..][..CLASSES];
                        if output == Output::Logits { row.to_vec() } else { softmax(row) }
                    };
                    let moves =
                        row(whole.logits()).into_iter().zip(row(at_rest.logits())).map(|(a, b)| (a - b).powi(2));
                    let expected = moves.sum::<f64>().sqrt() / 0.5;
                    let found = found.between(from, on);
                    // Features are stored in single precision, so the perturbed ones are off by their rounding.
                    assert!(
                        (found - expected).abs() < 1e-6,
                        "{architecture:?} {layers}: {node} on {reader}: {found} {expected}"
                    );
                }
            }
        }
    }
}

/// Numbers of links between all nodes.
fn hops() -> Vec<Vec<usize>> {
    let pairs = graph(false).links().map(|(i, j, _)| (i, j)).collect::<Vec<_>>();
    let list = AdjacencyList::from_pairs(NODES, pairs).expect("valid");
    let from = |start: usize| {
        let mut hops = vec![usize::MAX; NODES];
        let (mut open, mut distance) = (vec![start], 0);
        hops[start] = 0;
        while !open.is_empty() {
            distance += 1;
            let reached = open.iter().flat_map(|&node| list.neighbours(node)).map(|&node| node as usize);
            let fresh: Vec<usize> = reached.filter(|&node| hops[node] == usize::MAX).collect();
            fresh.iter().for_each(|&node| hops[node] = distance);
            open = fresh;
        }
        hops
    };
    (0..NODES).map(from).collect()
}

#[test]
fn influence_ends_with_the_layers_and_a_single_layer_tells_every_link() {
    let (hops, targets): (_, Vec<u32>) = (hops(), (0..NODES as u32).collect());
    for (architecture, layers) in ARCHITECTURES.into_iter().flat_map(|kind| [(kind, 1), (kind, 2)]) {
        let found = influence(&saved(architecture, layers, Unit::Selu), &features(None), &graph(false));
        let found = found.of(&targets, 1e-4, Output::Logits);
        let reach = if architecture == Architecture::Mlp { 0 } else { layers };
        for (from, on) in (0..NODES).flat_map(|from| (0..NODES).map(move |on| (from, on))) {
            let moved = found.between(from, on);
            assert_eq!(moved > 0.0, hops[from][on] <= reach, "{architecture:?} {layers}: {from} on {on}: {moved}");
        }
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let (gcn, features, graph) = (saved(Architecture::Gcn, 2, Unit::Relu), features(None), graph(false));
    let refused = |saved: &SavedModel, features: InputFeatures, graph: &WeightedGraph| {
        Influence::new(saved, features, graph, None).err().expect("refused").to_string()
    };
    let small = WeightedGraph::undirected(Construction::Hard, 7, Vec::new());
    assert!(refused(&gcn, (&features).into(), &small).contains("7 nodes"));
    let other = Features(SparseMatrix::from_rows(2, vec![Vec::new(); NODES]).expect("valid"));
    assert!(refused(&gcn, (&other).into(), &graph).contains("reads 9 numbers"));
    for construction in [Construction::Soft, Construction::Learned] {
        let graph = WeightedGraph { construction, ..graph.clone() };
        assert!(!refused(&gcn, (&features).into(), &graph).is_empty());
    }
    let mut cut = gcn.clone();
    cut.parameters.pop();
    assert!(refused(&cut, (&features).into(), &graph).contains("layer2.bias"));
    let propagation = Propagation { hops: 2, ..Propagation::default() };
    let values = FeatureMatrix::Sparse { fill: 0.0, entries: features.0.clone() };
    let estimated = EstimatedFeatures { values, propagation };
    assert!(refused(&gcn, (&estimated).into(), &graph).contains("hops = 0"));
    let mut huge = gcn;
    huge.parameters[3].values[1] = f32::MAX;
    huge.parameters[2].values.fill(f32::INFINITY);
    assert!(refused(&huge, (&features).into(), &graph).contains("finite"));
}
