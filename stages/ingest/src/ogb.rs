//! A node classification dataset of the Open Graph Benchmark (Hu et al. 2020) as its archive unpacks: comma-separated
//! files without column names, whose rows are the nodes 0, 1, 2 and so on.

use veilgraph_graph::Split;

use crate::error::Error;
use crate::params::{Params, SplitParams};
use crate::raw::{FeatureRows, Files, RawGraph};

/// The files of every dataset.
pub(crate) const PARTS: [&str; 4] =
    ["raw/num-node-list.csv.gz", "raw/edge.csv.gz", "raw/node-feat.csv.gz", "raw/node-label.csv.gz"];

/// The files of a split, and what their nodes are used for.
pub(crate) const SPLITS: [(&str, Split); 3] =
    [("train", Split::Train), ("valid", Split::Validation), ("test", Split::Test)];

const REMEDY: &str = "unpack the archive of the dataset again";

/// The file of one use of the split `scheme`.
pub(crate) fn split_file(scheme: &str, part: &str) -> String {
    format!("split/{scheme}/{part}.csv.gz")
}

/// Reads the dataset.
pub(crate) fn read(files: &Files, params: &Params) -> Result<RawGraph, Error> {
    let [of_nodes, of_links, of_features, of_labels] = PARTS;
    let counts = numbers(files, of_nodes, "a number of nodes")?;
    let [n_nodes] = counts[..] else {
        let problem = format!("{} graphs", counts.len());
        return Err(Error::new(of_nodes, "", problem, "give a dataset of one graph, such as ogbn-arxiv"));
    };
    let inside = |file: &'static str, line: usize, node: u64| {
        let is_inside = node < n_nodes;
        let wrong = || Error::new(file, place(line), format!("node {node} of {n_nodes}"), REMEDY);
        is_inside.then_some(node as u32).ok_or_else(wrong)
    };
    let mut pairs = Vec::new();
    each_row(files, of_links, |line, fields| {
        let [a, b] = fields else { return Err(wrong_row(of_links, line, fields, "two node numbers")) };
        let node = |text: &str| match text.parse() {
            Ok(node) => inside(of_links, line, node),
            Err(_) => Err(wrong_row(of_links, line, fields, "two node numbers")),
        };
        pairs.push((node(a)?, node(b)?));
        Ok(())
    })?;
    let features = features(files, of_features)?;
    let classes = classes(files, of_labels)?;
    for (file, found) in [(of_features, features.1.len()), (of_labels, classes.len())] {
        if found as u64 != n_nodes {
            return Err(Error::new(file, "", format!("{found} rows for {n_nodes} nodes"), REMEDY));
        }
    }
    let n_classes = classes.iter().flatten().max().map_or(0, |&most| usize::from(most) + 1);
    let splits = match &params.split {
        SplitParams::Scheme(named) => Some(splits(files, &named.scheme, n_nodes)?),
        _ => None,
    };
    Ok(RawGraph {
        names: (0..n_nodes).map(|node| node.to_string()).collect(),
        pairs: Some(pairs),
        features: Some(features),
        classes: Some((n_classes, classes)),
        class_names: Vec::new(),
        splits,
    })
}

fn place(line: usize) -> String {
    format!("line {line}: ")
}

fn wrong_row(file: &str, line: usize, fields: &[&str], wanted: &str) -> Error {
    Error::new(file, place(line), format!("`{}` is not {wanted}", fields.join(",")), REMEDY)
}

/// Calls `take` with the number and the fields of every line.
fn each_row(files: &Files, file: &str, mut take: impl FnMut(usize, &[&str]) -> Result<(), Error>) -> Result<(), Error> {
    let text = files.text(file)?;
    let mut fields = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        fields.clear();
        fields.extend(line.split(',').map(str::trim));
        take(at + 1, &fields)?;
    }
    Ok(())
}

/// The whole numbers of a file with one in each line.
fn numbers(files: &Files, file: &str, what: &str) -> Result<Vec<u64>, Error> {
    let mut numbers = Vec::new();
    each_row(files, file, |line, fields| {
        let number = match fields {
            [number] => number.parse().ok(),
            _ => None,
        };
        numbers.push(number.ok_or_else(|| wrong_row(file, line, fields, what))?);
        Ok(())
    })?;
    Ok(numbers)
}

fn features(files: &Files, file: &str) -> Result<FeatureRows, Error> {
    let mut rows: Vec<Vec<(u32, f32)>> = Vec::new();
    each_row(files, file, |line, fields| {
        if rows.first().is_some_and(|first| first.len() != fields.len()) {
            let problem = format!("{} features where the first node has {}", fields.len(), rows[0].len());
            return Err(Error::new(file, place(line), problem, REMEDY));
        }
        let value = |(column, text): (usize, &&str)| match text.parse::<f32>() {
            Ok(value) if value.is_finite() => Ok((column as u32, value)),
            _ => Err(wrong_row(file, line, &[text], "a finite number")),
        };
        rows.push(fields.iter().enumerate().map(value).collect::<Result<_, Error>>()?);
        Ok(())
    })?;
    Ok((rows.first().map_or(0, Vec::len), rows))
}

/// The class of each node; `nan` means none.
fn classes(files: &Files, file: &str) -> Result<Vec<Option<u16>>, Error> {
    let mut classes = Vec::new();
    each_row(files, file, |line, fields| {
        let [label] = fields else {
            let problem = format!("{} labels of one node", fields.len());
            let remedy = "give a dataset with one class for each node, such as ogbn-arxiv or ogbn-products";
            return Err(Error::new(file, place(line), problem, remedy));
        };
        // Some archives write classes as `3.0`.
        let number: f64 = label.parse().map_err(|_| wrong_row(file, line, fields, "a class"))?;
        let is_class = number.is_nan() || ((0.0..65_535.0).contains(&number) && number.fract() == 0.0);
        if !is_class {
            return Err(wrong_row(file, line, fields, "a class"));
        }
        classes.push((!number.is_nan()).then_some(number as u16));
        Ok(())
    })?;
    Ok(classes)
}

fn splits(files: &Files, scheme: &str, n_nodes: u64) -> Result<Vec<Split>, Error> {
    let mut splits = vec![Split::None; n_nodes as usize];
    for (part, split) in SPLITS {
        let file = split_file(scheme, part);
        for (at, node) in numbers(files, &file, "a node number")?.into_iter().enumerate() {
            match splits.get_mut(node as usize) {
                Some(place) if *place == Split::None => *place = split,
                Some(before) => {
                    let what = if *before == split { "stands here twice" } else { "is in two splits" };
                    let problem = format!("node {node} {what}");
                    return Err(Error::new(&file, place(at + 1), problem, REMEDY));
                }
                None => {
                    let problem = format!("node {node} of {n_nodes}");
                    return Err(Error::new(&file, place(at + 1), problem, REMEDY));
                }
            }
        }
    }
    Ok(splits)
}

#[cfg(test)]
mod tests;
