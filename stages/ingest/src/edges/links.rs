//! Links of one's own graph.

use std::collections::{BTreeMap, BTreeSet};

use super::arrays;
use super::columns;
use super::names::Names;
use super::table::{Subject, Table, place};
use crate::error::Error;
use crate::params::Params;
use crate::raw::Files;

/// Links by the names of their ends.
pub(super) struct NamedLinks {
    /// The name of the file.
    pub file: String,
    /// The line and both ends of each link, as often as the file names it.
    pub rows: Vec<(u64, [String; 2])>,
}

impl NamedLinks {
    /// The same with the line that names each first.
    pub(super) fn names(&self) -> Names<'_> {
        let mut nodes = BTreeMap::new();
        for (line, ends) in &self.rows {
            for end in ends {
                nodes.entry(end.as_str()).or_insert(Some(*line));
            }
        }
        Names { file: &self.file, n_rows: self.rows.len(), nodes }
    }

    /// The nodes that are an end of a link.
    pub(super) fn ends(&self) -> BTreeSet<&str> {
        self.rows.iter().flat_map(|(_, ends)| ends).map(String::as_str).collect()
    }
}

/// Reads the two ends of every link.
pub(super) fn read(files: &Files, file: &str, params: &Params) -> Result<NamedLinks, Error> {
    if arrays::is_array(file) {
        let links = arrays::links(files, file)?;
        let named = |(at, (a, b)): (usize, (u32, u32))| (at as u64 + 1, [a.to_string(), b.to_string()]);
        let rows = links.pairs.into_iter().enumerate().map(named).collect();
        return Ok(NamedLinks { file: file.to_owned(), rows });
    }
    // Whoever names a column says that columns have names.
    let has_header = params.header.or(params.source_column.is_some().then_some(true));
    let table = Table::read(files, file, has_header, Subject::Links)?;
    let ends = columns_of_ends(&table, params)?;
    // The number of rows tells of the links, which are private.
    tracing::info!("{file}: links {}", columns::account(&table, &[("first ends", ends[0]), ("second ends", ends[1])]));
    let mut rows = Vec::with_capacity(table.rows.len());
    for (line, mut row) in table.rows {
        rows.push((line, take_ends(file, line, &mut row, ends)?));
    }
    Ok(NamedLinks { file: table.file, rows })
}

/// The columns of both ends of a link.
///
/// # Errors
/// As for [`columns::of_links`], and when there is one column alone.
pub(super) fn columns_of_ends(table: &Table, params: &Params) -> Result<[usize; 2], Error> {
    let ends = columns::of_links(table, params)?;
    if let (1, Some((line, _))) = (table.width(), table.rows.first()) {
        return Err(table.error(place(&table.file, *line), "1 field", "a link has two ends: `source,target`"));
    }
    Ok(ends)
}

/// Takes the names of both ends out of a row.
///
/// # Errors
/// When one of them is empty.
pub(super) fn take_ends(file: &str, line: u64, row: &mut [String], ends: [usize; 2]) -> Result<[String; 2], Error> {
    let ends = ends.map(|at| std::mem::take(&mut row[at]));
    if ends.iter().any(String::is_empty) {
        return Err(Error::new(file, place(file, line), "a link with an empty end", "name both nodes"));
    }
    Ok(ends)
}
