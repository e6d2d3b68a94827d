use burn::backend::{Autodiff, Flex};
use burn::tensor::{Tensor, TensorData};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use veilgraph_graph::{BitMatrix, Construction, Features, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior, SoftOperator};

use super::*;
use crate::architecture::{Architecture, NetworkOptions, SageNorm, named};
use crate::dataset::input;
use crate::differentiable::cross_entropy;
use crate::dropout::Dropout;
use crate::layer::arrange;
use veilgraph_operator::rows::matrix;
use veilgraph_operator::{BitGraph, GraphOperator};

const N_FEATURES: usize = 5;
const N_CLASSES: usize = 3;
const NODES: usize = 7;
const MODELS: usize = 2;
const ARCHITECTURES: [Architecture; 4] =
    [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat, Architecture::Mlp];

/// A small weighted graph with an isolated node (6) and a hub (0).
fn links() -> Vec<(u32, u32, f32)> {
    vec![(0, 1, 0.9), (0, 2, 0.2), (0, 3, 1.0), (0, 4, 0.6), (1, 2, 0.1), (3, 5, 0.4)]
}

fn dense_links() -> Vec<Vec<f64>> {
    let mut dense = vec![vec![0.0; NODES]; NODES];
    for (i, j, weight) in links() {
        dense[i as usize][j as usize] = f64::from(weight);
        dense[j as usize][i as usize] = f64::from(weight);
    }
    dense
}

/// Few non-zero entries (a sparse map) or many (a dense one).
fn features(is_sparse: bool) -> Vec<Vec<f64>> {
    let is_zero =
        |i: usize, j: usize| if is_sparse { !(i + 2 * j).is_multiple_of(7) } else { (i + j).is_multiple_of(3) };
    let entry = |i, j| if is_zero(i, j) { 0.0 } else { ((i * 5 + j) as f64 * 0.7).sin() };
    (0..NODES).map(|i| (0..N_FEATURES).map(|j| entry(i, j)).collect()).collect()
}

/// Options that differ from the default in what came later, too.
fn selu_options(layers: usize) -> NetworkOptions {
    NetworkOptions { activation: Unit::Selu, heads: 3, ..options(layers, SageNorm::Clamp1, true) }
}

fn options(layers: usize, sage_norm: SageNorm, gat_double_weight: bool) -> NetworkOptions {
    NetworkOptions { layers, hidden: 4, sage_norm, gat_double_weight, ..NetworkOptions::default() }
}

fn graph_input(architecture: Architecture, options: NetworkOptions, is_sparse: bool) -> GraphInput {
    let graph = WeightedGraph::undirected(Construction::Hybrid, NODES, links());
    input_of(GraphOperator::explicit(&graph), architecture, options, is_sparse)
}

fn input_of(graph: GraphOperator, architecture: Architecture, options: NetworkOptions, is_sparse: bool) -> GraphInput {
    let rows = features(is_sparse).into_iter().map(|row| (0..).zip(row.into_iter().map(|v| v as f32)).collect());
    let features = Features(matrix(N_FEATURES, rows.collect::<Vec<_>>()));
    input((&features).into(), &Arc::new(graph), architecture, options).expect("valid")
}

/// A soft graph, as corrections of a smooth one or as entries that are kept.
fn soft(is_kept: bool) -> GraphOperator {
    let pairs = (0..NODES).flat_map(|i| (i + 1..NODES).map(move |j| (i, j)));
    let claimed = pairs.filter(|(i, j)| !is_kept && *i == 0 && *j < 4 || is_kept && (i + j) % 3 != 1);
    let mut reports = BitMatrix::from_rows(NODES, |_, _| ());
    for (i, j) in claimed {
        reports.set(i, j as u32);
        if (i + 2 * j).is_multiple_of(3) {
            reports.set(j, i as u32);
        }
    }
    let beta = (0..NODES).map(|node| -1.0 - 0.2 * node as f64).collect();
    let model = LinkModel { degrees: vec![2.0; NODES], beta, epsilon_links: 1.0, ..LinkModel::default() };
    let posterior = Posterior::new(&model, LinkEvidence::from_reports(reports)).expect("same size");
    let operator = SoftOperator::new(&posterior);
    assert_eq!(matches!(operator, SoftOperator::EveryEntry(_)), is_kept);
    GraphOperator::Soft(operator)
}

/// Links as bits, two thirds of all pairs.
fn bits() -> GraphOperator {
    let mut bits = BitMatrix::from_rows(NODES, |_, _| ());
    for (i, j) in (0..NODES).flat_map(|i| (0..NODES).map(move |j| (i, j))).filter(|(i, j)| i != j && (i + j) % 3 > 0) {
        bits.set(i, j as u32);
    }
    GraphOperator::Bits(BitGraph::new(&bits, false))
}

/// A parameter of both models, `[models, rows, columns]`.
#[derive(Clone)]
struct Values {
    values: Vec<f32>,
    shape: [usize; 3],
}

fn values(architecture: Architecture, options: NetworkOptions) -> Vec<Layer<Values>> {
    let layers = architecture.layers(options, N_FEATURES, N_CLASSES);
    let models: Vec<_> = (0..MODELS)
        .map(|model| architecture.initial_values(&layers, &mut ChaCha8Rng::seed_from_u64(model as u64)))
        .collect();
    let models: Vec<Vec<(String, Vec<f32>)>> = models.into_iter().map(named).collect();
    // Biases start at zero in GCN and GAT; move them, so that a lost bias is noticed.
    let moved =
        |at: usize| models.iter().flat_map(move |model| model[at].1.iter().map(move |v| v + 0.05 * (at + 1) as f32));
    let shapes = named(layers.iter().cloned()).into_iter().enumerate();
    let values =
        shapes.map(|(at, (_, [rows, columns]))| Values { values: moved(at).collect(), shape: [MODELS, rows, columns] });
    arrange(&layers, values)
}

fn place(values: &[Layer<Values>]) -> Vec<Layer<Tracked<Flex>>> {
    let tensor = |Values { values, shape }: &Values| {
        let data = TensorData::new(values.clone(), *shape);
        Tensor::<Autodiff<Flex>, 3>::from_data(data, &Default::default()).require_grad()
    };
    values.iter().map(|layer| layer.as_ref().map(tensor)).collect()
}

fn logits(network: &Network<Flex>, parameters: &[Layer<Tracked<Flex>>], dropouts: Option<&[Dropout]>) -> Tracked<Flex> {
    logits_of(network, parameters, dropouts, &None)
}

fn logits_of(
    network: &Network<Flex>,
    parameters: &[Layer<Tracked<Flex>>],
    dropouts: Option<&[Dropout]>,
    read: &ReadRows,
) -> Tracked<Flex> {
    let dropouts = dropouts.map(|dropouts| Flex::dropouts(dropouts, &Default::default()));
    network.logits(network.first_layer(parameters), parameters, dropouts.as_ref(), 5, read)
}

fn matmul(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    a.iter()
        .map(|row| (0..b[0].len()).map(|k| row.iter().zip(b).map(|(x, other)| x * other[k]).sum()).collect())
        .collect()
}

/// The layer as the papers write it, dense and in double precision.
fn textbook_layer(
    architecture: Architecture,
    options: NetworkOptions,
    x: &[Vec<f64>],
    parameters: &Layer<Vec<Vec<f64>>>,
) -> Vec<Vec<f64>> {
    let weights = dense_links();
    let transformed = matmul(x, &parameters.weight);
    let width = transformed[0].len();
    let own = if let Beside::OwnWeight(own) = &parameters.beside { Some(matmul(x, own)) } else { None };
    (0..NODES)
        .map(|i| {
            let with_loop = |j: usize| if i == j { 1.0 } else { weights[i][j] };
            let degree = |i: usize| 1.0 + weights[i].iter().sum::<f64>();
            let n_heads = if let Beside::Attention { source, .. } = &parameters.beside { source[0].len() } else { 1 };
            let head_width = width / n_heads;
            let coefficients = |head: usize| -> Vec<f64> {
                match architecture {
                    Architecture::Mlp => (0..NODES).map(|j| f64::from(u8::from(i == j))).collect(),
                    Architecture::Gcn => (0..NODES).map(|j| with_loop(j) / (degree(i) * degree(j)).sqrt()).collect(),
                    Architecture::GraphSage => {
                        let mass: f64 = weights[i].iter().sum();
                        let norm = if options.sage_norm == SageNorm::Clamp1 { mass.max(1.0) } else { mass };
                        (0..NODES).map(|j| if norm == 0.0 { 0.0 } else { weights[i][j] / norm }).collect()
                    }
                    Architecture::Gat => {
                        let Beside::Attention { source, target } = &parameters.beside else { panic!("no attention") };
                        let dot = |j: usize, vector: &[Vec<f64>]| {
                            transformed[j][head * head_width..]
                                .iter()
                                .zip(vector)
                                .map(|(h, a)| h * a[head])
                                .sum::<f64>()
                        };
                        let score = |j: usize| {
                            let raw = dot(j, source) + dot(i, target);
                            with_loop(j) * if raw > 0.0 { raw } else { 0.2 * raw }.exp()
                        };
                        let total: f64 = (0..NODES).map(score).sum();
                        (0..NODES)
                            .map(|j| score(j) / total * if options.gat_double_weight { with_loop(j) } else { 1.0 })
                            .collect()
                    }
                }
            };
            let coefficients: Vec<Vec<f64>> = (0..n_heads).map(coefficients).collect();
            (0..width)
                .map(|k| {
                    let coefficients = &coefficients[k / head_width];
                    let gathered: f64 = coefficients.iter().zip(&transformed).map(|(c, row)| c * row[k]).sum();
                    gathered + parameters.bias[0][k] + own.as_ref().map_or(0.0, |own| own[i][k])
                })
                .collect()
        })
        .collect()
}

#[test]
fn every_network_equals_its_textbook_formula() {
    let choices = [
        (options(2, SageNorm::Clamp1, true), true),
        (options(3, SageNorm::Paper, false), false),
        (options(1, SageNorm::Paper, true), true),
        (selu_options(3), false),
        (selu_options(1), true),
    ];
    for architecture in ARCHITECTURES {
        for (options, is_sparse) in choices {
            let input = graph_input(architecture, options, is_sparse);
            let values = values(architecture, options);
            let network = Network::<Flex>::new(&input, &Default::default());
            let found = logits(&network, &place(&values), None).into_data().into_vec::<f32>().expect("f32");
            for model in 0..MODELS {
                let own = |Values { values, shape: [_, rows, columns] }: &Values| -> Vec<Vec<f64>> {
                    let own = &values[model * rows * columns..(model + 1) * rows * columns];
                    own.chunks(*columns).map(|row| row.iter().map(|&v| f64::from(v)).collect()).collect()
                };
                let mut x = features(is_sparse);
                for (layer, values) in values.iter().enumerate() {
                    if layer > 0 {
                        let selu = |x: f64| {
                            1.050_700_987_355_480_5 * if x > 0.0 { x } else { 1.673_263_242_354_377_2 * x.exp_m1() }
                        };
                        x.iter_mut().flatten().for_each(|value| {
                            *value = if options.activation == Unit::Selu { selu(*value) } else { value.max(0.0) };
                        });
                    }
                    x = textbook_layer(architecture, options, &x, &values.as_ref().map(own));
                }
                let found = &found[model * NODES * N_CLASSES..(model + 1) * NODES * N_CLASSES];
                for (found, expected) in found.iter().zip(x.into_iter().flatten()) {
                    assert!((f64::from(*found) - expected).abs() < 1e-5, "{architecture:?}: {found} {expected}");
                }
            }
        }
    }
}

/// The order of the first layer is chosen by counting; both orders are the same network.
#[test]
fn the_order_of_the_first_layer_changes_rounding_only() {
    for architecture in [Architecture::Gcn, Architecture::GraphSage] {
        let options = options(2, SageNorm::Clamp1, true);
        let parameters = place(&values(architecture, options));
        let run = |input: &GraphInput| {
            let network = Network::<Flex>::new(input, &Default::default());
            logits(&network, &parameters, None).into_data().into_vec::<f32>().expect("f32")
        };
        let listed = graph_input(architecture, options, false);
        let kept = input_of(soft(true), architecture, options, true);
        let corrected = input_of(soft(false), architecture, options, true);
        let bits = input_of(bits(), architecture, options, true);
        for mut input in [listed, kept, corrected, bits] {
            assert!(input.gathered.is_some(), "few features are cheaper once they are aggregated");
            let together = run(&input);
            input.gathered = None;
            for (together, apart) in together.iter().zip(run(&input)) {
                assert!((together - apart).abs() < 1e-5, "{together} {apart}");
            }
        }
    }
}

/// A loss on some nodes reads their logits alone: these, and all gradients, have the same bits as where all are computed.
#[test]
fn what_nobody_reads_changes_nothing_else() {
    let dropouts = [Dropout::new(0.3, 11), Dropout::new(0.0, 12)];
    let labelled = Flex::labelled(&[(1, 0), (3, 2), (4, 1)], &Default::default());
    let read: ReadRows = Some([1, 3, 4].into());
    for architecture in ARCHITECTURES {
        let options = options(3, SageNorm::Clamp1, true);
        let listed = graph_input(architecture, options, true);
        let [kept, corrected] = [true, false].map(|is_kept| input_of(soft(is_kept), architecture, options, true));
        let bits = input_of(bits(), architecture, options, true);
        for input in [listed, kept, corrected, bits] {
            let network = Network::<Flex>::new(&input, &Default::default());
            let run = |read: &ReadRows| {
                let parameters = place(&values(architecture, options));
                let logits = logits_of(&network, &parameters, Some(&dropouts), read);
                let gradients = cross_entropy::<Flex>(logits.clone(), &labelled).sum().backward();
                let gradients = named(parameters).into_iter().map(|(_, parameter)| {
                    let gradient = parameter.grad(&gradients).expect("every parameter has a gradient");
                    gradient.into_data().into_vec::<f32>().expect("f32")
                });
                (logits.into_data().into_vec::<f32>().expect("f32"), gradients.collect::<Vec<_>>())
            };
            let ((all, gradients_of_all), (some, gradients)) = (run(&None), run(&read));
            for at in (0..MODELS * NODES).filter(|at| [1, 3, 4].contains(&(at % NODES))) {
                let row = at * N_CLASSES..(at + 1) * N_CLASSES;
                assert_eq!(some[row.clone()], all[row], "{architecture:?}");
            }
            assert_eq!(gradients, gradients_of_all, "{architecture:?}");
        }
    }
}

/// Every gradient entry of the loss, with dropout, against a central difference of the same network.
#[test]
fn every_gradient_equals_finite_differences() {
    const STEP: f32 = 1e-3;
    let dropouts = [Dropout::new(0.3, 11), Dropout::new(0.0, 12)];
    let labelled: Vec<(u32, u16)> = (0..NODES as u32 - 1).map(|node| (node, (node % 3) as u16)).collect();
    let both = |architecture| {
        let relu = |layers| options(layers, SageNorm::Clamp1, true);
        [(relu(2), true), (relu(3), false), (selu_options(2), true), (selu_options(3), false)]
            .map(|(options, is_sparse)| (architecture, options, is_sparse))
    };
    for (architecture, options, is_sparse) in ARCHITECTURES.into_iter().flat_map(both) {
        let input = graph_input(architecture, options, is_sparse);
        let network = Network::<Flex>::new(&input, &Default::default());
        let labelled = Flex::labelled(&labelled, &Default::default());
        let loss = |parameters: &[Layer<Tracked<Flex>>]| {
            cross_entropy::<Flex>(logits(&network, parameters, Some(&dropouts)), &labelled).sum()
        };
        let start = values(architecture, options);
        let parameters = place(&start);
        let gradients = loss(&parameters).backward();
        for (at, (name, parameter)) in named(parameters).into_iter().enumerate() {
            let gradient = parameter.grad(&gradients).expect("every parameter has a gradient");
            let gradient: Vec<f32> = gradient.into_data().into_vec().expect("f32");
            for (entry, &found) in gradient.iter().enumerate() {
                let shifted = |step: f32| {
                    let mut values = start.clone();
                    named(values.iter_mut().map(Layer::as_mut))[at].1.values[entry] += step;
                    loss(&place(&values)).into_scalar()
                };
                let difference = (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP);
                let error = (found - difference).abs() / (1.0 + difference.abs());
                assert!(error < 5e-3, "{architecture:?} {name}[{entry}]: {found} against {difference}");
            }
        }
    }
}
