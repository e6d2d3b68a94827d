use veilgraph_contract::Memory;
use veilgraph_graph::{Construction, Features, Labels, WeightedGraph};
use veilgraph_operator::GraphOperator;
use veilgraph_operator::rows::matrix;

use super::*;
use crate::architecture::{Architecture, NetworkOptions};
use crate::grid::StepSizes;
use crate::keeper::Keeper;

fn curve(losses: impl Iterator<Item = f64>) -> Vec<EpochRecord> {
    let record = |loss| EpochRecord { train_loss: loss, validation_loss: loss, validation_accuracy: 0.5 };
    losses.map(record).collect()
}

/// After 40 of 100 epochs: each of the last 14 took 0.01 off the loss, so that 60 more take 0.6.
#[test]
fn a_loss_is_extended_at_its_present_pace() {
    let falling = curve((0..40).map(|epoch| 2.0 - 0.01 * f64::from(epoch)));
    assert!((reachable_loss(&falling, 100) - (1.61 - 0.6)).abs() < 1e-12);
    // A loss that rose since has stopped falling, and keeps its lowest value.
    let risen = curve((0..40).map(|epoch| if epoch == 20 { 0.5 } else { 1.0 + f64::from(epoch) }));
    assert_eq!(reachable_loss(&risen, 100), 0.5);
    // What fell early and then hardly does any more is judged by what it does now.
    let flat = curve((0..40).map(|epoch| if epoch < 20 { 5.0 } else { 1.0 }));
    assert_eq!(reachable_loss(&flat, 100), 1.0);
    for too_short in [0, 1, 9] {
        assert_eq!(reachable_loss(&falling[..too_short], 100), f64::NEG_INFINITY, "no pace yet");
    }
    assert!(reachable_loss(&falling[..10], 100).is_finite());
}

#[test]
fn heats_take_settings_from_all_over_the_grid() {
    assert_eq!(heats(12), [vec![0, 8, 4, 2], vec![10, 6, 1, 9, 5, 3, 11, 7]]);
    assert_eq!(heats(3), [[0, 2, 1]]);
    assert!(heats(0).is_empty());
    let of_48 = heats(48);
    assert_eq!(of_48.iter().map(Vec::len).collect::<Vec<_>>(), [4, 8, 16, 20]);
    // A grid varies its first list slowest: each of three learning rates is among the first four.
    assert_eq!(of_48[0].iter().map(|model| model / 16).collect::<Vec<_>>(), [0, 2, 1, 0]);
    let mut all = of_48.concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..48));
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
        let keeper = Keeper::default();
        let Raced { models, dropped } = raced(&dataset, &rng, &Progress::new(&keeper));
        assert_eq!(*keeper.done.lock().expect("no panic"), 8 * 60, "epochs that are trained or need not be");
        // The first heat, which trains to the end, is 0, 4, 2 and 6.
        assert!(dropped.ends_with(&[5, 7]), "seed {seed}: {dropped:?}");
        let lowest = |model: &Result<Trained, Failure>| lowest_loss(&model.as_ref().expect("trains").curve);
        let winner =
            |of: &[Result<Trained, Failure>]| (0..of.len()).min_by(|&a, &b| lowest(&of[a]).total_cmp(&lowest(&of[b])));
        assert_eq!(winner(&models), winner(&full), "seed {seed}");
        for model in (0..8).filter(|model| !dropped.contains(model)) {
            assert_eq!(models[model], full[model], "bit for bit");
        }
        for model in dropped {
            let (part, whole) = (models[model].as_ref().expect("trains"), full[model].as_ref().expect("trains"));
            assert!(part.curve.len() < 60 && part.curve.len().is_multiple_of(5), "{}", part.curve.len());
            assert_eq!(part.curve, whole.curve[..part.curve.len()], "bit for bit");
        }
    }
}

/// Models of the second heat are judged by the first one alone, so that it does not matter which of them ends first.
#[test]
fn a_race_does_not_depend_on_the_number_of_threads() {
    let (dataset, rng) = (dataset(), StageRng::new(2, "train", 0));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let Raced { models, dropped } = pool.install(|| raced(&dataset, &rng, &Progress::none()));
        (models, dropped)
    };
    let one = on(1);
    assert_eq!(on(3), one);
    assert_eq!(on(8), one);
}

/// Models 0 and 2 of the first heat have trained for 35 epochs, and 5 and 7, which are dropped later, for three.
#[test]
fn a_race_goes_on_from_its_checkpoints_bit_for_bit() {
    let (dataset, rng, keeper) = (dataset(), StageRng::new(1, "train", 0), Keeper::default());
    let progress = Progress::new(&keeper);
    let all = settings();
    let grid = Grid::new(&dataset, &all, SCHEDULE, &rng, &progress);
    for (model, epochs) in [(0, 35), (2, 35), (5, 3), (7, 3)] {
        let name = checkpoint_name(model, 1);
        grid.on_cpu(&[model], 1, |network, model| {
            let mut batch = grid.begin::<Flex>(&name, &all[model..=model], &Default::default());
            grid.advance(&mut batch, &name, network, epochs);
        });
        assert!(keeper.states.lock().expect("no panic").contains_key(&name));
    }
    let (resumed, whole) = (raced(&dataset, &rng, &progress), raced(&dataset, &rng, &Progress::none()));
    assert_eq!(resumed.dropped, whole.dropped);
    assert_eq!(resumed.models, whole.models);
}

/// Models that hardly move are equal, so that each is as good as any other of them.
#[test]
fn models_are_judged_by_every_heat_before_theirs() {
    let (dataset, rng) = (dataset(), StageRng::new(3, "train", 0));
    let with = |fast: &[usize], diverging: &[usize]| {
        let setting = |model: usize| Setting {
            learning_rate: match model {
                model if diverging.contains(&model) => f64::MAX,
                model if fast.contains(&model) => 0.05,
                _ => 1e-5,
            },
            weight_decay: 1e-4,
            dropout: 0.0,
            initial_seed: 5,
        };
        let settings: Vec<Setting> = (0..16).map(setting).collect();
        let Raced { models, dropped } = race(&dataset, &settings, SCHEDULE, Device::Cpu, &rng, &Progress::none());
        assert!((0..16).all(|model| models[model].is_err() == diverging.contains(&model)));
        dropped
    };
    let heats = heats(16);
    assert_eq!(heats.iter().map(Vec::len).collect::<Vec<_>>(), [4, 8, 4]);
    let of_heats = |numbers: std::ops::Range<usize>| {
        let mut models = heats[numbers].concat();
        models.sort_unstable();
        models
    };
    assert_eq!(with(&heats[0][..1], &[]), of_heats(1..3), "the first heat judges all others");
    assert_eq!(with(&heats[1][..1], &[]), of_heats(2..3), "the second one judges the third, and not itself");
    assert_eq!(with(&heats[1][..1], &heats[0]), of_heats(2..3), "where all diverge, the next heat trains to the end");
    assert_eq!(with(&[], &[]), [0; 0]);
}

#[test]
fn what_stops_by_itself_or_has_few_epochs_is_not_dropped() {
    let (dataset, rng) = (dataset(), StageRng::new(1, "train", 0));
    let with =
        |schedule, settings: &[Setting]| race(&dataset, settings, schedule, Device::Cpu, &rng, &Progress::none());
    // A setting whose loss rises at once stops after the least number of epochs, far above the lowest loss.
    let mut hasty = settings();
    hasty[1].learning_rate = 40.0;
    let patience = Schedule { patience: Some(1), min_epochs: 4, ..SCHEDULE };
    let Raced { models, dropped } = with(patience, &hasty);
    let full = train(&dataset, &hasty, patience, Device::Cpu, &rng, &Progress::none());
    let length = |model: &Result<Trained, Failure>| model.as_ref().expect("trains").curve.len();
    assert!(length(&full[1]) < 10 && !dropped.contains(&1), "{} epochs", length(&full[1]));
    for model in 0..8 {
        let is_cut = length(&models[model]) < length(&full[model]);
        assert_eq!(is_cut, dropped.contains(&model), "model {model}");
        assert!(is_cut || models[model] == full[model], "bit for bit");
    }
    for (epochs, n_dropped) in [(1, 0), (9, 0), (10, 0), (12, 2)] {
        let short = with(Schedule { epochs, ..SCHEDULE }, &settings());
        assert_eq!(short.dropped.len(), n_dropped, "{epochs} epochs");
        assert!(short.models.iter().all(Result::is_ok));
    }
}

/// A model has 11 · 8 + 8 + 8 · 2 + 2 = 114 parameters and 60 · 2 = 120 probabilities, which are kept of all eight. The one that trains
/// has four more numbers for each parameter, and its layers keep 60 · (3 · 8 + 2) = 1,560.
#[test]
fn models_train_one_after_the_other_before_they_are_refused_for_want_of_memory() {
    let (dataset, rng) = (dataset(), StageRng::new(2, "train", 0));
    let of = |threads: usize, memory: Memory| {
        let keeper = Keeper { memory: Some(memory), ..Keeper::default() };
        let progress = Progress::new(&keeper);
        let schedule = Schedule { epochs: 2, ..SCHEDULE };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let searched = pool.install(|| train(&dataset, &settings(), schedule, Device::Cpu, &rng, &progress));
        let raced = pool.install(|| race(&dataset, &settings(), schedule, Device::Cpu, &rng, &progress));
        let all = searched.into_iter().chain(raced.models).collect::<Vec<_>>();
        (all, *keeper.done.lock().expect("no panic"))
    };
    let needed = 4 * (8 * (114 + 120) + 4 * 114 + 1_560);
    let (unbounded, _) = of(1, Memory::of_one_task(u64::MAX));
    assert!(unbounded.iter().all(Result::is_ok));
    for threads in [1, 3] {
        assert_eq!(of(threads, Memory::of_one_task(needed)).0, unbounded, "{threads}");
        // The share of a task decides how many train at a time, and never whether they do.
        assert_eq!(of(threads, Memory { limit: needed, share: 0 }).0, unbounded, "{threads}");
        let (refused, done) = of(threads, Memory { limit: needed - 1, share: needed - 1 });
        let failure = Failure::TooLarge { n_models: 8, n_parameters: 114, n_values: 1_560, needed, limit: needed - 1 };
        assert!(refused.iter().all(|model| *model == Err(failure.clone())), "{threads}: {refused:?}");
        assert_eq!(done, 0, "{threads}");
    }
}
