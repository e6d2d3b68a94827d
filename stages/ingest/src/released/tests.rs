use super::*;

fn taken(file: &str, bytes: &[u8], directed: Option<bool>) -> Result<WeightedGraph, String> {
    let names = ["a", "b", "c", "7", "Lee, Ann", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z"];
    let raw = vec![RawFile { name: file.to_owned(), bytes: bytes.to_vec() }];
    let nodes = NodeMap { names: names.map(str::to_owned).to_vec() };
    let params = ReleasedParams { graph: file.to_owned(), directed, ..ReleasedParams::default() };
    let read = ReadReleased::run((raw, nodes), &params, &StageRng::new(1, "ingest", 0), &Progress::none());
    read.map(|(Private(graph),)| graph).map_err(|error| error.to_string())
}

fn links(text: &str) -> Vec<(u32, u32, f32)> {
    let graph = taken("mine.csv", text.as_bytes(), None).expect(text);
    assert!(!graph.directed);
    graph.links().collect()
}

#[test]
fn links_are_read_once_with_their_weights() {
    let expected = vec![(0, 1, 1.0), (1, 3, 0.25)];
    for text in [
        "source,target,weight\nb,a,1\n7,b,0.25\n",
        "weight,time,to,from\r\n1,9,a,b\r\n0.25,9,b,7\r\n",
        "# mine\na b 1\nb a 1\n\nb 7 0.25\n7 b 0.25\n",
        "\u{feff}a\tb\t1\nb\t7\t0.25",
        "a;b;1\nb;7;0.25\na;b;1\nc;c;1\na;c;0\n",
    ] {
        assert_eq!(links(text), expected, "{text}");
    }
    let one = [(0, 1, 1.0)];
    for text in ["id_1,id_2\na,b\n", "a|b\n", "% konect\na b\n", "a b {}\n", "\"a\" \"b\"\n"] {
        assert_eq!(links(text), one, "{text}");
    }
    assert_eq!(links("\"from\",\"to\"\n\"Lee, Ann\",\"a\"\n"), [(0, 4, 1.0)]);
}

#[test]
fn a_file_says_in_which_direction_its_links_hold() {
    let mixed = b"a,b\nb,a\nb,c\n";
    let problem = taken("mine.csv", mixed, None).expect_err("it could be meant either way");
    assert!(problem.contains("2 of its 3 links") && problem.contains("directed = true"), "{problem}");
    let read = |directed: bool| taken("mine.csv", mixed, Some(directed)).expect("a graph");
    assert_eq!(read(true).links().collect::<Vec<_>>(), [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.0)]);
    assert_eq!(read(false).links().collect::<Vec<_>>(), [(0, 1, 1.0), (1, 2, 1.0)]);
    assert_eq!((read(true).n_entries(), read(false).n_entries()), (3, 4));
    let weights = b"a,b,0.5\nb,a,0.25\n";
    let directed = taken("mine.csv", weights, Some(true)).expect("two weights");
    assert_eq!(directed.links().collect::<Vec<_>>(), [(0, 1, 0.5), (1, 0, 0.25)]);
    let problem = taken("mine.csv", weights, None).expect_err("refused");
    assert!(problem.contains("line 2: this link has the weight 0.25, and in line 1 the weight 0.5"), "{problem}");
}

#[test]
fn many_links_of_weight_one_are_bits() {
    let names = ["a", "b", "c", "7", "p", "q", "r"];
    let all: String = names.iter().flat_map(|a| names.iter().map(move |b| format!("{a} {b}\n"))).collect();
    let dense = taken("mine.txt", all.as_bytes(), None).expect("a graph");
    assert!(matches!(dense.links, Links::Bits(_)));
    assert_eq!((dense.links().count(), dense.n_entries()), (21, 42));
    assert!(matches!(taken("mine.txt", b"a b\n", None).expect("a graph").links, Links::Listed(_)));
}

#[test]
fn a_wrong_row_is_named() {
    for (text, words) in [
        (&b"a,b\na,unknown\n"[..], "mine.csv: line 2: there is no node `unknown`"),
        (b"# a comment\n\na,b\n\na,unknown\n", "line 5: there is no node `unknown`"),
        (b"a,b\nc,d,e\n", "line 2: 3 fields where the first row has 2"),
        (b"a,b,1,2\n", "4 fields without names"),
        (b"a,b,1.5\n", "line 1: 1.5 is no weight"),
        (b"a,b,nan\n", "line 1: NaN is no weight"),
        (b"a,b,much\n", "line 1: `much` is no weight"),
        (b"a,b,0.5\na,b,0.25\n", "line 2: this link has the weight 0.25"),
        (b"a b {'weight': 0.5}\n", "numbers in braces could be the weights"),
        (b"a b {'color': 'red', 'p': 0.5}\n", "numbers in braces could be the weights"),
        (b"source,target,w\na,b,0.5\nb,c,\n", "column `w` could hold the weights"),
        (b"source,target,w\na,b,True\nb,c,False\n", "column `w` could hold the weights"),
        (b"source,target,w\na,b,0.5\nb,c,?\n", "column `w` could hold the weights"),
        (b"source,target,weight\na,b,0.5\nb,c,\n", "line 3: `` is no weight; write a number from 0 to 1"),
        (b"source,target,weight,weight\na,b,0.5,1\n", "several columns are called `weight`"),
        (b"a\n", "a link has two ends"),
        (b"", "the file is empty"),
        (b"a,b\n\xff\n", "line 2: not UTF-8"),
    ] {
        let problem = taken("mine.csv", text, None).expect_err("refused");
        assert!(problem.contains(words), "{problem}");
    }
}

#[test]
fn columns_of_other_names_are_chosen() {
    let nodes = NodeMap { names: ["a", "b", "c"].map(str::to_owned).to_vec() };
    let text = b"p,one,two\n0.5,a,b\n1,c,b\n";
    let read = |params: ReleasedParams| {
        let raw = vec![RawFile { name: params.graph.clone(), bytes: text.to_vec() }];
        let names = NodeMap { names: nodes.names.clone() };
        let read = ReadReleased::run((raw, names), &params, &StageRng::new(1, "ingest", 0), &Progress::none());
        read.map(|(Private(graph),)| graph.links().collect::<Vec<_>>()).map_err(|error| error.to_string())
    };
    let column = |name: &str| Some(name.to_owned());
    let ends = ReleasedParams {
        graph: "mine.csv".to_owned(),
        source_column: column("one"),
        target_column: column("two"),
        ..ReleasedParams::default()
    };
    let named = ReleasedParams { weight_column: column("p"), ..ends.clone() };
    assert_eq!(read(named), Ok(vec![(0, 1, 0.5), (1, 2, 1.0)]));
    let problem = read(ends.clone()).expect_err("weights would be lost");
    assert!(problem.contains("column `p` could hold the weights") && problem.contains("weight_column"), "{problem}");
    let absent = read(ReleasedParams { weight_column: column("w"), ..ends.clone() }).expect_err("absent");
    assert!(absent.contains("there is no column `w`"), "{absent}");
    let one = read(ReleasedParams { target_column: column("ONE"), ..ends.clone() }).expect_err("one column");
    assert!(one.contains("column `one` would hold both ends of a link"), "{one}");
    let weights = read(ReleasedParams { weight_column: column("Two"), ..ends }).expect_err("nodes");
    assert!(weights.contains("column `two` would hold nodes and weights"), "{weights}");
}

/// A file of links that is a matrix would be read as some links between its first numbers.
#[test]
fn a_matrix_as_text_is_refused() {
    let bits = "0,1,1\n1,0,0\n1,0,0\n";
    let numbered = format!("0,1,2\n{bits}");
    let numbers = "0,2,0,1,0\n2,0,0,0,0\n0,0,0,0,7\n1,0,0,0,0\n0,0,7,0,0\n";
    let framed = "node,p,q,r\np,0,1,1\nq,1,0,0\nr,1,0,0\n";
    for text in [bits, &numbered, numbers, framed] {
        let problem = taken("mine.csv", text.as_bytes(), None).expect_err("refused");
        assert!(problem.contains("look like a matrix"), "{problem}");
    }
    let named = format!("n0,n1,n2\n{bits}");
    let chosen = ReleasedParams { graph: "mine.csv".to_owned(), header: Some(true), ..ReleasedParams::default() };
    let raw = vec![RawFile { name: chosen.graph.clone(), bytes: named.into_bytes() }];
    let names = NodeMap { names: ["0", "1", "2"].map(str::to_owned).to_vec() };
    let read = ReadReleased::run((raw, names), &chosen, &StageRng::new(1, "ingest", 0), &Progress::none());
    assert!(read.is_err_and(|error| error.to_string().contains("look like a matrix")));
    let three_links = "7,a,1\na,b,1\nb,7,0.5\n";
    assert_eq!(links(three_links).len(), 3);
    // Five calls with four numbers each beside the people are none.
    let calls = "person,friend,since,km,calls\n1,2,3,4,5\n2,3,4,5,6\n3,4,5,6,7\n4,5,6,7,8\n5,6,7,8,9\n";
    let problem = taken("mine.csv", calls.as_bytes(), None).expect_err("columns of numbers");
    assert!(problem.contains("column `since` could hold the weights"), "{problem}");
}

#[test]
fn columns_that_cannot_be_found_are_refused_before_anything_is_read() {
    let named = |field: &str| Some(field.to_owned());
    let base = || ReleasedParams { graph: "mine.csv".to_owned(), ..ReleasedParams::default() };
    let ends = || ReleasedParams { source_column: named("a"), target_column: named("b"), ..base() };
    for (params, words) in [
        (ReleasedParams { source_column: named("a"), ..base() }, "one of `source_column` and `target_column`"),
        (ReleasedParams { target_column: named("a"), ..base() }, "one of `source_column` and `target_column`"),
        (ReleasedParams { target_column: named("a"), ..ends() }, "are both `a`"),
        (ReleasedParams { weight_column: named("b"), ..ends() }, "`target_column` and `weight_column` are both `b`"),
        (ReleasedParams { header: Some(false), ..ends() }, "`header = false` says that there are no names"),
        (ReleasedParams { graph: "m.npz".to_owned(), weight_column: named("w"), ..base() }, "m.npz is an array"),
    ] {
        let problem = ReadReleased::check_params(&params).expect_err(words).to_string();
        assert!(problem.contains(words), "{problem}");
    }
    assert!(ReadReleased::check_params(&ends()).is_ok() && ReadReleased::check_params(&base()).is_ok());
}

#[test]
fn a_weight_of_zero_contradicts_another_weight() {
    let problem = taken("mine.csv", b"a,b,0\na,b,0.5\n", None).expect_err("refused");
    assert!(problem.contains("line 2: this link has the weight 0.5, and in line 1 the weight 0"), "{problem}");
    assert_eq!(links("a,b,0\nb,c,0.5\n"), [(1, 2, 0.5)]);
    // Links that are none do not decide whether a file names links in both directions.
    assert_eq!(links("a,b,0\nb,a,-0\nb,c,0.5\n"), [(1, 2, 0.5)]);
}
