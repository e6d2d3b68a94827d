//! Every GPU against the processor: the same numbers within 1e-5 of the largest.

use veilgraph_contract::{Progress, StageRng};
use veilgraph_graph::{Construction, Features, Labels, ProductRows, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior, SoftOperator};

use crate::adam::Corrections;
use crate::architecture::{Architecture, NetworkOptions, SageNorm};
use crate::dataset::Dataset;
use crate::device::Device;
use crate::grid::{Schedule, Setting, Trained};
use crate::training::train;
use veilgraph_operator::GraphOperator;
use veilgraph_operator::rows::matrix;

use super::*;

const NODES: usize = 150;

/// Links of every node to the hundred nodes around it: so many that on CUDA a plane of units works on each node.
fn many_links() -> GraphOperator {
    let pairs = (0..NODES as u32).flat_map(|i| (i + 1..(i + 51).min(NODES as u32)).map(move |j| (i, j)));
    let links = pairs.map(|(i, j)| (i, j, 0.1 + (i * j % 9) as f32 / 10.0)).collect();
    GraphOperator::explicit(&WeightedGraph::undirected(Construction::Hybrid, NODES, links))
}

/// Numbers without pattern.
fn noise(n: usize, salt: u32) -> Vec<f32> {
    (0..n as u32).map(|k| ((k * 2_654_435 + salt * 977) % 1013) as f32 / 506.5 - 1.0).collect()
}

fn links() -> Vec<(u32, u32, f32)> {
    let pairs = (0..NODES as u32).flat_map(|i| [(i, i + 1), (i, i + 7), (i / 3, i)]);
    let mut links: Vec<_> = pairs
        .filter(|&(i, j)| i < j && (j as usize) < NODES - 1)
        .map(|(i, j)| (i, j, 0.1 + (i * j % 9) as f32 / 10.0))
        .collect();
    links.sort_by_key(|link| (link.0, link.1));
    links.dedup_by_key(|link| (link.0, link.1));
    links
}

fn graph() -> GraphOperator {
    let graph = WeightedGraph::undirected(Construction::Hybrid, NODES, links());
    GraphOperator::explicit(&graph)
}

/// Probabilities of every pair, implicit on the processor and dense on the GPU.
fn soft() -> GraphOperator {
    let mut rows = vec![Vec::new(); NODES];
    links().into_iter().for_each(|(i, j, weight)| rows[i as usize].push((j, 1 + u8::from(weight > 0.4))));
    let beta = noise(NODES, 8).iter().map(|&b| f64::from(b) - 2.0).collect();
    let model = LinkModel { degrees: vec![4.0; NODES], beta, epsilon_links: 3.0, ..LinkModel::default() };
    let evidence = LinkEvidence::from_rows(rows).expect("valid");
    GraphOperator::Soft(SoftOperator::new(&Posterior::new(&model, evidence).expect("same size")))
}

fn on<B: DeviceOps>(values: &[f32], shape: [usize; 3]) -> FloatTensor<B> {
    from_host::<B>(values.to_vec(), shape, &Default::default())
}

fn close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(1e-6_f32, |most, value| most.max(value.abs()));
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= 1e-5 * size, "{what}[{at}]: {found} {expected}");
    }
}

/// Names of what attention and its gradient give in a case.
macro_rules! outputs {
    ($case:literal) => {
        [
            concat!("attend ", $case),
            concat!("on features ", $case),
            concat!("on sources ", $case),
            concat!("on targets ", $case),
        ]
    };
}

/// A positive weight of every node for every other one: for a symmetric matrix the same as the other's for it.
fn all_pairs(is_symmetric: bool) -> veilgraph_graph::SparseMatrix {
    let weight = |i: usize, j: usize| 0.001 + ((i * 31 + j * 17) % 97) as f32 / 97.0;
    let weight = |i: usize, j: usize| if is_symmetric { weight(i.min(j), i.max(j)) } else { weight(i, j) };
    let row = |i| (0..NODES).filter(|&j| j != i).map(|j| (j as u32, weight(i, j))).collect();
    matrix(NODES, (0..NODES).map(row))
}

/// What a backend computes with every operation, one after the other.
fn run<B: DeviceOps>(models: usize) -> Vec<(&'static str, Vec<f32>)> {
    let device = Default::default();
    let GraphOperator::Sparse(weights) = graph() else { unreachable!("explicit links") };
    let width = 5;
    let x = noise(models * NODES * width, 1);
    let shaped = |values: &[f32]| on::<B>(values, [models, NODES, width]);
    let mut found = Vec::new();

    let rectangular = matrix(NODES, (0..40).map(|i| veilgraph_operator::rows::entries(&weights, 3 * i)));
    let map = Arc::new(SparseMap { transposed: rectangular.transposed(), matrix: rectangular });
    let map = B::sparse(&map, &device);
    found.push(("multiply", to_host::<B>(B::multiply(&map, false, shaped(&x), ProductRows::All))));
    let y = noise(models * 40 * width, 2);
    found.push(("adjoint", to_host::<B>(B::multiply(&map, true, on::<B>(&y, [models, 40, width]), ProductRows::All))));

    let empty = matrix(NODES, (0..4).map(|_| Vec::new()));
    let empty = B::sparse(&Arc::new(SparseMap { transposed: empty.transposed(), matrix: empty }), &device);
    found.push(("multiply nothing", to_host::<B>(B::multiply(&empty, false, shaped(&x), ProductRows::All))));

    // Rows as long as that of a word that every node has are cut into parts.
    let long = matrix(2000, [2000, 0, 513].map(|n| (0..n).map(|column| (column, 0.1 + (column % 7) as f32)).collect()));
    let long = B::sparse(&Arc::new(SparseMap { transposed: long.transposed(), matrix: long }), &device);
    let z = on::<B>(&noise(models * 2000 * width, 9), [models, 2000, width]);
    let product = B::multiply(&long, false, z, ProductRows::All);
    found.push(("multiply long rows", to_host::<B>(product.clone())));
    found.push(("adjoint of long rows", to_host::<B>(B::multiply(&long, true, product, ProductRows::All))));

    let upstream = noise(models * NODES * width, 5);
    let GraphOperator::Sparse(many) = many_links() else { unreachable!("explicit links") };
    // Every node attends to nodes before it. The scores of the last nodes are far larger, and must not count for the others.
    let before =
        |i: usize| veilgraph_operator::rows::entries(&many, i).into_iter().filter(|link| link.0 < i as u32).collect();
    let one_way = matrix(NODES, (0..NODES).map(before));
    let ordinary = noise(models * NODES, 3);
    let raised = ordinary.iter().enumerate().map(|(at, score)| if at % NODES < 100 { *score } else { score + 100.0 });
    let raised: Vec<f32> = raised.collect();
    let cases: [(&[&'static str], _, _, _, _); 7] = [
        (&outputs!("over few links"), weights, &ordinary, width, true),
        (&outputs!("over many links"), many.clone(), &ordinary, width, true),
        (&outputs!("over links in one direction"), one_way, &raised, width, true),
        (&outputs!("to all"), all_pairs(false), &ordinary, width, true),
        (&outputs!("to all with many features"), all_pairs(true), &ordinary, 70, false),
        (&outputs!("to all with many features"), all_pairs(true), &ordinary, 70, true),
        // The gradients by scores are sums that cancel here, so that rounding is all that is left of them.
        (&outputs!("to all of which few matter")[..2], all_pairs(false), &raised, width, true),
    ];
    for (names, weights, sources, width, double_weight) in cases {
        let attention = Arc::new(AttentionGraph::new(&weights, double_weight));
        let links = B::links(&attention, &device);
        let scores = |values: &[f32]| on::<B>(values, [models, NODES, 1]);
        let features = |salt| on::<B>(&noise(models * NODES * width, salt), [models, NODES, width]);
        let inputs = [features(1), scores(sources), scores(&noise(models * NODES, 4))];
        let (output, shares) = B::attend(&links, &inputs, None);
        let [on_features, on_sources, on_targets] = B::attend_gradient(&links, &inputs, shares, features(5));
        let tensors = [output, on_features, on_sources, on_targets];
        found.extend(names.iter().copied().zip(tensors.map(to_host::<B>)));
    }

    let matrix = B::dense(noise(NODES * 70, 6), [1, NODES, 70], &device);
    for width in [1, 13, 70] {
        let x = on::<B>(&noise(models * 70 * width, 10), [models, 70, width]);
        let product = B::multiply_dense(&matrix, false, x);
        found.push(("dense product", to_host::<B>(product.clone())));
        found.push(("adjoint of the dense product", to_host::<B>(B::multiply_dense(&matrix, true, product))));
    }
    let weight = on::<B>(&noise(models * width * 3, 7), [models, width, 3]);
    let product = B::product(shaped(&x), weight.clone());
    found.push(("product", to_host::<B>(product.clone())));
    found.push(("product by the transposed", to_host::<B>(B::product(product.clone(), B::float_transpose(weight)))));
    found.push(("transposed product", to_host::<B>(B::transposed_product(shaped(&x), product))));
    found.push(("column sums", to_host::<B>(B::column_sums(shaped(&x)))));

    let dropouts: Vec<Dropout> = (0..models).map(|model| Dropout::new(0.2 * model as f64, 91 + model as u64)).collect();
    let dropouts = [None, Some(B::dropouts(&dropouts, &device))];
    for (unit, dropouts) in [Unit::Relu, Unit::Selu].into_iter().flat_map(|unit| dropouts.clone().map(|d| (unit, d))) {
        let activation = Activation { unit, dropouts, step: 6, layer: 1 };
        let y = B::activate(shaped(&x), &activation);
        found.push(("activate", to_host::<B>(y.clone())));
        found.push(("activate gradient", to_host::<B>(B::activate_gradient(y, shaped(&upstream), &activation))));
    }

    let labelled: Vec<(u32, u16)> = (0..60).map(|k| (2 * k, (k % 5) as u16)).collect();
    let labelled = B::labelled(&labelled, &device);
    let (losses, gradient) = B::cross_entropy(shaped(&x), &labelled);
    found.push(("losses", to_host::<B>(losses)));
    found.push(("loss gradient", to_host::<B>(gradient)));
    let scores = B::scores(shaped(&x), &labelled);
    found.push(("scores", scores.into_iter().flat_map(|score| [score.loss as f32, score.accuracy as f32]).collect()));

    let rates = |model| Rates { learning_rate: 0.1 / (model + 1) as f32, weight_decay: 1e-2 * model as f32 };
    let rates = B::all_rates(&(0..models).map(rates).collect::<Vec<_>>(), &device);
    let zeros = vec![0.0; x.len()];
    let mut moments = Moments::<B> { first: shaped(&zeros), second: shaped(&zeros) };
    let mut parameter = shaped(&x);
    for step in 1..4 {
        parameter = B::adam(parameter, shaped(&upstream), &mut moments, &rates, Corrections::at(step).resized(0.5));
    }
    found.push(("adam", to_host::<B>(parameter)));
    found
}

#[test]
fn a_complete_graph_gives_every_pair_a_share() {
    let is_complete = |weights| AttentionGraph::new(&weights, true).is_complete();
    let without_one = |weight: Option<f32>| {
        let row = |node: usize| {
            let mut row = veilgraph_operator::rows::entries(&all_pairs(true), node);
            if node == 7 {
                row.remove(3);
                row.extend(weight.map(|weight| (3, weight)));
                row.sort_by_key(|&(other, _)| other);
            }
            row
        };
        matrix(NODES, (0..NODES).map(row))
    };
    assert!(is_complete(all_pairs(false)) && is_complete(without_one(Some(f32::MIN_POSITIVE))));
    assert!(!is_complete(without_one(None)) && !is_complete(without_one(Some(-1.0))));
}

/// Attention of three models, the second of which has features and scores that are no numbers: the others are as without it.
fn a_diverged_model_stays_alone<B: DeviceOps>() {
    let device = Default::default();
    let links = B::links(&Arc::new(AttentionGraph::new(&all_pairs(false), true)), &device);
    let attend = |diverged: bool| {
        let with = |salt, width: usize| {
            let mut values = noise(3 * NODES * width, salt);
            if diverged {
                values[NODES * width..2 * NODES * width].fill(f32::NAN);
            }
            on::<B>(&values, [3, NODES, width])
        };
        let inputs = [with(1, 5), with(3, 1), with(4, 1)];
        let (output, shares) = B::attend(&links, &inputs, None);
        let [on_features, on_sources, on_targets] = B::attend_gradient(&links, &inputs, shares, with(5, 5));
        [output, on_features, on_sources, on_targets].map(to_host::<B>)
    };
    for (sound, beside) in attend(false).iter().zip(attend(true)) {
        let per_model = sound.len() / 3;
        for model in [0, 2] {
            let own = model * per_model..(model + 1) * per_model;
            assert_eq!(sound[own.clone()], beside[own], "model {model}");
        }
        assert!(beside[per_model..2 * per_model].iter().all(|value| value.is_nan()));
    }
}

/// Runs every operation on this GPU and on the processor, for one model, for three at once, and for more than a unit works for.
fn compare_operations<B: DeviceOps>(device: Device) {
    device.check().expect("this test needs a GPU that runs kernels (Vulkan: apt-get install mesa-vulkan-drivers)");
    for models in [1, 3, 6] {
        for ((name, found), (_, expected)) in run::<B>(models).iter().zip(&run::<burn::backend::Flex>(models)) {
            close(found, expected, name);
        }
    }
    a_diverged_model_stays_alone::<B>();
}

#[cfg(feature = "cuda")]
#[test]
fn cuda_computes_what_the_processor_does() {
    compare_operations::<burn::backend::Cuda>(Device::Cuda);
}

#[cfg(feature = "vulkan")]
#[test]
fn vulkan_computes_what_the_processor_does() {
    compare_operations::<burn::backend::Wgpu>(Device::Vulkan);
}

#[cfg(feature = "cuda")]
#[test]
fn a_grid_trains_on_cuda_as_on_the_processor() {
    compare_grids(Device::Cuda);
}

#[cfg(feature = "vulkan")]
#[test]
fn a_grid_trains_on_vulkan_as_on_the_processor() {
    compare_grids(Device::Vulkan);
}

/// Trains whole grids on both: losses of ten epochs within 1e-4, since rounding grows from step to step.
fn compare_grids(device: Device) {
    let features =
        Features(matrix(30, (0..NODES).map(|i| vec![((i % 2) as u32, 1.0), (2 + (i * 5 % 28) as u32, 0.5)])));
    let labels = Labels::new(2, (0..NODES as u32).map(|node| (node, (node % 2) as u16)).collect()).expect("valid");
    let (training, validation): (Vec<u32>, Vec<u32>) = (0..NODES as u32).partition(|node| node % 3 > 0);
    let settings: Vec<Setting> = [(0.1, 0.0), (0.01, 0.3), (0.03, 0.5)]
        .into_iter()
        .map(|(learning_rate, dropout)| Setting { learning_rate, weight_decay: 1e-3, dropout, initial_seed: 0 })
        .collect();
    let networks = [
        (Architecture::Gcn, 1),
        (Architecture::GraphSage, 1),
        (Architecture::Gat, 1),
        (Architecture::Gat, 3),
        (Architecture::Mlp, 1),
    ];
    for ((architecture, heads), is_soft) in networks.into_iter().flat_map(|network| [(network, false), (network, true)])
    {
        let graph = if is_soft { soft() } else { graph() };
        let options = NetworkOptions {
            layers: 2,
            hidden: 16,
            sage_norm: SageNorm::Clamp1,
            gat_double_weight: true,
            heads,
            ..NetworkOptions::default()
        };
        let dataset = Dataset::new(&features, graph, architecture, options, &labels, &training, &validation);
        let dataset = dataset.expect("valid");
        let run = |device| -> Vec<Trained> {
            let schedule = Schedule { epochs: 10, ..Schedule::default() };
            let results =
                train(&dataset, &settings, schedule, device, &StageRng::new(1, "train", 0), &Progress::none());
            results.into_iter().map(|result| result.expect("trains")).collect()
        };
        for (gpu, cpu) in run(device).iter().zip(run(Device::Cpu)) {
            for (gpu, cpu) in gpu.curve.iter().zip(&cpu.curve) {
                assert!((gpu.train_loss - cpu.train_loss).abs() < 1e-4, "{architecture:?}: {gpu:?} {cpu:?}");
                assert!((gpu.validation_loss - cpu.validation_loss).abs() < 1e-4, "{architecture:?}: {gpu:?} {cpu:?}");
            }
        }
    }
}
