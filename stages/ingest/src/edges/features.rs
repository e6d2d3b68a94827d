//! Features of one's own graph: lists as JSON, triplets, or a dense table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};

use super::arrays;
use super::columns::{self, FeatureColumns};
use super::names::Names;
use super::ordered;
use super::table::{Subject, Table, place};
use crate::error::Error;
use crate::params::Params;
use crate::raw::{Files, decompressed_name};

/// Features by node name.
pub(super) struct NamedFeatures {
    /// The name of the file.
    pub file: String,
    /// The number of rows of the file.
    pub n_rows: usize,
    /// The number of features.
    pub width: usize,
    /// The features of each node.
    pub rows: BTreeMap<String, FeatureRow>,
}

/// The features of one node.
#[derive(Default)]
pub(super) struct FeatureRow {
    /// The line that names the node first; JSON is not told apart by lines.
    pub line: Option<u64>,
    /// The entries, in ascending columns.
    pub entries: Vec<(u32, f32)>,
}

impl NamedFeatures {
    /// The nodes that have features.
    pub(super) fn names(&self) -> Names<'_> {
        let nodes = self.rows.iter().map(|(node, row)| (node.as_str(), row.line));
        Names { file: &self.file, n_rows: self.n_rows, nodes: nodes.collect() }
    }
}

/// Reads features by node name, whatever their layout.
pub(super) fn read(files: &Files, file: &str, params: &Params) -> Result<NamedFeatures, Error> {
    let features = in_any_layout(files, file, params)?;
    if features.rows.is_empty() {
        let remedy = "give the features of at least one node, or leave the file out";
        return Err(Error::new(file, "", "the file has no node with features", remedy));
    }
    Ok(features)
}

fn in_any_layout(files: &Files, file: &str, params: &Params) -> Result<NamedFeatures, Error> {
    if decompressed_name(file).ends_with(".json") {
        number_is_declared(file, params)?;
        return read_feature_lists(files, file);
    }
    if arrays::is_array(file) {
        return numbered(files, file);
    }
    let table = Table::read(files, file, params.header, Subject::Nodes)?;
    match columns::of_features(&table, params)? {
        FeatureColumns::Triplets { node, feature, value } => {
            let roles = [("nodes", node), ("features", feature), ("values", value)];
            tracing::info!("{file}: {} rows {}", table.rows.len(), columns::account(&table, &roles));
            number_is_declared(file, params)?;
            check_nodes(&table, node)?;
            triplets(&table, [node, feature, value])
        }
        FeatureColumns::Dense { node } => {
            // A table may hold features and classes of the nodes; a class is no feature.
            // Paths may name one file in several ways, so the bytes are compared.
            let is_of_labels = match &params.labels {
                Some(labels) => labels == file || files.bytes(labels)? == files.bytes(file)?,
                None => false,
            };
            if let (false, Some(_), Some(class)) = (is_of_labels, &params.labels, columns::class(&table, params)) {
                let problem =
                    format!("{} looks like the classes, and would be read as a feature", columns::title(&table, class));
                let remedy = "leave the column out of the features, or name the same file in `labels`";
                return Err(table.error_in_header(problem, remedy));
            }
            let class = is_of_labels.then(|| columns::of_labels(&table, params)).transpose()?.map(|[_, class]| class);
            let n_others = table.width().saturating_sub(1 + usize::from(class.is_some()));
            let (n_rows, node_title) = (table.rows.len(), columns::title(&table, node));
            let class_title =
                class.map_or_else(String::new, |at| format!("; no feature: {}", columns::title(&table, at)));
            tracing::info!(
                "{file}: {n_rows} rows; nodes from {node_title}, a feature from each of {n_others} others{class_title}"
            );
            check_nodes(&table, node)?;
            dense(table, node, class)
        }
    }
}

/// Refuses a layout that lists only the features that nodes have, where their number must not follow from these: a feature that one
/// node alone has would change it.
fn number_is_declared(file: &str, params: &Params) -> Result<(), Error> {
    if !params.declared_features {
        return Ok(());
    }
    let problem =
        "in a deployment with private features, how many features there are must not follow from those that nodes have";
    Err(Error::new(file, "", problem, "give a dense table or an array, which has a column for every feature"))
}

fn check_nodes(table: &Table, node: usize) -> Result<(), Error> {
    match table.rows.iter().find(|(_, row)| row[node].is_empty()) {
        Some((line, _)) => Err(table.error(place(&table.file, *line), "features without a node", "name the node")),
        None => Ok(()),
    }
}

/// Reads `{"node": [feature, ...], ...}`: a node has the features of its list, and no others.
fn read_feature_lists(files: &Files, file: &str) -> Result<NamedFeatures, Error> {
    let UniqueLists(lists) = serde_json::from_str(&files.text(file)?).map_err(|error| {
        let place = format!("line {}, column {}: ", error.line(), error.column());
        Error::new(
            file,
            place,
            format!("not a map from nodes, each of which comes once, to lists of feature numbers ({error})"),
            r#"write `{"node": [0, 7], ...}`"#,
        )
    })?;
    let width = lists.values().flatten().max().map_or(0, |&most| most as usize + 1);
    check_width(file, width)?;
    let n_rows = lists.len();
    let rows = lists.into_iter().map(|(node, mut features)| {
        features.sort_unstable();
        features.dedup();
        (node, FeatureRow { line: None, entries: features.into_iter().map(|feature| (feature, 1.0)).collect() })
    });
    Ok(NamedFeatures { file: file.to_owned(), n_rows, width, rows: rows.collect() })
}

/// A list for each node. A map that lists a node twice is refused, because the later list would replace the earlier one.
struct UniqueLists(BTreeMap<String, Vec<u32>>);

impl<'de> Deserialize<'de> for UniqueLists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lists;

        impl<'de> Visitor<'de> for Lists {
            type Value = UniqueLists;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("a map from nodes to lists of feature numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueLists, A::Error> {
                let mut lists = BTreeMap::new();
                while let Some((node, list)) = map.next_entry::<String, Vec<u32>>()? {
                    if lists.contains_key(&node) {
                        return Err(A::Error::custom(format_args!("node {node} comes twice")));
                    }
                    lists.insert(node, list);
                }
                Ok(UniqueLists(lists))
            }
        }

        deserializer.deserialize_map(Lists)
    }
}

/// Reads an array or a matrix, whose rows are the nodes 0, 1, 2 and so on.
fn numbered(files: &Files, file: &str) -> Result<NamedFeatures, Error> {
    let (width, rows) = arrays::features(files, file)?;
    check_width(file, width)?;
    let n_rows = rows.len();
    tracing::info!("{file}: {n_rows} rows; the nodes are 0 to {}, with {width} features", n_rows.saturating_sub(1));
    let named = |(node, entries): (usize, _)| (node.to_string(), FeatureRow { line: Some(node as u64 + 1), entries });
    Ok(NamedFeatures { file: file.to_owned(), n_rows, width, rows: rows.into_iter().enumerate().map(named).collect() })
}

/// Reads rows of one feature each. Features may have any name and are numbered in ascending order.
fn triplets(table: &Table, [node_at, feature_at, value_at]: [usize; 3]) -> Result<NamedFeatures, Error> {
    let file = &table.file;
    let features = ordered(table.rows.iter().map(|(_, row)| row[feature_at].as_str()).collect::<BTreeSet<_>>());
    check_width(file, features.len())?;
    let number: BTreeMap<&str, u32> =
        features.iter().enumerate().map(|(at, name)| (name.as_str(), at as u32)).collect();
    let mut rows: BTreeMap<String, (u64, BTreeMap<u32, f32>)> = BTreeMap::new();
    let mut n_repeated = 0;
    for (line, row) in &table.rows {
        let (node, feature) = (&row[node_at], &row[feature_at]);
        let value = finite(file, *line, &row[value_at])?;
        let (_, entries) = rows.entry(node.clone()).or_insert_with(|| (*line, BTreeMap::new()));
        match entries.insert(number[feature.as_str()], value) {
            None => {}
            Some(earlier) if earlier == value => n_repeated += 1,
            Some(_) => {
                let problem = format!("feature `{feature}` of node `{node}` comes twice, with different values");
                return Err(table.error(place(&table.file, *line), problem, "give each feature of a node once"));
            }
        }
    }
    if n_repeated > 0 {
        tracing::info!("{file}: {n_repeated} rows repeat an earlier one and were left out");
    }
    let rows = rows
        .into_iter()
        .map(|(node, (line, entries))| (node, FeatureRow { line: Some(line), entries: entries.into_iter().collect() }));
    Ok(NamedFeatures { file: file.clone(), n_rows: table.rows.len(), width: features.len(), rows: rows.collect() })
}

/// Reads rows of one node each, whose other columns are its features, but for that of its class.
fn dense(table: Table, node_at: usize, class_at: Option<usize>) -> Result<NamedFeatures, Error> {
    let width = table.width().saturating_sub(1 + usize::from(class_at.is_some()));
    let (file, n_rows) = (table.file, table.rows.len());
    check_width(&file, width)?;
    let mut rows = BTreeMap::new();
    for (line, row) in table.rows {
        let node = row[node_at].clone();
        let is_feature = |at: usize| at != node_at && Some(at) != class_at;
        let row = row.into_iter().enumerate().filter(|(at, _)| is_feature(*at)).map(|(_, field)| field);
        let row: Vec<String> = row.collect();
        let values = row.iter().enumerate().map(|(column, text)| Ok((column as u32, finite(&file, line, text)?)));
        let entries = values.collect::<Result<Vec<_>, Error>>()?;
        if rows.insert(node.clone(), FeatureRow { line: Some(line), entries }).is_some() {
            let problem = format!("node `{node}` comes twice");
            let remedy = "give each node one row, or, where a row is one feature of a node, name the columns `node`, `feature` and \
                          `value`";
            return Err(Error::new(&file, place(&file, line), problem, remedy));
        }
    }
    Ok(NamedFeatures { file, n_rows, width, rows })
}

fn finite(file: &str, line: u64, text: &str) -> Result<f32, Error> {
    let wrong = |problem: String, remedy: &str| Err(Error::new(file, place(file, line), problem, remedy));
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) if text.parse::<f64>().is_ok_and(f64::is_finite) => {
            wrong(format!("`{text}` is beyond the largest number of 32 bits"), "scale the features")
        }
        Ok(value) => wrong(format!("the value {value} is not finite"), "give a finite number"),
        Err(_) if text.is_empty() => wrong("a feature without a value".to_owned(), "give a finite number"),
        Err(_) if text.replace(',', ".").parse::<f32>().is_ok() => {
            wrong(format!("`{text}` is no number"), "write decimals with a point")
        }
        Err(_) => wrong(format!("`{text}` is no number"), "give a finite number"),
    }
}

fn check_width(file: &str, width: usize) -> Result<(), Error> {
    const MOST: usize = 10_000_000;
    if (1..=MOST).contains(&width) {
        Ok(())
    } else {
        Err(Error::new(
            file,
            "",
            format!("the file has {width} features"),
            format!("give at least 1 and at most {MOST}, or leave the file out"),
        ))
    }
}
