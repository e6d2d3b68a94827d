use std::io::Write;

use veilgraph_contract::RawFile;

use super::*;

/// The files of a path of four nodes, as `(name, text)`; each is compressed before it is read.
fn texts() -> Vec<(String, String)> {
    let mut texts: Vec<(String, String)> = PARTS
        .iter()
        .zip(["4\n", "0,1\n1,2\n2,3\n", "1,0.5\n0,0\n-1,2\n0,1\n", "0\n1\nnan\n1.0\n"])
        .map(|(&name, text)| (name.to_owned(), text.to_owned()))
        .collect();
    for ((part, _), text) in SPLITS.iter().zip(["0\n", "1\n", "3\n"]) {
        texts.push((split_file("time", part), text.to_owned()));
    }
    texts
}

fn graph(texts: &[(String, String)]) -> Result<RawGraph, String> {
    let compressed = |(name, text): &(String, String)| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).expect("compressed");
        RawFile { name: name.clone(), bytes: encoder.finish().expect("compressed") }
    };
    let raw: Vec<RawFile> = texts.iter().map(compressed).collect();
    let params = r#"{"format": "ogb", "folder": "x", "split": {"scheme": "time"}}"#;
    let params: Params = serde_json::from_str(params).expect("parameters");
    let mut wanted = params.files().expect("files");
    let mut given: Vec<String> = raw.iter().map(|file| file.name.clone()).collect();
    wanted.sort();
    given.sort();
    assert_eq!(wanted, given, "the parameters name the files that are read");
    read(&Files(&raw), &params).map_err(|error| error.to_string())
}

#[test]
fn a_dataset_is_read_with_its_split() {
    let graph = graph(&texts()).expect("a graph");
    assert_eq!(graph.names, ["0", "1", "2", "3"]);
    assert_eq!(graph.pairs.expect("links"), [(0, 1), (1, 2), (2, 3)]);
    let (width, rows) = graph.features.expect("features");
    assert_eq!((width, &rows[2]), (2, &vec![(0, -1.0), (1, 2.0)]));
    assert_eq!(graph.classes.expect("classes"), (2, vec![Some(0), Some(1), None, Some(1)]));
    assert_eq!(graph.splits.expect("splits"), [Split::Train, Split::Validation, Split::None, Split::Test]);
}

#[test]
fn each_malformed_file_is_named_with_its_line() {
    for (file, text, words) in [
        (PARTS[0], "4\n4\n", "2 graphs"),
        (PARTS[0], "5\n", "4 rows for 5 nodes"),
        (PARTS[1], "0,1\n1,4\n", "line 2: node 4 of 4"),
        (PARTS[1], "0,1,2\n", "line 1: `0,1,2` is not two node numbers"),
        (PARTS[2], "1,2\n1\n", "line 2: 1 features where the first node has 2"),
        (PARTS[2], "1,x\n", "line 1: `x` is not a finite number"),
        (PARTS[2], "1,inf\n", "line 1: `inf` is not a finite number"),
        (PARTS[3], "0\n0,1\n", "line 2: 2 labels of one node"),
        (PARTS[3], "0\n0.5\n", "line 2: `0.5` is not a class"),
        ("split/time/valid.csv.gz", "0\n", "line 1: node 0 is in two splits"),
        ("split/time/test.csv.gz", "9\n", "line 1: node 9 of 4"),
    ] {
        let mut texts = texts();
        let place = texts.iter_mut().find(|(name, _)| name == file).expect("the file");
        place.1 = text.to_owned();
        let problem = graph(&texts).err().expect(words);
        assert!(problem.contains(words) && (problem.contains(file) || words.contains("rows")), "{words}: {problem}");
    }
}
