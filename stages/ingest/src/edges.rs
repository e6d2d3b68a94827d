//! Files of a user's own graph, and of the datasets that come as tables: text, Parquet, Arrow, GraphML, and arrays.

pub(crate) mod arrays;
mod columns;
mod features;
mod labels;
mod links;
mod matrix;
mod names;
mod nodes;
mod table;
pub(crate) mod weighted;

use std::collections::BTreeMap;

use crate::error::Error;
use crate::params::{Params, names_beside_numbers};
use crate::raw::{Files, RawGraph};
use features::NamedFeatures;
pub(crate) use labels::MOST_CLASSES;
use labels::{Classes, NamedLabels};
use links::NamedLinks;
use names::Names;
use nodes::NamedNodes;

/// Whether a file is text by its name.
pub(crate) fn is_text(file: &str) -> bool {
    table::is_text(file)
}

/// The rows of a table, each with where it stands; a row of column names is the first of them.
pub(crate) fn rows_of(files: &Files, file: &str) -> Result<Vec<(String, Vec<String>)>, Error> {
    if arrays::is_array(file) {
        return Err(Error::new(file, "", "an array names no nodes", "write rows of `node,split` as a table"));
    }
    let table = table::Table::read(files, file, Some(false), table::Subject::Nodes)?;
    let header = table.header.into_iter().map(|names| (String::new(), names));
    Ok(header.chain(table.rows.into_iter().map(|(row, fields)| (table::place(file, row), fields))).collect())
}

/// What each file says, by the names of nodes.
struct NamedFiles {
    nodes: Option<NamedNodes>,
    links: Option<NamedLinks>,
    features: Option<NamedFeatures>,
    labels: Option<NamedLabels>,
}

impl NamedFiles {
    /// The nodes of every file that is given.
    fn all_names(&self) -> Vec<Names<'_>> {
        let links = self.links.as_ref().map(NamedLinks::names);
        let nodes = self.nodes.as_ref().map(NamedNodes::names);
        self.descriptions().into_iter().chain(nodes).chain(links).collect()
    }

    /// The nodes of features and of labels, where they are given.
    fn descriptions(&self) -> Vec<Names<'_>> {
        let features = self.features.as_ref().map(NamedFeatures::names);
        features.into_iter().chain(self.labels.as_ref().map(NamedLabels::names)).collect()
    }
}

/// Reads nodes, links, features and labels, those that are given. Node names are kept; nodes are numbered by ascending
/// name (as numbers, if all names are whole numbers from 0 on).
pub(crate) fn read(files: &Files, params: &Params) -> Result<RawGraph, Error> {
    let mut named = NamedFiles {
        links: params.edges.as_ref().map(|file| links::read(files, file, params)).transpose()?,
        nodes: params.file_of_nodes().map(|file| nodes::read(files, file, params)).transpose()?,
        features: params.features.as_ref().map(|file| features::read(files, file, params)).transpose()?,
        labels: params.labels.as_ref().map(|file| labels::read(files, file, params)).transpose()?,
    };
    compare_names(&named)?;
    let all = nodes::all(&named, params)?;
    names::refuse_two_spellings(&all, || named.all_names())?;
    let names = ordered(all);
    if u32::try_from(names.len()).is_err() {
        let problem = format!("{} nodes", names.len());
        return Err(Error::new(&params.origin_of_nodes(), "", problem, "at most 2^32 - 1 nodes are possible"));
    }
    let number: BTreeMap<&str, u32> =
        names.iter().enumerate().map(|(node, name)| (name.as_str(), node as u32)).collect();
    // Only `induced` leaves links out: otherwise all their ends are nodes.
    let pair = |(_, [a, b]): &(u64, [String; 2])| number.get(a.as_str()).copied().zip(number.get(b.as_str()).copied());
    let pairs = named.links.map(|links| links.rows.iter().filter_map(pair).collect());
    if let Some(features) = &named.features {
        say_who_has_none(features, &names, params);
    }
    let features = named.features.as_mut().map(|features| {
        let rows = names.iter().map(|name| features.rows.remove(name).map(|row| row.entries).unwrap_or_default());
        (features.width, rows.collect())
    });
    if let Some(labels) = &mut named.labels {
        labels.rows.retain(|node, _| number.contains_key(node.as_str()));
    }
    let classes = named.labels.map(|labels| labels::numbered(&labels, &names, params)).transpose()?;
    let (class_names, classes) = classes.map_or((Vec::new(), None), |Classes { names, of_nodes }| {
        let n_classes = names.len();
        (names_beside_numbers(names), Some((n_classes, of_nodes)))
    });
    Ok(RawGraph { names, pairs, features, classes, class_names, splits: None })
}

/// Says how many nodes the file of features leaves out, whose features are then zeros. Where features are private, so is
/// who has some.
fn say_who_has_none(features: &NamedFeatures, names: &[String], params: &Params) {
    let n_without = names.iter().filter(|name| !features.rows.contains_key(*name)).count();
    if n_without > 0 && !params.withhold_features {
        let (n_nodes, file) = (names.len(), &features.file);
        tracing::warn!("{n_without} of {n_nodes} nodes have no row in {file}; all their features are zeros");
    }
}

/// Compares the nodes of the other files with those of the file of links, before any node is left out.
fn compare_names(named: &NamedFiles) -> Result<(), Error> {
    let Some(links) = &named.links else { return Ok(()) };
    let linked = links.ends();
    // Features and labels are compared with the file of all nodes, if there is one.
    let files = named.nodes.as_ref().map_or_else(|| named.descriptions(), |nodes| vec![nodes.names()]);
    for names in files {
        let agreement = names::agreement(&names, &links.file, &linked)?;
        tracing::debug!("{}", agreement.counts);
        if let Some(hint) = agreement.hint {
            tracing::warn!("{}: not every node has links; {hint}", names.file);
        }
    }
    Ok(())
}

/// Puts names in ascending order: as numbers if all are whole numbers from 0 on, else as text.
fn ordered<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<&str> = names.into_iter().collect();
    let numbers: Option<Vec<u64>> = names.iter().map(|name| name.parse().ok()).collect();
    if let Some(numbers) = numbers {
        let mut both: Vec<(u64, &str)> = numbers.into_iter().zip(names).collect();
        both.sort_unstable();
        both.into_iter().map(|(_, name)| name.to_owned()).collect()
    } else {
        names.sort_unstable();
        names.into_iter().map(str::to_owned).collect()
    }
}

#[cfg(test)]
#[path = "edges/odd_attributes/tests.rs"]
mod odd_attributes;
#[cfg(test)]
#[path = "edges/odd_files/tests.rs"]
mod odd_files;
#[cfg(test)]
mod tests;
