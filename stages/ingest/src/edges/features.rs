//! Features of one's own graph: lists as JSON, triplets, or a dense table.

use std::collections::{BTreeMap, BTreeSet};

use super::{TextTable, ordered, read_table};
use crate::error::Error;
use crate::params::Params;
use crate::raw::Files;

/// Features by node name: width, and each node's entries.
pub(super) struct NamedFeatures {
    pub width: usize,
    pub rows: BTreeMap<String, Vec<(u32, f32)>>,
}

/// Reads features by node name, whatever their layout.
pub(super) fn read(files: &Files, file: &str, params: &Params) -> Result<NamedFeatures, Error> {
    if file.ends_with(".json") {
        return read_feature_lists(files, file);
    }
    let table = read_table(files, file, params.header)?;
    let is_triplets = table.header.as_ref().is_some_and(|header| {
        header.len() == 3 && header[1].to_lowercase().starts_with("feature") && header[2].to_lowercase() == "value"
    });
    if let Some((line, _)) = table.rows.iter().find(|(_, row)| row[0].is_empty()) {
        return Err(Error::new(file, format!("line {line}: "), "features without a node", "name the node"));
    }
    if is_triplets { triplets(file, &table) } else { dense(file, table) }
}

/// `{"node": [feature, ...], ...}` with features that are there or not.
fn read_feature_lists(files: &Files, file: &str) -> Result<NamedFeatures, Error> {
    let lists: BTreeMap<String, Vec<u32>> = serde_json::from_slice(&files.bytes(file)?).map_err(|error| {
        let place = format!("line {}, column {}: ", error.line(), error.column());
        Error::new(
            file,
            place,
            format!("not a map from nodes to lists of feature numbers ({error})"),
            "see the README for the layout",
        )
    })?;
    let width = lists.values().flatten().max().map_or(0, |&most| most as usize + 1);
    check_width(file, width)?;
    let rows = lists.into_iter().map(|(node, mut features)| {
        features.sort_unstable();
        features.dedup();
        (node, features.into_iter().map(|feature| (feature, 1.0)).collect())
    });
    Ok(NamedFeatures { width, rows: rows.collect() })
}

/// Rows `node,feature,value`; features may have any name and are numbered in ascending order.
fn triplets(file: &str, table: &TextTable) -> Result<NamedFeatures, Error> {
    let features = ordered(table.rows.iter().map(|(_, row)| row[1].as_str()).collect::<BTreeSet<_>>());
    check_width(file, features.len())?;
    let number: BTreeMap<&str, u32> =
        features.iter().enumerate().map(|(at, name)| (name.as_str(), at as u32)).collect();
    let mut rows: BTreeMap<String, BTreeMap<u32, f32>> = BTreeMap::new();
    for (line, row) in &table.rows {
        let value = finite(file, *line, &row[2])?;
        if rows.entry(row[0].clone()).or_default().insert(number[row[1].as_str()], value).is_some() {
            let problem = format!("feature `{}` of node `{}` comes twice", row[1], row[0]);
            return Err(Error::new(file, format!("line {line}: "), problem, "give each feature of a node once"));
        }
    }
    let rows = rows.into_iter().map(|(node, row)| (node, row.into_iter().collect()));
    Ok(NamedFeatures { width: features.len(), rows: rows.collect() })
}

/// Rows `node,value,value,...`.
fn dense(file: &str, table: TextTable) -> Result<NamedFeatures, Error> {
    let width = table.rows.first().map_or(0, |(_, row)| row.len() - 1);
    check_width(file, width)?;
    let mut rows = BTreeMap::new();
    for (line, row) in table.rows {
        let values = row[1..].iter().enumerate().map(|(column, text)| Ok((column as u32, finite(file, line, text)?)));
        let values = values.collect::<Result<Vec<_>, Error>>()?;
        if rows.insert(row[0].clone(), values).is_some() {
            let problem = format!("node `{}` comes twice", row[0]);
            return Err(Error::new(file, format!("line {line}: "), problem, "give each node one row"));
        }
    }
    Ok(NamedFeatures { width, rows })
}

fn finite(file: &str, line: u64, text: &str) -> Result<f32, Error> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) => Err(Error::new(
            file,
            format!("line {line}: "),
            format!("the value {value} is not finite"),
            "give a finite number",
        )),
        Err(_) => {
            Err(Error::new(file, format!("line {line}: "), format!("`{text}` is no number"), "give a finite number"))
        }
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
            format!("{width} feature columns"),
            format!("features number from 0 to at most {MOST}"),
        ))
    }
}
