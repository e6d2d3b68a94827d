//! How far features that a server worked out are from the true ones.

use std::sync::Arc;

use veilgraph_contract::Invalid;
use veilgraph_graph::{EstimatedFeatures, Features, ProductRows};
use veilgraph_operator::{GraphOperator, ImplicitMap, Scaling};

use crate::metric::{self, Metric};

/// Columns that are convolved at once.
const BLOCK: usize = 64;

/// Mean absolute errors over nodes and features: of the estimates themselves, and, where there is a graph, of their graph convolution
/// `Σ_{u ∈ N(v) ∪ {v}} x_u / √(d_u d_v)`, with degrees that count the loop.
///
/// # Source
/// Sajadmanesh, Gatica-Perez (2020), section 5 (mean absolute error of the first layer's aggregate).
///
/// # Errors
/// When estimates, truth and graph are of different sizes.
pub(crate) fn feature_error(
    estimated: &EstimatedFeatures,
    Features(truth): &Features,
    graph: Option<Arc<GraphOperator>>,
) -> Result<Vec<(&'static Metric, f64)>, Invalid> {
    let (n_nodes, n_features) = (truth.n_rows(), truth.n_columns());
    let n_nodes_of_graph = graph.as_ref().map_or(n_nodes, |graph| graph.n_nodes());
    let found = (estimated.values.n_nodes(), estimated.values.n_features(), n_nodes_of_graph);
    if found != (n_nodes, n_features, n_nodes) {
        return Err(Invalid(format!(
            "{} x {} features were estimated over {} nodes, and there are {n_nodes} x {n_features}",
            found.0, found.1, found.2
        )));
    }
    let convolution = graph.map(|operator| {
        let scale: Vec<f32> = operator.row_sums().into_iter().map(|sum| 1.0 / (1.0 + sum).sqrt()).collect();
        ImplicitMap { operator, scaling: Scaling { left: scale.clone(), right: scale, loops: true } }
    });
    let (mut own, mut convolved) = (0.0, 0.0);
    for start in (0..n_features).step_by(BLOCK) {
        let width = BLOCK.min(n_features - start);
        let mut difference = Vec::with_capacity(n_nodes * width);
        for node in 0..n_nodes {
            difference.extend_from_slice(&estimated.values.row(node)[start..start + width]);
            let row = &mut difference[node * width..];
            let (columns, values) = truth.row(node);
            let first = columns.partition_point(|&column| (column as usize) < start);
            for (&column, value) in columns[first..].iter().zip(&values[first..]) {
                match row.get_mut(column as usize - start) {
                    Some(entry) => *entry -= value,
                    None => break,
                }
            }
        }
        let sum = |values: &[f32]| values.iter().map(|&value| f64::from(value.abs())).sum::<f64>();
        own += sum(&difference);
        if let Some(convolution) = &convolution {
            convolved += sum(&convolution.apply(&difference, width, false, ProductRows::All));
        }
    }
    let entries = (n_nodes * n_features) as f64;
    let mut errors = vec![(&metric::FEATURE_MAE, own / entries)];
    if convolution.is_some() {
        errors.push((&metric::CONVOLUTION_MAE, convolved / entries));
    }
    Ok(errors)
}
