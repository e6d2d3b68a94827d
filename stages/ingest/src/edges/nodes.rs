//! Which nodes there are.
//!
//! The set of nodes is public, so it has to be an input and no function of the private links. Otherwise the only link of
//! a node would show in it.

use std::collections::{BTreeMap, BTreeSet};

use super::NamedFiles;
use super::arrays;
use super::columns;
use super::links::NamedLinks;
use super::names::{self, Names};
use super::table::{Subject, Table, is_text, place};
use crate::error::Error;
use crate::params::Params;
use crate::raw::Files;

/// The nodes of a file that lists them.
pub(super) struct NamedNodes {
    /// The name of the file.
    pub file: String,
    /// The line of each node.
    pub lines: BTreeMap<String, u64>,
}

impl NamedNodes {
    /// The nodes that the file lists.
    pub(super) fn names(&self) -> Names<'_> {
        let nodes = self.lines.iter().map(|(node, line)| (node.as_str(), Some(*line)));
        Names { file: &self.file, n_rows: self.lines.len(), nodes: nodes.collect() }
    }
}

/// Reads one node from each row; a matrix has a row for each of the nodes 0, 1, 2 and so on.
pub(super) fn read(files: &Files, file: &str, params: &Params) -> Result<NamedNodes, Error> {
    if arrays::is_sparse(file) {
        let n_nodes = arrays::links(files, file)?.n_nodes.unwrap_or(0) as u64;
        let lines = (0..n_nodes).map(|node| (node.to_string(), node + 1)).collect();
        return Ok(NamedNodes { file: file.to_owned(), lines });
    }
    let table = read_table(files, file, params)?;
    let at = columns::of_nodes(&table, params)?;
    tracing::info!("{file}: {} rows {}", table.rows.len(), columns::account(&table, &[("nodes", at)]));
    let mut lines = BTreeMap::new();
    for (line, mut row) in table.rows {
        let node = std::mem::take(&mut row[at]);
        let place = place(file, line);
        if node.is_empty() {
            return Err(Error::new(file, place, "a row without a node", "name the node, or remove the row"));
        }
        if let Some(before) = lines.get(&node) {
            let before = self::place(file, *before).replace(": ", "");
            let problem = format!("node `{node}` stands in {before} already");
            return Err(Error::new(file, place, problem, "list each node once"));
        }
        lines.insert(node, line);
    }
    Ok(NamedNodes { file: table.file, lines })
}

/// A first row that holds the name which `node_column` gives is a row of column names.
fn read_table(files: &Files, file: &str, params: &Params) -> Result<Table, Error> {
    let table = Table::read(files, file, params.header, Subject::Nodes)?;
    let (None, None, Some(name)) = (params.header, &table.header, &params.node_column) else { return Ok(table) };
    let is_named = table.rows.first().is_some_and(|(_, row)| row.iter().any(|field| field.eq_ignore_ascii_case(name)));
    if is_named { Table::read(files, file, Some(true), Subject::Nodes) } else { Ok(table) }
}

/// The set of nodes: those of the nodes file, else those of features and labels, else the ends of links. `induced`
/// keeps those with features.
///
/// # Errors
/// When a file names a node that is not in the set.
pub(super) fn all<'a>(named: &'a NamedFiles, params: &Params) -> Result<BTreeSet<&'a str>, Error> {
    if let Some(listed) = &named.nodes {
        let listed = listed.names();
        for names in named.descriptions() {
            names::refuse_strangers(&names, &listed)?;
        }
    }
    let nodes: BTreeSet<&str> = match (&named.nodes, &named.features, &named.links) {
        (_, Some(features), _) if params.induced => features.rows.keys().map(String::as_str).collect(),
        (_, None, _) if params.induced => {
            let problem = "`induced` keeps the nodes that have features, but no features are given";
            return Err(Error::new("[ingest]", "", problem, "give `features` or leave `induced` out"));
        }
        (Some(listed), ..) => listed.lines.keys().map(String::as_str).collect(),
        (None, None, Some(links)) if params.takes_nodes_from_links() => links.ends(),
        (None, ..) => named.descriptions().into_iter().flat_map(|names| names.nodes.into_keys()).collect(),
    };
    match &named.links {
        Some(links) if !params.induced => refuse_links_to_strangers(links, &nodes, named)?,
        _ => {}
    }
    Ok(nodes)
}

/// Refuses a link that names a node which is not among `nodes`.
fn refuse_links_to_strangers(links: &NamedLinks, nodes: &BTreeSet<&str>, named: &NamedFiles) -> Result<(), Error> {
    let stranger_of = |(line, ends): &(u64, [String; 2])| {
        ends.iter().find(|end| !nodes.contains(end.as_str())).map(|stranger| (*line, stranger.clone()))
    };
    let Some((line, stranger)) = links.rows.iter().find_map(stranger_of) else { return Ok(()) };
    let (whereabouts, remedy) = match (&named.nodes, &named.features, &named.labels) {
        (Some(listed), ..) => (format!("not in {}", listed.file), format!("add the node to {}", listed.file)),
        (None, features, labels) => {
            let files = [features.as_ref().map(|of| &of.file), labels.as_ref().map(|of| &of.file)];
            let place = match files {
                [Some(features), Some(labels)] => format!("neither in {features} nor in {labels}"),
                [Some(file), None] | [None, Some(file)] => format!("not in {file}"),
                [None, None] => "in no file of nodes".to_owned(),
            };
            (place, "list all nodes in a file and name it in `nodes`".to_owned())
        }
    };
    let induced = named.features.as_ref().map_or_else(String::new, |features| {
        format!(", or set `induced = true` to keep only the nodes of {}", features.file)
    });
    let ends: Vec<&str> = links.ends().into_iter().collect();
    let is_first = links.rows.first().is_some_and(|(first, _)| *first == line) && is_text(&links.file);
    let names_columns = if is_first { "; if this line names columns, set `header = true`" } else { "" };
    let remedy =
        names::hint(&ends, nodes).unwrap_or_else(|| format!("{remedy}, or remove the link{induced}{names_columns}"));
    let problem = format!("the link names the node `{stranger}`, which is {whereabouts}");
    Err(Error::new(&links.file, place(&links.file, line), problem, remedy))
}

#[cfg(test)]
mod tests;
