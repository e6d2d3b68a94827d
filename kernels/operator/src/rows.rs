//! Rows of sparse matrices, as lists of a column and its value.

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
    // One row of the product at a time: its sums, and which of them are entries. Both are cleared as they are read.
    let mut sums = vec![0.0; right.n_columns()];
    let mut met = vec![false; right.n_columns()];
    let mut rows = Vec::with_capacity(left.n_rows());
    let mut total = 0;
    for i in 0..left.n_rows() {
        let mut columns = Vec::new();
        for (j, weight) in entries(left, i) {
            for (k, value) in entries(right, j as usize) {
                if !std::mem::replace(&mut met[k as usize], true) {
                    columns.push(k);
                }
                sums[k as usize] += weight * value;
            }
        }
        total += columns.len();
        if total >= most {
            return None;
        }
        columns.sort_unstable();
        let mut row = Vec::with_capacity(columns.len());
        for k in columns {
            met[k as usize] = false;
            row.push((k, std::mem::take(&mut sums[k as usize])));
        }
        if row.iter().any(|(_, sum)| !sum.is_finite()) {
            return None;
        }
        rows.push(row);
    }
    Some(matrix(right.n_columns(), rows))
}
