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
