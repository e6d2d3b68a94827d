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

/// A row by the names of both ends.
struct NamedRow {
    /// The number of its line or row.
    at: u64,
    ends: [String; 2],
    weight: f32,
}

/// A row by the numbers of both ends.
pub(crate) struct WeightedRow {
    /// The number of its line or row.
    pub at: u64,
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
            return Err(Error::new(file, place(file, *at), problem, "write a number from 0 to 1, or leave it out"));
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
        "this link has the weight {}, and in {}the weight {}",
        later.weight,
        place(file, earlier.at).replace(':', ""),
        earlier.weight
    );
    let remedy = if params.directed == Some(true) {
        "give it one"
    } else {
        "give it one; where a row is what its first node reports of the second one, write directed = true below [privatize.links]"
    };
    Error::new(file, place(file, later.at), problem, remedy)
}

/// An error about a name that no node has.
fn stranger(file: &str, at: u64, name: &str, rows: &[NamedRow], names: &[String]) -> Error {
    let named: BTreeSet<&str> = rows.iter().flat_map(|row| &row.ends).map(String::as_str).collect();
    let known = names.iter().map(String::as_str).collect();
    let remedy = hint(&named.into_iter().collect::<Vec<_>>(), &known)
        .unwrap_or_else(|| "write names of nodes as the data of [ingest] have them".to_owned());
    Error::new(file, place(file, at), format!("there is no node `{name}`"), remedy)
}

fn of_array(files: &Files, file: &str) -> Result<Vec<NamedRow>, Error> {
    let links = arrays::links(files, file)?;
    let weights = links.weights.unwrap_or_else(|| vec![1.0; links.pairs.len()]);
    let rows = links.pairs.into_iter().zip(weights).enumerate();
    let named =
        |(row, ((a, b), weight))| NamedRow { at: row as u64 + 1, ends: [a, b].map(|end: u32| end.to_string()), weight };
    Ok(rows.map(named).collect())
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
    if weight_at.is_none() && table.had_attributes && files.text(file)?.contains("'weight':") {
        let remedy = "write them as a third field (networkx: `nx.write_weighted_edgelist(graph, path)`)";
        return Err(Error::new(file, "", "weights in braces are not read", remedy));
    }
    let mut rows = Vec::with_capacity(table.rows.len());
    for (at, mut row) in table.rows {
        let weight = match weight_at.map(|column| &row[column]) {
            None => 1.0,
            Some(text) => text.parse().map_err(|_| {
                let remedy = "write a number from 0 to 1, or `header = true` where the first row names columns";
                Error::new(file, place(file, at), format!("`{text}` is no weight"), remedy)
            })?,
        };
        rows.push(NamedRow { at, ends: take_ends(file, at, &mut row, ends)?, weight });
    }
    Ok(rows)
}
