//! The eight files of a Planetoid dataset (Yang, Cohen, Salakhutdinov 2016).

use std::collections::BTreeSet;

use crate::error::Error;
use crate::params::{DatasetSplit, Params, SplitParams};
use crate::pickle::{self, Value};
use crate::raw::{FeatureRows, Files, RawGraph};
use veilgraph_graph::Split;

/// The endings of the files. `x` and `y` repeat a part of `allx` and `ally`; only the number of their rows is read, which
/// says how many nodes train.
pub(crate) const PARTS: [&str; 8] = ["x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"];

/// Reads the dataset. Nodes that no file describes (15 in CiteSeer) have neither features nor label.
pub(crate) fn read(files: &Files, params: &Params) -> Result<RawGraph, Error> {
    let name = params.name.clone().unwrap_or_default();
    let part = |part: &str| format!("ind.{name}.{part}");
    let tests = test_index(files, &part("test.index"))?;
    let (width, all_rows) = feature_rows(files, &part("allx"))?;
    let (test_width, test_rows) = feature_rows(files, &part("tx"))?;
    let (n_classes, all_classes) = one_hot(files, &part("ally"))?;
    let (test_n_classes, test_classes) = one_hot(files, &part("ty"))?;
    for (file, found, expected, what) in [
        (part("tx"), test_width, width, "feature columns, allx has"),
        (part("ty"), test_n_classes, n_classes, "classes, ally has"),
        (part("ally"), all_classes.len(), all_rows.len(), "rows, allx has"),
        (part("tx"), test_rows.len(), tests.len(), "rows, test.index has"),
        (part("ty"), test_classes.len(), tests.len(), "rows, test.index has"),
    ] {
        if found != expected {
            return Err(Error::new(&file, "", format!("{found} {what} {expected}"), REMEDY));
        }
    }
    let n_nodes = tests.iter().map(|&(_, node)| node + 1).fold(all_rows.len(), usize::max);
    // CiteSeer leaves out 15 of 1,015 numbers; a file that names node four billion is damaged.
    if n_nodes > 2 * (all_rows.len() + tests.len()) {
        let problem = format!("{n_nodes} nodes, of which only {} are described", all_rows.len() + tests.len());
        return Err(Error::new(&part("test.index"), "", problem, REMEDY));
    }
    let mut features = vec![Vec::new(); n_nodes];
    let mut classes = vec![None; n_nodes];
    let n_listed = all_rows.len();
    for (node, (row, class)) in all_rows.into_iter().zip(all_classes).enumerate() {
        (features[node], classes[node]) = (row, class);
    }
    for ((&(line, node), row), class) in tests.iter().zip(test_rows).zip(test_classes) {
        if node < n_listed {
            let problem = format!("node {node} is already described by allx");
            return Err(Error::new(&part("test.index"), format!("line {line}: "), problem, REMEDY));
        }
        (features[node], classes[node]) = (row, class);
    }
    let splits = match params.split {
        SplitParams::OfDataset(DatasetSplit::Planetoid) => {
            Some(splits(feature_rows(files, &part("x"))?.1.len(), &tests, n_nodes))
        }
        _ => None,
    };
    Ok(RawGraph {
        names: (0..n_nodes).map(|node| node.to_string()).collect(),
        pairs: Some(pairs(files, &part("graph"), n_nodes)?),
        features: Some((width, features)),
        classes: Some((n_classes, classes)),
        class_names: Vec::new(),
        splits,
    })
}

/// Nodes that validate in the split of Planetoid.
const N_VALIDATION: usize = 500;

/// The split of Planetoid: `n_train` nodes, those after them, and those of the test file.
fn splits(n_train: usize, tests: &[(usize, usize)], n_nodes: usize) -> Vec<Split> {
    let mut splits = vec![Split::None; n_nodes];
    for (node, split) in splits.iter_mut().enumerate().take(n_train + N_VALIDATION) {
        *split = if node < n_train { Split::Train } else { Split::Validation };
    }
    tests.iter().for_each(|&(_, node)| splits[node] = Split::Test);
    splits
}

const REMEDY: &str = "fetch the dataset again (`veilgraph fetch`)";

fn unpickle<T>(files: &Files, file: &str, read: impl Fn(&Value) -> Result<T, String>) -> Result<T, Error> {
    let bytes = files.bytes(file)?;
    let value = pickle::parse(&bytes).and_then(|pickle| read(&pickle.value));
    value.map_err(|problem| Error::new(file, "", format!("not a Planetoid pickle ({problem})"), REMEDY))
}

fn test_index(files: &Files, file: &str) -> Result<Vec<(usize, usize)>, Error> {
    let text = files.text(file)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parse = |(at, line): (usize, &str)| {
        let node: u32 = line.trim().parse().map_err(|_| {
            Error::new(file, format!("line {}: ", at + 1), format!("`{}` is no node number", line.trim()), REMEDY)
        })?;
        Ok((at + 1, node as usize))
    };
    let mut known = BTreeSet::new();
    let once = |(line, node): (usize, usize)| {
        let is_new = known.insert(node);
        let twice = || Error::new(file, format!("line {line}: "), format!("node {node} stands here twice"), REMEDY);
        is_new.then_some((line, node)).ok_or_else(twice)
    };
    lines.map(parse).collect::<Result<Vec<_>, _>>()?.into_iter().map(once).collect()
}

fn feature_rows(files: &Files, file: &str) -> Result<FeatureRows, Error> {
    unpickle(files, file, |value| {
        let matrix = value.compressed_rows()?;
        rows_of(matrix.n_rows, &matrix.offsets, &matrix.columns, &matrix.values).map(|rows| (matrix.n_columns, rows))
    })
}

/// The rows of a compressed matrix, with ascending columns.
pub(crate) fn rows_of(
    n_rows: usize,
    offsets: &[f64],
    columns: &[f64],
    values: &[f64],
) -> Result<Vec<Vec<(u32, f32)>>, String> {
    if offsets.len().checked_sub(1) != Some(n_rows) || columns.len() != values.len() {
        return Err(format!(
            "{} offsets for {n_rows} rows, {} columns for {} values",
            offsets.len(),
            columns.len(),
            values.len()
        ));
    }
    let is_whole = |offset: &f64| *offset >= 0.0 && offset.fract() == 0.0;
    // SciPy may keep room for further entries behind the last one.
    let is_inside = offsets[0] == 0.0 && offsets[n_rows] <= values.len() as f64;
    if !is_inside || !offsets.iter().all(is_whole) || !offsets.is_sorted() {
        return Err(format!(
            "the offsets of rows do not ascend from 0 to at most {}, the number of entries",
            values.len()
        ));
    }
    if let Some(column) = columns[..offsets[n_rows] as usize]
        .iter()
        .find(|&&column| column < 0.0 || column.fract() != 0.0 || column > u32::MAX.into())
    {
        return Err(format!("column {column} is no index"));
    }
    let row = |ends: &[f64]| {
        let entries = ends[0] as usize..ends[1] as usize;
        let columns = columns[entries.clone()].iter().map(|&column| column as u32);
        let mut row: Vec<(u32, f32)> = columns.zip(values[entries].iter().map(|&value| value as f32)).collect();
        row.sort_unstable_by_key(|&(column, _)| column);
        row
    };
    Ok(offsets.windows(2).map(row).collect())
}

/// The class of each row of a one-hot matrix; a row of zeros has none.
fn one_hot(files: &Files, file: &str) -> Result<(usize, Vec<Option<u16>>), Error> {
    unpickle(files, file, |value| {
        let array = value.array()?;
        let [_, n_classes] = array.shape[..] else { return Err(format!("labels of shape {:?}", array.shape)) };
        let rows = array.values.chunks(n_classes.max(1));
        Ok((n_classes, rows.map(|row| row.iter().position(|&value| value != 0.0).map(|class| class as u16)).collect()))
    })
}

fn pairs(files: &Files, file: &str, n_nodes: usize) -> Result<Vec<(u32, u32)>, Error> {
    unpickle(files, file, |value| {
        let mut pairs = Vec::new();
        // A small pickle may name one list in many places; this bound keeps its links from filling the memory.
        let most = files.bytes(file).map_or(0, |bytes| bytes.len());
        for (node, neighbours) in value.entries()? {
            let node = node.index()?;
            let neighbours = neighbours.items()?;
            if pairs.len() + neighbours.len() > most {
                return Err(format!("more links than the file has bytes, {most}"));
            }
            for neighbour in neighbours {
                let neighbour = neighbour.index()?;
                if node.max(neighbour) as usize >= n_nodes {
                    return Err(format!("node {} is not below the number of nodes, {n_nodes}", node.max(neighbour)));
                }
                pairs.push((node, neighbour));
            }
        }
        Ok(pairs)
    })
}
