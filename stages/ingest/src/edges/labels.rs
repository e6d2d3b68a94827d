//! Classes of one's own graph.

use std::collections::{BTreeMap, BTreeSet};

use super::columns;
use super::ordered;
use super::table::TextTable;
use crate::error::Error;
use crate::params::Params;
use crate::raw::Files;

/// Classes by node name.
pub(super) struct NamedLabels {
    /// The number of rows of the file, with and without a class.
    pub n_rows: usize,
    /// The line and the class of each node that has one.
    pub classes: BTreeMap<String, (u64, String)>,
}

/// Reads the class of each node as text.
pub(super) fn read(files: &Files, file: &str, params: &Params) -> Result<NamedLabels, Error> {
    // Whoever names a column says that columns have names.
    let names_column = params.node_column.is_some() || params.label_column.is_some();
    let table = TextTable::read(files, file, params.header.or(names_column.then_some(true)))?;
    if table.width() < 2 {
        return Err(table.error("", format!("{} column", table.width()), "labels need two: `node,label`"));
    }
    let [node_at, label_at] = columns::of_labels(&table, params)?;
    tracing::info!("{}", columns::account(&table, &[("nodes", node_at), ("classes", label_at)]));
    let mut classes = BTreeMap::new();
    for (line, row) in &table.rows {
        let (node, label) = (&row[node_at], &row[label_at]);
        let place = format!("line {line}: ");
        if node.is_empty() {
            return Err(table.error(place, "a label without a node", "name the node"));
        }
        if label.is_empty() {
            continue;
        }
        if classes.insert(node.clone(), (*line, label.clone())).is_some_and(|(_, before)| before != *label) {
            return Err(table.error(place, format!("node `{node}` has two labels"), "give each node one label"));
        }
    }
    Ok(NamedLabels { n_rows: table.rows.len(), classes })
}

/// Numbers the classes by ascending label (as numbers, if all labels are numbers), and gives each node of `names` its
/// number.
pub(super) fn numbered(
    labels: &BTreeMap<String, (u64, String)>,
    names: &[String],
    params: &Params,
) -> Result<(usize, Vec<Option<u16>>), Error> {
    let file = params.labels.clone().unwrap_or_default();
    let classes = ordered(labels.values().map(|(_, label)| label.as_str()).collect::<BTreeSet<_>>());
    if classes.len() < 2 {
        let problem = format!("{} class only", classes.len());
        return Err(Error::new(&file, "", problem, "a classifier needs at least two classes"));
    }
    let fraction = classes
        .iter()
        .find(|class| class.contains('.') && class.parse::<f64>().is_ok_and(|v| v.fract() != 0.0 || v.is_nan()));
    if classes.len() > 65_535 || classes.len() > labels.len() / 2 + 2 || fraction.is_some() {
        let line = fraction
            .and_then(|class| labels.values().find(|(_, label)| label == class))
            .map_or(String::new(), |(line, _)| format!("line {line}: "));
        let problem = format!("{} different labels among {} nodes are no classes", classes.len(), labels.len());
        return Err(Error::new(&file, line, problem, "set `label_column` to the column of the classes"));
    }
    if let Some(class) = classes.iter().find(|class| class.eq_ignore_ascii_case("nan")) {
        tracing::warn!("{file}: `{class}` is read as a class; leave the field of a node without class empty");
    }
    let number: BTreeMap<&str, u16> =
        classes.iter().enumerate().map(|(class, label)| (label.as_str(), class as u16)).collect();
    Ok((classes.len(), names.iter().map(|name| labels.get(name).map(|(_, label)| number[label.as_str()])).collect()))
}
