use veilgraph_graph::{Construction, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior, SoftOperator};

use super::*;
use crate::network::SageNorm;

const NODES: usize = 60;

/// Two communities with telling but noisy features.
fn features() -> Features {
    let row = |node: usize| {
        let class = node % 2;
        let mut row = vec![(class as u32, 1.0), (2 + (node * 7 % 9) as u32, 1.0)];
        if node.is_multiple_of(5) {
            row[0].0 = 1 - row[0].0;
        }
        row
    };
    Features(SparseMatrix::from_rows(11, (0..NODES).map(row)).expect("valid"))
}

fn graph() -> GraphOperator {
    let links =
        (0..NODES as u32).flat_map(|i| [(i, i + 2, 1.0), (i, i + 6, 1.0)]).filter(|link| (link.1 as usize) < NODES);
    GraphOperator::explicit(&WeightedGraph { construction: Construction::Hard, n_nodes: NODES, links: links.collect() })
}

fn dataset(graph: GraphOperator, architecture: Architecture) -> Result<Dataset, Failure> {
    let labels = Labels::new(2, (0..NODES as u32).map(|node| (node, (node % 2) as u16)).collect()).expect("valid");
    let options = NetworkOptions { hidden: 8, sage_norm: SageNorm::Clamp1, gat_double_weight: true };
    let training: Vec<u32> = (0..30).collect();
    let validation: Vec<u32> = (30..NODES as u32).collect();
    Dataset::new(&features(), graph, architecture, options, &labels, &training, &validation)
}

fn setting() -> Setting {
    Setting { learning_rate: 0.05, weight_decay: 1e-4, dropout: 0.2 }
}

#[test]
fn every_network_learns_two_communities() {
    for architecture in [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat] {
        let dataset = dataset(graph(), architecture).expect("valid");
        let trained = train(&dataset, setting(), 80, Device::Cpu, &StageRng::new(1, "train", 0)).expect("trains");
        let best = trained.curve[trained.best_epoch];
        assert!(best.validation_accuracy > 0.9, "{architecture:?}: {best:?}");
        assert!(trained.curve.iter().all(|epoch| epoch.validation_loss >= best.validation_loss));
        let sums = trained.probabilities.chunks(2).map(|row| row[0] + row[1]);
        assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-5));
    }
}

#[test]
fn a_model_does_not_depend_on_its_company_or_on_threads() {
    use rayon::prelude::*;
    let dataset = dataset(graph(), Architecture::Gcn).expect("valid");
    let settings = [setting(), Setting { dropout: 0.0, ..setting() }, Setting { learning_rate: 0.01, ..setting() }];
    let alone = train(&dataset, settings[0], 20, Device::Cpu, &StageRng::new(1, "train", 0)).expect("trains");
    let together: Vec<_> = settings
        .par_iter()
        .map(|&setting| train(&dataset, setting, 20, Device::Cpu, &StageRng::new(1, "train", 0)).expect("trains"))
        .collect();
    assert_eq!(together[0], alone, "bit for bit");
    assert_ne!(together[1].curve, alone.curve);
}

#[test]
fn a_loss_that_is_no_number_is_a_failure() {
    let dataset = dataset(graph(), Architecture::Gcn).expect("valid");
    let wild = Setting { learning_rate: f64::MAX, ..setting() };
    assert_eq!(train(&dataset, wild, 5, Device::Cpu, &StageRng::new(1, "train", 0)), Err(Failure::Diverged));
}

/// With a huge budget the soft operator is the graph: both train to the same losses.
#[test]
fn the_soft_operator_trains_like_the_links_it_encodes() {
    let GraphOperator::Sparse(matrix) = graph() else { unreachable!("explicit links") };
    let rows = (0..NODES).map(|i| matrix.row(i).0.iter().filter(|&&j| j as usize > i).map(|&j| (j, 2)).collect());
    let model = LinkModel {
        degrees: vec![4.0; NODES],
        beta: vec![-1.0; NODES],
        epsilon_links: 30.0,
        residual: 0.0,
        iterations: 0,
    };
    let posterior = Posterior::new(&model, LinkEvidence::from_rows(rows).expect("valid")).expect("same size");
    for architecture in [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat] {
        let run = |graph| {
            let dataset = dataset(graph, architecture).expect("valid");
            train(&dataset, setting(), 15, Device::Cpu, &StageRng::new(1, "train", 0)).expect("trains")
        };
        let (hard, soft) = (run(graph()), run(GraphOperator::Soft(SoftOperator::new(&posterior))));
        for (a, b) in hard.curve.iter().zip(&soft.curve) {
            assert!((a.validation_loss - b.validation_loss).abs() < 1e-4, "{architecture:?}: {a:?} {b:?}");
        }
    }
}

/// False alarm below 1e-9: 6.1 standard deviations of a binomial count.
#[test]
fn dropout_drops_its_share_and_keeps_the_mean() {
    use rand::SeedableRng;
    let mask = dropout_mask(0.3, [1000, 100], &mut ChaCha8Rng::seed_from_u64(2)).expect("a mask");
    let dropped = mask.iter().filter(|&&value| value == 0.0).count() as f64;
    assert!((dropped - 3e4).abs() < 6.1 * (1e5_f64 * 0.3 * 0.7).sqrt(), "{dropped}");
    assert!(mask.iter().all(|&value| value == 0.0 || (value - 1.0 / 0.7).abs() < 1e-6));
    assert!(dropout_mask(0.0, [2, 2], &mut ChaCha8Rng::seed_from_u64(2)).is_none());
}
