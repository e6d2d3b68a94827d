mod declared;

use std::sync::{Arc, Mutex};

use veilgraph_contract::Artifact;

use super::*;

fn params(text: &str) -> Params {
    serde_json::from_str(text).expect("valid parameters")
}

fn ingest(params: &Params, files: &[(&str, &str)]) -> Result<<Ingest as Stage>::Outputs, Error> {
    let raw =
        files.iter().map(|(name, text)| RawFile { name: (*name).into(), bytes: text.as_bytes().to_vec() }).collect();
    Ingest::run((raw,), params, &StageRng::new(0, "ingest", 0), &Progress::none())
}

fn given(links: Option<Private<AdjacencyList>>) -> AdjacencyList {
    links.expect("links are given").0
}

#[test]
fn the_synthetic_default_has_the_shape_of_cora() {
    let (nodes, _, features, _, labels, _, held_out, links) = ingest(&Params::default(), &[]).expect("valid");
    let links = given(links);
    assert!(!nodes.nodes_from_links && !links.nodes_from_links());
    let (features, labels, HeldOut(held_out)) =
        (features.expect("features"), labels.expect("labels"), held_out.expect("held out"));
    assert_eq!((nodes.splits.len(), features.0.n_columns(), labels.n_classes()), (2708, 1433, 7));
    let mean_degree = 2.0 * links.n_links() as f64 / 2708.0;
    assert!((mean_degree - 3.9).abs() < 0.05, "{mean_degree}");
    let most = (0..2708).map(|node| links.degree(node)).max().expect("nodes");
    assert!((30..=250).contains(&most), "a power law has hubs: {most}");
    let class = |node: u32| labels.class(node).or_else(|| held_out.class(node)).expect("every node has a class");
    let inside = links.links().filter(|&(a, b)| class(a) == class(b)).count() as f64 / links.n_links() as f64;
    assert!((inside - 0.81).abs() < 0.05, "homophily {inside}");
    let again = ingest(&Params::default(), &[]).expect("valid");
    assert_eq!(given(again.7), links, "the same seed gives the same graph");
}

/// The spread of 10,000 log-normal degrees has a relative standard deviation of some 4 %; the seed is fixed.
#[test]
fn synthetic_degrees_spread_as_they_are_told() {
    let drawn = |spread: f64| {
        let text = format!(
            r#"{{"synthetic": {{"nodes": 10000, "mean_degree": 12.0, "features": 0, "degree_spread": {spread}}}}}"#
        );
        let links = given(ingest(&params(&text), &[]).expect("valid").7);
        let degrees: Vec<f64> = (0..10_000).map(|node| links.degree(node) as f64).collect();
        let mean = degrees.iter().sum::<f64>() / 1e4;
        let variance = degrees.iter().map(|degree| (degree - mean) * (degree - mean)).sum::<f64>() / 1e4;
        variance.sqrt() / mean
    };
    for spread in [0.6, 1.2] {
        let found = drawn(spread);
        assert!((found - spread).abs() < 0.12 * spread, "{found} is not {spread}");
    }
    let refused =
        ingest(&params(r#"{"synthetic": {"degree_spread": 0}}"#), &[]).err().expect("no degrees spread like that");
    assert!(refused.to_string().contains("degree_spread"), "{refused}");
}

/// A tenth of the nodes draws half of its links from a second class, on both sides of a link: (1 − 0.1 / 2)² of the links
/// that would join one class still do. The standard deviation over 60,000 links is 0.2 points; the seed is fixed.
#[test]
fn ambiguous_nodes_lower_the_homophily() {
    let text = r#"{"synthetic": {"nodes": 10000, "mean_degree": 12.0, "features": 0, "homophily": 1.0, "classes": 20, "ambiguous_share": 0.1}}"#;
    let (_, _, _, _, labels, _, held_out, links) = ingest(&params(text), &[]).expect("valid");
    let (links, labels, HeldOut(held_out)) = (given(links), labels.expect("labels"), held_out.expect("held out"));
    let class = |node: u32| labels.class(node).or_else(|| held_out.class(node)).expect("every node has a class");
    let inside = links.links().filter(|&(a, b)| class(a) == class(b)).count() as f64 / links.n_links() as f64;
    assert!((inside - 0.95 * 0.95).abs() < 0.015, "homophily {inside}");
}

#[test]
fn own_files_with_names_are_remapped_and_the_names_kept() {
    let params =
        params(r#"{"edges": "e.csv", "features": "f.csv", "labels": "l.csv", "normalize": "none", "split": "s.csv"}"#);
    let files = [
        ("e.csv", "source,target\nbob,ann\ncy,bob\nann,bob\ncy,cy\n"),
        ("f.csv", "node,height,age\nann,1.5,0\nbob,0,2\ndan,1,1\n"),
        ("l.csv", "node,label\nann,red\nbob,blue\ncy,red\ndan,blue\n"),
        ("s.csv", "node,split\nann,train\nbob,train\ncy,validation\ndan,test\n"),
    ];
    let (nodes, map, features, _, labels, _, held_out, links) = ingest(&params, &files).expect("valid");
    let links = given(links);
    assert_eq!(map.names, ["ann", "bob", "cy", "dan"]);
    assert_eq!(links.links().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    assert_eq!(links.n_isolated(), 1);
    let features = features.expect("features").0;
    assert_eq!((features.row(0).1, features.row(1).0, features.row(2).0.len()), ([1.5].as_slice(), [1].as_slice(), 0));
    assert_eq!(labels.expect("labels").classes(), [(0, 1), (1, 0), (2, 1)], "classes by ascending name");
    assert_eq!(held_out.expect("held out").0.classes(), [(3, 0)]);
    assert_eq!(nodes.splits, [Split::Train, Split::Train, Split::Validation, Split::Test]);
}

#[test]
fn numbers_are_ordered_as_numbers_and_separators_are_found_out() {
    for (edges, header) in
        [("10 9\n9 100\n", None), ("a\tb\n10\t9\n9\t100\n", None), ("# comment\n10,9\n9,100\n", Some(false))]
    {
        let params = Params { edges: Some("e".into()), header, ..Params::default() };
        let (nodes, map, features, _, labels, ..) = ingest(&params, &[("e", edges)]).expect("valid");
        assert_eq!(map.names, ["9", "10", "100"], "{edges:?}");
        assert!(features.is_none() && labels.is_none() && nodes.n_classes == 0);
    }
}

#[test]
fn feature_lists_and_triplets_are_read_and_induced_graphs_cut_out() {
    let lists = params(r#"{"edges": "e", "features": "f.json", "normalize": "none"}"#);
    let files = [("e", "id_1,id_2\n0,1\n1,2\n"), ("f.json", r#"{"0": [2, 0, 2], "1": [], "2": [1]}"#)];
    let features = ingest(&lists, &files).expect("valid").2.expect("features").0;
    assert_eq!(
        (features.row(0).0, features.row(1).0, features.row(2).0),
        ([0, 2].as_slice(), [].as_slice(), [1].as_slice())
    );
    let triplets = params(
        r#"{"edges": "e", "features": "f.csv", "labels": "l", "induced": true, "split": {"train": 0.34, "validation": 0.33, "test": 0.33}}"#,
    );
    let files = [
        ("e", "id_1,id_2\n0,1\n1,2\n2,3\n3,4\n1,3\n"),
        ("f.csv", "node_id,feature_id,value\n1,7,1.0\n2,7,1.0\n2,9,1.0\n3,9,1.0\n"),
        ("l", "id,target\n0,5\n1,5\n2,6\n3,5\n4,6\n"),
    ];
    let (_, map, features, .., links) = ingest(&triplets, &files).expect("valid");
    assert_eq!((map.names, given(links).n_links()), (vec!["1".to_owned(), "2".into(), "3".into()], 3));
    assert_eq!(features.expect("features").0.n_columns(), 2);
}

/// A repeated row says nothing new, so it is left out; two values for one feature are a mistake.
#[test]
fn repeated_feature_rows_are_left_out() {
    let triplets = params(r#"{"edges": "e", "features": "f.csv"}"#);
    let edges = ("e", "id_1,id_2\n0,1\n1,2\n");
    let repeated = ("f.csv", "node_id,feature_id,value\n0,7,1\n1,7,1\n1,7,1\n2,9,1\n");
    let features = ingest(&triplets, &[edges, repeated]).expect("valid").2.expect("features").0;
    assert_eq!(features.row(1).0, [0]);
    let contradicting = ("f.csv", "node_id,feature_id,value\n0,7,1\n1,7,1\n1,7,2\n2,9,1\n");
    let error = ingest(&triplets, &[edges, contradicting]).err().expect("two values").to_string();
    assert!(error.contains("line 4") && error.contains("with different values"), "{error}");
}

#[test]
fn a_label_column_is_found_by_its_name() {
    let params = params(r#"{"edges": "e", "labels": "l", "node_column": "new_id", "label_column": "mature"}"#);
    let files = [
        ("e", "from,to\n0,1\n1,2\n2,3\n"),
        ("l", "id,days,mature,new_id\n77,5,True,0\n78,5,False,1\n79,9,True,2\n80,1,False,3\n"),
    ];
    let (nodes, map, ..) = ingest(&params, &files).expect("valid");
    assert_eq!((map.names.len(), nodes.n_classes), (4, 2));
}

#[test]
fn features_are_public_or_withheld_but_never_both() {
    let public = ingest(&Params::default(), &[]).expect("valid");
    let withheld = ingest(&Params { withhold_features: true, ..Params::default() }, &[]).expect("valid");
    let (Some(Features(shown)), None, None, Some(Private(Features(hidden)))) =
        (public.2, public.3, withheld.2, withheld.3)
    else {
        unreachable!("each stands in one slot of its own");
    };
    assert!(shown == hidden && shown.n_entries() > 0, "the same features, elsewhere");
    let none = params(r#"{"edges": "e.csv", "withhold_features": true}"#);
    let without = ingest(&none, &[("e.csv", "0,1\n1,2\n")]).expect("valid");
    assert!(without.2.is_none() && without.3.is_none(), "there is nothing to withhold");
}

#[test]
fn labels_are_public_or_withheld_and_those_of_test_nodes_always_held_out() {
    let public = ingest(&Params::default(), &[]).expect("valid");
    let withheld = ingest(&Params { withhold_labels: true, ..Params::default() }, &[]).expect("valid");
    let (Some(shown), None, Some(HeldOut(test)), None, Some(Private(hidden)), Some(HeldOut(same_test))) =
        (public.4, public.5, public.6, withheld.4, withheld.5, withheld.6)
    else {
        unreachable!("each stands in one slot of its own");
    };
    assert!(shown == hidden && shown.classes().len() > 1, "the same labels, elsewhere");
    assert_eq!(test, same_test);
}

/// One repeated row must not make another artifact: a release would be drawn again for it.
#[test]
fn equal_links_are_written_alike_however_they_are_listed() {
    let params = params(r#"{"edges": "e", "nodes": "n"}"#);
    let written = |edges: &str| {
        let files = [("e", edges), ("n", "node\n1\n2\n3\n4\n5\n")];
        let links = given(ingest(&params, &files).expect("valid").7);
        (links.facts(), links.blocks().collect::<Vec<_>>())
    };
    let plain = written("1,2\n2,3\n3,5\n");
    for (what, edges) in [
        ("another order", "3,5\n1,2\n2,3\n"),
        ("another direction", "2,1\n3,2\n5,3\n"),
        ("repeated rows", "1,2\n2,3\n2,1\n1,2\n3,5\n"),
        ("self-loops", "1,2\n2,2\n4,4\n2,3\n3,5\n"),
        ("column names and weights", "source,target,weight\n1,2,0.1\n2,3,0.2\n3,5,0.3\n"),
    ] {
        assert_eq!(written(edges), plain, "{what}");
    }
    assert_ne!(written("1,2\n2,3\n3,4\n"), plain, "other links");
}

#[test]
fn the_artifacts_say_where_the_set_of_nodes_comes_from() {
    let files = [("e", "1,2\n2,3\n"), ("n", "1\n2\n3\n"), ("l", "1,x\n2,y\n3,x\n")];
    for (text, is_derived) in [
        (r#"{"edges": "e"}"#, true),
        (r#"{"edges": "e", "nodes": "n"}"#, false),
        (r#"{"edges": "e", "labels": "l", "split": {"train": 0.4, "validation": 0.3, "test": 0.3}}"#, false),
    ] {
        let params = params(text);
        assert_eq!(params.takes_nodes_from_links(), is_derived, "{text}");
        let (nodes, .., links) = ingest(&params, &files).expect("valid");
        assert_eq!((nodes.nodes_from_links, given(links).nodes_from_links()), (is_derived, is_derived), "{text}");
    }
}

/// Two graphs that differ in a leaf, which no other file names, differed in public files.
#[test]
fn the_public_part_does_not_depend_on_the_links() {
    let params = params(r#"{"edges": "e", "nodes": "n"}"#);
    let public = |edges: &str| {
        let (nodes, map, ..) = ingest(&params, &[("e", edges), ("n", "1\n2\n3\n999\n")]).expect("valid");
        (nodes, map)
    };
    assert_eq!(public("1,2\n2,3\n"), public("1,2\n2,3\n3,999\n"));
}

/// A server that collects the reports of real nodes holds no links.
#[test]
fn the_public_part_is_read_without_links() {
    let text = r#"{NODES, "features": "f", "labels": "l", "split": "s"}"#;
    let files = [
        ("e", "ann,bob\nbob,cy\n"),
        ("n", "id,name\n1,cy\n2,ann\n3,dan\n4,bob\n"),
        ("f", "node,a,b\nann,1,0\nbob,0,1\ncy,1,1\n"),
        ("l", "node,label\nann,x\nbob,y\ncy,x\n"),
        ("s", "node,split\nann,train\nbob,validation\ncy,test\n"),
    ];
    let served = params(&text.replace("NODES", r#""nodes": "n", "node_column": "name""#));
    let owned = params(&text.replace("NODES", r#""edges": "e", "nodes": "n", "node_column": "name""#));
    assert_eq!((served.has_links(), owned.has_links()), (false, true));
    assert_eq!(served.files().expect("valid"), ["n", "f", "l", "s"]);
    // A labels file must have the column that `node_column` names.
    let files = files.map(|(name, text)| (name, text.replace("node,label", "name,label").replace("node,a", "name,a")));
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    let (server, owner) = (ingest(&served, &files).expect("valid"), ingest(&owned, &files).expect("valid"));
    assert!(server.7.is_none() && owner.7.is_some());
    assert_eq!(server.1.names, ["ann", "bob", "cy", "dan"]);
    assert!(server.0 == owner.0 && server.1 == owner.1, "the same nodes and splits");
    assert!(server.2.expect("features").0 == owner.2.expect("features").0);
    assert_eq!(server.4.expect("labels").classes(), owner.4.expect("labels").classes());
}

/// What the log says unless somebody asks for everything.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata) -> bool {
        *metadata.level() <= tracing::Level::INFO
    }
    fn new_span(&self, _: &tracing::span::Attributes) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event) {
        event.record(&mut |_: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            self.0.lock().expect("one thread").push(format!("{value:?}"));
        });
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn the_log_tells_nothing_of_the_links_unless_it_is_asked() {
    let params = params(r#"{"edges": "e", "features": "f", "labels": "l"}"#);
    let said = |edges: &str| {
        let files =
            [("e", edges), ("f", "node,a\n1,1\n2,1\n3,0\n4,1\n5,1\n"), ("l", "node,label\n1,x\n2,y\n3,x\n4,y\n5,x\n")];
        let log = Log::default();
        tracing::subscriber::with_default(log.clone(), || ingest(&params, &files).expect("valid"));
        Arc::try_unwrap(log.0).expect("nobody else logs").into_inner().expect("one thread")
    };
    let few = said("source,target\n1,2\n2,3\n3,4\n");
    assert_eq!(said("source,target\n1,2\n2,1\n5,5\n1,3\n2,5\n"), few);
    assert!(few.iter().any(|line| line == "5 nodes, 1 features, 2 classes, 0 nodes without label"), "{few:?}");
    assert!(few[0].starts_with("e: links below a row of column names; first ends from column `source`"), "{few:?}");
}

#[test]
fn parameters_that_contradict_each_other_read_no_file() {
    let problem = ingest(&params(r#"{"labels": "l.csv"}"#), &[("l.csv", "0,1\n")]).err().expect("refused");
    assert!(problem.to_string().contains("`edges` is missing"), "{problem}");
}

#[test]
fn min_max_puts_every_column_between_0_and_1() {
    let rows = vec![vec![(0, 4.0), (1, -1.0), (2, 5.0)], vec![(0, 2.0), (2, 5.0)], vec![(1, 3.0), (2, 5.0)]];
    let matrix = SparseMatrix::from_rows(3, rows).expect("valid");
    let scaled = normalize::normalized(matrix, normalize::Normalize::MinMax).expect("finite");
    let rows: Vec<(Vec<u32>, Vec<f32>)> =
        (0..3).map(|row| (scaled.row(row).0.to_vec(), scaled.row(row).1.to_vec())).collect();
    assert_eq!(rows[0], (vec![0], vec![1.0]), "the least of column 1 is here, and column 2 is constant");
    assert_eq!(rows[1], (vec![0, 1], vec![0.5, 0.25]));
    assert_eq!(rows[2], (vec![1], vec![1.0]));
}

#[test]
fn row_normalization_is_that_of_the_reference() {
    let matrix = SparseMatrix::from_rows(3, [vec![(0, 2.0), (1, 6.0)], vec![(2, 0.5)], vec![]]).expect("valid");
    let rows = normalize::normalized(matrix, normalize::Normalize::Row).expect("finite");
    assert_eq!(
        (rows.row(0).1, rows.row(1).1, rows.row(2).1),
        ([0.25, 0.75].as_slice(), [0.5].as_slice(), [].as_slice())
    );
    // A negative minimum is subtracted everywhere, also where nothing is stored.
    let negative = SparseMatrix::from_rows(2, [vec![(0, -1.0), (1, 1.0)], vec![(0, 1.0)]]).expect("valid");
    let rows = normalize::normalized(negative, normalize::Normalize::Row).expect("finite");
    assert_eq!((rows.row(0), rows.row(1).1), (([1].as_slice(), [1.0].as_slice()), [2.0 / 3.0, 1.0 / 3.0].as_slice()));
}

#[test]
fn ratios_give_their_shares_and_the_seed_decides() {
    let splits = |seed| {
        let ratios = Ratios { train: 0.5, validation: 0.25, test: 0.25, seed, stratified: None };
        let params = Params { split: SplitParams::Random(ratios), ..Params::default() };
        ingest(&params, &[]).expect("valid").0
    };
    let nodes = splits(1);
    let counts = [Split::Train, Split::Validation, Split::Test].map(|split| nodes.members(split).len());
    assert_eq!(counts, [1354, 677, 677]);
    assert_ne!(splits(2), nodes);
    assert_eq!(splits(1), nodes);
}

/// How many nodes of each class are used for what, on the synthetic graph.
fn counts_by_class(split: &str) -> Vec<[usize; 3]> {
    let text = format!(r#"{{"dataset": "synthetic", "synthetic": {{"nodes": 300, "classes": 3}}, "split": {split}}}"#);
    let (nodes, _, _, _, labels, _, held_out, _) = ingest(&params(&text), &[]).expect("valid");
    let (labels, held_out) = (labels.expect("public"), held_out.expect("a test").0);
    let mut counts = vec![[0; 3]; 3];
    for (node, class) in labels.classes().iter().chain(held_out.classes()) {
        let at = match nodes.splits[*node as usize] {
            Split::Train => 0,
            Split::Validation => 1,
            Split::Test => 2,
            Split::None => panic!("{node} is used for nothing"),
        };
        counts[usize::from(*class)][at] += 1;
    }
    counts
}

#[test]
fn as_many_nodes_of_each_class_train_as_is_said() {
    let split = r#"{"train_per_class": 20, "validation": 50, "test": 70, "seed": 0}"#;
    let counts = counts_by_class(split);
    assert!(counts.iter().all(|[train, ..]| *train == 20), "{counts:?}");
    let sum = |at: usize| counts.iter().map(|of_class| of_class[at]).sum::<usize>();
    assert_eq!((sum(1), sum(2)), (50, 70));
    assert_ne!(counts_by_class(&split.replace("\"seed\": 0", "\"seed\": 1")), counts);
    for (split, words) in [
        (r#"{"train_per_class": 290, "validation": 1, "test": 1}"#, "train_per_class = 290, and class number"),
        (
            r#"{"train_per_class": 20, "validation": 200, "test": 200}"#,
            "ask for 400 nodes, and the training leaves 240",
        ),
    ] {
        let text =
            format!(r#"{{"dataset": "synthetic", "synthetic": {{"nodes": 300, "classes": 3}}, "split": {split}}}"#);
        let problem = ingest(&params(&text), &[]).err().expect(words).to_string();
        assert!(problem.contains(words), "{problem}");
    }
}

/// Every class has the shares that all nodes have together, up to rounding at both ends.
#[test]
fn stratified_shares_are_those_of_every_class() {
    let counts = counts_by_class(r#"{"train": 0.5, "validation": 0.25, "test": 0.25, "stratified": true}"#);
    for [train, validation, test] in &counts {
        let all = (train + validation + test) as f64;
        assert!((*train as f64 - 0.5 * all).abs() <= 0.5, "{counts:?}");
        assert!((*validation as f64 - 0.25 * all).abs() <= 1.0, "{counts:?}");
    }
}

/// Files of splits as people have them; all say the same about the nodes ann, bob, cy, dan.
#[test]
fn a_file_of_splits_may_be_written_in_many_ways() {
    let text = r#"{"nodes": "n", "labels": "l", "split": "s"}"#;
    for split in [
        "node,split\nann,train\nbob,validation\ncy,test\ndan,none\n",
        "bob,val\nann,tr\ncy,te\n",
        "\u{feff}node,split\r\nann,train\r\nbob,valid\r\ncy,test\r\n",
        "node\tset\nann\tTrain\nbob\tVal\ncy\tTest\ndan\t\n",
        "\"node\";\"split\"\n\"ann\";\"train\"\n\"bob\";\"dev\"\n\"cy\";\"testing\"\n",
        "ann train\nbob validation\ncy test\n",
        "TVEN",
        "t v e n\n",
        "\u{feff}T\nV\nE\nN\n",
        "train\nval\ntest\nnone\n",
        "tr va te n",
    ] {
        let files = [("n", "ann\nbob\ncy\ndan\n"), ("l", "ann,x\nbob,y\ncy,x\ndan,y\n"), ("s", split)];
        let nodes = ingest(&params(text), &files).map_err(|error| error.to_string()).expect(split).0;
        assert_eq!(nodes.splits, [Split::Train, Split::Validation, Split::Test, Split::None], "{split:?}");
    }
}

/// Half a million containers inside each other, in every way that protocol 2 knows; a list that holds itself.
#[test]
fn deep_and_circular_pickles_are_taken_apart_without_recursion() {
    let deep = |start: &[u8], around: &[u8]| {
        let mut bytes = vec![0x80, 2];
        bytes.extend(start);
        (0..500_000).for_each(|_| bytes.extend(around));
        bytes.push(b'.');
        bytes
    };
    let append_to_new_list = b"q\x00]h\x00a";
    let state_of_new_object = b"q\x00cnumpy\ndtype\n)Rh\x00b";
    for (start, around) in [(&b"N"[..], &b"\x85"[..]), (b"N", append_to_new_list), (b")", state_of_new_object)] {
        assert!(pickle::parse(&deep(start, around)).is_ok());
        let mut cut = deep(start, around);
        cut.pop();
        assert!(pickle::parse(&cut).is_err(), "without an end");
    }
    assert!(pickle::parse(b"\x80\x02]q\x00h\x00a.").is_ok());
}

#[test]
fn a_pickle_that_asks_for_more_than_arrays_is_refused() {
    let attack = b"\x80\x02cposix\nsystem\nU\x04true\x85R.";
    assert!(pickle::parse(attack).err().expect("refused").contains("posix.system"));
    for bad in [
        b"".as_slice(),
        b"\x80\x04N.",
        b"\x80\x02]a.",
        b"\x80\x02T\xff\xff\xff\x7f",
        b"\x80\x02h\x07.",
        b"\x80\x02u.",
        b"\x80\x02\xfe.",
    ] {
        assert!(pickle::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn compressed_rows_that_contradict_themselves_are_refused() {
    let good = planetoid::rows_of(2, &[0.0, 1.0, 3.0], &[1.0, 2.0, 0.0], &[1.0, 1.0, 5.0]).expect("valid");
    assert_eq!(good, [vec![(1, 1.0)], vec![(0, 5.0), (2, 1.0)]], "columns ascend");
    for (offsets, columns, values, word) in [
        (vec![0.0, 1.0], vec![1.0], vec![1.0], "2 offsets"),
        (vec![0.0, 1.0, 1.0], vec![1.0, 2.0], vec![1.0], "2 columns for 1 values"),
        (vec![0.0, 2.0, 1.0], vec![1.0], vec![1.0], "do not ascend"),
        (vec![0.0, 0.0, 9.0], vec![1.0], vec![1.0], "do not ascend"),
        (vec![1.0, 1.0, 1.0], vec![1.0], vec![1.0], "do not ascend"),
        (vec![0.0, 0.5, 1.0], vec![1.0], vec![1.0], "do not ascend"),
        (vec![0.0, 1.0, 1.0], vec![-1.0], vec![1.0], "column -1"),
        (vec![0.0, 1.0, 1.0], vec![0.5], vec![1.0], "column 0.5"),
    ] {
        let problem = planetoid::rows_of(2, &offsets, &columns, &values).expect_err(word);
        assert!(problem.contains(word), "{problem}");
    }
}

#[test]
fn numbered_classes_are_at_least_two_and_few() {
    let found = |labels: &[Option<u16>]| numbered_classes("a.npz", labels).map_err(|error| error.to_string());
    assert_eq!(found(&[Some(0), Some(1), None, Some(0)]), Ok([0, 1].into()));
    assert_eq!(found(&[Some(0), Some(5), Some(0), Some(5)]), Ok([0, 5].into()), "a gap is warned of");
    assert_eq!(found(&[None, None]), Ok([].into()), "a graph may have no labels");
    assert!(found(&[Some(0), Some(0)]).is_err_and(|problem| problem.contains("1 class only")));
    let all_differ: Vec<Option<u16>> = (0..60).map(Some).collect();
    assert!(found(&all_differ).is_err_and(|problem| problem.contains("60 different labels among 60 nodes")));
}
