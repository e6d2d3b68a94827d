use burn::backend::{Autodiff, Flex};
use rand::SeedableRng;
use veilgraph_graph::{Construction, SparseMatrix, WeightedGraph};

use super::*;
use crate::operator::SparseMap;

const SIZES: [usize; 3] = [5, 4, 3];
const NODES: usize = 7;

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

fn features() -> Vec<Vec<f64>> {
    (0..NODES)
        .map(|i| (0..SIZES[0]).map(|j| if (i + j) % 3 == 0 { 0.0 } else { ((i * 5 + j) as f64 * 0.7).sin() }).collect())
        .collect()
}

fn options(sage_norm: SageNorm, gat_double_weight: bool) -> NetworkOptions {
    NetworkOptions { hidden: SIZES[1], sage_norm, gat_double_weight }
}

struct Setup {
    architecture: Architecture,
    features: Arc<dyn LinearMap>,
    aggregation: Aggregation,
}

fn setup(architecture: Architecture, options: NetworkOptions) -> Setup {
    let rows =
        features().into_iter().map(|row| row.into_iter().enumerate().map(|(j, v)| (j as u32, v as f32)).collect());
    let matrix = SparseMatrix::from_rows(SIZES[0], rows.collect::<Vec<_>>()).expect("valid");
    let graph = WeightedGraph { construction: Construction::Hybrid, n_nodes: NODES, links: links() };
    let operator = Arc::new(GraphOperator::explicit(&graph));
    Setup {
        architecture,
        features: Arc::new(SparseMap::new(matrix)),
        aggregation: architecture.aggregation(&operator, options),
    }
}

fn network<B: GraphBackend>(architecture: Architecture) -> Network<B> {
    let mut network = Network::<B>::new(architecture, SIZES, &mut ChaCha8Rng::seed_from_u64(3), &Default::default());
    // Biases start at zero in GCN and GAT; move them, so that a lost bias is noticed.
    for (at, parameter) in network.parameters.iter_mut().enumerate() {
        let moved = parameter.val() + 0.05 * (at as f32 + 1.0);
        *parameter = Param::from_tensor(moved.detach());
    }
    network
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
    parameters: &[Vec<Vec<f64>>],
) -> Vec<Vec<f64>> {
    let weights = dense_links();
    let transformed = matmul(x, &parameters[0]);
    let width = transformed[0].len();
    let own = (architecture == Architecture::GraphSage).then(|| matmul(x, &parameters[2]));
    (0..NODES)
        .map(|i| {
            let with_loop = |j: usize| if i == j { 1.0 } else { weights[i][j] };
            let degree = |i: usize| 1.0 + weights[i].iter().sum::<f64>();
            let coefficients: Vec<f64> = match architecture {
                Architecture::Mlp => (0..NODES).map(|j| f64::from(u8::from(i == j))).collect(),
                Architecture::Gcn => (0..NODES).map(|j| with_loop(j) / (degree(i) * degree(j)).sqrt()).collect(),
                Architecture::GraphSage => {
                    let mass: f64 = weights[i].iter().sum();
                    let norm = if options.sage_norm == SageNorm::Clamp1 { mass.max(1.0) } else { mass };
                    (0..NODES).map(|j| if norm == 0.0 { 0.0 } else { weights[i][j] / norm }).collect()
                }
                Architecture::Gat => {
                    let dot = |j: usize, vector: &[Vec<f64>]| {
                        transformed[j].iter().zip(vector).map(|(h, a)| h * a[0]).sum::<f64>()
                    };
                    let score = |j: usize| {
                        let raw = dot(j, &parameters[2]) + dot(i, &parameters[3]);
                        with_loop(j) * if raw > 0.0 { raw } else { 0.2 * raw }.exp()
                    };
                    let total: f64 = (0..NODES).map(score).sum();
                    (0..NODES)
                        .map(|j| score(j) / total * if options.gat_double_weight { with_loop(j) } else { 1.0 })
                        .collect()
                }
            };
            (0..width)
                .map(|k| {
                    let gathered: f64 = coefficients.iter().zip(&transformed).map(|(c, row)| c * row[k]).sum();
                    gathered + parameters[1][0][k] + own.as_ref().map_or(0.0, |own| own[i][k])
                })
                .collect()
        })
        .collect()
}

#[test]
fn every_network_equals_its_textbook_formula() {
    for architecture in [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat, Architecture::Mlp] {
        for options in [options(SageNorm::Clamp1, true), options(SageNorm::Paper, false)] {
            let Setup { features: map, aggregation, .. } = setup(architecture, options);
            let network = network::<Flex>(architecture);
            let logits: Vec<f32> =
                network.forward(architecture, &map, &aggregation, None).into_data().into_vec().expect("f32");
            let parameters: Vec<Vec<Vec<f64>>> = network
                .values()
                .into_iter()
                .zip(architecture.parameters(SIZES))
                .map(|(values, (_, [_, columns]))| {
                    values.chunks(columns).map(|row| row.iter().map(|&v| f64::from(v)).collect()).collect()
                })
                .collect();
            let (first, second) = parameters.split_at(parameters.len() / 2);
            let mut hidden = textbook_layer(architecture, options, &features(), first);
            hidden.iter_mut().flatten().for_each(|value| *value = value.max(0.0));
            let expected = textbook_layer(architecture, options, &hidden, second);
            for (found, expected) in logits.iter().zip(expected.into_iter().flatten()) {
                assert!((f64::from(*found) - expected).abs() < 1e-5, "{architecture:?}: {found} {expected}");
            }
        }
    }
}

/// Every gradient entry against a central difference of the same network.
#[test]
fn every_gradient_equals_finite_differences() {
    type B = Autodiff<Flex>;
    const STEP: f32 = 4e-3;
    for architecture in [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat, Architecture::Mlp] {
        let setup = setup(architecture, options(SageNorm::Clamp1, true));
        let target: Vec<f32> = (0..NODES * SIZES[2]).map(|k| (k as f32 * 1.3).cos()).collect();
        let target = Tensor::<B, 2>::from_data(TensorData::new(target, [NODES, SIZES[2]]), &Default::default());
        let loss = |network: &Network<B>| {
            let logits = network.forward(setup.architecture, &setup.features, &setup.aggregation, None);
            (logits * target.clone()).sum()
        };
        let network = network::<B>(architecture);
        let gradients = loss(&network).backward();
        let shapes = architecture.parameters(SIZES);
        for (at, (name, shape)) in shapes.iter().enumerate() {
            let gradient = network.parameters[at].val().grad(&gradients).expect("every parameter has a gradient");
            let gradient: Vec<f32> = gradient.into_data().into_vec().expect("f32");
            let values = network.values()[at].clone();
            for entry in 0..values.len() {
                let shifted = |step: f32| {
                    let mut values = values.clone();
                    values[entry] += step;
                    let mut moved = network.clone();
                    moved.parameters[at] =
                        Param::from_tensor(Tensor::from_data(TensorData::new(values, *shape), &Default::default()));
                    loss(&moved).into_scalar()
                };
                let difference = (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP);
                let error = (gradient[entry] - difference).abs() / (1.0 + difference.abs());
                assert!(error < 5e-3, "{architecture:?} {name}[{entry}]: {} against {difference}", gradient[entry]);
            }
        }
    }
}
