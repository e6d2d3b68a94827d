use super::*;

fn params(text: &str) -> Params {
    serde_json::from_str(text).expect("valid parameters")
}

fn ingest(params: &Params, files: &[(&str, &str)]) -> Result<<Ingest as Stage>::Outputs, Error> {
    let raw =
        files.iter().map(|(name, text)| RawFile { name: (*name).into(), bytes: text.as_bytes().to_vec() }).collect();
    Ingest::run((raw,), params, &StageRng::new(0, "ingest", 0), &Progress::none())
}

#[test]
fn the_synthetic_default_has_the_shape_of_cora() {
    let (nodes, _, features, _, labels, held_out, Private(links)) = ingest(&Params::default(), &[]).expect("valid");
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
    assert_eq!(again.6.0, links, "the same seed gives the same graph");
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
    let (nodes, map, features, _, labels, held_out, Private(links)) = ingest(&params, &files).expect("valid");
    assert_eq!(map.names, ["ann", "bob", "cy", "dan"]);
    assert_eq!(links.links().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    let counts = links.counts();
    assert_eq!((counts.rows, counts.self_loops, counts.duplicates, counts.isolated), (4, 1, 1, 1));
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
    let files = [("e", "id_1,id_2\n0,1\n1,2\n"), ("f.json", r#"{"0": [2, 0, 2], "2": [1]}"#)];
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
    let (_, map, features, _, _, _, Private(links)) = ingest(&triplets, &files).expect("valid");
    assert_eq!((map.names, links.n_links()), (vec!["1".to_owned(), "2".into(), "3".into()], 3));
    assert_eq!(features.expect("features").0.n_columns(), 2);
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
fn parameters_that_contradict_each_other_read_no_file() {
    let problem = ingest(&params(r#"{"labels": "l.csv"}"#), &[("l.csv", "0,1\n")]).err().expect("refused");
    assert!(problem.to_string().contains("`edges` is missing"), "{problem}");
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
        let ratios = Ratios { train: 0.5, validation: 0.25, test: 0.25, seed };
        let params = Params { split: SplitParams::Random(ratios), ..Params::default() };
        ingest(&params, &[]).expect("valid").0
    };
    let nodes = splits(1);
    let counts = [Split::Train, Split::Validation, Split::Test].map(|split| nodes.members(split).len());
    assert_eq!(counts, [1354, 677, 677]);
    assert_ne!(splits(2), nodes);
    assert_eq!(splits(1), nodes);
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
        (vec![0.0, 2.0, 1.0], vec![1.0], vec![1.0], "runs from"),
        (vec![0.0, 0.0, 9.0], vec![1.0], vec![1.0], "runs from"),
        (vec![0.0, 1.0, 1.0], vec![-1.0], vec![1.0], "column -1"),
        (vec![0.0, 1.0, 1.0], vec![0.5], vec![1.0], "column 0.5"),
    ] {
        let problem = planetoid::rows_of(2, &offsets, &columns, &values).expect_err(word);
        assert!(problem.contains(word), "{problem}");
    }
}
