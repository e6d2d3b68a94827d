//! Arrays of NumPy and sparse matrices of SciPy, whose nodes are numbered from 0.

use crate::archive::{Archive, plain_array, plain_texts};
use crate::error::Error;
use crate::npz::whole;
use crate::planetoid::rows_of;
use crate::raw::{FeatureRows, Files, decompressed_name};

/// Whether a file is an array or an archive of arrays.
pub(crate) fn is_array(file: &str) -> bool {
    is_sparse(file) || ends_in(file, ".npy")
}

/// Whether a file is a sparse matrix, which says how many nodes there are.
pub(crate) fn is_sparse(file: &str) -> bool {
    ends_in(file, ".npz")
}

/// Whether the name of a file ends so, with `.gz` or `.zst` behind it or without, in small or capital letters.
pub(crate) fn ends_in(file: &str, end: &str) -> bool {
    decompressed_name(file).to_lowercase().ends_with(end)
}

/// A matrix or a list of links by node numbers.
pub(super) struct NumberedLinks {
    /// The number of nodes, if the file says it.
    pub n_nodes: Option<usize>,
    /// The linked pairs.
    pub pairs: Vec<(u32, u32)>,
    /// The entry of each pair, where the file is a matrix.
    pub weights: Option<Vec<f32>>,
}

/// Reads links: a square matrix of SciPy (`scipy.sparse.save_npz`), whose entries other than 0 are links, or an integer
/// array of shape `[links, 2]` or `[2, links]`.
pub(super) fn links(files: &Files, file: &str) -> Result<NumberedLinks, Error> {
    if !is_sparse(file) {
        return pairs(files, file);
    }
    let (n_columns, rows) = sparse(files, file)?;
    if n_columns != rows.len() {
        let problem = format!("a matrix of {} rows and {n_columns} columns is no adjacency", rows.len());
        return Err(Error::new(file, "", problem, "an adjacency has a row and a column for each node"));
    }
    let (mut pairs, mut weights) = (Vec::new(), Vec::new());
    for (row, entries) in rows.iter().enumerate() {
        for &(column, value) in entries.iter().filter(|(_, value)| *value != 0.0) {
            pairs.push((row as u32, column));
            weights.push(value);
        }
    }
    Ok(NumberedLinks { n_nodes: Some(n_columns), pairs, weights: Some(weights) })
}

fn pairs(files: &Files, file: &str) -> Result<NumberedLinks, Error> {
    const REMEDY: &str = "write whole numbers in the shape [links, 2] or [2, links]";
    let (shape, values) = array(files, file)?;
    let [n_rows, n_columns] = shape[..] else {
        return Err(Error::new(file, "", format!("links in an array of shape {shape:?}"), REMEDY));
    };
    let is_node = |value: f64| (0.0..f64::from(u32::MAX)).contains(&value) && value.fract() == 0.0;
    if let Some(at) = values.iter().position(|&value| !is_node(value)) {
        let place = format!("row {}: ", at / n_columns.max(1) + 1);
        return Err(Error::new(file, place, format!("{} is no node number", values[at]), REMEDY));
    }
    let node = |at: usize| values[at] as u32;
    let pairs = match (n_rows, n_columns) {
        (2, 2) => {
            let problem = "links in an array of shape [2, 2], which could be meant either way";
            return Err(Error::new(file, "", problem, "write two links as text, or add the file of all links"));
        }
        (_, 2) => (0..n_rows).map(|link| (node(2 * link), node(2 * link + 1))).collect(),
        (2, _) => (0..n_columns).map(|link| (node(link), node(n_columns + link))).collect(),
        _ => return Err(Error::new(file, "", format!("links in an array of shape {shape:?}"), REMEDY)),
    };
    Ok(NumberedLinks { n_nodes: None, pairs, weights: None })
}

/// Reads features: a sparse matrix, or an array of shape `[nodes, features]`.
pub(super) fn features(files: &Files, file: &str) -> Result<FeatureRows, Error> {
    let (width, rows) = if is_sparse(file) { sparse(files, file)? } else { dense(files, file)? };
    let repeats = |row: &Vec<(u32, f32)>| row.windows(2).any(|pair| pair[0].0 == pair[1].0);
    if let Some(row) = rows.iter().position(repeats) {
        let place = format!("row {}: ", row + 1);
        return Err(Error::new(file, place, "a column stands twice", "add them up: `matrix.sum_duplicates()`"));
    }
    let strange = |row: &Vec<(u32, f32)>| row.iter().any(|(_, value)| !value.is_finite());
    if let Some(row) = rows.iter().position(strange) {
        let place = format!("row {}: ", row + 1);
        return Err(Error::new(file, place, "a value is not finite", "give finite numbers"));
    }
    Ok((width, rows))
}

fn dense(files: &Files, file: &str) -> Result<FeatureRows, Error> {
    let (shape, values) = array(files, file)?;
    let [_, width] = shape[..] else {
        let problem = format!("features in an array of shape {shape:?}");
        return Err(Error::new(file, "", problem, "write them in the shape [nodes, features]"));
    };
    let row = |row: &[f64]| row.iter().enumerate().map(|(column, &value)| (column as u32, value as f32)).collect();
    Ok((width, values.chunks(width.max(1)).map(row).collect()))
}

/// Reads the class of each node from an array of shape `[nodes]`: whole numbers, of which a negative one means none, or
/// texts, of which an empty one does.
pub(super) fn classes(files: &Files, file: &str) -> Result<Vec<Option<String>>, Error> {
    const REMEDY: &str = "write one whole number for each node, below 0 where a node has no class, or one text";
    if is_sparse(file) {
        return Err(Error::new(file, "", "a matrix of labels", "write them as an array (`numpy.save`)"));
    }
    let check = |shape: &[usize]| match shape.iter().filter(|&&size| size != 1).count() {
        0 | 1 => Ok(()),
        _ => Err(Error::new(file, "", format!("labels in an array of shape {shape:?}"), REMEDY)),
    };
    // What is no array at all is refused below.
    if let Ok(Some((shape, texts))) = plain_texts(files.bytes(file)?.as_ref()) {
        check(&shape)?;
        let class = |text: String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        return Ok(texts.into_iter().map(class).collect());
    }
    let (shape, values) = array(files, file)?;
    check(&shape)?;
    let class = |(node, value): (usize, f64)| {
        if value.fract() != 0.0 || value.is_nan() || value > 65_535.0 {
            let place = format!("row {}: ", node + 1);
            return Err(Error::new(file, place, format!("{value} is no class"), REMEDY));
        }
        Ok((value >= 0.0).then(|| (value as u64).to_string()))
    };
    values.into_iter().enumerate().map(class).collect()
}

fn array(files: &Files, file: &str) -> Result<(Vec<usize>, Vec<f64>), Error> {
    let bytes = files.bytes(file)?;
    let wrong = |problem: String| {
        Error::new(file, "", format!("not an array of numbers ({problem})"), "write it with `numpy.save`")
    };
    plain_array(bytes.as_ref()).map_err(wrong)
}

/// The number of columns and the rows of a matrix that `scipy.sparse.save_npz` wrote.
fn sparse(files: &Files, file: &str) -> Result<FeatureRows, Error> {
    let bytes = files.bytes(file)?;
    let remedy = "write it with `scipy.sparse.save_npz` as rows, columns or coordinates; an archive of adjacency, \
                  features and labels goes into `archive`";
    let wrong = |problem: String| Error::new(file, "", format!("not a sparse matrix ({problem})"), remedy);
    let mut archive = Archive::open(bytes.as_ref()).map_err(wrong)?;
    let is_by_coordinates = archive.keys().iter().any(|key| key == "row");
    let format = archive.text("format");
    if let Some(other) = format.as_deref().filter(|format| !["csr", "csc", "coo"].contains(format)) {
        return Err(wrong(format!("its form is `{other}`; turn it into rows with `matrix.tocsr()`")));
    }
    let mut array = |key: &str| archive.numbers(key).map_err(|problem| wrong(format!("key `{key}`: {problem}")));
    let shape = array("shape")?;
    let [n_rows, n_columns] = shape[..] else {
        return Err(wrong(format!("`shape` has {} numbers", shape.len())));
    };
    let size = |size: f64| whole(size).map_err(|problem| wrong(format!("key `shape`: {problem}")));
    let (n_rows, n_columns) = (size(n_rows)?, size(n_columns)?);
    let mut values = array("data")?;
    let (rows, columns) = if is_by_coordinates {
        (array("row")?, array("col")?)
    } else {
        let (offsets, mut inner) = (array("indptr")?, array("indices")?);
        // Compressed columns have an offset for each column.
        let is_by_column = format.as_deref() == Some("csc") || offsets.len() != n_rows + 1;
        let n_outer = if is_by_column { n_columns } else { n_rows };
        let compressed = rows_of(n_outer, &offsets, &inner, &values).map_err(wrong)?;
        if !is_by_column {
            return inside(n_columns, compressed).map_err(wrong);
        }
        let outer = compressed.iter().enumerate().flat_map(|(at, row)| std::iter::repeat_n(at as f64, row.len()));
        let outer: Vec<f64> = outer.collect();
        inner.truncate(outer.len());
        values.truncate(outer.len());
        (inner, outer)
    };
    gathered(n_rows, n_columns, &rows, &columns, &values).map_err(wrong)
}

/// Refuses a column beyond the number of columns.
fn inside(n_columns: usize, rows: Vec<Vec<(u32, f32)>>) -> Result<FeatureRows, String> {
    let beyond = rows.iter().flatten().find(|(column, _)| *column as usize >= n_columns);
    match beyond {
        Some((column, _)) => Err(format!("column {column} of {n_columns}")),
        None => Ok((n_columns, rows)),
    }
}

/// Entries by coordinates as rows.
fn gathered(
    n_rows: usize,
    n_columns: usize,
    rows: &[f64],
    columns: &[f64],
    values: &[f64],
) -> Result<FeatureRows, String> {
    // A matrix of few bytes may declare any number of rows.
    const MOST_ROWS_OF_SMALL_FILES: usize = 1 << 20;
    const MOST_ROWS_PER_ENTRY: usize = 64;
    if rows.len() != values.len() || columns.len() != values.len() {
        return Err(format!("{} rows and {} columns for {} values", rows.len(), columns.len(), values.len()));
    }
    if n_rows > MOST_ROWS_OF_SMALL_FILES.max(values.len().saturating_mul(MOST_ROWS_PER_ENTRY)) {
        return Err(format!("it declares {n_rows} rows for {} entries", values.len()));
    }
    let mut gathered: Vec<Vec<(u32, f32)>> = vec![Vec::new(); n_rows];
    for ((&row, &column), &value) in rows.iter().zip(columns).zip(values) {
        let is_of = |at: f64, size: usize| (0.0..size as f64).contains(&at) && at.fract() == 0.0;
        let is_inside = is_of(row, n_rows) && is_of(column, n_columns);
        if !is_inside {
            return Err(format!("entry ({row}, {column}) is none of {n_rows} rows and {n_columns} columns"));
        }
        gathered[row as usize].push((column as u32, value as f32));
    }
    for row in &mut gathered {
        row.sort_unstable_by_key(|&(column, _)| column);
    }
    Ok((n_columns, gathered))
}

#[cfg(test)]
mod tests;
