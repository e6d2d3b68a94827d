//! How features are scaled.

use serde::{Deserialize, Serialize};
use veilgraph_contract::Invalid;
use veilgraph_graph::SparseMatrix;

/// How features are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalize {
    /// The global minimum is subtracted, then each row whose sum exceeds 1 is divided by its sum. The reference code
    /// does the same.
    #[default]
    Row,
    /// Features stay as they are.
    None,
    /// Each column is shifted and scaled so that its least value is 0 and its largest 1; a constant column becomes 0.
    /// That looks at the features of all nodes, so it is no way to prepare private ones: declare their range instead.
    MinMax,
}

/// Normalizing makes no dense table of more entries; no graph dataset in use needs one.
const MOST_DENSE: u64 = 1 << 28;

/// Whether the scaled features of a node depend on those of other nodes. A node that keeps its features private cannot
/// scale them so, because nobody knows those of all nodes.
pub(crate) fn reads_all_nodes(features: &SparseMatrix, how: Normalize) -> bool {
    match how {
        Normalize::None => false,
        Normalize::MinMax => true,
        // What is subtracted is the least feature of all nodes; each row is then divided by its own sum.
        Normalize::Row => minimum(features) != 0.0,
    }
}

/// Scales the features as `how` says.
///
/// # Errors
/// When values are so large that their differences overflow.
pub(crate) fn normalized(features: SparseMatrix, how: Normalize) -> Result<SparseMatrix, Invalid> {
    match how {
        Normalize::None => Ok(features),
        Normalize::MinMax => min_max(&features),
        Normalize::Row => {
            let least = minimum(&features);
            let full = (features.n_rows() as u64).saturating_mul(features.n_columns() as u64);
            if least != 0.0 && full > MOST_DENSE {
                return Err(Invalid(format!(
                    "the least feature is {least}, so subtracting it would fill all {full} entries; \
                     set normalize = \"none\", or shift the features first"
                )));
            }
            let rows = (0..features.n_rows()).map(|row| {
                let shifted = shifted_row(&features, row, least);
                let sum: f64 = shifted.iter().map(|&(_, value)| f64::from(value)).sum();
                shifted.into_iter().map(|(column, value)| (column, (f64::from(value) / sum.max(1.0)) as f32)).collect()
            });
            SparseMatrix::from_rows(features.n_columns(), rows)
        }
    }
}

/// Warns where [`Normalize::Row`] leaves hardly anything of all columns but one, as of shares beside ages.
pub(crate) fn warn_of_large_column(features: &SparseMatrix, origin: &str) {
    if let Some(share) = share_of_large_column(features) {
        tracing::warn!(
            "{origin}: one of {} columns holds {:.0} % of the sum of all features, and normalize = \"row\" divides the features of a \
             node by their sum, so that hardly anything of the others is left; write normalize = \"min-max\" below [ingest] to scale \
             each column by itself",
            features.n_columns(),
            100.0 * share
        );
    }
}

/// Which share of the sum of all features one column holds, where it is nearly all. Words that occur or do not are divided by
/// their number on purpose, so that nothing is said of features that all are one number.
fn share_of_large_column(features: &SparseMatrix) -> Option<f64> {
    const MOST: f64 = 0.9;
    let entries = || {
        (0..features.n_rows()).flat_map(move |row| {
            let (columns, values) = features.row(row);
            columns.iter().zip(values)
        })
    };
    let mut sums = vec![0.0; features.n_columns()];
    entries().for_each(|(&column, &value)| sums[column as usize] += f64::from(value.abs()));
    let (all, largest) = (sums.iter().sum::<f64>(), sums.iter().copied().fold(0.0, f64::max));
    let first = entries().next()?.1;
    let is_large = sums.len() > 1 && largest > MOST * all;
    (is_large && entries().any(|(_, value)| value != first)).then(|| largest / all)
}

/// Sets every non-zero feature to 1.
pub(crate) fn binarized(features: &SparseMatrix) -> SparseMatrix {
    let rows = (0..features.n_rows()).map(|row| features.row(row).0.iter().map(|&column| (column, 1.0)).collect());
    SparseMatrix::from_rows(features.n_columns(), rows)
        .unwrap_or_else(|invalid| unreachable!("ones are as valid as any value: {invalid}"))
}

/// Every column between 0 and 1.
///
/// # Errors
/// When so many columns have entries below 0 that hardly an entry would stay 0.
fn min_max(features: &SparseMatrix) -> Result<SparseMatrix, Invalid> {
    let columns = features.transposed();
    // What is not stored is 0, and counts unless a column stores every entry.
    let range = |column: usize| {
        let values = columns.row(column).1;
        let start = if values.len() < columns.n_columns() { (0.0, 0.0) } else { (f32::INFINITY, f32::NEG_INFINITY) };
        values.iter().fold(start, |(least, most), &value| (value.min(least), value.max(most)))
    };
    let ranges: Vec<(f32, f32)> = (0..columns.n_rows()).map(range).collect();
    let shifted = ranges.iter().filter(|(least, most)| *least < 0.0 && least < most).count() as u64;
    if shifted.saturating_mul(features.n_rows() as u64) > MOST_DENSE {
        return Err(Invalid(format!(
            "{shifted} columns have values below 0, so min-max would fill them; set normalize = \"none\""
        )));
    }
    let scaled = columns_of(&columns, &ranges);
    SparseMatrix::from_rows(features.n_rows(), scaled).map(|columns| columns.transposed())
}

/// The columns, scaled by their ranges.
fn columns_of(columns: &SparseMatrix, ranges: &[(f32, f32)]) -> Vec<Vec<(u32, f32)>> {
    let scale = |value: f32, (least, most): (f32, f32)| {
        ((f64::from(value) - f64::from(least)) / (f64::from(most) - f64::from(least))) as f32
    };
    let of = |column: usize| {
        let (nodes, values) = columns.row(column);
        let range = ranges[column];
        if range.0 >= range.1 {
            return Vec::new();
        }
        let mut dense: Vec<f32> = vec![scale(0.0, range); if range.0 < 0.0 { columns.n_columns() } else { 0 }];
        if dense.is_empty() {
            return nodes.iter().zip(values).map(|(&node, &value)| (node, scale(value, range))).collect();
        }
        nodes.iter().zip(values).for_each(|(&node, &value)| dense[node as usize] = scale(value, range));
        (0..).zip(dense).collect()
    };
    (0..columns.n_rows()).map(of).collect()
}

/// The least entry; an entry that is not stored counts as zero.
fn minimum(features: &SparseMatrix) -> f32 {
    let full = features.n_rows() * features.n_columns();
    let start = if features.n_entries() < full { 0.0 } else { f32::INFINITY };
    (0..features.n_rows()).flat_map(|row| features.row(row).1).fold(start, |least, &value| least.min(value))
}

/// The entries of a row after `least` is subtracted from each: all of its columns, unless `least` is zero.
fn shifted_row(features: &SparseMatrix, row: usize, least: f32) -> Vec<(u32, f32)> {
    let (columns, values) = features.row(row);
    let stored = columns.iter().copied().zip(values.iter().copied());
    if least == 0.0 {
        return stored.collect();
    }
    let mut dense: Vec<(u32, f32)> = (0..features.n_columns() as u32).map(|column| (column, -least)).collect();
    for (column, value) in stored {
        dense[column as usize].1 += value;
    }
    dense
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_leaves_nothing_of_the_others_is_told() {
        let share = |rows: [[f32; 2]; 3]| {
            let rows = rows.map(|[first, second]| vec![(0, first), (1, second)]);
            share_of_large_column(&SparseMatrix::from_rows(2, rows).expect("a matrix"))
        };
        let ages_beside_shares = share([[40.0, 0.5], [30.0, 0.2], [29.0, 0.3]]).expect("ages");
        assert!((ages_beside_shares - 0.99).abs() < 1e-6, "{ages_beside_shares}");
        assert_eq!(share([[4.0, 5.0], [3.0, 2.0], [2.0, 3.0]]), None, "columns of one size");
        assert_eq!(share([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), None, "words");
        assert_eq!(share([[0.0; 2]; 3]), None, "nothing");
    }
}
