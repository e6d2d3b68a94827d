//! NumPy archives with adjacency, attributes and labels in compressed rows.

use std::io::{Cursor, Read};

use npyz::npz::NpzArchive;

use crate::error::Error;
use crate::params::Params;
use crate::planetoid::rows_of;
use crate::raw::{FeatureRows, Files, RawGraph};

/// The keys have two spellings: that of gnn-benchmark, and that of SciPy's own sparse archives.
const PREFIXES: [(&str, &str); 2] = [("adj_", "attr_"), ("adj_matrix.", "attr_matrix.")];

/// An array of more bytes is refused; no graph dataset in use has one.
const MAX_ARRAY: u64 = 4 << 30;

/// Reads the archive. Arrays of pickled objects are never touched.
pub(crate) fn read(files: &Files, params: &Params) -> Result<RawGraph, Error> {
    let file = params.archive.clone().unwrap_or_default();
    let bytes = files.bytes(&file)?;
    let wrong = |problem: String| Error::new(&file, "", problem, "docs/config.md lists the keys of an archive");
    refuse_nested_headers(bytes.as_ref()).map_err(wrong)?;
    let mut archive =
        NpzArchive::new(Cursor::new(bytes.as_ref())).map_err(|error| wrong(format!("not an npz archive ({error})")))?;
    let names: Vec<String> = archive.array_names().map(str::to_owned).collect();
    let prefixes = PREFIXES.iter().find(|(adjacency, _)| names.contains(&format!("{adjacency}indptr")));
    let (adjacency, attributes) =
        prefixes.ok_or_else(|| wrong(format!("there is no adjacency among the keys {names:?}")))?;
    let mut array =
        |key: String| array_of_archive(&mut archive, &key).map_err(|problem| wrong(format!("key `{key}`: {problem}")));
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

/// Reads a numeric array of an archive as double precision.
pub(crate) fn array_of_archive<R: Read + std::io::Seek>(
    archive: &mut NpzArchive<R>,
    key: &str,
) -> Result<Vec<f64>, String> {
    let array = archive.by_name(key).map_err(|error| error.to_string())?.ok_or("it is missing")?;
    numbers(array)
}

/// Reads a text of an archive, such as the name of a form; none where there is no such text.
pub(crate) fn text_of_archive<R: Read + std::io::Seek>(archive: &mut NpzArchive<R>, key: &str) -> Option<String> {
    // A word has few letters; no more are read.
    const LONGEST: u64 = 64;
    let array = archive.by_name(key).ok()??;
    let npyz::DType::Plain(kind) = array.dtype() else { return None };
    if array.shape().iter().product::<u64>() != 1 || kind.size_field() > LONGEST {
        return None;
    }
    if kind.to_string().contains('U') {
        array.into_vec::<String>().ok()?.pop()
    } else {
        String::from_utf8(array.into_vec::<Vec<u8>>().ok()?.pop()?).ok()
    }
}

/// Refuses headers of arrays whose brackets are nested deeply, since the time that the reader takes doubles with each level.
/// Headers in compressed members of an archive are not seen.
pub(crate) fn refuse_nested_headers(bytes: &[u8]) -> Result<(), String> {
    const MARK: &[u8] = b"\x93NUMPY";
    const LONGEST_HEADER: usize = 1 << 16;
    const DEEPEST: i32 = 6;
    let mut rest = bytes;
    while let Some(at) = rest.windows(MARK.len()).position(|window| window == MARK) {
        rest = &rest[at + MARK.len()..];
        let mut depth = 0;
        // Version and length stand before the header.
        for byte in rest.iter().skip(4).take(LONGEST_HEADER).take_while(|&&byte| byte != b'\n') {
            match byte {
                b'{' | b'[' | b'(' => depth += 1,
                b'}' | b']' | b')' if depth <= 1 => break,
                b'}' | b']' | b')' => depth -= 1,
                _ => {}
            }
            if depth > DEEPEST {
                return Err("the header of an array is no list of its properties".into());
            }
        }
    }
    Ok(())
}

/// Reads an array that stands alone: its shape, and its numbers row by row.
pub(crate) fn plain_array(bytes: &[u8]) -> Result<(Vec<usize>, Vec<f64>), String> {
    refuse_nested_headers(bytes)?;
    let array = npyz::NpyFile::new(bytes).map_err(|error| error.to_string())?;
    let shape: Vec<usize> = array.shape().iter().map(|&size| size as usize).collect();
    let is_by_column = array.order() != npyz::Order::C;
    let numbers = numbers(array)?;
    match shape[..] {
        [n_rows, n_columns] if is_by_column => {
            let by_row = (0..n_rows).flat_map(|row| (0..n_columns).map(move |column| column * n_rows + row));
            Ok((shape, by_row.map(|at| numbers[at]).collect()))
        }
        _ => Ok((shape, numbers)),
    }
}

/// The numbers of an array.
fn numbers<R: Read>(array: npyz::NpyFile<R>) -> Result<Vec<f64>, String> {
    let npyz::DType::Plain(kind) = array.dtype() else { return Err("it is a record array".into()) };
    // The reader multiplies the sizes without a check for overflow, so they are checked here.
    let declared = array.shape().iter().try_fold(8_u64, |bytes, &size| bytes.checked_mul(size));
    if declared.is_none_or(|bytes| bytes > MAX_ARRAY) {
        return Err(format!("it declares the shape {:?}", array.shape()));
    }
    macro_rules! read {
        ($number:ty) => {
            array.into_vec::<$number>().map(|values| values.into_iter().map(f64::from).collect())
        };
    }
    let read: std::io::Result<Vec<f64>> = match kind.to_string().trim_start_matches(['<', '|', '=']) {
        "b1" => read!(bool),
        "i1" => read!(i8),
        "i2" => read!(i16),
        "i4" => read!(i32),
        "i8" => array.into_vec::<i64>().map(|values| values.into_iter().map(|value| value as f64).collect()),
        "u1" => read!(u8),
        "u2" => read!(u16),
        "u4" => read!(u32),
        "u8" => array.into_vec::<u64>().map(|values| values.into_iter().map(|value| value as f64).collect()),
        "f4" => read!(f32),
        "f8" => read!(f64),
        other => {
            return Err(format!(
                "its type `{other}` is not read; convert it, for example with `array.astype(\"float32\")`"
            ));
        }
    };
    read.map_err(|error| error.to_string())
}
