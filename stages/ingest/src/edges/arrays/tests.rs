use std::io::{Cursor, Write};

use npyz::WriterBuilder;
use veilgraph_contract::RawFile;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

/// An array as NumPy writes it.
fn npy<T: npyz::AutoSerialize>(shape: &[u64], values: Vec<T>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer =
        npyz::WriteOptions::new().default_dtype().shape(shape).writer(&mut bytes).begin_nd().expect("begun");
    writer.extend(values).expect("written");
    writer.finish().expect("whole");
    bytes
}

/// A matrix as `scipy.sparse.save_npz` writes it, but for the name of its format, which is not read.
fn npz(arrays: &[(&str, Vec<i64>)], shape: [i64; 2]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let shape = ("shape", shape.to_vec());
    for (name, values) in arrays.iter().chain([&shape]) {
        archive.start_file(format!("{name}.npy"), SimpleFileOptions::default()).expect("a member");
        archive.write_all(&npy(&[values.len() as u64], values.clone())).expect("written");
    }
    archive.finish().expect("whole").into_inner()
}

fn with<T>(file: &str, bytes: Vec<u8>, read: impl Fn(&Files, &str) -> Result<T, Error>) -> Result<T, String> {
    let raw = [RawFile { name: file.to_owned(), bytes }];
    read(&Files(&raw), file).map_err(|error| error.to_string())
}

/// The path 0 - 1 - 2 as a matrix with both directions of the second link, and an entry 0 that is no link.
fn matrices() -> Vec<(&'static str, Vec<u8>)> {
    let by_row =
        npz(&[("indptr", vec![0, 2, 3, 4]), ("indices", vec![1, 2, 2, 1]), ("data", vec![1, 0, 1, 1])], [3, 3]);
    let coordinates = npz(&[("row", vec![0, 0, 1, 2]), ("col", vec![1, 2, 2, 1]), ("data", vec![1, 0, 1, 1])], [3, 3]);
    vec![("rows", by_row), ("coordinates", coordinates)]
}

#[test]
fn entries_of_a_sparse_matrix_are_links() {
    for (name, bytes) in matrices() {
        let links = with("a.npz", bytes, links).expect(name);
        assert_eq!(links.n_nodes, Some(3), "{name}");
        assert_eq!(links.pairs, [(0, 1), (1, 2), (2, 1)], "{name}");
    }
}

#[test]
fn a_matrix_by_columns_is_turned() {
    // Features of 2 nodes, 3 columns: node 0 has 5 in column 2, node 1 has 7 in column 0.
    let arrays = [("indptr", vec![0, 1, 1, 2]), ("indices", vec![1, 0]), ("data", vec![7, 5])];
    let room = [("indptr", vec![0, 1, 1, 2]), ("indices", vec![1, 0, -9]), ("data", vec![7, 5, 3])];
    for arrays in [&arrays, &room] {
        let (width, rows) = with("f.npz", npz(arrays, [2, 3]), features).expect("features");
        assert_eq!((width, rows), (3, vec![vec![(2, 5.0)], vec![(0, 7.0)]]));
    }
}

#[test]
fn links_may_be_an_array_either_way_round() {
    let by_row = npy(&[3, 2], vec![0_i64, 1, 1, 2, 2, 3]);
    let by_end = npy(&[2, 3], vec![0_i32, 1, 2, 1, 2, 3]);
    for (bytes, form) in [(by_row, "rows"), (by_end, "ends")] {
        let links = with("e.npy", bytes, links).expect(form);
        assert_eq!((links.n_nodes, links.pairs), (None, vec![(0, 1), (1, 2), (2, 3)]), "{form}");
    }
}

#[test]
fn arrays_hold_features_and_classes() {
    let (width, rows) = with("f.npy", npy(&[2, 2], vec![0.5_f32, -1.0, 0.0, 3.0]), features).expect("features");
    assert_eq!((width, rows), (2, vec![vec![(0, 0.5), (1, -1.0)], vec![(0, 0.0), (1, 3.0)]]));
    let classes = with("l.npy", npy(&[4], vec![2_i64, -1, 0, 2]), classes).expect("classes");
    let classes: Vec<Option<&str>> = classes.iter().map(Option::as_deref).collect();
    assert_eq!(classes, [Some("2"), None, Some("0"), Some("2")]);
}

#[test]
fn wrong_arrays_are_refused_with_their_place() {
    let words = |problem: Result<(), String>, words: &str| {
        let problem = problem.expect_err(words);
        assert!(problem.contains(words), "{problem} lacks {words}");
    };
    let links = |bytes| with("e.npy", bytes, links).map(|_| ());
    words(links(npy(&[3, 3], vec![0_i64; 9])), "an array of shape [3, 3]");
    words(links(npy(&[3, 2], vec![0.5_f64, 1.0, 2.0, 3.0, 4.0, 5.0])), "e.npy: row 1: 0.5 is no node number");
    words(links(npy(&[3, 2], vec![0_i64, 1, -2, 3, 4, 5])), "e.npy: row 2: -2 is no node number");
    words(links(b"no array".to_vec()), "e.npy: not an array of numbers");
    let classes = |bytes| with("l.npy", bytes, classes).map(|_| ());
    words(classes(npy(&[2, 2], vec![0_i64; 4])), "labels in an array of shape [2, 2]");
    words(classes(npy(&[2], vec![0.0_f64, 1.5])), "l.npy: row 2: 1.5 is no class");
    let features = |bytes| with("f.npy", bytes, features).map(|_| ());
    words(features(npy(&[3], vec![0.0_f64; 3])), "features in an array of shape [3]");
    words(features(npy(&[1, 2], vec![0.0_f64, f64::NAN])), "f.npy: row 1: a value is not finite");
    let matrix = |arrays: &[(&str, Vec<i64>)], shape| with("a.npz", npz(arrays, shape), super::links).map(|_| ());
    let path = [("row", vec![0]), ("col", vec![1]), ("data", vec![1])];
    words(matrix(&path, [2, 3]), "a matrix of 2 rows and 3 columns is no adjacency");
    words(matrix(&path, [1, 1]), "entry (0, 1) is none of 1 rows and 1 columns");
    words(matrix(&path, [i64::from(u32::MAX); 2]), "it declares");
    words(matrix(&path, [i64::MAX, i64::MAX]), "is no number of rows or columns");
    let by_rows = |offsets: Vec<i64>| [("indptr", offsets), ("indices", vec![1, 2]), ("data", vec![1, 1])];
    for offsets in [vec![0, 1, 1, 3], vec![1, 1, 2, 2], vec![0, 2, 1, 2]] {
        words(matrix(&by_rows(offsets), [3, 3]), "the offsets of rows do not ascend from 0 to at most 2");
    }
    assert_eq!(matrix(&by_rows(vec![0, 1, 2, 2]), [3, 3]), Ok(()));
    assert_eq!(matrix(&by_rows(vec![0, 1, 1, 1]), [3, 3]), Ok(()), "room behind the last entry");
    let twice = [("row", vec![0, 0]), ("col", vec![1, 1]), ("data", vec![1, 1])];
    assert_eq!(matrix(&twice, [2, 2]), Ok(()), "a repeated link is one");
    words(with("f.npz", npz(&twice, [2, 2]), super::features).map(|_| ()), "f.npz: row 1: a column stands twice");
    words(links(npy(&[2, 2], vec![0_i64, 1, 2, 3])), "either way");
    words(matrix(&[("row", vec![0])], [2, 2]), "key `data`: it is missing");
}
