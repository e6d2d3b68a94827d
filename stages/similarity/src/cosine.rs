//! How much alike are the features of two nodes?

use veilgraph_graph::{Features, SparseMatrix};

/// Features as vectors of length 1 whose products are cosines.
pub(crate) struct Directions {
    by_node: SparseMatrix,
    by_feature: SparseMatrix,
}

impl Directions {
    /// Features that few nodes have weigh most: a feature's weight is `ln(n / nodes that have it)`, whatever its
    /// value. Features of all nodes, and nodes without others, resemble nothing.
    ///
    /// # Source
    /// Spärck Jones (1972), inverse document frequency.
    pub(crate) fn new(features: &Features) -> Self {
        let matrix = &features.0;
        let n = matrix.n_rows();
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

    /// Whether any two nodes may resemble each other.
    pub(crate) fn tell_anything(&self) -> bool {
        self.by_node.n_entries() > 0
    }

    /// Cosine of `node` with every node after it: `cosines[k]` belongs to node `node + 1 + k`.
    pub(crate) fn with_later(&self, node: usize, cosines: &mut Vec<f32>) {
        cosines.clear();
        cosines.resize(self.by_node.n_rows() - node - 1, 0.0);
        let (features, weights) = self.by_node.row(node);
        for (&feature, &weight) in features.iter().zip(weights) {
            let (nodes, others) = self.by_feature.row(feature as usize);
            let first = nodes.partition_point(|&other| other as usize <= node);
            for (&other, &own) in nodes[first..].iter().zip(&others[first..]) {
                cosines[other as usize - node - 1] += weight * own;
            }
        }
    }
}
