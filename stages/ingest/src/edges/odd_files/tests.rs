//! Files of links as people really have them, each with its right answer: the links, or a refusal that says why.

use std::io::Write;

use super::*;
use veilgraph_contract::RawFile;

/// What reading a file has to give.
enum Answer {
    /// These links, by the names of their ends.
    Links(&'static [(&'static str, &'static str)]),
    /// A refusal with these words.
    Refusal(&'static [&'static str]),
}

use Answer::{Links, Refusal};

const PATH: &[(&str, &str)] = &[("1", "2"), ("2", "3")];
const NAMED: &[(&str, &str)] = &[("ann", "bob"), ("bob", "cy")];

/// What is odd, the end of the file's name, its content, and the right answer.
const ODD: &[(&str, &str, &[u8], Answer)] = &[
    ("commas", "csv", b"1,2\n2,3\n", Links(PATH)),
    ("tabs", "tsv", b"1\t2\n2\t3\n", Links(PATH)),
    ("comma and tab", "csv", b"1,\t2\n2,\t3\n", Links(PATH)),
    ("semicolons", "csv", b"1;2\n2;3\n", Links(PATH)),
    ("one space", "txt", b"1 2\n2 3\n", Links(PATH)),
    ("several spaces", "txt", b"1   2\n2 3\n", Links(PATH)),
    ("spaces before the line", "txt", b"  1 2\n  2 3\n", Links(PATH)),
    ("comma and space", "csv", b"1, 2\n2, 3\n", Links(PATH)),
    ("no line end at the end", "csv", b"1,2\n2,3", Links(PATH)),
    ("Windows line ends", "csv", b"1,2\r\n2,3\r\n", Links(PATH)),
    ("old Macintosh line ends", "csv", b"1,2\r2,3\r", Links(PATH)),
    ("byte order mark", "csv", b"\xef\xbb\xbf1,2\n2,3\n", Links(PATH)),
    ("byte order mark before column names", "csv", b"\xef\xbb\xbfsource,target\n1,2\n2,3\n", Links(PATH)),
    ("empty lines", "csv", b"\n1,2\n\n\n2,3\n\n", Links(PATH)),
    ("comments of SNAP", "txt", b"# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n", Links(PATH)),
    ("comments after rows", "txt", b"1 2\n# a remark\n2 3\n", Links(PATH)),
    ("comments of KONECT", "tsv", b"% sym unweighted\n% 2 3 3\n1 2\n2 3\n", Links(PATH)),
    ("column names", "csv", b"source,target\n1,2\n2,3\n", Links(PATH)),
    ("column names in capitals", "csv", b"SOURCE,TARGET\n1,2\n2,3\n", Links(PATH)),
    ("columns turned round", "csv", b"target,source\n2,1\n3,2\n", Links(PATH)),
    ("unusual column names", "csv", b"person,friend\n1,2\n2,3\n", Links(PATH)),
    ("a weight", "csv", b"source,target,weight\n1,2,0.5\n2,3,4\n", Links(PATH)),
    ("the weight of networkx", "edgelist", b"1 2 {'weight': 4}\n2 3 {'weight': 1}\n", Links(PATH)),
    (
        "two attributes of networkx",
        "edgelist",
        b"1 2 {'weight': 4, 'color': 'red'}\n2 3 {'weight': 1, 'color': 'blue'}\n",
        Links(PATH),
    ),
    ("attributes of some links", "edgelist", b"1 2 {}\n2 3 {'weight': 1, 'tags': {'a': 2, 'b': 3}}\n", Links(PATH)),
    ("attributes and Windows line ends", "txt", b"1 2 {'a': 1, 'b': 2}\r\n2 3 {'a': 3, 'b': 4}\r\n", Links(PATH)),
    ("attributes and old line ends", "txt", b"1 2 {'a': 1, 'b': 2}\r2 3 {'a': 3, 'b': 4}\r", Links(PATH)),
    ("attributes behind commas", "csv", b"# by networkx\n1,2,{'a': 1, 'b': 2}\n2,3,{}\n", Links(PATH)),
    ("attributes in quotes", "csv", b"1,2,\"{'a': 1, 'b': 2}\"\n2,3,\"{'a': 3}\"\n", Links(PATH)),
    ("braces in names", "csv", b"a,{b}\nb,{c}\n", Links(&[("a", "{b}"), ("b", "{c}")])),
    ("bars", "csv", b"1|2\n2|3\n", Links(PATH)),
    ("bars between spaces", "txt", b"1 | 2\n2 | 3\n", Links(PATH)),
    ("semicolons and decimal commas", "csv", b"1;2;0,5\n2;3;0,25\n", Links(PATH)),
    ("commas and a list with semicolons", "csv", b"1,2,x;y\n2,3,y;z\n", Links(PATH)),
    ("tabs and commas in names", "tsv", b"a, jr\tbob\nbob\tcy, sr\n", Links(&[("a, jr", "bob"), ("bob", "cy, sr")])),
    ("tabs in a text", "txt", b"a, jr\tbob\nbob, sr\tcy\n", Links(&[("a, jr", "bob"), ("bob, sr", "cy")])),
    ("a comma in the first name alone", "txt", b"a, jr;bob\nbob;cy\n", Links(&[("a, jr", "bob"), ("bob", "cy")])),
    (
        "commas, and spaces in names",
        "csv",
        b"ann lee,bob ray\nbob ray,cy fox\n",
        Links(&[("ann lee", "bob ray"), ("bob ray", "cy fox")]),
    ),
    ("an id before the ends", "csv", b"id,source,target\n0,1,2\n1,2,3\n", Links(PATH)),
    ("names", "csv", b"ann,bob\nbob,cy\n", Links(NAMED)),
    ("quoted names", "csv", b"\"ann\",\"bob\"\n\"bob\",\"cy\"\n", Links(NAMED)),
    ("a comma in a name", "csv", b"\"a, jr\",bob\nbob,cy\n", Links(&[("a, jr", "bob"), ("bob", "cy")])),
    ("a quote in a name", "csv", b"\"a \"\"b\"\" c\",bob\nbob,cy\n", Links(&[("a \"b\" c", "bob"), ("bob", "cy")])),
    ("a line end in a name", "csv", b"\"a\nb\",bob\nbob,cy\n", Links(&[("a\nb", "bob"), ("bob", "cy")])),
    ("accents", "csv", "é,ü\nü,ß\n".as_bytes(), Links(&[("é", "ü"), ("ü", "ß")])),
    ("Chinese names and an emoji", "csv", "李,王\n王,🦀\n".as_bytes(), Links(&[("李", "王"), ("王", "🦀")])),
    ("leading zeros", "csv", b"001,002\n002,003\n", Links(&[("001", "002"), ("002", "003")])),
    ("numbers with gaps", "csv", b"10,2000000\n2000000,30\n", Links(&[("10", "2000000"), ("2000000", "30")])),
    (
        "a number beyond 64 bits",
        "csv",
        b"99999999999999999999999,b\nb,c\n",
        Links(&[("99999999999999999999999", "b"), ("b", "c")]),
    ),
    (
        "a self-loop and a repeated link",
        "csv",
        b"1,2\n2,2\n2,1\n2,3\n",
        Links(&[("1", "2"), ("2", "2"), ("2", "1"), ("2", "3")]),
    ),
    ("a table of Parquet under a wrong name", "csv", b"PAR1....PAR1", Refusal(&["a Parquet file", "`.parquet`"])),
    ("a gzip file under a wrong name", "csv", b"\x1f\x8b\x08\x00", Refusal(&["compressed by gzip", "`.gz`"])),
    ("a Zstandard file under a wrong name", "csv", b"\x28\xb5\x2f\xfd\x04", Refusal(&["by Zstandard", "`.zst`"])),
    ("an Excel file", "csv", b"PK\x03\x04....", Refusal(&["a zip archive", "CSV"])),
    ("UTF-16", "csv", b"\xff\xfe1\x00,\x002\x00", Refusal(&["UTF-16", "UTF-8"])),
    ("Latin-1", "csv", b"1,2\n\xe9,3\n", Refusal(&["line 2", "not UTF-8"])),
    ("an empty file", "csv", b"", Refusal(&["the file is empty"])),
    ("comments alone", "csv", b"# nothing\n\n", Refusal(&["the file is empty"])),
    ("one column", "csv", b"1\n2\n3\n", Refusal(&["1 field", "a link has two ends"])),
    ("an empty end", "csv", b"1,2\n2,\n", Refusal(&["line 2", "a link with an empty end"])),
    (
        "lists of neighbours",
        "txt",
        b"1 2 3\n2 3\n",
        Refusal(&["line 2", "2 fields where the first row has 3", "one link per row"]),
    ),
    ("a row that is cut short", "csv", b"a,b,c\n1,2,3\n2,3\n", Refusal(&["line 3", "2 fields"])),
    ("the row numbers of pandas", "csv", b",source,target\n0,1,2\n1,2,3\n", Refusal(&["has no name", "index=False"])),
    ("GML", "gml", b"graph [\n node [ id 1 ]\n]\n", Refusal(&["this looks like GML"])),
    ("Pajek", "net", b"*Vertices 3\n1 \"a\"\n*Edges\n1 2\n", Refusal(&["this looks like Pajek"])),
    ("DOT", "dot", b"graph {\n a -- b;\n}\n", Refusal(&["this looks like DOT"])),
    ("Matrix Market", "mtx", b"%%MatrixMarket matrix coordinate\n3 3 2\n1 2\n", Refusal(&["Matrix Market"])),
    ("GEXF", "gexf", b"<?xml version=\"1.0\"?><gexf></gexf>", Refusal(&["looks like XML"])),
    ("JSON", "csv", b"{\"nodes\": [], \"links\": []}", Refusal(&["this looks like JSON"])),
];

fn graph(file: &str, bytes: Vec<u8>) -> Result<RawGraph, String> {
    let params: Params = serde_json::from_value(serde_json::json!({"edges": file})).expect("parameters");
    let raw = [RawFile { name: file.to_owned(), bytes }];
    read(&Files(&raw), &params).map_err(|error| error.to_string())
}

#[test]
fn every_odd_file_has_its_right_answer() {
    for (what, end, bytes, answer) in ODD {
        let [plain, zipped, zst] = ["", ".gz", ".zst"].map(|compressed| format!("e.{end}{compressed}"));
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).expect("compressed");
        let of_zst = zstd::encode_all(*bytes, 0).expect("compressed");
        let all = [(plain, bytes.to_vec()), (zipped, encoder.finish().expect("compressed")), (zst, of_zst)];
        for (file, bytes) in all {
            match (graph(&file, bytes), answer) {
                (Ok(graph), Links(wanted)) => {
                    let name = |node: u32| graph.names[node as usize].as_str();
                    let pairs = graph.pairs.as_ref().expect("links");
                    let links: Vec<(&str, &str)> = pairs.iter().map(|&(a, b)| (name(a), name(b))).collect();
                    assert_eq!(links, *wanted, "{what}: {file}");
                }
                (Err(problem), Refusal(words)) => {
                    let begins = problem.starts_with(&format!("{file}: "));
                    assert!(begins && words.iter().all(|word| problem.contains(word)), "{what}: {problem}");
                }
                (Ok(graph), Refusal(_)) => panic!("{what}: {file} was read, with the nodes {:?}", graph.names),
                (Err(problem), Links(_)) => panic!("{what}: {problem}"),
            }
        }
    }
}
