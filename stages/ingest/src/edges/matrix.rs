//! Tables that are matrices, and no lists of links.

use super::table::Table;
use crate::error::Error;

/// Refuses a table that is a matrix of links: it has as many columns of numbers as rows.
pub(super) fn refuse(table: &Table) -> Result<(), Error> {
    /// A table of fewer columns may be a few links with weights and times.
    const COLUMNS_OF_A_MATRIX: usize = 5;
    // A data frame without names of columns is written below their numbers.
    let is_numbering = |row: &[String]| row.iter().enumerate().all(|(at, field)| *field == at.to_string());
    let (header, rows) = match (&table.header, table.rows.split_first()) {
        (None, Some(((_, first), rest))) if rest.len() == table.width() && is_numbering(first) => (Some(first), rest),
        (header, _) => (header.as_ref(), &table.rows[..]),
    };
    // The first column may name the nodes that the other columns are called by.
    let names_rows = header.is_some_and(|header| {
        header.len() == rows.len() + 1 && header[1..].iter().zip(rows).all(|(name, (_, row))| *name == row[0])
    });
    let first = usize::from(names_rows);
    let size = table.width() - first;
    let fields = || rows.iter().flat_map(|(_, row)| &row[first..]).map(|field| field.parse::<f64>());
    let are_numbers = || fields().all(|number| number.is_ok());
    let are_bits = || fields().all(|number| number.is_ok_and(|number| number == 0.0 || number == 1.0));
    // Columns that are called otherwise may hold two nodes and numbers about their link.
    let may_be_nodes = header.is_none_or(|header| names_rows || header.iter().all(|name| name.parse::<f64>().is_ok()));
    let is_square = size > 2 && size == rows.len();
    if is_square && (are_bits() || (size >= COLUMNS_OF_A_MATRIX && may_be_nodes && are_numbers())) {
        return Err(table.error(
            "",
            format!("{size} rows of {size} numbers look like a matrix, and not like links"),
            "save a matrix with `scipy.sparse.save_npz`; write links one per row, and name their columns with `source_column` and \
             `target_column`",
        ));
    }
    Ok(())
}
