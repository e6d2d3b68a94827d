//! This module measures how similar the features of two nodes are.

use veilgraph_contract::Invalid;
use veilgraph_graph::{DenseMatrix, FeatureMatrix, Features, SparseMatrix};

/// Tells whether more than half of all entries are given, as in embeddings.
pub(crate) fn is_dense(features: &SparseMatrix) -> bool {
    2 * features.n_entries() > features.n_rows() * features.n_columns()
}

/// Holds the features as vectors of length 1, whose products are cosines.
///
/// # Shapes
/// `by_node`: `[n_nodes, n_features]`; `by_feature` is its transpose.
pub(crate) struct Directions {
    by_node: SparseMatrix,
    by_feature: SparseMatrix,
}

impl Directions {
    /// Weighs the features and scales every node's vector to length 1.
    ///
    /// A feature has the weight `ln(n / number of nodes that have it)`, whatever its value, so features that few nodes
    /// have weigh most and a feature that all nodes have weighs nothing. A node whose features all weigh nothing has a
    /// cosine of 0 with every node.
    ///
    /// Where more than half of all entries are given, as in embeddings, it is the value of a feature that tells and not
    /// whether a node has it. The mean of every feature is then subtracted instead.
    ///
    /// # Source
    /// Spärck Jones (1972), inverse document frequency.
    pub(crate) fn new(features: &Features) -> Self {
        let matrix = &features.0;
        let n = matrix.n_rows();
        if is_dense(matrix) {
            return Self::centred(matrix);
        }
        let mut counts = vec![0.0; matrix.n_columns()];
        (0..n).flat_map(|node| matrix.row(node).0).for_each(|&feature| counts[feature as usize] += 1.0);
        let weights: Vec<f64> = counts.iter().map(|&count| libm::log(n as f64 / f64::max(count, 1.0))).collect();
        let rows = (0..n).map(|node| {
            let columns = matrix.row(node).0;
            let length = columns.iter().map(|&feature| weights[feature as usize].powi(2)).sum::<f64>().sqrt();
            let entries = columns.iter().map(|&feature| (feature, (weights[feature as usize] / length) as f32));
            entries.filter(|&(_, weight)| weight > 0.0).collect()
        });
        let by_node = SparseMatrix::from_rows(matrix.n_columns(), rows)
            .unwrap_or_else(|invalid| unreachable!("rows are those of a valid matrix: {invalid}"));
        Self { by_feature: by_node.transposed(), by_node }
    }

    /// Scales the vectors to length 1 after subtracting the mean of every feature.
    fn centred(matrix: &SparseMatrix) -> Self {
        let means = column_means([matrix.n_rows(), matrix.n_columns()], listed_entries(matrix));
        let rows = (0..matrix.n_rows()).map(|node| {
            let mut deviations: Vec<f64> = means.iter().map(|mean| -mean).collect();
            let (features, values) = matrix.row(node);
            features.iter().zip(values).for_each(|(&feature, &value)| deviations[feature as usize] += f64::from(value));
            of_length_1((0..).zip(deviations.into_iter().map(|deviation| deviation as f32)).collect())
        });
        let by_node = SparseMatrix::from_rows(matrix.n_columns(), rows)
            .unwrap_or_else(|invalid| unreachable!("rows are those of a valid matrix: {invalid}"));
        Self { by_feature: by_node.transposed(), by_node }
    }

    /// Scales the vectors of estimated features to length 1, after subtracting what an uninformative entry is: the mean
    /// of its feature, or the value of what was not reported.
    ///
    /// The noise of two nodes is independent, so the product of their vectors estimates that of their true features
    /// without bias, up to both lengths. The inverse document frequency is not used, because noise hides which features
    /// are rare.
    ///
    /// # Errors
    /// Fails when an entry is not finite.
    pub(crate) fn of_estimates(values: &FeatureMatrix) -> Result<Self, Invalid> {
        let n_features = values.n_features();
        let by_node = match values {
            FeatureMatrix::Sparse { entries, .. } => {
                let rows = (0..entries.n_rows()).map(|node| {
                    let (features, values) = entries.row(node);
                    of_length_1(features.iter().copied().zip(values.iter().copied()).collect())
                });
                SparseMatrix::from_rows(n_features, rows)?
            }
            FeatureMatrix::Dense(matrix) => {
                let means = column_means([matrix.n_rows(), n_features], all_entries(matrix));
                let rows = (0..matrix.n_rows()).map(|node| {
                    let deviations = matrix.row(node).iter().zip(&means);
                    of_length_1((0..).zip(deviations.map(|(&value, mean)| (f64::from(value) - mean) as f32)).collect())
                });
                SparseMatrix::from_rows(n_features, rows)?
            }
        };
        Ok(Self { by_feature: by_node.transposed(), by_node })
    }

    /// Returns the vectors of all nodes, `[n_nodes, n_features]`.
    pub(crate) fn by_node(&self) -> &SparseMatrix {
        &self.by_node
    }

    /// Returns the vectors by feature, `[n_features, n_nodes]`.
    pub(crate) fn by_feature(&self) -> &SparseMatrix {
        &self.by_feature
    }

    /// Returns the features of a node from the rarest on, with their weights, and the lengths of what is left of its vector
    /// after none of them, after the first, and so on.
    pub(crate) fn rare_first(&self, node: usize) -> (Vec<(u32, f32)>, Vec<f32>) {
        let (features, weights) = self.by_node.row(node);
        let mut rare_first: Vec<(u32, f32)> = features.iter().copied().zip(weights.iter().copied()).collect();
        rare_first.sort_unstable_by_key(|&(feature, _)| (self.n_nodes_with(feature), feature));
        let mut square = 0.0;
        let mut rests = vec![0.0_f32];
        for &(_, weight) in rare_first.iter().rev() {
            square += f64::from(weight).powi(2);
            rests.push(square.sqrt() as f32);
        }
        rests.reverse();
        (rare_first, rests)
    }

    /// Returns how many nodes have a feature.
    pub(crate) fn n_nodes_with(&self, feature: u32) -> usize {
        self.by_feature.row(feature as usize).0.len()
    }

    /// Returns the cosine of a node with the node that has these weights.
    ///
    /// Products are added in the order of the features, as everywhere, so that the sum is the same to the last bit.
    ///
    /// # Shapes
    /// `weights`: `[n_features]`.
    pub(crate) fn cosine_with(&self, weights: &[f32], node: usize) -> f32 {
        let (features, own) = self.by_node.row(node);
        features.iter().zip(own).fold(0.0, |sum, (&at, weight)| sum + weights[at as usize] * weight)
    }

    /// Returns whether no cosine is negative because no weight is.
    pub(crate) fn are_positive(&self) -> bool {
        self.by_node.ends()[0] >= 0.0
    }

    /// Returns whether any feature of any node weighs more than nothing; if none does, all cosines are 0.
    pub(crate) fn has_weighted_features(&self) -> bool {
        self.by_node.n_entries() > 0
    }

    /// Writes the cosines of `node` with the node `first` and every later one. Those of estimated features may be
    /// negative.
    ///
    /// # Shapes
    /// `cosines` becomes `[n_nodes − first]`; entry `k` belongs to node `first + k`.
    pub(crate) fn cosines_from(&self, node: usize, first: usize, cosines: &mut Vec<f32>) {
        cosines.clear();
        cosines.resize(self.by_node.n_rows() - first, 0.0);
        let (features, weights) = self.by_node.row(node);
        for (&feature, &weight) in features.iter().zip(weights) {
            let (others, other_weights) = self.by_feature.row(feature as usize);
            let skipped = others.partition_point(|&other| (other as usize) < first);
            for (&other, &other_weight) in others[skipped..].iter().zip(&other_weights[skipped..]) {
                cosines[other as usize - first] += weight * other_weight;
            }
        }
    }
}

/// So many values are compared with others at once.
pub(crate) const BLOCK: usize = 16;

/// Divides values into blocks to ask [`may_have_larger`], each with the place of its first value.
pub(crate) fn blocks(values: &[f32]) -> impl Iterator<Item = (u32, &[f32])> {
    (0..).step_by(BLOCK).zip(values.chunks(BLOCK))
}

/// Returns false only where none of these values is larger than `least`; a shorter block is not looked at.
#[inline]
pub(crate) fn may_have_larger(block: &[f32], least: f32) -> bool {
    may_have_larger_than(block, &[least; BLOCK])
}

/// Returns false only where none of these values is larger than the bound in the same place; a shorter block is not looked at.
#[inline]
pub(crate) fn may_have_larger_than(block: &[f32], bounds: &[f32]) -> bool {
    let (Ok(block), Ok(bounds)) = (<&[f32; BLOCK]>::try_from(block), <&[f32; BLOCK]>::try_from(bounds)) else {
        return true;
    };
    // All of them are compared, which vector instructions do faster than a search that may end early.
    let mut is_larger = false;
    for (value, bound) in block.iter().zip(bounds) {
        is_larger |= value > bound;
    }
    is_larger
}

/// Iterates over the entries of a sparse matrix, row by row, each as its column and its value.
pub(crate) fn listed_entries(matrix: &SparseMatrix) -> impl Iterator<Item = (u32, f32)> + Clone + '_ {
    (0..matrix.n_rows()).flat_map(|row| {
        let (columns, values) = matrix.row(row);
        columns.iter().copied().zip(values.iter().copied())
    })
}

/// Iterates over all entries of a dense matrix, row by row, each as its column and its value.
pub(crate) fn all_entries(matrix: &DenseMatrix) -> impl Iterator<Item = (u32, f32)> + Clone + '_ {
    (0..matrix.n_rows()).flat_map(|row| (0..).zip(matrix.row(row).iter().copied()))
}

/// Returns the mean of every column of a matrix of this shape, `[rows, columns]`; entries that do not come are 0.
pub(crate) fn column_means([n_rows, n_columns]: [usize; 2], entries: impl Iterator<Item = (u32, f32)>) -> Vec<f64> {
    let mut means = vec![0.0; n_columns];
    entries.for_each(|(column, value)| means[column as usize] += f64::from(value));
    means.iter_mut().for_each(|mean| *mean /= n_rows as f64);
    means
}

/// The same entries, divided by the root of the sum of their squares.
fn of_length_1(mut entries: Vec<(u32, f32)>) -> Vec<(u32, f32)> {
    let length = entries.iter().map(|&(_, value)| f64::from(value).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        entries.iter_mut().for_each(|(_, value)| *value = (f64::from(*value) / length) as f32);
    }
    entries
}
