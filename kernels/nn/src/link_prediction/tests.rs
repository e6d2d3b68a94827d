use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use veilgraph_graph::{EstimatedFeatures, FeatureMatrix, Features};
use veilgraph_operator::rows::matrix;

use super::*;

const TINY: usize = 7;

fn training() -> LinkTraining {
    LinkTraining {
        hidden: 8,
        embedding: 4,
        setting: Setting { learning_rate: 0.01, weight_decay: 1e-4, dropout: 0.1, initial_seed: 0 },
        epochs: 100,
        check_every: 10,
        patience: None,
        min_epochs: 0,
    }
}

fn hard(n: usize, links: &[(u32, u32)]) -> WeightedGraph {
    WeightedGraph::undirected(Construction::Hard, n, links.iter().map(|&(i, j)| (i, j, 1.0)).collect())
}

/// Every gradient entry of the whole loss, dropout and noise fixed, against a central difference.
#[test]
fn every_gradient_of_the_loss_equals_finite_differences() {
    const STEP: f32 = 2e-3;
    let links = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (3, 5)];
    let others = [(0, 6), (1, 5), (2, 4), (4, 6), (1, 3), (2, 5)];
    let rows = (0..TINY).map(|i| (0..5).map(|j| (j, ((i * 5 + j as usize) as f32 * 0.7).sin())).collect());
    let features = Features(matrix(5, rows.collect::<Vec<_>>()));
    let dense = DenseMatrix::new(TINY, 5, (0..TINY * 5).map(|k| (k as f32 * 0.7).sin()).collect()).expect("finite");
    let dense = EstimatedFeatures::unpropagated(FeatureMatrix::Dense(dense));
    let graph = Arc::new(GraphOperator::explicit(&hard(TINY, &links)));
    let training = LinkTraining { hidden: 4, embedding: 3, ..training() };
    let noise = sampler::normal(TINY * 3, &mut ChaCha8Rng::seed_from_u64(4));
    let dropouts = Flex::dropouts(&[Dropout::new(0.3, 11)], &Default::default());
    for features in [InputFeatures::Public(&features), InputFeatures::Estimated(&dense)] {
        let encoder = Encoder::new(features, &graph, &training).expect("valid");
        let mut start = encoder.initial_values(&mut ChaCha8Rng::seed_from_u64(1));
        // Gains, shifts and biases all differ, so that none can be taken for another.
        for (at, value) in start.iter_mut().flat_map(|(values, _)| values).enumerate() {
            *value += 0.03 * (at % 7) as f32;
        }
        let place = |values: &[(Vec<f32>, [usize; 2])]| -> Vec<Tracked<Flex>> {
            let values = values.iter().map(|(values, [rows, columns])| {
                from_host::<Flex>(values.clone(), [1, *rows, *columns], &Default::default())
            });
            values.map(|values| tracked(values).require_grad()).collect()
        };
        let loss = |parameters: &[Tracked<Flex>]| {
            let pairs = Pairs { links: &links, others: &others };
            variational_loss(encoder.encode(parameters, Some(&dropouts), 5), &noise, pairs)
        };
        let parameters = place(&start);
        let gradients = loss(&parameters).sum().backward();
        for (at, parameter) in parameters.iter().enumerate() {
            let gradient: Vec<f32> = parameter.grad(&gradients).expect("tracked").into_data().into_vec().expect("f32");
            for (entry, &found) in gradient.iter().enumerate() {
                let shifted = |step: f32| {
                    let mut values = start.clone();
                    values[at].0[entry] += step;
                    loss(&place(&values)).sum().into_scalar()
                };
                let difference = (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP);
                let error = (found - difference).abs() / (1.0 + difference.abs());
                assert!(error < 5e-3, "parameter {at}[{entry}]: {found} against {difference}");
            }
        }
    }
}

/// The loss by its definition, in double precision.
#[test]
fn the_loss_is_the_textbook_one() {
    let (links, others) = ([(0, 1), (1, 2)], [(0, 3), (2, 3)]);
    let encoded: Vec<f32> = (0..16).map(|k| (k as f32 * 1.3).sin()).collect();
    let noise = [0.3, -1.2, 0.8, 0.1, -0.4, 2.0, 0.7, -0.9];
    let at = |node: usize, k: usize| f64::from(encoded[4 * node + k]);
    let z = |node: u32, k: usize| {
        at(node as usize, k) + at(node as usize, 2 + k).exp() * f64::from(noise[2 * node as usize + k])
    };
    let probability = |&(i, j): &(u32, u32)| 1.0 / (1.0 + (-(z(i, 0) * z(j, 0) + z(i, 1) * z(j, 1))).exp());
    let mut expected = -links.iter().map(|pair| probability(pair).ln()).sum::<f64>() / 2.0;
    expected -= others.iter().map(|pair| (1.0 - probability(pair)).ln()).sum::<f64>() / 2.0;
    for (node, k) in (0..4).flat_map(|node| [(node, 0), (node, 1)]) {
        let (mean, spread) = (at(node, k), at(node, 2 + k));
        expected += -0.5 * (1.0 + 2.0 * spread - mean * mean - (2.0 * spread).exp()) / 16.0;
    }
    let values = from_host::<Flex>(encoded.clone(), [1, 4, 4], &Default::default());
    let pairs = Pairs { links: &links, others: &others };
    let found = variational_loss(tracked(values), &noise, pairs).into_scalar();
    assert!((f64::from(found) - expected).abs() < 1e-5, "{found} {expected}");
}

const NODES: u32 = 160;

/// Four blocks of nodes that mostly link within, a tenth of the links kept back, and features that name the block of
/// half of the nodes.
fn blocks() -> (Features, WeightedGraph, LinkSample) {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (mut links, mut pairs) = (Vec::new(), Vec::new());
    for (i, j) in (0..NODES).flat_map(|i| (i + 1..NODES).map(move |j| (i, j))) {
        let is_link = rng.random::<f64>() < if i % 4 == j % 4 { 0.15 } else { 0.005 };
        match (is_link, rng.random::<f64>() < 0.1) {
            (true, true) => pairs.push((i, j, true)),
            (true, false) => links.push((i, j)),
            (false, _) if rng.random::<f64>() < 0.005 => pairs.push((i, j, false)),
            (false, _) => {}
        }
    }
    let row = |node: u32| if node.is_multiple_of(3) { vec![(node % 4, 1.0)] } else { vec![(4 + node % 9, 1.0)] };
    let features = Features(matrix(13, (0..NODES).map(row)));
    (features, hard(NODES as usize, &links), LinkSample { n_nodes: NODES as usize, pairs })
}

fn run(training: &LinkTraining) -> Result<TrainedLinks, Failure> {
    let (features, graph, sample) = blocks();
    train_links(&features, &graph, &sample, training, &StageRng::new(1, "train", 0), &Progress::none())
}

#[test]
fn links_within_blocks_are_predicted() {
    let trained = run(&training()).expect("trains");
    let best = trained.curve.iter().map(|record| record.area_under_curve).fold(0.0, f64::max);
    assert!(best > 0.72, "{:?}", trained.curve);
    let sample = blocks().2;
    let scores: Vec<_> = sample.pairs.iter().map(|&(i, j, is)| (trained.embeddings.score(i, j), is)).collect();
    assert_eq!(Ranking::of(scores).expect("both kinds").area_under_curve, best, "the best evaluation is kept");
    assert_eq!(run(&training()).expect("trains"), trained, "bit for bit");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("threads");
    assert_eq!(pool.install(|| run(&training())).expect("trains"), trained, "whatever the number of threads");
}

#[test]
fn training_of_links_stops_after_its_patience() {
    let impatient = LinkTraining { epochs: 2_000, patience: Some(3), min_epochs: 50, ..training() };
    let trained = run(&impatient).expect("trains");
    assert!(trained.curve.len() < 200, "{}", trained.curve.len());
    let best = trained.curve.iter().map(|record| record.area_under_curve).fold(0.0, f64::max);
    let best = trained.curve.iter().find(|record| record.area_under_curve == best).expect("recorded").epoch;
    assert_eq!(trained.curve.last().expect("recorded").epoch, best.max(49) + 30);
}

#[test]
fn links_that_admit_no_training_are_refused() {
    let (features, graph, sample) = blocks();
    let of = |graph: &WeightedGraph, sample: &LinkSample, learning_rate| {
        let setting = Setting { learning_rate, ..training().setting };
        let training = LinkTraining { epochs: 20, setting, ..training() };
        train_links(&features, graph, sample, &training, &StageRng::new(1, "train", 0), &Progress::none())
            .expect_err("refused")
    };
    let n = NODES as usize;
    assert_eq!(of(&hard(n, &[]), &sample, 0.01), Failure::NothingToTellApart(0, n * (n - 1) / 2));
    let soft = WeightedGraph::undirected(Construction::Soft, n, Vec::new());
    assert_eq!(of(&soft, &sample, 0.01), Failure::UnlistedLinks(Construction::Soft));
    let other = LinkSample { n_nodes: 3, pairs: Vec::new() };
    assert_eq!(of(&graph, &other, 0.01), Failure::Mismatch(n, 3));
    let empty = LinkSample { n_nodes: n, pairs: Vec::new() };
    assert_eq!(of(&graph, &empty, 0.01), Failure::NoValidationLinks);
    assert!(matches!(of(&graph, &sample, f64::MAX), Failure::Diverged(_)));
}

/// The model has 13 · 8 + 8 + 8 + 8 · 8 + 8 = 192 parameters, with four more numbers for each while it trains, and three copies of the
/// hidden values of all nodes.
#[test]
fn a_model_of_links_that_does_not_fit_into_memory_is_refused() {
    let (features, graph, sample) = blocks();
    let of = |memory_limit| {
        let training = LinkTraining { epochs: 1, ..training() };
        let rng = StageRng::new(1, "train", 0);
        train_links(&features, &graph, &sample, &training, &rng, &Progress::within(memory_limit))
    };
    let n_values = 3 * 8 * NODES as usize;
    let needed = 4 * (5 * 192 + n_values as u64);
    assert!(of(needed).is_ok());
    let failure = Failure::TooLarge { n_models: 1, n_parameters: 192, n_values, needed, limit: needed - 1 };
    assert_eq!(of(needed - 1), Err(failure));
}

/// False alarm below 1e-6 for each moment: five standard errors.
#[test]
fn noise_is_standard_normal() {
    let numbers = sampler::normal(100_001, &mut ChaCha8Rng::seed_from_u64(2));
    assert_eq!(numbers.len(), 100_001);
    let moment = |power| numbers.iter().map(|&x| f64::from(x).powi(power)).sum::<f64>() / numbers.len() as f64;
    assert!(moment(1).abs() < 5.0 / 316.0 && (moment(2) - 1.0).abs() < 5.0 * 2_f64.sqrt() / 316.0);
    assert!((moment(4) - 3.0).abs() < 5.0 * 96_f64.sqrt() / 316.0);
}
