//! NumPy archives with adjacency, attributes and labels in compressed rows.

use crate::archive::Archive;
use crate::error::Error;
use crate::params::Params;
use crate::planetoid::rows_of;
use crate::raw::{FeatureRows, Files, RawGraph};

/// The keys have two spellings: that of gnn-benchmark, and that of SciPy's own sparse archives.
const PREFIXES: [(&str, &str); 2] = [("adj_", "attr_"), ("adj_matrix.", "attr_matrix.")];

/// Reads the archive.
pub(crate) fn read(files: &Files, params: &Params) -> Result<RawGraph, Error> {
    let file = params.archive.clone().unwrap_or_default();
    let bytes = files.bytes(&file)?;
    let wrong = |problem: String| Error::new(&file, "", problem, "docs/config.md lists the keys of an archive");
    let mut archive =
        Archive::open(bytes.as_ref()).map_err(|problem| wrong(format!("not an npz archive ({problem})")))?;
    let names = archive.keys();
    let prefixes = PREFIXES.iter().find(|(adjacency, _)| names.contains(&format!("{adjacency}indptr")));
    let (adjacency, attributes) =
        prefixes.ok_or_else(|| wrong(format!("there is no adjacency among the keys {names:?}")))?;
    let mut array = |key: String| archive.numbers(&key).map_err(|problem| wrong(format!("key `{key}`: {problem}")));
    let mut matrix = |prefix: &str| -> Result<FeatureRows, Error> {
        let shape = array(format!("{prefix}shape"))?;
        let [n_rows, n_columns] = shape[..] else {
            return Err(wrong(format!("`{prefix}shape` has {} numbers", shape.len())));
        };
        let (offsets, columns) = (array(format!("{prefix}indptr"))?, array(format!("{prefix}indices"))?);
        let values = array(format!("{prefix}data"))?;
        let rows = rows_of(n_rows as usize, &offsets, &columns, &values);
        Ok((n_columns as usize, rows.map_err(|problem| wrong(format!("`{prefix}`: {problem}")))?))
    };
    let (n_nodes, links) = matrix(adjacency)?;
    let features = matrix(attributes)?;
    let labels = array("labels".to_owned())?;
    for (what, found) in
        [("rows of the adjacency", links.len()), ("rows of attributes", features.1.len()), ("labels", labels.len())]
    {
        if found != n_nodes {
            return Err(wrong(format!("{found} {what} for {n_nodes} nodes")));
        }
    }
    if let Some((node, label)) =
        labels.iter().enumerate().find(|(_, label)| !(0.0..65_535.0).contains(*label) || label.fract() != 0.0)
    {
        return Err(wrong(format!("label {label} of node {node} is no class")));
    }
    let n_classes = labels.iter().fold(0, |most, &label| most.max(label as usize + 1));
    Ok(RawGraph {
        names: (0..n_nodes).map(|node| node.to_string()).collect(),
        pairs: Some(
            links.iter().enumerate().flat_map(|(a, row)| row.iter().map(move |&(b, _)| (a as u32, b))).collect(),
        ),
        features: Some(features),
        classes: Some((n_classes, labels.into_iter().map(|label| Some(label as u16)).collect())),
        class_names: Vec::new(),
        splits: None,
    })
}
