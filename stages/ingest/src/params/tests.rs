use super::*;

fn params(text: &str) -> Params {
    serde_json::from_str(text).expect("valid parameters")
}

#[test]
fn only_a_table_that_says_nothing_about_files_is_synthetic() {
    for text in [
        "{}",
        r#"{"dataset": "synthetic"}"#,
        r#"{"format": "synthetic", "dataset": "mine"}"#,
        r#"{"synthetic": {"nodes": 50}}"#,
        r#"{"dataset": "synthetic", "label_column": "kind", "folder": "data"}"#,
        r#"{"normalize": "none", "binarize": true}"#,
    ] {
        let params = params(text);
        assert_eq!((params.format(), params.files()), (Format::Synthetic, Ok(vec![])), "{text}");
    }
}

#[test]
fn fields_without_their_companion_are_refused_before_any_file_is_read() {
    for (text, words) in [
        (r#"{"labels": "l.csv"}"#, ["`labels`", "`edges` is missing"]),
        (r#"{"features": "f.csv", "dataset": "mine"}"#, ["`features`", "`edges` is missing"]),
        (r#"{"node_column": "id"}"#, ["`node_column`", "`edges` is missing"]),
        (r#"{"header": true}"#, ["`header`", "`edges` is missing"]),
        (r#"{"source_column": "a", "target_column": "b"}"#, ["`source_column`", "`edges` is missing"]),
        (r#"{"induced": true}"#, ["`induced`", "`edges` is missing"]),
        (r#"{"format": "edges", "labels": "l.csv"}"#, ["`labels`", "`edges` is missing"]),
        (r#"{"nodes": "n", "source_column": "a", "target_column": "b"}"#, ["`source_column`", "`edges` is missing"]),
        (r#"{"format": "edges"}"#, ["`edges` is absent", "needs it"]),
        (r#"{"format": "npz"}"#, ["`archive` is absent", "needs it"]),
        (r#"{"folder": "data"}"#, ["`folder`", "`edges = "]),
        (r#"{"dataset": "mine"}"#, ["`mine`", "no file"]),
        (r#"{"name": "cora"}"#, ["`name`", "planetoid"]),
        (r#"{"edges": "e", "source_column": "a"}"#, ["`target_column` is not", "both"]),
        (r#"{"edges": "e", "target_column": "a"}"#, ["`source_column` is not", "both"]),
        (r#"{"edges": "e", "source_column": "a", "target_column": "a"}"#, ["both `a`", "two different"]),
        (r#"{"edges": "e", "labels": "l", "node_column": "a", "label_column": "a"}"#, ["both `a`", "two different"]),
        (r#"{"edges": "e", "header": false, "label_column": "a"}"#, ["`label_column`", "`header = false`"]),
    ] {
        let problem = params(text).files().expect_err(text).to_string();
        assert!(words.iter().all(|word| problem.contains(word)), "{text}: {problem}");
    }
}

#[test]
fn a_file_that_would_be_ignored_is_refused() {
    for (text, words) in [
        (r#"{"dataset": "synthetic", "edges": "e.csv"}"#, ["`edges`", "remove `dataset = \"synthetic\"`"]),
        (r#"{"format": "synthetic", "labels": "l.csv"}"#, ["`labels`", "remove `format = \"synthetic\"`"]),
        (r#"{"archive": "a.npz", "edges": "e.csv"}"#, ["`edges`", "beside `archive`"]),
        (r#"{"archive": "a.npz", "nodes": "n.csv"}"#, ["`nodes`", "beside `archive`"]),
        (r#"{"dataset": "synthetic", "nodes": "n.csv"}"#, ["`nodes`", "remove `dataset = \"synthetic\"`"]),
        (r#"{"archive": "a.npz", "labels": "l.csv"}"#, ["`labels`", "beside `archive`"]),
        (r#"{"format": "planetoid", "name": "x", "features": "f"}"#, ["`features`", "\"planetoid\""]),
        (r#"{"edges": "e.csv", "name": "x"}"#, ["`name`", "\"edges\""]),
    ] {
        let problem = params(text).files().expect_err(text).to_string();
        assert!(words.iter().all(|word| problem.contains(word)), "{text}: {problem}");
    }
}

#[test]
fn features_are_withheld_only_where_the_parameters_say_so() {
    let default = Params::default();
    let text = serde_json::to_string(&default).expect("JSON");
    assert!(!default.withhold_features && !text.contains("withhold"), "{text}");
    let withheld = params(r#"{"withhold_features": true}"#);
    assert!(withheld.withhold_features && serde_json::to_string(&withheld).expect("JSON").contains("withhold"));
}

#[test]
fn links_and_the_origin_of_nodes_are_known_before_any_file_is_read() {
    for (text, has_links, takes_nodes_from_links) in [
        ("{}", true, false),
        (r#"{"archive": "a.npz"}"#, true, false),
        (r#"{"format": "planetoid", "name": "x"}"#, true, false),
        (r#"{"edges": "e"}"#, true, true),
        (r#"{"edges": "e", "nodes": "n"}"#, true, false),
        (r#"{"edges": "e", "features": "f"}"#, true, false),
        (r#"{"edges": "e", "labels": "l"}"#, true, false),
        (r#"{"nodes": "n"}"#, false, false),
        (r#"{"nodes": "n", "features": "f", "labels": "l"}"#, false, false),
    ] {
        let params = params(text);
        assert!(params.files().is_ok(), "{text}");
        assert_eq!(
            (params.has_links(), params.takes_nodes_from_links()),
            (has_links, takes_nodes_from_links),
            "{text}"
        );
    }
    let text = serde_json::to_string(&params(r#"{"edges": "e"}"#)).expect("JSON");
    assert!(!text.contains("nodes"), "keys of graphs without a file of nodes stay as they are: {text}");
}
