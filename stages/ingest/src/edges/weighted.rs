//! Links with weights, which another program has drawn between the nodes of a graph.

use std::collections::{BTreeMap, BTreeSet};

use super::arrays;
use super::columns;
use super::links::{columns_of_ends, take_ends};
use super::names::hint;
use super::table::{Subject, Table, place};
use crate::error::Error;
use crate::params::Params;
use crate::raw::Files;
use crate::released::ReleasedParams;

/// Where a link stands in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// In this line, or in this row of a file without lines.
    Row(u64),
    /// In an array of links, at this place, from 1 on.
    Link(usize),
    /// In a matrix, in this row and column, from 0 on.
    Entry(u32, u32),
}

impl Place {
    /// Where it is, in words.
    fn words(self, file: &str) -> String {
        match self {
            Self::Row(row) => place(file, row).replace(": ", ""),
            Self::Link(link) => format!("link {link}"),
            Self::Entry(row, column) => format!("entry ({row}, {column})"),
        }
    }

    /// An error there.
    fn error(self, file: &str, problem: String, remedy: impl Into<String>) -> Error {
        Error::new(file, format!("{}: ", self.words(file)), problem, remedy)
    }
}

/// A row by the names of both ends.
struct NamedRow {
    at: Place,
    ends: [String; 2],
    weight: f32,
}

/// A row by the numbers of both ends.
pub(crate) struct WeightedRow {
    pub at: Place,
    pub source: u32,
    pub target: u32,
    /// From 0 to 1.
    pub weight: f32,
}

/// Reads the rows whose ends are among the nodes with these names. Links of a node with itself say nothing that a network would read,
/// and are left out.
pub(crate) fn read(files: &Files, params: &ReleasedParams, names: &[String]) -> Result<Vec<WeightedRow>, Error> {
    let file = params.graph.as_str();
    let rows = if arrays::is_array(file) { of_array(files, file)? } else { of_table(files, params)? };
    let number: BTreeMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
    let mut weighted = Vec::with_capacity(rows.len());
    let mut n_loops = 0;
    for NamedRow { at, ends: [source, target], weight } in &rows {
        let numbered =
            |name: &String| number.get(name.as_str()).copied().ok_or_else(|| stranger(file, *at, name, &rows, names));
        let row = WeightedRow { at: *at, source: numbered(source)?, target: numbered(target)?, weight: *weight };
        if !(0.0..=1.0).contains(&row.weight) {
            let problem = format!("{weight} is no weight");
            return Err(at.error(file, problem, "write a number from 0 to 1, or leave it out"));
        }
        if row.source == row.target {
            n_loops += 1;
        } else {
            weighted.push(row);
        }
    }
    if n_loops > 0 {
        // Nothing about the graph is said aloud before its release is charged.
        tracing::debug!("{file}: left out {n_loops} links of a node with itself");
    }
    Ok(weighted)
}

/// An error about a link that has two weights.
pub(crate) fn two_weights(params: &ReleasedParams, first: &WeightedRow, second: &WeightedRow) -> Error {
    let file = params.graph.as_str();
    let (earlier, later) = if first.at <= second.at { (first, second) } else { (second, first) };
    let problem = format!(
        "this link has the weight {}, and in {} the weight {}",
        later.weight,
        earlier.at.words(file),
        earlier.weight
    );
    let remedy = if params.directed == Some(true) {
        "give it one"
    } else {
        "give it one; where a row is what its first node reports of the second one, write directed = true below [privatize.links]"
    };
    later.at.error(file, problem, remedy)
}

/// An error about a name that no node has.
fn stranger(file: &str, at: Place, name: &str, rows: &[NamedRow], names: &[String]) -> Error {
    let named: BTreeSet<&str> = rows.iter().flat_map(|row| &row.ends).map(String::as_str).collect();
    let known = names.iter().map(String::as_str).collect();
    let remedy = hint(&named.into_iter().collect::<Vec<_>>(), &known)
        .unwrap_or_else(|| "write names of nodes as the data of [ingest] have them".to_owned());
    at.error(file, format!("there is no node `{name}`"), remedy)
}

fn of_array(files: &Files, file: &str) -> Result<Vec<NamedRow>, Error> {
    let links = arrays::links(files, file)?;
    let ends = |a: u32, b: u32| [a, b].map(|end| end.to_string());
    let rows = links.pairs.into_iter().enumerate();
    Ok(match links.weights {
        Some(weights) => {
            let entry = |((_, (a, b)), weight)| NamedRow { at: Place::Entry(a, b), ends: ends(a, b), weight };
            rows.zip(weights).map(entry).collect()
        }
        None => {
            rows.map(|(row, (a, b))| NamedRow { at: Place::Link(row + 1), ends: ends(a, b), weight: 1.0 }).collect()
        }
    })
}

fn of_table(files: &Files, params: &ReleasedParams) -> Result<Vec<NamedRow>, Error> {
    let file = params.graph.as_str();
    // Whoever names a column says that columns have names.
    let names_column = params.source_column.is_some() || params.weight_column.is_some();
    let table = Table::read(files, file, params.header.or(names_column.then_some(true)), Subject::Links)?;
    let (source_column, target_column) = (params.source_column.clone(), params.target_column.clone());
    let ends = columns_of_ends(&table, &Params { source_column, target_column, ..Params::default() })?;
    let weight_at = columns::of_weights(&table, ends, params.weight_column.as_deref())?;
    let mut roles = vec![("first ends", ends[0]), ("second ends", ends[1])];
    roles.extend(weight_at.map(|at| ("weights", at)));
    tracing::info!("{file}: links of another program {}", columns::account(&table, &roles));
    if weight_at.is_none() && table.had_numbers_in_braces {
        let remedy = "write weights as a third field (networkx: `nx.write_weighted_edgelist(graph, path)`), and leave out numbers \
                      that are no weights (`nx.write_edgelist(graph, path, data=False)`)";
        return Err(Error::new(
            file,
            "",
            "numbers in braces could be the weights of the links, and are not read",
            remedy,
        ));
    }
    let mut may_be_names = table.header.is_none();
    let mut rows = Vec::with_capacity(table.rows.len());
    for (line, mut row) in table.rows {
        let at = Place::Row(line);
        let weight = match weight_at.map(|column| &row[column]) {
            None => 1.0,
            Some(text) => text.parse().map_err(|_| {
                let or_names = if may_be_names { ", or `header = true` if this row names columns" } else { "" };
                at.error(file, format!("`{text}` is no weight"), format!("write a number from 0 to 1{or_names}"))
            })?,
        };
        may_be_names = false;
        rows.push(NamedRow { at, ends: take_ends(file, line, &mut row, ends)?, weight });
    }
    Ok(rows)
}
