use std::sync::Arc;

use veilgraph_contract::{Progress, StageRng};
use veilgraph_graph::{Aggregator, Construction, FeatureMatrix, Labels, Propagation, Rescale, WeightedGraph};
use veilgraph_operator::rows::matrix;
use veilgraph_operator::{FeatureMap, GraphOperator};

use super::*;
use crate::{Architecture, Dataset, Device, NetworkOptions, SageNorm, Schedule, Setting, Trained, train};

const NODES: usize = 40;
const FEATURES: usize = 6;

fn graph() -> GraphOperator {
    let links = (0..NODES as u32).flat_map(|i| [(i, i + 2, 1.0), (i, i + 6, 0.5)]);
    let links = links.filter(|link| (link.1 as usize) < NODES).collect();
    GraphOperator::explicit(&WeightedGraph::undirected(Construction::Hybrid, NODES, links))
}

fn rows() -> Vec<Vec<(u32, f32)>> {
    (0..NODES).map(|node| vec![((node % 2) as u32, 1.0), (2 + (node * 5 % 4) as u32, 0.5)]).collect()
}

fn run<'a>(features: impl Into<InputFeatures<'a>>, architecture: Architecture) -> Trained {
    let labels = Labels::new(2, (0..NODES as u32).map(|node| (node, (node % 2) as u16)).collect()).expect("valid");
    let options = NetworkOptions {
        layers: 2,
        hidden: 8,
        sage_norm: SageNorm::Clamp1,
        gat_double_weight: true,
        ..NetworkOptions::default()
    };
    let (training, validation): (Vec<u32>, Vec<u32>) = (0..NODES as u32).partition(|node| node % 3 > 0);
    let dataset = Dataset::new(features, graph(), architecture, options, &labels, &training, &validation);
    let setting = Setting { learning_rate: 0.05, weight_decay: 1e-4, dropout: 0.2, initial_seed: 0 };
    let schedule = Schedule { epochs: 12, ..Schedule::default() };
    let (rng, progress) = (StageRng::new(1, "train", 0), Progress::none());
    train(&dataset.expect("valid"), &[setting], schedule, Device::Cpu, &rng, &progress).remove(0).expect("trains")
}

const ARCHITECTURES: [Architecture; 4] =
    [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat, Architecture::Mlp];

#[test]
fn estimated_features_without_fill_or_steps_are_public_ones_bit_for_bit() {
    let public = Features(matrix(FEATURES, rows()));
    let values = FeatureMatrix::Sparse { fill: 0.0, entries: public.0.clone() };
    let estimated = EstimatedFeatures::unpropagated(values);
    for architecture in ARCHITECTURES {
        assert_eq!(run(&estimated, architecture), run(&public, architecture), "{architecture:?}");
    }
}

/// Propagated lazily or once, a network reads the features that the propagation gives.
#[test]
fn a_network_trains_on_propagated_features_as_on_public_ones_of_their_values() {
    let filled = |fill| FeatureMatrix::Sparse { fill, entries: matrix(FEATURES, rows()) };
    for (fill, hops, rescale) in [(0.25, 1, Rescale::None), (0.0, 9, Rescale::RootMeanSquare), (0.5, 0, Rescale::None)]
    {
        let propagation = Propagation { hops, aggregator: Aggregator::Hoa, rescale };
        let estimated = EstimatedFeatures { values: filled(fill), propagation };
        let map = FeatureMap::new(&estimated, &Arc::new(graph())).expect("finite");
        let identity: Vec<f32> =
            (0..FEATURES * FEATURES).map(|k| f32::from(u8::from(k / FEATURES == k % FEATURES))).collect();
        let values = map.apply(&identity, FEATURES, false);
        let public = values.chunks(FEATURES).map(|row| (0..).zip(row.iter().copied()).collect());
        let public = Features(matrix(FEATURES, public));
        for architecture in ARCHITECTURES {
            let (found, expected) = (run(&estimated, architecture), run(&public, architecture));
            for (found, expected) in found.curve.iter().zip(&expected.curve) {
                assert!((found.train_loss - expected.train_loss).abs() < 1e-4, "{architecture:?} {propagation:?}");
                assert!((found.validation_loss - expected.validation_loss).abs() < 1e-4, "{architecture:?}");
            }
        }
    }
}
