//! Rows of sparse matrices, as lists of a column and its value.

use rayon::prelude::*;
use veilgraph_graph::SparseMatrix;

/// Entries of a row.
#[must_use]
pub fn entries(matrix: &SparseMatrix, row: usize) -> Vec<(u32, f32)> {
    let (columns, values) = matrix.row(row);
    columns.iter().copied().zip(values.iter().copied()).collect()
}

/// Entries of the row of `node` with a self-loop of weight 1; `weights` must not have one.
#[must_use]
pub fn with_loop(weights: &SparseMatrix, node: usize) -> Vec<(u32, f32)> {
    let mut row = entries(weights, node);
    row.insert(row.partition_point(|&(column, _)| (column as usize) < node), (node as u32, 1.0));
    row
}

/// The matrix of these rows, whose columns must ascend and lie below `n_columns`.
#[must_use]
pub fn matrix(n_columns: usize, rows: impl IntoIterator<Item = Vec<(u32, f32)>>) -> SparseMatrix {
    let matrix = SparseMatrix::from_rows(n_columns, rows);
    matrix.unwrap_or_else(|invalid| unreachable!("rows are made in order from valid ones: {invalid}"))
}

/// The product of two sparse matrices; `None` if it has `most` entries or more, or one that is no finite number.
///
/// # Shapes
/// `left`: `[n, m]`; `right`: `[m, k]`. Returns `[n, k]`.
#[must_use]
pub fn product(left: &SparseMatrix, right: &SparseMatrix, most: usize) -> Option<SparseMatrix> {
    /// So many entries are made at most before it is asked whether there are too many.
    const MOST_AT_A_TIME: usize = 1 << 22;
    let block_rows = (MOST_AT_A_TIME / right.n_columns().max(1)).clamp(16, 1 << 12);
    let mut rows = Vec::with_capacity(left.n_rows());
    let mut total = 0;
    for first in (0..left.n_rows()).step_by(block_rows) {
        let block = first..(first + block_rows).min(left.n_rows());
        let product_row = |sums: &mut RowSums, row: usize| sums.product_row(left, right, row);
        let made: Vec<Vec<(u32, f32)>> =
            block.into_par_iter().map_init(|| RowSums::new(right.n_columns()), product_row).collect();
        total += made.iter().map(Vec::len).sum::<usize>();
        if total >= most || made.iter().flatten().any(|(_, sum)| !sum.is_finite()) {
            return None;
        }
        rows.extend(made);
    }
    Some(matrix(right.n_columns(), rows))
}

/// The sums of one row of a product, and which of them are entries. Both are cleared as they are read.
struct RowSums {
    sums: Vec<f32>,
    is_met: Vec<bool>,
}

impl RowSums {
    fn new(n_columns: usize) -> Self {
        Self { sums: vec![0.0; n_columns], is_met: vec![false; n_columns] }
    }

    fn product_row(&mut self, left: &SparseMatrix, right: &SparseMatrix, row: usize) -> Vec<(u32, f32)> {
        let mut columns = Vec::new();
        for (j, weight) in entries(left, row) {
            for (k, value) in entries(right, j as usize) {
                if !std::mem::replace(&mut self.is_met[k as usize], true) {
                    columns.push(k);
                }
                self.sums[k as usize] += weight * value;
            }
        }
        columns.sort_unstable();
        let entry = |k: u32| {
            self.is_met[k as usize] = false;
            (k, std::mem::take(&mut self.sums[k as usize]))
        };
        columns.into_iter().map(entry).collect()
    }
}
