//! Files of features and of classes as people really have them, each with its right answer.

use std::io::Write;

use super::*;
use veilgraph_contract::RawFile;

/// The nodes and their links.
const NODES: &str = "ann\nbob\ncy\n";
const LINKS: &str = "ann,bob\nbob,cy\n";

/// What reading a file of features has to give.
enum Features {
    /// So many columns, and the entries of ann, bob and cy other than 0.
    Rows(usize, [&'static [(u32, f32)]; 3]),
    /// A refusal with these words.
    Refused(&'static [&'static str]),
}

use Features::{Refused, Rows};

const ROWS: Features = Rows(2, [&[(0, 1.0)], &[(1, 2.0)], &[(0, 0.5), (1, -1.0)]]);

/// What is odd, the end of the file's name, its content, and the right answer.
const ODD_FEATURES: &[(&str, &str, &[u8], Features)] = &[
    ("a dense table", "csv", b"node,a,b\nann,1,0\nbob,0,2\ncy,0.5,-1\n", ROWS),
    ("no column names", "csv", b"ann,1,0\nbob,0,2\ncy,0.5,-1\n", ROWS),
    ("a byte order mark", "csv", b"\xef\xbb\xbfnode,a,b\nann,1,0\nbob,0,2\ncy,0.5,-1\n", ROWS),
    ("Windows line ends", "csv", b"node,a,b\r\nann,1,0\r\nbob,0,2\r\ncy,0.5,-1\r\n", ROWS),
    ("tabs", "tsv", b"node\ta\tb\nann\t1\t0\nbob\t0\t2\ncy\t0.5\t-1\n", ROWS),
    ("spaces", "txt", b"ann 1 0\nbob  0  2\ncy 0.5 -1\n", ROWS),
    ("semicolons", "csv", b"node;a;b\nann;1;0\nbob;0;2\ncy;0.5;-1\n", ROWS),
    ("everything in quotes", "csv", b"\"node\",\"a\"\n\"ann\",\"1\"\n\"bob\",\"2\"\n\"cy\",\"0\"\n", {
        Rows(1, [&[(0, 1.0)], &[(0, 2.0)], &[]])
    }),
    ("numbers in many forms", "csv", b"node,a,b\nann,1.0,0.0\nbob,-0,2e0\ncy,+.5,-1.\n", ROWS),
    ("columns turned round", "csv", b"a,node,b\n1,ann,0\n0,bob,2\n0.5,cy,-1\n", ROWS),
    ("a comment above", "csv", b"# by R\nnode,a,b\nann,1,0\nbob,0,2\ncy,0.5,-1\n", ROWS),
    ("a node without a row", "csv", b"node,a,b\nann,1,0\nbob,0,2\n", Rows(2, [&[(0, 1.0)], &[(1, 2.0)], &[]])),
    ("one feature in a row", "csv", b"node,feature,value\nann,a,1\nbob,b,2\ncy,a,0.5\ncy,b,-1\n", ROWS),
    ("a doubled row", "csv", b"node,feature,value\nann,a,1\nann,a,1\nbob,b,2\ncy,a,0.5\ncy,b,-1\n", ROWS),
    ("lists of JSON", "json", br#"{"ann": [0], "bob": [1], "cy": [1, 0, 1]}"#, {
        Rows(2, [&[(0, 1.0)], &[(1, 1.0)], &[(0, 1.0), (1, 1.0)]])
    }),
    ("a byte order mark before JSON", "json", b"\xef\xbb\xbf{\"ann\": [0], \"bob\": [1], \"cy\": [1, 0, 1]}", {
        Rows(2, [&[(0, 1.0)], &[(1, 1.0)], &[(0, 1.0), (1, 1.0)]])
    }),
    ("decimal commas", "csv", b"node;a;b\nann;1,0;0\nbob;0;2,0\n", Refused(&["line 2: `1,0` is no number", "a point"])),
    ("an empty cell", "csv", b"node,a,b\nann,1,\nbob,0,2\n", Refused(&["line 2", "a feature without a value"])),
    ("no number", "csv", b"node,a,b\nann,1,0\nbob,NaN,2\n", Refused(&["line 3", "NaN is not finite"])),
    ("a node twice in JSON", "json", br#"{"ann": [0], "bob": [1], "ann": [1]}"#, {
        Refused(&["line 1", "node ann comes twice"])
    }),
    (
        "more than 32 bits hold",
        "csv",
        b"node,a\nann,1\nbob,3.5e38\n",
        Refused(&["line 3", "`3.5e38` is beyond the largest"]),
    ),
    ("infinity", "csv", b"node,a,b\nann,1,-inf\nbob,0,2\n", Refused(&["line 2", "not finite"])),
    ("words for truth", "csv", b"node,a,b\nann,true,0\nbob,0,2\n", Refused(&["line 2", "`true` is no number"])),
    ("a doubled node", "csv", b"node,a,b\nann,1,0\nann,1,0\nbob,0,2\n", Refused(&["line 3", "node `ann` comes twice"])),
    (
        "a feature with two values",
        "csv",
        b"node,feature,value\nann,a,1\nann,a,2\nbob,b,2\n",
        Refused(&["line 3", "comes twice, with different values"]),
    ),
    ("the row numbers of pandas", "csv", b",node,a\n0,ann,1\n1,bob,2\n", Refused(&["line 1", "index=False"])),
    ("an unknown node", "csv", b"node,a,b\nann,1,0\ndan,0,2\n", Refused(&["line 3", "`dan` is not in n"])),
    ("a short row", "csv", b"node,a,b\nann,1,0\nbob,0\n", Refused(&["line 3", "2 fields where the first row has 3"])),
];

/// What reading a file of classes has to give.
enum Labels {
    /// The names of the classes, and the classes of ann, bob and cy.
    Classes(&'static [&'static str], [Option<u16>; 3]),
    /// A refusal with these words.
    Wrong(&'static [&'static str]),
}

use Labels::{Classes as Named, Wrong};

const ABA: [Option<u16>; 3] = [Some(0), Some(1), Some(0)];
const XY: Labels = Named(&["x", "y"], ABA);

/// What is odd, the end of the file's name, its content, and the right answer.
const ODD_LABELS: &[(&str, &str, &[u8], Labels)] = &[
    ("column names", "csv", b"node,label\nann,x\nbob,y\ncy,x\n", XY),
    ("no column names", "csv", b"ann,x\nbob,y\ncy,x\n", XY),
    ("a byte order mark", "csv", b"\xef\xbb\xbfnode,label\nann,x\nbob,y\ncy,x\n", XY),
    ("Windows line ends", "csv", b"node,label\r\nann,x\r\nbob,y\r\ncy,x\r\n", XY),
    ("tabs", "tsv", b"node\tlabel\nann\tx\nbob\ty\ncy\tx\n", XY),
    ("spaces", "txt", b"ann x\nbob y\ncy x\n", XY),
    ("semicolons", "csv", b"node;label\nann;x\nbob;y\ncy;x\n", XY),
    ("bars", "txt", b"node|label\nann|x\nbob|y\ncy|x\n", XY),
    ("quoted classes", "csv", b"node,label\nann,\"x\"\nbob,\"y\"\ncy,\"x\"\n", XY),
    ("spaces around classes", "csv", b"node, label\nann, x\nbob, y \ncy,x\n", XY),
    ("columns turned round", "csv", b"label,node\nx,ann\ny,bob\nx,cy\n", XY),
    ("a doubled row", "csv", b"node,label\nann,x\nann,x\nbob,y\ncy,x\n", XY),
    ("a comment above", "csv", b"# 2 classes\nnode,label\nann,x\nbob,y\ncy,x\n", XY),
    ("a comma in a class", "csv", b"node,label\nann,\"a, b\"\nbob,c\ncy,\"a, b\"\n", Named(&["a, b", "c"], ABA)),
    ("a class with a hash", "csv", b"node,label\nann,#x\nbob,y\ncy,#x\n", Named(&["#x", "y"], ABA)),
    ("accents and emoji", "csv", "node,label\nann,é\nbob,🦀\ncy,é\n".as_bytes(), Named(&["é", "🦀"], ABA)),
    ("numbers from 0", "csv", b"node,label\nann,0\nbob,1\ncy,0\n", Named(&[], ABA)),
    ("numbers with gaps", "csv", b"node,label\nann,9\nbob,10\ncy,9\n", Named(&["9", "10"], ABA)),
    ("whole numbers with a point", "csv", b"node,label\nann,1.0\nbob,2.0\ncy,1.0\n", Named(&["1.0", "2.0"], ABA)),
    ("an empty class", "csv", b"node,label\nann,x\nbob,y\ncy,\n", Named(&["x", "y"], [Some(0), Some(1), None])),
    ("no row for a node", "csv", b"node,label\nann,x\nbob,y\n", Named(&["x", "y"], [Some(0), Some(1), None])),
    // A class may be called so, and a warning says that it counts as one.
    ("NaN", "csv", b"node,label\nann,NaN\nbob,x\ncy,NaN\n", Named(&["NaN", "x"], ABA)),
    ("two classes of a node", "csv", b"node,label\nann,x\nann,y\nbob,y\n", Wrong(&["line 3", "`ann` has two labels"])),
    ("one class", "csv", b"node,label\nann,x\nbob,x\ncy,x\n", Wrong(&["1 class only"])),
    ("measurements", "csv", b"node,label\nann,0.5\nbob,1.5\ncy,0.5\n", Wrong(&["are no classes", "label_column"])),
    ("one column", "csv", b"node\nann\nbob\ncy\n", Wrong(&["1 column", "labels need two"])),
    ("a class without a node", "csv", b"node,label\nann,x\n,y\n", Wrong(&["line 3", "a label without a node"])),
    ("the row numbers of pandas", "csv", b",node,label\n0,ann,x\n1,bob,y\n", Wrong(&["line 1", "index=False"])),
    ("an unknown node", "csv", b"node,label\nann,x\nbob,y\ndan,x\n", Wrong(&["line 4", "`dan` is not in n"])),
];

/// What is read of a file that stands for `field`, as it is and in each compression.
fn each_way(field: &str, end: &str, bytes: &[u8]) -> [(String, Result<RawGraph, String>); 3] {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("compressed");
    let packed = encoder.finish().expect("compressed");
    let of_zst = zstd::encode_all(bytes, 0).expect("compressed");
    let all = [("", bytes.to_vec()), (".gz", packed), (".zst", of_zst)];
    all.map(|(compressed, bytes)| {
        let file = format!("f.{end}{compressed}");
        let params = serde_json::json!({"edges": "e", "nodes": "n", field: file});
        let params: Params = serde_json::from_value(params).expect("parameters");
        let raw = [("e", LINKS.into()), ("n", NODES.into()), (file.as_str(), bytes)];
        let raw = raw.map(|(name, bytes): (&str, Vec<u8>)| RawFile { name: name.to_owned(), bytes });
        let graph = read(&Files(&raw), &params).map_err(|error| error.to_string());
        (file, graph)
    })
}

/// Whether a refusal names its file and holds these words.
fn says(file: &str, problem: &str, words: &[&str]) -> bool {
    problem.starts_with(&format!("{file}: ")) && words.iter().all(|word| problem.contains(word))
}

#[test]
fn every_odd_file_of_features_has_its_right_answer() {
    for (what, end, bytes, answer) in ODD_FEATURES {
        for (file, graph) in each_way("features", end, bytes) {
            match (graph, answer) {
                (Ok(graph), Rows(n_columns, wanted)) => {
                    let (width, rows) = graph.features.expect("features");
                    let is_entry = |entry: &&(u32, f32)| entry.1 != 0.0;
                    let rows: Vec<Vec<(u32, f32)>> =
                        rows.iter().map(|row| row.iter().filter(is_entry).copied().collect()).collect();
                    assert_eq!((width, rows), (*n_columns, wanted.map(<[_]>::to_vec).to_vec()), "{what}: {file}");
                }
                (Err(problem), Refused(words)) => assert!(says(&file, &problem, words), "{what}: {problem}"),
                (Ok(graph), Refused(_)) => panic!("{what}: {file} was read as {:?}", graph.features),
                (Err(problem), Rows(..)) => panic!("{what}: {problem}"),
            }
        }
    }
}

#[test]
fn every_odd_file_of_classes_has_its_right_answer() {
    for (what, end, bytes, answer) in ODD_LABELS {
        for (file, graph) in each_way("labels", end, bytes) {
            match (graph, answer) {
                (Ok(graph), Named(names, wanted)) => {
                    assert_eq!(graph.class_names, *names, "{what}: {file}");
                    assert_eq!(graph.classes.expect("classes").1, wanted, "{what}: {file}");
                }
                (Err(problem), Wrong(words)) => assert!(says(&file, &problem, words), "{what}: {problem}"),
                (Ok(graph), Wrong(_)) => panic!("{what}: {file} was read as {:?}", graph.classes),
                (Err(problem), Named(..)) => panic!("{what}: {problem}"),
            }
        }
    }
}
