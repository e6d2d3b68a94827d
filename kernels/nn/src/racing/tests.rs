use veilgraph_graph::{Construction, Features, Labels, WeightedGraph};
use veilgraph_operator::GraphOperator;
use veilgraph_operator::rows::matrix;

use super::*;
use crate::architecture::{Architecture, NetworkOptions};
use crate::grid::StepSizes;
use crate::keeper::Keeper;

/// A state with these validation losses, one for each epoch.
fn state(losses: impl Iterator<Item = f64>) -> Snapshot {
    let mut state = Snapshot { epoch: 0, models: vec![Default::default()], layers: Vec::new(), best: None };
    let record = |loss| EpochRecord { train_loss: loss, validation_loss: loss, validation_accuracy: 0.5 };
    state.models[0].curve = losses.map(record).collect();
    state
}

fn flat(loss: f64) -> Snapshot {
    state(std::iter::repeat_n(loss, 40))
}

/// Falls by 0.01 in every epoch and is at `last` in the fortieth.
fn falling(last: f64, epochs: usize) -> Snapshot {
    state((0..epochs).map(|epoch| last + 0.01 * (39.0 - epoch as f64)))
}

/// After 40 of 100 epochs: 60 more at the present pace take 0.6 off a falling loss, and the lowest loss is 1.
#[test]
fn a_model_is_dropped_where_its_present_pace_leads_nowhere() {
    let mut failed = flat(0.1);
    failed.models[0].has_stopped = true;
    let states = |slow: Snapshot| {
        let flat = [1.0, 1.01, 1.02, 1.03, 1.049, 1.06].map(flat);
        flat.into_iter().chain([slow, falling(2.0, 40), failed.clone()]).map(Some).collect::<Vec<_>>()
    };
    let all: Vec<usize> = (0..9).collect();
    let expected = (vec![0, 1, 2, 3, 4, 6], vec![5, 7]);
    assert_eq!(after_lap(&states(falling(1.5, 40)), &all, &[], 40, 60), expected);
    // What a checkpoint says about later epochs changes nothing: neither how it went on, nor that it stopped then.
    assert_eq!(after_lap(&states(falling(1.5, 90)), &all, &[], 40, 60), expected);
    let mut later = falling(1.5, 90);
    later.models[0].has_stopped = true;
    assert_eq!(after_lap(&states(later), &all, &[], 40, 60), expected);
    // Who was dropped before neither goes on nor is dropped again.
    let (in_race, lost) = after_lap(&states(falling(1.5, 40)), &[0, 1, 2, 3, 4, 6, 7], &[5], 40, 60);
    assert_eq!((in_race, lost), (vec![0, 1, 2, 3, 4, 6], vec![7]));
}

#[test]
fn four_models_always_go_on() {
    let states: Vec<Option<Snapshot>> = [1.0, 2.0, 3.0, 4.0, 5.0].map(|loss| Some(flat(loss))).into();
    assert_eq!(after_lap(&states, &[0, 1, 2, 3, 4], &[], 40, 60), (vec![0, 1, 2, 3], vec![4]));
}

const NODES: usize = 60;

/// Two communities with features that tell four of five nodes apart.
fn dataset() -> Dataset {
    let row = |node: usize| {
        let class = if node.is_multiple_of(5) { 1 - node % 2 } else { node % 2 };
        vec![(class as u32, 1.0), (2 + (node * 7 % 9) as u32, 1.0)]
    };
    let links = (0..NODES as u32 - 2).map(|i| (i, i + 2, 1.0)).collect();
    let graph = GraphOperator::explicit(&WeightedGraph::undirected(Construction::Hard, NODES, links));
    let labels = Labels::new(2, (0..NODES as u32).map(|node| (node, (node % 2) as u16)).collect()).expect("valid");
    let (training, validation): (Vec<u32>, Vec<u32>) = ((0..30).collect(), (30..NODES as u32).collect());
    let options = NetworkOptions { layers: 2, hidden: 8, ..NetworkOptions::default() };
    let features = Features(matrix(11, (0..NODES).map(row)));
    Dataset::new(&features, graph, Architecture::Gcn, options, &labels, &training, &validation).expect("valid")
}

/// Four models that learn, and four that hardly move.
fn settings() -> Vec<Setting> {
    let rates = [0.05, 0.05, 0.05, 0.05, 1e-5, 1e-5, 1e-5, 1e-5];
    let setting = |(at, learning_rate): (usize, f64)| Setting {
        learning_rate,
        weight_decay: 1e-4,
        dropout: if at % 2 == 0 { 0.0 } else { 0.2 },
        initial_seed: (at / 2) as u64,
    };
    rates.into_iter().enumerate().map(setting).collect()
}

const SCHEDULE: Schedule = Schedule { epochs: 60, patience: None, min_epochs: 0, step_sizes: StepSizes::Constant };

fn raced(dataset: &Dataset, rng: &StageRng, progress: &Progress) -> Raced {
    race(dataset, &settings(), SCHEDULE, Device::Cpu, rng, progress)
}

#[test]
fn a_race_has_the_winner_of_the_full_search_and_trains_fewer_epochs() {
    let dataset = dataset();
    for seed in 0..5 {
        let rng = StageRng::new(seed, "train", 0);
        let full = train(&dataset, &settings(), SCHEDULE, Device::Cpu, &rng, &Progress::none());
        let Raced { models, dropped } = raced(&dataset, &rng, &Progress::none());
        assert_eq!(dropped, [4, 5, 6, 7], "seed {seed}");
        let lowest = |model: &Result<Trained, Failure>| {
            let trained = model.as_ref().expect("trains");
            trained.curve[trained.best_epoch].validation_loss
        };
        let winner =
            |of: &[Result<Trained, Failure>]| (0..of.len()).min_by(|&a, &b| lowest(&of[a]).total_cmp(&lowest(&of[b])));
        assert_eq!(winner(&models[..4]), winner(&full), "seed {seed}");
        assert_eq!(models[..4], full[..4], "bit for bit");
        for model in 4..8 {
            let (part, whole) = (models[model].as_ref().expect("trains"), full[model].as_ref().expect("trains"));
            assert!(part.curve.len() < 60 && part.curve.len().is_multiple_of(10), "{}", part.curve.len());
            assert_eq!(part.curve, whole.curve[..part.curve.len()], "bit for bit");
        }
    }
}

/// The models that are never dropped have trained for 35 epochs, the others not at all.
#[test]
fn a_race_goes_on_from_its_checkpoints_bit_for_bit() {
    let (dataset, rng, keeper) = (dataset(), StageRng::new(1, "train", 0), Keeper::default());
    let progress = Progress::new(&keeper);
    let schedule = Schedule { epochs: 35, ..SCHEDULE };
    let paused = train(&dataset, &settings()[..4], schedule, Device::Cpu, &rng, &progress);
    assert!(paused.iter().all(Result::is_ok));
    let (resumed, whole) = (raced(&dataset, &rng, &progress), raced(&dataset, &rng, &Progress::none()));
    assert_eq!(resumed.dropped, whole.dropped);
    assert_eq!(resumed.models, whole.models);
}
