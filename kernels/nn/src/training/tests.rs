use std::sync::Mutex;

use veilgraph_contract::Watcher;
use veilgraph_graph::{Construction, Features, Labels, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior, SoftOperator};

use super::*;
use crate::architecture::{Architecture, NetworkOptions, SageNorm};
use crate::grid::{EpochRecord, StepSizes};
use crate::keeper::Keeper;
use crate::learned::{LinkLearning, ReportedLinks};
use crate::training_graph::TrainingGraph;
use veilgraph_operator::GraphOperator;
use veilgraph_operator::rows::matrix;

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
    Features(matrix(11, (0..NODES).map(row)))
}

fn graph() -> GraphOperator {
    let links =
        (0..NODES as u32).flat_map(|i| [(i, i + 2, 1.0), (i, i + 6, 1.0)]).filter(|link| (link.1 as usize) < NODES);
    GraphOperator::explicit(&WeightedGraph::undirected(Construction::Hard, NODES, links.collect()))
}

fn dataset(graph: impl Into<TrainingGraph>, architecture: Architecture) -> Result<Dataset, Failure> {
    let labels = Labels::new(2, (0..NODES as u32).map(|node| (node, (node % 2) as u16)).collect()).expect("valid");
    let options = NetworkOptions {
        layers: 2,
        hidden: 8,
        sage_norm: SageNorm::Clamp1,
        gat_double_weight: true,
        ..NetworkOptions::default()
    };
    let training: Vec<u32> = (0..30).collect();
    let validation: Vec<u32> = (30..NODES as u32).collect();
    Dataset::new(&features(), graph, architecture, options, &labels, &training, &validation)
}

fn setting() -> Setting {
    Setting { learning_rate: 0.05, weight_decay: 1e-4, dropout: 0.2, initial_seed: 0 }
}

fn run(dataset: &Dataset, settings: &[Setting], epochs: usize) -> Vec<Result<Trained, Failure>> {
    let schedule = Schedule { epochs, ..Schedule::default() };
    train(dataset, settings, schedule, Device::Cpu, &StageRng::new(1, "train", 0), &Progress::none())
}

fn one(dataset: &Dataset, epochs: usize) -> Trained {
    run(dataset, &[setting()], epochs).remove(0).expect("trains")
}

#[test]
fn every_network_learns_two_communities() {
    for architecture in [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat] {
        let trained = one(&dataset(graph(), architecture).expect("valid"), 80);
        let best = trained.curve[trained.best_epoch];
        assert!(best.validation_accuracy > 0.9, "{architecture:?}: {best:?}");
        assert!(trained.curve.iter().all(|epoch| epoch.validation_loss >= best.validation_loss));
        let sums = trained.probabilities.chunks(2).map(|row| row[0] + row[1]);
        assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-5));
    }
}

/// The classes that are returned are those of the parameters, and of the learned links, of the best epoch, which is none of the
/// last ones here.
#[test]
fn the_best_epoch_is_returned() {
    let check = |dataset: &Dataset, what: &str| {
        let steep = Setting { learning_rate: 0.5, weight_decay: 0.0, ..setting() };
        let trained = run(dataset, &[steep], 40).remove(0).expect("trains");
        assert!(trained.best_epoch + 3 < trained.curve.len(), "{what}: epoch {}", trained.best_epoch);
        let losses = dataset
            .validation
            .iter()
            .map(|&(node, class)| -f64::from(trained.probabilities[2 * node as usize + usize::from(class)]).ln());
        let loss = losses.sum::<f64>() / dataset.validation.len() as f64;
        let expected = trained.curve[trained.best_epoch].validation_loss;
        assert!((loss - expected).abs() < 1e-5 * (1.0 + expected), "{what}: {loss} {expected}");
    };
    for architecture in [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat, Architecture::Mlp] {
        check(&dataset(graph(), architecture).expect("valid"), &format!("{architecture:?}"));
    }
    for architecture in [Architecture::Gcn, Architecture::GraphSage] {
        let links: Vec<(u32, u32, f32)> = (0..NODES as u32 - 2).map(|node| (node, node + 2, 1.0)).collect();
        let reported = WeightedGraph::undirected(Construction::Learned, NODES, links);
        let learning = LinkLearning { learning_rate: 0.1, ..LinkLearning::default() };
        let learned = dataset(ReportedLinks::new(&reported, learning), architecture).expect("valid");
        check(&learned, &format!("{architecture:?} with learned links"));
    }
}

fn settings() -> [Setting; 4] {
    let other = Setting { learning_rate: 0.01, initial_seed: 3, ..setting() };
    [setting(), Setting { dropout: 0.0, ..setting() }, other, Setting { initial_seed: 1, ..setting() }]
}

#[test]
fn a_model_does_not_depend_on_its_company_or_on_threads() {
    for architecture in [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat] {
        let dataset = dataset(graph(), architecture).expect("valid");
        let together = run(&dataset, &settings(), 20);
        assert_eq!(together[0], Ok(one(&dataset, 20)), "bit for bit");
        for other in 1..4 {
            assert_ne!(together[other], together[0]);
        }
    }
}

/// The pass that a GPU takes, on the CPU: batches change no bit there either.
#[test]
fn a_batch_of_models_equals_its_models() {
    for architecture in [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat, Architecture::Mlp] {
        let dataset = dataset(graph(), architecture).expect("valid");
        let apart = run(&dataset, &settings(), 12);
        let network = Network::<Flex>::new(&dataset.input, &Default::default());
        let schedule = Schedule { epochs: 12, ..Schedule::default() };
        let (rng, progress) = (StageRng::new(1, "train", 0), Progress::none());
        let settings = settings();
        let grid = Grid::new(&dataset, &settings, schedule, &rng, &progress);
        assert_eq!(grid.batch(&network, 0, &settings, &Default::default()), apart, "{architecture:?}");
    }
}

#[test]
fn a_dataset_without_some_nodes_is_that_of_the_others() {
    let labels = Labels::new(2, (0..NODES as u32).map(|node| (node, (node % 2) as u16)).collect()).expect("valid");
    let whole = dataset(graph(), Architecture::GraphSage).expect("valid");
    let others: Vec<u32> = (0..30).filter(|node| node % 5 != 3).collect();
    let validation: Vec<u32> = (30..NODES as u32).collect();
    let (architecture, options) = (whole.architecture, whole.options);
    let apart = Dataset::new(&features(), graph(), architecture, options, &labels, &others, &validation);
    let without = whole.without(|node| node % 5 == 3).expect("both classes are left");
    assert_eq!(one(&without, 10), one(&apart.expect("valid"), 10), "bit for bit");
    assert_ne!(one(&without, 10), one(&whole, 10));
    assert_eq!(whole.without(|node| node % 2 == 1).map(|_| ()), Err(Failure::NoExample(1, 15)));
}

#[test]
fn a_loss_that_is_no_number_fails_its_model_alone() {
    let dataset = dataset(graph(), Architecture::Gcn).expect("valid");
    let wild = Setting { learning_rate: f64::MAX, ..setting() };
    let trained = run(&dataset, &[wild, setting()], 5);
    assert!(matches!(trained[0], Err(Failure::Diverged(_))), "{:?}", trained[0]);
    assert_eq!(trained[1], Ok(one(&dataset, 5)));
}

#[test]
fn patience_stops_a_model_and_changes_nothing_before() {
    let dataset = dataset(graph(), Architecture::Mlp).expect("valid");
    let whole = one(&dataset, 200);
    let schedule = Schedule { epochs: 200, patience: Some(5), ..Schedule::default() };
    let (rng, progress) = (StageRng::new(1, "train", 0), Progress::none());
    let stopped = train(&dataset, &[setting()], schedule, Device::Cpu, &rng, &progress).remove(0).expect("trains");
    assert!(stopped.curve.len() < 200, "an MLP overfits here");
    assert_eq!(stopped.curve, whole.curve[..stopped.curve.len()]);
    assert_eq!(stopped.curve.len(), stopped.best_epoch + 6);
}

#[test]
fn a_training_goes_on_from_its_checkpoint_bit_for_bit() {
    let dataset = dataset(graph(), Architecture::GraphSage).expect("valid");
    let (rng, keeper) = (StageRng::new(1, "train", 0), Keeper::default());
    let until = |epochs| {
        let schedule = Schedule { epochs, ..Schedule::default() };
        train(&dataset, &settings(), schedule, Device::Cpu, &rng, &Progress::new(&keeper))
    };
    // Killed after 7 epochs; the checkpoints say no more than that.
    until(7);
    assert_eq!(until(15), run(&dataset, &settings(), 15));
    keeper.states.lock().expect("no panic").values_mut().for_each(|state| state.truncate(20));
    assert_eq!(until(15), run(&dataset, &settings(), 15), "what cannot be read is trained anew");
}

#[test]
fn the_size_of_a_step_follows_the_schedule_also_after_a_checkpoint() {
    /// Keeps the states of the first epochs alone.
    #[derive(Default)]
    struct Early(Keeper, AtomicUsize);
    impl Watcher for Early {
        fn report(&self, _: u64, _: u64) {}
        fn checkpoint(&self, name: &str) -> Option<Vec<u8>> {
            self.0.checkpoint(name)
        }
        fn checkpoint_is_due(&self, _: &str) -> bool {
            self.1.fetch_add(1, Ordering::Relaxed) < 7
        }
        fn save_checkpoint(&self, name: &str, state: &[u8]) {
            self.0.save_checkpoint(name, state);
        }
    }
    let dataset = dataset(graph(), Architecture::Gcn).expect("valid");
    let (rng, early) = (StageRng::new(1, "train", 0), Early::default());
    let curve = |step_sizes, progress: &Progress| {
        let schedule = Schedule { epochs: 30, step_sizes, ..Schedule::default() };
        train(&dataset, &[setting()], schedule, Device::Cpu, &rng, progress).remove(0).expect("trains").curve
    };
    let [constant, changing] =
        [StepSizes::Constant, StepSizes::RiseAndFall].map(|sizes| curve(sizes, &Progress::none()));
    let change =
        |curve: &[EpochRecord], step: usize| curve[step].validation_loss / curve[step - 1].validation_loss - 1.0;
    for step in [1, 29] {
        let [constant, changing] = [&constant, &changing].map(|curve| change(curve, step).abs());
        assert!(changing < 0.5 * constant, "step {step}: {changing} and {constant}");
    }
    assert_eq!(curve(StepSizes::RiseAndFall, &Progress::new(&early)), changing);
    assert_eq!(
        curve(StepSizes::RiseAndFall, &Progress::new(&early)),
        changing,
        "from the checkpoint of the seventh epoch"
    );
    assert_eq!(early.1.into_inner(), 30 + 23, "epochs of both");
}

#[test]
fn data_that_admit_no_training_are_refused() {
    let options = NetworkOptions {
        layers: 2,
        hidden: 8,
        sage_norm: SageNorm::Clamp1,
        gat_double_weight: true,
        ..NetworkOptions::default()
    };
    let labels = Labels::new(3, (0..NODES as u32).map(|node| (node, (node % 2) as u16)).collect()).expect("valid");
    let nodes: Vec<u32> = (0..NODES as u32).collect();
    let of = |validation: &[u32]| {
        Dataset::new(&features(), graph(), Architecture::Gcn, options, &labels, &nodes, validation).map(|_| ())
    };
    assert_eq!(of(&nodes), Err(Failure::NoExample(2, NODES)));
    let labels = Labels::new(2, (0..30).map(|node| (node, (node % 2) as u16)).collect()).expect("valid");
    let found = Dataset::new(&features(), graph(), Architecture::Gcn, options, &labels, &nodes, &nodes[30..]);
    assert_eq!(found.map(|_| ()), Err(Failure::NoValidation));
}

/// The graph as a soft operator at a huge budget.
fn soft() -> GraphOperator {
    let GraphOperator::Sparse(matrix) = graph() else { unreachable!("explicit links") };
    let rows = (0..NODES).map(|i| matrix.row(i).0.iter().filter(|&&j| j as usize > i).map(|&j| (j, 2)).collect());
    let model =
        LinkModel { degrees: vec![4.0; NODES], beta: vec![-1.0; NODES], epsilon_links: 30.0, ..LinkModel::default() };
    let posterior = Posterior::new(&model, LinkEvidence::from_rows(rows).expect("valid")).expect("same size");
    GraphOperator::Soft(SoftOperator::new(&posterior))
}

/// Products are parallel inside. A thread of their pool that waits for a part takes up whatever else is there; were
/// that another model, its gradient could wait for a lock that the first one, suspended below it, holds.
#[test]
fn no_model_trains_on_the_threads_of_parallel_products() {
    struct Where(Mutex<Vec<bool>>);
    impl Watcher for Where {
        fn report(&self, _: u64, _: u64) {
            self.0.lock().expect("alive").push(rayon::current_thread_index().is_some());
        }
    }
    let settings: Vec<Setting> = (0..4).map(|initial_seed| Setting { initial_seed, ..setting() }).collect();
    let schedule = Schedule { epochs: 5, ..Schedule::default() };
    let (watcher, rng) = (Where(Mutex::default()), StageRng::new(1, "train", 0));
    let dataset = dataset(soft(), Architecture::Gcn).expect("valid");
    let all = || train(&dataset, &settings, schedule, Device::Cpu, &rng, &Progress::new(&watcher));
    let trained = rayon::join(all, || ()).0;
    assert!(trained.iter().all(Result::is_ok));
    let seen = watcher.0.into_inner().expect("alive");
    assert!(seen.len() == 20 && seen.iter().all(|&is_pool| !is_pool), "{seen:?}");
}

/// With a huge budget the soft operator is the graph: both train to the same losses.
#[test]
fn the_soft_operator_trains_like_the_links_it_encodes() {
    for architecture in [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat] {
        let run = |graph| one(&dataset(graph, architecture).expect("valid"), 15);
        let (hard, soft) = (run(graph()), run(soft()));
        for (a, b) in hard.curve.iter().zip(&soft.curve) {
            assert!((a.validation_loss - b.validation_loss).abs() < 1e-4, "{architecture:?}: {a:?} {b:?}");
        }
    }
}
