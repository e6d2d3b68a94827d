use veilgraph_contract::RawFile;

use super::table::{Subject, Table};
use super::*;

fn params(text: &str) -> Params {
    serde_json::from_str(text).expect("valid parameters")
}

fn raw(files: &[(&str, &[u8])]) -> Vec<RawFile> {
    files.iter().map(|(name, bytes)| RawFile { name: (*name).into(), bytes: bytes.to_vec() }).collect()
}

fn graph(params_text: &str, files: &[(&str, &str)]) -> Result<RawGraph, String> {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    read(&Files(&raw(&files)), &params(params_text)).map_err(|error| error.to_string())
}

fn problem(params_text: &str, files: &[(&str, &str)]) -> String {
    graph(params_text, files).err().expect("refused")
}

/// The links by name, as the file tells them.
fn links(graph: &RawGraph) -> Vec<(&str, &str)> {
    let name = |node: u32| graph.names[node as usize].as_str();
    let pairs = graph.pairs.as_ref().expect("links");
    pairs.iter().map(|&(a, b)| (name(a), name(b))).collect()
}

/// The class of each node by its name.
fn classes(graph: &RawGraph) -> Vec<(&str, Option<u16>)> {
    let classes = &graph.classes.as_ref().expect("classes").1;
    graph.names.iter().map(String::as_str).zip(classes.iter().copied()).collect()
}

#[test]
fn links_are_read_from_the_columns_that_their_names_tell() {
    for header in [
        "source,target,weight",
        "target,weight,source",
        "weight,SOURCE,Target",
        "id,from,to",
        "to,from,id",
        "w,src,dst",
        "Node_1,x,node_2",
        "id_2,id_1,x",
        "node1,node2,x",
        "v,u,x",
    ] {
        let names = header.to_lowercase();
        let names: Vec<&str> = names.split(',').collect();
        let first = ["source", "from", "src", "node_1", "id_1", "node1", "u"];
        let second = ["target", "to", "dst", "node_2", "id_2", "node2", "v"];
        let row = |a: &str, b: &str| {
            let field = |name: &&str| {
                if first.contains(name) {
                    a
                } else if second.contains(name) {
                    b
                } else {
                    "0.5"
                }
            };
            names.iter().map(field).collect::<Vec<_>>().join(",")
        };
        let text = format!("{header}\n{}\n{}\n", row("ann", "bob"), row("bob", "cy"));
        let graph = graph(r#"{"edges": "e"}"#, &[("e", &text)]).expect(header);
        assert_eq!(links(&graph), [("ann", "bob"), ("bob", "cy")], "{header}");
    }
}

#[test]
fn links_are_read_from_the_first_two_columns_where_names_say_nothing() {
    for text in [
        "a,b,c\n1,2,0\n2,3,9\n",
        "1 2 {'weight': 4}\n2 3 {'weight': 1}\n",
        "source,friend,since\n1,2,0\n2,3,9\n",
        "person,friend\n1,2\n2,3\n",
    ] {
        let graph = graph(r#"{"edges": "e"}"#, &[("e", text)]).expect(text);
        assert_eq!(links(&graph), [("1", "2"), ("2", "3")], "{text}");
    }
}

#[test]
fn links_are_read_from_the_columns_that_the_parameters_name() {
    let named = r#"{"edges": "e", "source_column": "From", "target_column": "friend"}"#;
    let files = [("e", ",friend,to,from\n0,bob,x,ann\n1,cy,x,bob\n")];
    assert_eq!(links(&graph(named, &files).expect("named")), [("ann", "bob"), ("bob", "cy")]);
    let absent = problem(named, &[("e", "a,b\n1,2\n2,3\n")]);
    assert!(absent.starts_with("e: line 1: there is no column `From`") && absent.contains("\"a\", \"b\""), "{absent}");
}

/// As `DataFrame.to_csv` writes by default: read as they stand, the rows give another graph.
#[test]
fn a_first_column_without_a_name_is_refused_with_the_remedy() {
    let edges = ("e", "ann,bob\nbob,cy\n");
    for (params, file, text) in [
        (r#"{"edges": "e"}"#, "e", ",source,target\n0,ann,bob\n1,bob,cy\n"),
        (r#"{"edges": "e"}"#, "e", "Unnamed: 0,source,target\n0,ann,bob\n1,bob,cy\n"),
        (r#"{"edges": "e"}"#, "e", "\tperson\tfriend\n0\tann\tbob\n1\tbob\tcy\n"),
        (r#"{"edges": "e", "labels": "l"}"#, "l", ",node,label\n0,ann,x\n1,bob,y\n"),
        (r#"{"edges": "e", "labels": "l", "label_column": "label"}"#, "l", ",label\nann,x\nbob,y\n"),
        (r#"{"edges": "e", "features": "f"}"#, "f", ",node,a,b\n0,ann,1,0\n1,bob,0,1\n"),
        (r#"{"edges": "e", "features": "f"}"#, "f", ",node,feature,value\n0,ann,1,1\n1,bob,2,1\n"),
    ] {
        let files: Vec<(&str, &str)> = if file == "e" { vec![(file, text)] } else { vec![edges, (file, text)] };
        let problem = problem(params, &files);
        let begins = problem.starts_with(&format!("{file}: line 1: the first column has no name"));
        assert!(begins && problem.contains("index=False") && problem.contains("index_label"), "{text}: {problem}");
    }
    let below = problem(r#"{"edges": "e"}"#, &[("e", "# by pandas\n\n,source,target\n0,ann,bob\n1,bob,cy\n")]);
    assert!(below.starts_with("e: line 3: the first column has no name"), "{below}");
    let files = [edges, ("l", ",node,label\n0,ann,x\n1,bob,y\n2,cy,\n")];
    let named = graph(r#"{"edges": "e", "labels": "l", "node_column": "node"}"#, &files).expect("named");
    assert_eq!(classes(&named), [("ann", Some(0)), ("bob", Some(1)), ("cy", None)]);
    // Separated by spaces, the missing name shows only in the number of fields.
    let spaces = problem(r#"{"edges": "e"}"#, &[("e", " source target\n0 ann bob\n1 bob cy\n")]);
    assert!(spaces.starts_with("e: line 2: 3 fields where the first row has 2"), "{spaces}");
    assert!(spaces.contains("index=False") && spaces.contains("row.names"), "{spaces}");
}

#[test]
fn names_that_could_mean_two_columns_are_refused() {
    let ends = problem(r#"{"edges": "e"}"#, &[("e", "id_1,id_2,source,target\n1,2,3,4\n")]);
    assert!(ends.contains("`source`") && ends.contains("`id_1`") && ends.contains("`source_column`"), "{ends}");
    let files = [("e", "1,2\n2,3\n"), ("f", "id,node,a\n1,2,0.5\n2,3,0.5\n")];
    let nodes = problem(r#"{"edges": "e", "features": "f"}"#, &files);
    assert!(nodes.contains("`id`") && nodes.contains("`node`") && nodes.contains("remove"), "{nodes}");
    for header in ["key,x,key", "Key,x,KEY"] {
        let twice = ("t", &*format!("{header}\nann,1,2\nbob,3,4\n"));
        for role in ["features", "labels", "nodes"] {
            let params = format!(r#"{{"edges": "e", "{role}": "t", "header": true, "node_column": "key"}}"#);
            let several = problem(&params, &[("e", "a,b\nann,bob\n"), twice]);
            assert!(several.starts_with("t: line 1: several columns are called `key`"), "{role}: {several}");
        }
        let classes = r#"{"edges": "e", "labels": "t", "header": true, "node_column": "x", "label_column": "key"}"#;
        let several = problem(classes, &[("e", "a,b\n1,3\n"), twice]);
        assert!(several.starts_with("t: line 1: several columns are called `key`"), "{several}");
    }
    let ends = r#"{"edges": "e", "source_column": "a", "target_column": "b"}"#;
    let several = problem(ends, &[("e", "a,b,b\nann,bob,cy\nbob,cy,ann\n")]);
    assert!(several.starts_with("e: line 1: several columns are called `b`"), "{several}");
    // One of them is called exactly so.
    assert_eq!(links(&graph(ends, &[("e", "a,B,b\nann,x,bob\nbob,x,cy\n")]).expect("exact")).len(), 2);
}

#[test]
fn features_without_a_row_are_refused() {
    let fields = r#"{"edges": "e", "features": "f.json"}"#;
    let none = problem(fields, &[("e", "ann,bob\n"), ("f.json", "{}")]);
    assert!(none.starts_with("f.json: the file has 0 features") && none.contains("leave the file out"), "{none}");
    let none = problem(r#"{"edges": "e", "features": "f"}"#, &[("e", "ann,bob\n"), ("f", "node,seven\n")]);
    assert!(none.starts_with("f: below the names of its columns the file has no row"), "{none}");
}

#[test]
fn labels_are_read_from_the_columns_that_their_names_tell() {
    let params = r#"{"edges": "e", "labels": "l"}"#;
    for text in [
        "node,label\nann,x\nbob,y\ncy,x\n",
        "label,node\nx,ann\ny,bob\nx,cy\n",
        "id,node,class,note\n0,ann,x,p\n1,bob,y,p\n2,cy,x,p\n",
        "days,user,class,note\n7,ann,x,p\n7,bob,y,p\n8,cy,x,p\n",
        "NAME,Target,note\nann,x,p\nbob,y,p\ncy,x,p\n",
        "name,kind\nann,x\nbob,y\ncy,x\n",
        "id,facebook_id,page_name,page_type\nann,9,p,x\nbob,8,q,y\ncy,7,r,x\n",
        "ann,p,x\nbob,q,y\ncy,r,x\n",
    ] {
        let graph = graph(params, &[("e", "ann,bob\nbob,cy\n"), ("l", text)]).expect(text);
        assert_eq!(classes(&graph), [("ann", Some(0)), ("bob", Some(1)), ("cy", Some(0))], "{text}");
    }
}

#[test]
fn features_are_read_from_the_columns_that_their_names_tell() {
    let params = r#"{"edges": "e", "features": "f"}"#;
    for text in [
        "node,feature,value\nann,7,2\nbob,9,3\n",
        "value,feature_id,person\n2,7,ann\n3,9,bob\n",
        "id,node,feature,value\n0,ann,7,2\n1,bob,9,3\n",
        "node,seven,nine\nann,2,0\nbob,0,3\n",
        "seven,node_id,nine\n2,ann,0\n0,bob,3\n",
        "person,seven,nine\nann,2,0\nbob,0,3\n",
        "ann,2,0\nbob,0,3\n",
    ] {
        let (params, text) = if text.starts_with("person") {
            (r#"{"edges": "e", "features": "f", "header": true}"#, text)
        } else {
            (params, text)
        };
        let edges = if params.contains("header") { "a,b\nann,bob\n" } else { "ann,bob\n" };
        let graph = graph(params, &[("e", edges), ("f", text)]).expect(text);
        let (width, rows) = graph.features.expect("features");
        let entries = |node: usize| rows[node].iter().copied().filter(|&(_, value)| value != 0.0).collect::<Vec<_>>();
        assert_eq!((width, entries(0), entries(1)), (2, vec![(0, 2.0)], vec![(1, 3.0)]), "{text}");
    }
}

#[test]
fn a_row_of_column_names_is_told_from_a_row_of_names() {
    for (text, n_links) in [
        ("u,v\nv,w\nw,u\n", 3),
        ("u,v\nann,bob\n", 1),
        ("alice,bob\n1,2\n2,3\n3,bob\n", 4),
        ("alice,bob\n1,2\n2,3\n", 2),
        ("source,target\ntarget,ann\nsource,ann\n", 3),
        ("source,target\ntarget,ann\n", 1),
        ("user,friend\nann,bob\n", 1),
        ("ann,bob\nbob,cy\n", 2),
        ("\n  \nann,bob\n \nbob,cy\n", 2),
    ] {
        let graph = graph(r#"{"edges": "e"}"#, &[("e", text)]).expect(text);
        assert_eq!(links(&graph).len(), n_links, "{text}");
    }
}

#[test]
fn what_is_read_as_what_is_said() {
    let account = |text: &str, params: &Params| {
        let files = raw(&[("e.csv", text.as_bytes())]);
        let table = Table::read(&Files(&files), "e.csv", None, Subject::Links).expect("a table");
        let ends = columns::of_links(&table, params).expect("columns");
        columns::account(&table, &[("first ends", ends[0]), ("second ends", ends[1])])
    };
    let params = Params::default();
    assert_eq!(
        account("weight,target,source\n1,a,b\n1,b,c\n", &params),
        "below a row of column names; first ends from column `source`, second ends from column `target`; \
         not read: column `weight`"
    );
    assert_eq!(
        account("1,2,a,b,c,d,e,f\n2,3,a,b,c,d,e,f\n", &params),
        "without a row of column names; first ends from column 1, second ends from column 2; not read: \
         column 3, column 4, column 5, column 6, column 7 and 1 more"
    );
}

#[test]
fn files_without_a_node_in_common_are_refused() {
    let labels = [("e", "1,2\n2,3\n"), ("l", "u1,x\nu2,y\nu3,x\n")];
    assert!(problem(r#"{"edges": "e", "labels": "l"}"#, &labels).starts_with("l: none of the 3 nodes"));
    let features = [("e", "1,2\n2,3\n"), ("f.json", r#"{"a": [1], "b": [0]}"#)];
    assert!(problem(r#"{"edges": "e", "features": "f.json"}"#, &features).starts_with("f.json: none of the 2 nodes"));
}

#[test]
fn compressed_json_is_read_as_json() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, br#"{"1": [1578, 1], "2": [0], "3": []}"#).expect("in memory");
    let packed = encoder.finish().expect("in memory");
    let files = raw(&[("e", b"1,2\n2,3\n"), ("f.json.gz", &packed)]);
    let graph = read(&Files(&files), &params(r#"{"edges": "e", "features": "f.json.gz"}"#));
    let (width, rows) = graph.map_err(|error| error.to_string()).expect("valid").features.expect("features");
    assert_eq!((width, &rows[0][..]), (1579, &[(1, 1.0), (1578, 1.0)][..]));
}

#[test]
fn lines_are_counted_with_all_that_is_skipped() {
    for (text, line) in [
        ("a,b\nb,\n", 2),
        ("# a comment\n\na,b\nb,c\n\n# another\n#\nc,\n", 8),
        ("a,b\r\nb,c\r\nc,\r\n", 3),
        ("# a comment\r\na,b\r\n\r\nc,\r\n", 4),
        ("\u{feff}a,b\n\nb,\n", 3),
        ("\"a\nz\",b\nb,\n", 3),
    ] {
        let problem = problem(r#"{"edges": "e"}"#, &[("e", text)]);
        assert!(problem.starts_with(&format!("e: line {line}: a link with an empty end")), "{text:?}: {problem}");
    }
}

#[test]
fn a_file_of_another_format_is_called_by_its_name() {
    for (text, words) in [
        (&b"<?xml version=\"1.0\"?>\n<graphml>\n"[..], "XML"),
        (b"graph [\n  node [ id 1 ]\n]\n", "GML"),
        (b"Creator \"igraph\"\ngraph\n[\n", "GML"),
        (b"*Vertices 3\n1 \"a\"\n", "Pajek"),
        (b"graph G {\n a -- b\n}\n", "DOT"),
        (b"%%MatrixMarket matrix coordinate\n1 2\n", "Matrix Market"),
        (b"{\"1\": [2, 3]}\n", "JSON"),
        (b"[[1, 2],\n [2, 3]]\n", "JSON"),
        (b"\x1f\x8b\x08\0\0\0", "`.gz`"),
        (b"\x28\xb5\x2f\xfd\x04\0", "`.zst`"),
        (b"\x93NUMPY\x01\0", "NumPy"),
        (b"PK\x03\x04\x14\0", "zip"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"\xff\xfe1\0,\x002\0", "UTF-16"),
        (b"1 2 3\n2 3\n", "one link per row"),
    ] {
        let problem = read(&Files(&raw(&[("e", text)])), &params(r#"{"edges": "e"}"#)).err().expect(words).to_string();
        assert!(problem.starts_with("e: ") && problem.contains(words), "{problem}");
    }
    let node_called_graph = graph(r#"{"edges": "e"}"#, &[("e", "graph,theory\n[deleted],graph\n")]).expect("a table");
    assert_eq!(links(&node_called_graph).len(), 2);
}

/// The reader of tables takes the end of the file for the end of the quote, so that the rows behind it would be lost.
#[test]
fn a_quote_that_is_never_closed_is_refused() {
    let edges = "1,2\n2,3\n3,\"4\n4,5\n5,6\n";
    let open = problem(r#"{"edges": "e"}"#, &[("e", edges)]);
    assert!(open.starts_with("e: line 3: ") && open.contains("never closed"), "{open}");
    let labels = problem(r#"{"edges": "e", "labels": "l"}"#, &[("e", "a,b\n"), ("l", "a,x\nb,\"y")]);
    assert!(labels.starts_with("l: line 2: ") && labels.contains("never closed"), "{labels}");
    let closed = graph(r#"{"edges": "e"}"#, &[("e", "1,\"2\"\n\"2\",\"a \"\"b\"\"\"")]).expect("quotes are closed");
    assert_eq!(links(&closed), [("1", "2"), ("2", "a \"b\"")]);
}
