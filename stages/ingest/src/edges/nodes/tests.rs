use veilgraph_contract::RawFile;

use crate::edges;
use crate::params::Params;
use crate::raw::{Files, RawGraph};

/// A graph of these files, whose names begin with the letters of their fields.
fn graph(files: &[(&str, &str)], more: &str) -> Result<RawGraph, String> {
    let named = [("edges", "e.csv"), ("nodes", "n.csv"), ("features", "f.csv"), ("labels", "l.csv")];
    let given = named.iter().filter(|(_, name)| files.iter().any(|file| file.0 == *name));
    let fields: Vec<String> = given.map(|(field, name)| format!("{field:?}: {name:?}")).collect();
    let params: Params = serde_json::from_str(&format!("{{{}{more}}}", fields.join(", "))).expect("valid parameters");
    params.check().map_err(|error| error.to_string())?;
    let raw = |&(name, text): &(&str, &str)| RawFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() };
    let raw: Vec<RawFile> = files.iter().map(raw).collect();
    edges::read(&Files(&raw), &params).map_err(|error| error.to_string())
}

fn names(files: &[(&str, &str)], more: &str) -> Vec<String> {
    graph(files, more).expect("valid").names
}

fn problem(files: &[(&str, &str)], more: &str) -> String {
    graph(files, more).err().expect("refused")
}

const EDGES: (&str, &str) = ("e.csv", "ann,bob\nbob,cy\n");
const FEATURES: (&str, &str) = ("f.csv", "node,a\nann,1\nbob,2\n");
const LABELS: (&str, &str) = ("l.csv", "node,label\nbob,x\ncy,y\ndan,\n");

#[test]
fn the_set_of_nodes_is_that_of_the_first_file_that_tells() {
    assert_eq!(names(&[EDGES], ""), ["ann", "bob", "cy"], "links alone");
    assert_eq!(names(&[EDGES, FEATURES, LABELS], ""), ["ann", "bob", "cy", "dan"], "a node may lack its class");
    let listed = ("n.csv", "node\neve\ndan\ncy\nbob\nann\n");
    assert_eq!(names(&[EDGES, FEATURES, LABELS, listed], ""), ["ann", "bob", "cy", "dan", "eve"]);
    assert_eq!(names(&[EDGES, FEATURES, listed], ", \"induced\": true"), ["ann", "bob"]);
    assert_eq!(names(&[FEATURES, listed], ""), ["ann", "bob", "cy", "dan", "eve"], "without links");
    assert!(graph(&[FEATURES, listed], "").is_ok_and(|graph| graph.pairs.is_none()));
    let numbers = ("n.csv", "10\n9\n100\n");
    assert_eq!(names(&[("e.csv", "10,9\n"), numbers], ""), ["9", "10", "100"], "numbers ascend as numbers");
}

#[test]
fn nodes_are_found_in_their_column() {
    let links = ("e.csv", "1,2\n2,3\n");
    for (text, more) in [
        ("1\n2\n3\n", ""),
        ("id\n1\n2\n3\n", ""),
        ("row,Node,age\n7,1,30\n8,2,31\n9,3,32\n", ""),
        ("age,user\n30,1\n31,2\n32,3\n", ""),
        ("1,30\n2,31\n3,32\n", ""),
        ("id,page\n7,1\n8,2\n9,3\n", ", \"node_column\": \"page\""),
        ("page\n1\n2\n3\n", ", \"node_column\": \"page\""),
        ("1\n2\n3\n", ", \"node_column\": \"page\""),
        ("1\n2\n3\n", ", \"header\": false"),
    ] {
        assert_eq!(names(&[links, ("n.csv", text)], more), ["1", "2", "3"], "{text:?}{more}");
    }
    let words = ("n.csv", "Page\nann\nbob\ncy\n");
    assert_eq!(names(&[EDGES, words], ", \"node_column\": \"page\""), ["ann", "bob", "cy"]);
}

#[test]
fn a_file_of_nodes_with_a_mistake_is_refused() {
    for (text, words) in [
        ("node\nann\nbob\nann\n", ["n.csv: line 4: node `ann` stands in line 2 already", "list each node once"]),
        ("node,age\nann,1\n,2\n", ["n.csv: line 3: a row without a node", "name the node"]),
        (",node\n0,ann\n1,bob\n", ["n.csv: line 1: the first column has no name", "index=False"]),
        ("", ["n.csv: ", "the file is empty"]),
    ] {
        let problem = problem(&[EDGES, ("n.csv", text)], "");
        assert!(words.iter().all(|word| problem.contains(word)), "{text:?}: {problem}");
    }
}

#[test]
fn a_link_of_a_node_that_is_not_in_the_set_is_refused() {
    let nodes = ("n.csv", "ann\nbob\ndan\n");
    let (features, labels) = (("f.csv", "node,a\nann,1\nbob,2\n"), ("l.csv", "node,label\nann,x\nbob,y\n"));
    let beginning = "e.csv: line 2: the link names the node `cy`, which is";
    for (files, end) in [
        (vec![EDGES, nodes], "not in n.csv; add the node to n.csv, or remove the link"),
        (vec![EDGES, labels], "not in l.csv; list all nodes in a file and name it in `nodes`, or remove the link"),
        (
            vec![EDGES, features],
            "not in f.csv; list all nodes in a file and name it in `nodes`, or remove the link, or set \
             `induced = true` to keep only the nodes of f.csv",
        ),
        (
            vec![EDGES, features, labels],
            "neither in f.csv nor in l.csv; list all nodes in a file and name it in `nodes`, or remove the link, or \
             set `induced = true` to keep only the nodes of f.csv",
        ),
        (
            vec![EDGES, features, nodes],
            "not in n.csv; add the node to n.csv, or remove the link, or set `induced = true` to keep only the nodes \
             of f.csv",
        ),
    ] {
        assert_eq!(problem(&files, ""), format!("{beginning} {end}"));
    }
    let induced = graph(&[EDGES, features, labels], ", \"induced\": true").expect("valid");
    assert_eq!((induced.names.len(), induced.pairs.map(|pairs| pairs.len())), (2, Some(1)));
    let shifted = problem(&[("e.csv", "1,2\n2,3\n"), ("l.csv", "node,label\n0,x\n1,y\n2,x\n")], "");
    assert!(shifted.contains("`3`") && shifted.contains("every name would fit if 1 were subtracted"), "{shifted}");
}

#[test]
fn a_description_of_a_node_that_is_not_listed_is_refused() {
    let nodes = ("n.csv", "ann\nbob\ncy\n");
    let labels = problem(&[EDGES, nodes, LABELS], "");
    assert!(labels.starts_with("l.csv: line 4: the node `dan` is not in n.csv; add the node to n.csv"), "{labels}");
    let features = problem(&[EDGES, nodes, ("f.csv", "node,a\nzoe,1\nann,2\n")], "");
    assert!(features.starts_with("f.csv: line 2: the node `zoe` is not in n.csv"), "{features}");
    let triplets = ("f.csv", "node,feature,value\nann,1,1\nzoe,1,1\nzoe,2,1\n");
    let triplets = problem(&[EDGES, nodes, triplets], "");
    assert!(triplets.starts_with("f.csv: line 3: the node `zoe` is not in n.csv"), "{triplets}");
}
