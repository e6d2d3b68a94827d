//! Sparse matrices by rows.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Arch, Simd, WithSimd};
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use crate::NODES_PER_BLOCK;

/// Sparse matrix in compressed rows, columns ascending in each row.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    n_columns: usize,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

/// One row of features per node: what the server knows about the nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Features(pub SparseMatrix);

/// Columns of a right-hand side that are summed side by side.
const MOST_LANES: usize = 16;

impl SparseMatrix {
    /// Matrix from the entries of each row, `(column, value)` with ascending columns; zeros are dropped.
    ///
    /// # Errors
    /// When a column is out of range, repeated or out of order, or a value is not finite; names the row.
    pub fn from_rows(n_columns: usize, rows: impl IntoIterator<Item = Vec<(u32, f32)>>) -> Result<Self, Invalid> {
        let mut matrix = Self { n_columns, offsets: vec![0], columns: Vec::new(), values: Vec::new() };
        for (row, entries) in rows.into_iter().enumerate() {
            let mut previous = None;
            for (column, value) in entries {
                if column as usize >= n_columns {
                    return Err(Invalid(format!("row {row}: column {column} is not below the width, {n_columns}")));
                }
                if previous.is_some_and(|previous| previous >= column) {
                    return Err(Invalid(format!("row {row}: column {column} comes twice or out of order")));
                }
                if !value.is_finite() {
                    return Err(Invalid(format!("row {row}, column {column}: the value {value} is not finite")));
                }
                previous = Some(column);
                if value != 0.0 {
                    matrix.columns.push(column);
                    matrix.values.push(value);
                }
            }
            matrix.offsets.push(matrix.columns.len());
        }
        Ok(matrix)
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Number of stored entries.
    #[must_use]
    pub fn n_entries(&self) -> usize {
        self.values.len()
    }

    /// Columns and values of `row`.
    #[must_use]
    pub fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[row]..self.offsets[row + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// The transposed matrix.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut offsets = vec![0; self.n_columns + 1];
        for &column in &self.columns {
            offsets[column as usize + 1] += 1;
        }
        for column in 0..self.n_columns {
            offsets[column + 1] += offsets[column];
        }
        let mut next = offsets.clone();
        let mut columns = vec![0; self.columns.len()];
        let mut values = vec![0.0; self.values.len()];
        for row in 0..self.n_rows() {
            let (row_columns, row_values) = self.row(row);
            for (&column, &value) in row_columns.iter().zip(row_values) {
                let at = next[column as usize];
                columns[at] = row as u32;
                values[at] = value;
                next[column as usize] += 1;
            }
        }
        Self { n_columns: self.n_rows(), offsets, columns, values }
    }

    /// `self · x` for a dense row-major `x` of shape `[n_columns, width]`; returns `[n_rows, width]`.
    ///
    /// # Panics
    /// When `x` has another length.
    #[must_use]
    pub fn multiply(&self, x: &[f32], width: usize) -> Vec<f32> {
        assert_eq!(x.len(), self.n_columns * width, "x must have n_columns rows");
        let mut product = vec![0.0; self.n_rows() * width];
        Arch::new().dispatch(Multiply { matrix: self, x, width, product: &mut product });
        product
    }
}

/// A product in the processor's widest vectors. Lanes are independent and sums run along the row, so every
/// width of vectors gives the same bits.
struct Multiply<'a> {
    matrix: &'a SparseMatrix,
    x: &'a [f32],
    width: usize,
    product: &'a mut [f32],
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        for start in (0..self.width).step_by(MOST_LANES) {
            // One pass over the entries for each 16 columns, and an exact one for the rest.
            macro_rules! pass {
                ($($lanes:literal)*) => {
                    match (self.width - start).min(MOST_LANES) {
                        $($lanes => self.columns::<$lanes>(start),)*
                        _ => unreachable!("between one column and {MOST_LANES}"),
                    }
                };
            }
            pass!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
        }
    }
}

impl Multiply<'_> {
    /// Columns `start..start + LANES` of the product, with the sums of a row in registers.
    #[inline(always)]
    fn columns<const LANES: usize>(&mut self, start: usize) {
        for (row, out) in self.product.chunks_exact_mut(self.width).enumerate() {
            let (columns, values) = self.matrix.row(row);
            let mut sums = [0.0; LANES];
            for (&column, &value) in columns.iter().zip(values) {
                let at = column as usize * self.width + start;
                for (sum, &term) in sums.iter_mut().zip(&self.x[at..at + LANES]) {
                    *sum += value * term;
                }
            }
            out[start..start + LANES].copy_from_slice(&sums);
        }
    }
}

// Features are public in link-local privacy: only links are hidden.
impl Public for Features {}

impl Artifact for Features {
    const NAME: &'static str = "features";
    const ZONE: Zone = Zone::Public;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("node", ColumnType::U32), ("feature", ColumnType::U32), ("value", ColumnType::F32)];

    fn facts(&self) -> Facts {
        Facts::default().with("n_nodes", self.0.n_rows()).with("n_features", self.0.n_columns())
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let matrix = &self.0;
        Box::new((0..matrix.n_rows()).step_by(NODES_PER_BLOCK).map(|first| {
            let last = (first + NODES_PER_BLOCK).min(matrix.n_rows());
            let range = matrix.offsets[first]..matrix.offsets[last];
            let nodes = (first..last).flat_map(|node| vec![node as u32; matrix.row(node).0.len()]).collect();
            vec![
                Column::U32(nodes),
                Column::U32(matrix.columns[range.clone()].to_vec()),
                Column::F32(matrix.values[range].to_vec()),
            ]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut rows = vec![Vec::new(); facts.get("n_nodes")?];
        for block in blocks {
            let mut block = block.into_iter();
            let nodes: Vec<u32> = take(&mut block)?;
            let columns: Vec<u32> = take(&mut block)?;
            let values: Vec<f32> = take(&mut block)?;
            for ((node, column), value) in nodes.into_iter().zip(columns).zip(values) {
                let row = rows.get_mut(node as usize).ok_or_else(|| Invalid(format!("node {node} does not exist")))?;
                row.push((column, value));
            }
        }
        SparseMatrix::from_rows(facts.get("n_features")?, rows).map(Self)
    }

    /// The rows, without their entries: the number of those is known to nobody before they are read.
    fn footprint(facts: &Facts) -> Result<u64, Invalid> {
        Ok(facts.get::<u64>("n_nodes")?.saturating_mul(size_of::<Vec<(u32, f32)>>() as u64))
    }
}

#[cfg(test)]
mod tests;
