//! What is believed about the classes of a node, as further features of it.

use veilgraph_contract::{Draws, Invalid, NoParams, Progress, Server, Stage, StageRng};
use veilgraph_graph::{ClassBeliefs, DenseMatrix, EstimatedFeatures, FeatureMatrix, Features, SparseMatrix};

/// Puts a column for each class behind the features of every node: what is believed about its class.
///
/// At a training node its own label has no direct part in the beliefs, so that a network cannot read there what it is to
/// learn.
pub struct AppendBeliefs;

impl Stage for AppendBeliefs {
    const STAGE: &'static str = "train";
    const TASK: &'static str = "append-beliefs";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = NoParams;
    /// Features are public or estimated: one of the two is given.
    type Inputs = (Option<Features>, Option<EstimatedFeatures>, ClassBeliefs);
    type Outputs = (EstimatedFeatures,);
    type Error = Invalid;

    fn run(
        (public, estimated, beliefs): Self::Inputs,
        _: &NoParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Invalid> {
        let EstimatedFeatures { values, propagation } = match (public, estimated) {
            (Some(Features(entries)), None) => {
                EstimatedFeatures::unpropagated(FeatureMatrix::Sparse { fill: 0.0, entries })
            }
            (None, Some(estimated)) => estimated,
            (None, None) => return Err(Invalid("there are no features to append beliefs to".to_owned())),
            (Some(_), Some(_)) => return Err(Invalid("public and estimated features are given; give one".to_owned())),
        };
        if propagation.hops > 0 {
            let problem = format!("the features are averaged over {} hops, which beliefs are not", propagation.hops);
            return Err(Invalid(problem));
        }
        if values.n_nodes() != beliefs.n_nodes() {
            let (features, beliefs) = (values.n_nodes(), beliefs.n_nodes());
            return Err(Invalid(format!("{features} nodes have features, and there are beliefs about {beliefs}")));
        }
        Ok((EstimatedFeatures { values: with_columns(values, &beliefs)?, propagation },))
    }
}

/// The features with one column more for each class.
fn with_columns(features: FeatureMatrix, beliefs: &ClassBeliefs) -> Result<FeatureMatrix, Invalid> {
    let (n_nodes, n_features, n_classes) = (features.n_nodes(), features.n_features(), beliefs.n_classes());
    match features {
        FeatureMatrix::Dense(matrix) => {
            let rows = (0..n_nodes).flat_map(|node| [matrix.row(node), beliefs.row(node)].concat());
            DenseMatrix::new(n_nodes, n_features + n_classes, rows.collect()).map(FeatureMatrix::Dense)
        }
        FeatureMatrix::Sparse { fill, entries } => {
            let row = |node: usize| -> Vec<(u32, f32)> {
                let (columns, values) = entries.row(node);
                let listed = columns.iter().copied().zip(values.iter().copied());
                // What is listed is added to the common value of all entries.
                let believed = (n_features as u32..).zip(beliefs.row(node).iter().map(|belief| belief - fill));
                listed.chain(believed).collect()
            };
            let entries = SparseMatrix::from_rows(n_features + n_classes, (0..n_nodes).map(row))?;
            Ok(FeatureMatrix::Sparse { fill, entries })
        }
    }
}

#[cfg(test)]
mod tests;
