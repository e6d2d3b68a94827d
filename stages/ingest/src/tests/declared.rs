//! What is declared about classes and features, because it becomes public and must not follow from what one node has.

use super::*;

const LINKS: &str = "0,1\n1,2\n2,3\n3,4\n4,5\n";
const SPLIT: &str = "0,train\n1,train\n2,train\n3,validation\n4,test\n5,test\n";

/// An ingest of six nodes with these labels, and with these further fields of `[ingest]`.
fn labelled(labels: &str, fields: &str) -> Result<<Ingest as Stage>::Outputs, String> {
    let fields = format!(r#"{{"edges": "e.csv", "labels": "l.csv", "split": "s.csv", {fields}}}"#);
    let files = [("e.csv", LINKS), ("l.csv", labels), ("s.csv", SPLIT)];
    ingest(&params(&fields), &files).map_err(|error| error.to_string())
}

#[test]
fn declared_classes_have_the_numbers_of_their_order() {
    let [text, numbers] = ["0,y\n1,x\n2,z\n3,x\n4,x\n5,y\n", "0,2\n1,0\n2,1\n3,0\n4,0\n5,2\n"];
    for (labels, classes, names) in [
        (text, r#"["z", "y", "x"]"#, &["z", "y", "x"][..]),
        (numbers, r#"["1", "2", "0"]"#, &["1", "2", "0"]),
        (numbers, "3", &[]),
    ] {
        for is_private in [false, true] {
            let outputs =
                labelled(labels, &format!(r#""classes": {classes}, "withhold_labels": {is_private}"#)).expect("valid");
            assert_eq!(
                (outputs.0.n_classes, outputs.0.class_names.as_slice()),
                (3, &names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()[..])
            );
            let known = outputs.4.or(outputs.5.map(|Private(labels)| labels)).expect("labels");
            let first = if classes == "3" { 2 } else { 1 };
            assert_eq!((known.n_classes(), known.class(0)), (3, Some(first)), "{classes}");
        }
    }
}

#[test]
fn a_declaration_that_cannot_hold_is_refused_with_its_place() {
    let labels = "0,a\n1,b\n2,a\n3,b\n4,c\n5,a\n";
    for (classes, words) in [
        (r#"["a", "b"]"#, &["l.csv", "line 5", "`c` is not among the 2 classes"][..]),
        (r#"["a"]"#, &["declares 1 classes", "2 to 65535"]),
        ("1", &["declares 1 classes"]),
        (r#"["a", "b", "c", "a"]"#, &["declares `a` twice"]),
        (r#"["a", " b", "c"]"#, &["declares ` b`", "without spaces"]),
    ] {
        let problem = labelled(labels, &format!(r#""classes": {classes}"#)).err().expect("refused");
        assert!(words.iter().all(|word| problem.contains(word)), "{problem}");
    }
    let without_labels =
        ingest(&params(r#"{"edges": "e.csv", "classes": 3}"#), &[("e.csv", LINKS)]).err().expect("refused");
    assert!(without_labels.to_string().contains("no labels that it could belong to"), "{without_labels}");
}

/// Labels of test nodes are private even where the others are public.
#[test]
fn classes_of_a_deployment_do_not_follow_from_labels_of_test_nodes() {
    let labels = "0,a\n1,b\n2,a\n3,b\n4,c\n5,a\n";
    let problem = labelled(labels, r#""declared_classes": true"#).err().expect("refused");
    let words = ["l.csv", "no training or validation node", "give the nodes of that class another one"];
    assert!(words.iter().all(|word| problem.contains(word)), "{problem}");
    let of_validation = "0,a\n1,b\n2,a\n3,c\n4,b\n5,a\n";
    assert!(labelled(of_validation, r#""declared_classes": true"#).is_ok(), "without features no network is trained");
    let fields =
        r#"{"edges": "e.csv", "labels": "l.csv", "split": "s.csv", "features": "f.csv", "declared_classes": true}"#;
    let features = "node,tea\n0,1\n1,0\n2,1\n3,1\n4,0\n5,0\n";
    let files = [("e.csv", LINKS), ("l.csv", of_validation), ("s.csv", SPLIT), ("f.csv", features)];
    let problem = ingest(&params(fields), &files).err().expect("no network could learn it").to_string();
    assert!(problem.contains("one of them is that of no training node"), "{problem}");
    for (labels, fields) in [
        (labels, r#""declared_classes": false"#),
        ("0,a\n1,b\n2,a\n3,b\n4,\n5,a\n", r#""declared_classes": true"#),
        ("0,a\n1,b\n2,a\n3,b\n4,a\n5,b\n", r#""declared_classes": true, "classes": ["b", "a"]"#),
        (labels, r#""declared_classes": true, "classes": ["b", "a", "c"], "withhold_labels": true"#),
    ] {
        assert!(labelled(labels, fields).is_ok(), "{fields}");
    }
}

/// A class without a training node is refused before anything is charged, and not by the training after it.
#[test]
fn a_deployment_refuses_a_public_class_that_no_network_can_learn() {
    let labels = "0,a\n1,b\n2,a\n3,b\n4,a\n5,a\n";
    let declared = r#""classes": ["a", "b", "c"], "declared_classes": true"#;
    let problem = labelled(labels, declared).err().expect("refused");
    assert!(problem.contains("class 2 of `[ingest] classes`") && problem.contains("leave it out"), "{problem}");
    assert!(labelled(labels, &format!(r#"{declared}, "withhold_labels": true"#)).is_ok(), "it may be reported");
    assert!(labelled(labels, r#""classes": ["a", "b", "c"]"#).is_ok(), "a simulation pays nothing");
}

/// An archive numbers its classes by itself.
#[test]
fn declared_classes_renumber_those_of_an_archive() {
    let of_nodes = [Some(0), Some(2), None, Some(2)];
    let found = ["x", "y", "z"].map(str::to_owned);
    let declared = Classes::Names(vec!["z".to_owned(), "w".to_owned(), "x".to_owned()]);
    assert_eq!(declared.renumbered(&found, &of_nodes).expect("declared"), [Some(2), Some(0), None, Some(0)]);
    assert_eq!(Classes::Number(4).renumbered(&[], &of_nodes).expect("numbers are their own names"), of_nodes);
    let problem = Classes::Number(2).renumbered(&[], &of_nodes).expect_err("undeclared");
    assert!(problem.0.contains("the class `2` is not among the 2"), "{}", problem.0);
}

/// In rows of one feature each, and in lists, there are only the features that some node has.
#[test]
fn a_number_of_features_that_must_be_declared_is_not_taken_from_those_that_nodes_have() {
    let read = |file: &str, text: &str, is_declared: bool| {
        let fields = format!(
            r#"{{"edges": "e.csv", "features": "{file}", "normalize": "none", "withhold_features": true, "declared_features": {is_declared}}}"#
        );
        ingest(&params(&fields), &[("e.csv", "0,1\n1,2\n"), (file, text)]).map_err(|error| error.to_string())
    };
    for (file, text, has_columns) in [
        ("f.csv", "node,feature,value\n0,a,1\n1,b,1\n2,a,1\n", false),
        ("f.json", r#"{"0": [0], "1": [1], "2": [0]}"#, false),
        ("f.csv", "node,a,b\n0,1,0\n1,0,1\n2,1,0\n", true),
    ] {
        assert!(read(file, text, false).is_ok(), "{text}");
        match read(file, text, true) {
            Ok(_) => assert!(has_columns, "{text}"),
            Err(problem) => assert!(!has_columns && problem.contains("give a dense table"), "{problem}"),
        }
    }
}
