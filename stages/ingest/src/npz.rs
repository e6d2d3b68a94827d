//! NumPy archives with adjacency, attributes and labels in compressed rows.

use std::collections::BTreeSet;

use crate::archive::Archive;
use crate::error::Error;
use crate::params::Params;
use crate::planetoid::rows_of;
use crate::raw::{FeatureRows, Files, RawGraph};

/// The keys have two spellings: that of gnn-benchmark, and that of SciPy's own sparse archives.
const PREFIXES: [(&str, &str); 2] = [("adj_", "attr_"), ("adj_matrix.", "attr_matrix.")];

/// What the classes are called, where they have names, how many there are, and the class of each node that has one.
type Classes = (Vec<String>, usize, Vec<Option<u16>>);

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
    let texts = archive.texts("labels").map_err(|problem| wrong(format!("key `labels`: {problem}")))?;
    let mut array = |key: String| archive.numbers(&key).map_err(|problem| wrong(format!("key `{key}`: {problem}")));
    let mut matrix = |prefix: &str| -> Result<FeatureRows, Error> {
        let shape = array(format!("{prefix}shape"))?;
        let [n_rows, n_columns] = shape[..] else {
            return Err(wrong(format!("`{prefix}shape` has {} numbers", shape.len())));
        };
        let (offsets, columns) = (array(format!("{prefix}indptr"))?, array(format!("{prefix}indices"))?);
        let values = array(format!("{prefix}data"))?;
        let size = |size: f64| whole(size).map_err(|problem| wrong(format!("`{prefix}shape`: {problem}")));
        let (n_rows, n_columns) = (size(n_rows)?, size(n_columns)?);
        let rows = rows_of(n_rows, &offsets, &columns, &values);
        Ok((n_columns, rows.map_err(|problem| wrong(format!("`{prefix}`: {problem}")))?))
    };
    let (n_nodes, links) = matrix(adjacency)?;
    let features = matrix(attributes)?;
    let classes = match texts {
        Some(texts) => by_text(&texts),
        None => by_number(&array("labels".to_owned())?),
    };
    let (class_names, n_classes, classes) = classes.map_err(wrong)?;
    for (what, found) in
        [("rows of the adjacency", links.len()), ("rows of attributes", features.1.len()), ("labels", classes.len())]
    {
        if found != n_nodes {
            return Err(wrong(format!("{found} {what} for {n_nodes} nodes")));
        }
    }
    // An entry of 0 is no link.
    let rows = links.iter().enumerate();
    let entries =
        rows.flat_map(|(a, row)| row.iter().filter(|(_, value)| *value != 0.0).map(move |&(b, _)| (a as u32, b)));
    Ok(RawGraph {
        names: (0..n_nodes).map(|node| node.to_string()).collect(),
        pairs: Some(entries.collect()),
        features: Some(features),
        classes: Some((n_classes, classes)),
        class_names,
        splits: None,
    })
}

/// A size of a matrix.
pub(crate) fn whole(size: f64) -> Result<usize, String> {
    let is_size = (0.0..=f64::from(u32::MAX)).contains(&size) && size.fract() == 0.0;
    is_size.then_some(size as usize).ok_or_else(|| format!("{size} is no number of rows or columns"))
}

/// Classes that are numbers; a negative one is none.
fn by_number(labels: &[f64]) -> Result<Classes, String> {
    let is_label = |label: f64| label < 65_535.0 && label.fract() == 0.0;
    if let Some((node, label)) = labels.iter().enumerate().find(|(_, label)| !is_label(**label)) {
        return Err(format!("label {label} of node {node} is no class"));
    }
    let class = |&label: &f64| (label >= 0.0).then_some(label as u16);
    let classes: Vec<Option<u16>> = labels.iter().map(class).collect();
    let n_classes = classes.iter().flatten().max().map_or(0, |&most| usize::from(most) + 1);
    Ok((Vec::new(), n_classes, classes))
}

/// Classes that are texts, numbered in ascending order; an empty text is none.
fn by_text(labels: &[String]) -> Result<Classes, String> {
    let labels: Vec<&str> = labels.iter().map(|label| label.trim()).collect();
    let known: BTreeSet<&str> = labels.iter().copied().filter(|label| !label.is_empty()).collect();
    if known.len() > 65_535 {
        return Err(format!("{} different labels are no classes", known.len()));
    }
    let names: Vec<String> = known.into_iter().map(str::to_owned).collect();
    let number = |label: &&str| names.binary_search_by(|name| name.as_str().cmp(label)).ok();
    let classes = labels.iter().map(|label| number(label).map(|class| class as u16)).collect();
    Ok((names.clone(), names.len(), classes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_are_texts_are_numbered_in_their_order() {
        let labels = ["nurse", " baker", "", "nurse "].map(str::to_owned);
        let names = vec!["baker".to_owned(), "nurse".to_owned()];
        assert_eq!(by_text(&labels), Ok((names, 2, vec![Some(1), Some(0), None, Some(1)])));
        assert_eq!(by_number(&[2.0, 0.0]), Ok((Vec::new(), 3, vec![Some(2), Some(0)])));
        assert_eq!(by_number(&[1.0, -1.0]), Ok((Vec::new(), 2, vec![Some(1), None])));
        assert!(
            by_number(&[0.5]).is_err() && by_number(&[f64::NAN]).is_err() && by_number(&[f64::NEG_INFINITY]).is_err()
        );
    }
}
