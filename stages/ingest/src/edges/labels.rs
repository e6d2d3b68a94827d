//! Classes of one's own graph.

use std::collections::{BTreeMap, BTreeSet};

use super::arrays;
use super::columns;
use super::names::Names;
use super::ordered;
use super::table::{Subject, Table, place};
use crate::error::Error;
use crate::params::Params;
use crate::raw::Files;

/// Classes by node name.
pub(super) struct NamedLabels {
    /// The name of the file.
    pub file: String,
    /// The number of rows of the file, with and without a class.
    pub n_rows: usize,
    /// The line of each node, and its class if it has one.
    pub rows: BTreeMap<String, (u64, Option<String>)>,
}

impl NamedLabels {
    /// The nodes of the file, with and without a class.
    pub(super) fn names(&self) -> Names<'_> {
        let nodes = self.rows.iter().map(|(node, (line, _))| (node.as_str(), Some(*line)));
        Names { file: &self.file, n_rows: self.n_rows, nodes: nodes.collect() }
    }
}

/// Reads the class of each node as text.
pub(super) fn read(files: &Files, file: &str, params: &Params) -> Result<NamedLabels, Error> {
    if arrays::is_array(file) {
        return by_number(files, file);
    }
    // Whoever names a column says that columns have names.
    let names_column = params.node_column.is_some() || params.label_column.is_some();
    let table = Table::read(files, file, params.header.or(names_column.then_some(true)), Subject::Nodes)?;
    if table.width() < 2 {
        return Err(table.error("", format!("{} column", table.width()), "labels need two: `node,label`"));
    }
    let [node_at, label_at] = columns::of_labels(&table, params)?;
    let account = columns::account(&table, &[("nodes", node_at), ("classes", label_at)]);
    tracing::info!("{file}: {} rows {account}", table.rows.len());
    let mut rows: BTreeMap<String, (u64, Option<String>)> = BTreeMap::new();
    for (line, row) in &table.rows {
        let (node, label) = (&row[node_at], &row[label_at]);
        let place = place(file, *line);
        if node.is_empty() {
            return Err(table.error(place, "a label without a node", "name the node"));
        }
        let (_, class) = rows.entry(node.clone()).or_insert((*line, None));
        if label.is_empty() {
            continue;
        }
        if class.replace(label.clone()).is_some_and(|before| before != *label) {
            return Err(table.error(place, format!("node `{node}` has two labels"), "give each node one label"));
        }
    }
    Ok(NamedLabels { file: table.file, n_rows: table.rows.len(), rows })
}

/// Reads an array of classes, whose rows are the nodes 0, 1, 2 and so on.
fn by_number(files: &Files, file: &str) -> Result<NamedLabels, Error> {
    let classes = arrays::classes(files, file)?;
    let n_rows = classes.len();
    let row = |(node, class): (usize, Option<String>)| (node.to_string(), (node as u64 + 1, class));
    Ok(NamedLabels { file: file.to_owned(), n_rows, rows: classes.into_iter().enumerate().map(row).collect() })
}

/// The classes by number.
pub(super) struct Classes {
    /// What each class is called.
    pub names: Vec<String>,
    /// The class of each node that has one.
    pub of_nodes: Vec<Option<u16>>,
}

/// Most classes that a graph may have.
pub(crate) const MOST_CLASSES: usize = 65_535;

/// What other programs write where a value is missing. A class may have such a name nevertheless.
pub(super) const MISSING: [&str; 9] = ["nan", "na", "n/a", "<na>", "null", "none", "nil", r"\n", "?"];

/// Gives each node of `names` the number of its class. Classes are numbered as they are declared, or else by ascending label (as
/// numbers, if all labels are numbers).
pub(super) fn numbered(labels: &NamedLabels, names: &[String], params: &Params) -> Result<Classes, Error> {
    let NamedLabels { file, rows, .. } = labels;
    let labelled: Vec<(u64, &str)> =
        rows.values().filter_map(|(line, class)| class.as_deref().map(|class| (*line, class))).collect();
    let classes = match &params.classes {
        Some(declared) => declared_classes(file, &labelled, declared.names())?,
        None => found_classes(file, &labelled)?,
    };
    let is_negative = |class: &str| class.parse::<f64>().is_ok_and(|number| number < 0.0);
    let is_missing =
        |class: &&String| is_negative(class) || MISSING.iter().any(|word| class.eq_ignore_ascii_case(word));
    if let Some(class) = classes.iter().find(is_missing) {
        tracing::warn!("{file}: `{class}` is read as a class; leave the field of a node without class empty");
    }
    let number: BTreeMap<&str, u16> =
        classes.iter().enumerate().map(|(class, label)| (label.as_str(), class as u16)).collect();
    let class_of = |name: &String| rows.get(name).and_then(|(_, class)| class.as_deref()).map(|class| number[class]);
    let of_nodes = names.iter().map(class_of).collect();
    Ok(Classes { names: classes, of_nodes })
}

/// The declared classes, if every label is one of them.
fn declared_classes(file: &str, labelled: &[(u64, &str)], declared: Vec<String>) -> Result<Vec<String>, Error> {
    let known: BTreeSet<&str> = declared.iter().map(String::as_str).collect();
    match labelled.iter().find(|(_, class)| !known.contains(class)) {
        Some((line, class)) => {
            let problem = format!("`{class}` is not among the {} classes of `[ingest] classes`", declared.len());
            Err(Error::new(file, place(file, *line), problem, "declare every class, or leave the field empty"))
        }
        None => Ok(declared),
    }
}

/// The classes that nodes have, in ascending order.
fn found_classes(file: &str, labelled: &[(u64, &str)]) -> Result<Vec<String>, Error> {
    let classes = ordered(labelled.iter().map(|(_, class)| *class).collect::<BTreeSet<_>>());
    if classes.len() < 2 {
        let problem = format!("{} class only", classes.len());
        return Err(Error::new(file, "", problem, "a classifier needs at least two classes"));
    }
    let fraction = classes
        .iter()
        .find(|class| class.contains('.') && class.parse::<f64>().is_ok_and(|v| v.fract() != 0.0 || v.is_nan()));
    if classes.len() > MOST_CLASSES || classes.len() > labelled.len() / 2 + 2 || fraction.is_some() {
        let line = fraction
            .and_then(|class| labelled.iter().find(|(_, label)| label == class))
            .map_or(String::new(), |(line, _)| place(file, *line));
        let problem = format!("{} different labels among {} nodes are no classes", classes.len(), labelled.len());
        return Err(Error::new(file, line, problem, "set `label_column` to the column of the classes"));
    }
    Ok(classes)
}
