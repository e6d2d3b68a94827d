//! Files of claims that include others, and claims that stand as rows of a table.

use serde_json::Value;

use crate::support::{Lab, TINY, rows};

const EXPERIMENT: &str = "
[[experiment]]
name = \"tiny\"
config = \"../config.toml\"
quick = []
";

/// A claim that holds.
fn claim(id: &str) -> String {
    format!(
        "\n[[claim]]\nid = \"{id}\"\nsays = \"links are found\"\nsource = \"this test\"\nexperiment = \"tiny\"\n\
         score = \"roc_auc\"\nat_least = 0.9\n"
    )
}

/// Two pages of claims about one experiment.
fn lab() -> Lab {
    let lab = Lab::tiny();
    lab.write("claims.toml", "include = [\"pages/first.toml\", \"pages/second.toml\"]\n");
    lab.write("pages/first.toml", format!("{EXPERIMENT}{}", claim("links.first")));
    lab.write("pages/second.toml", claim("links.second"));
    lab
}

fn ids(document: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(document).expect("one document");
    rows(&document).filter_map(|claim| Some(claim["id"].as_str()?.to_owned())).collect()
}

#[test]
fn claims_of_included_files_are_judged_and_a_file_can_be_chosen() {
    let lab = lab();
    let all = lab.call(&["claims", "claims.toml", "--json"]);
    assert_eq!(
        (all.status, ids(&all.out)),
        (0, vec!["links.first".to_owned(), "links.second".to_owned()]),
        "{}",
        all.err
    );
    let one = lab.call(&["claims", "claims.toml", "--json", "--only", "second"]);
    assert_eq!((one.status, ids(&one.out)), (0, vec!["links.second".to_owned()]), "{}", one.err);
    let slip = lab.call(&["claims", "claims.toml", "--only", "secnd"]);
    assert!(slip.status == 2 && slip.err.contains("did you mean `second`?"), "{}", slip.err);
    assert!(slip.err.contains("files: first, second"), "{}", slip.err);
}

#[test]
fn a_mistake_in_an_included_file_is_found_where_it_stands() {
    let lab = lab();
    let second = |text: String, words: &[&str]| {
        lab.write("pages/second.toml", &text);
        let answer = lab.call(&["claims", "claims.toml"]);
        assert_eq!(answer.status, 2, "{text}: {}", answer.err);
        words.iter().for_each(|words| assert!(answer.err.contains(words), "{text}: `{words}`: {}", answer.err));
    };
    let wrong = claim("links.second").replace("roc_auc", "roc_acu");
    second(wrong, &["pages/second.toml:3: claim `links.second`", "did you mean `roc_auc`"]);
    let unknown = claim("links.second").replace("at_least", "at_lest");
    second(unknown, &["pages/second.toml", "line 8", "at_lest"]);
    second(claim("links.first"), &["pages/second.toml:3: two claims have the id `links.first`", "pages/first.toml:8"]);
    second(EXPERIMENT.to_owned(), &["pages/second.toml: two experiments are named `tiny`", "pages/first.toml"]);
    second(String::new(), &["pages/second.toml: it holds no [[claim]]", "do not include the file"]);
    second("include = []\n".to_owned(), &["pages/second.toml: `include` names no file"]);
    second("\ninclude = [\"third.toml\"]\n".to_owned(), &["pages/second.toml:2: cannot include pages/third.toml"]);
    // In a circle, directly and by another file, and twice by two files.
    for twice in ["second.toml", "../claims.toml", "first.toml", "../pages/first.toml"] {
        second(format!("include = [\"{twice}\"]\n"), &["pages/second.toml:1: ", "is read already"]);
    }
    assert!(!lab.has_entries(), "nothing ran");
}

const TABLE: &str = "
[[claim]]
id = \"links.{variant}.{word}\"
says = \"{word}, {variant}\"
source = \"this test\"
experiment = \"tiny\"
score = \"graph_recall\"
over = \"epsilon\"
tolerance = 0.001
rows = \"\"\"
variant | word  |   6 | 9 | tolerance
hybrid  | wide  | 0.5 |   |       0.5
hybrid  | close |  -1 |   |
\"\"\"
";

#[test]
fn rows_of_a_table_are_claims_of_their_own() {
    let lab = lab();
    lab.write("pages/second.toml", TABLE);
    let answer = lab.call(&["claims", "claims.toml", "--json", "--only", "second"]);
    assert_eq!(answer.status, 1, "the close one fails: {}", answer.err);
    let document: Value = serde_json::from_str(&answer.out).expect("one document");
    let found: Vec<(&str, &str, &str)> = rows(&document)
        .filter_map(|claim| Some((claim["id"].as_str()?, claim["says"].as_str()?, claim["verdict"].as_str()?)))
        .collect();
    assert_eq!(
        found,
        [
            ("links.hybrid.wide.6", "wide, hybrid, epsilon 6", "holds"),
            ("links.hybrid.close.6", "close, hybrid, epsilon 6", "fails"),
        ]
    );
}

#[test]
fn a_table_with_a_mistake_runs_nothing() {
    let lab = lab();
    for (from, to, words) in [
        ("0.5 |   |", "much |   |", "row 1 of `rows`: `much` below `6` is no number"),
        ("0.5 |   |", "0.5 |", "every row has as many cells as the head"),
        ("variant | word ", "varaint | word ", "row 1 of `rows`: `hybrid` below `varaint` is no number"),
        ("{word}, {variant}", "{words}", "names a column in braces that `rows` do not have"),
        ("word  |   6 | 9", "word  |   6 | 6", "two columns have the head `6`"),
        ("  -1 |", "     |", "row 2 of `rows`: it has no value"),
        ("| close", "| wide", "two claims have the id `links.hybrid.wide.6`"),
        ("tolerance = 0.001", "tolerance = 0.001\nexpected = 3", "`expected` does as well; remove one"),
        ("over = ", "where = { variant = \"hybrid\" }\nover = ", "`where` names `variant` as well"),
        ("over = \"epsilon\"\n", "", "`6` is no head of a column that is known"),
    ] {
        assert!(TABLE.contains(from), "{from}");
        lab.write("pages/second.toml", TABLE.replacen(from, to, 1));
        let answer = lab.call(&["claims", "claims.toml"]);
        assert!(answer.status == 2 && answer.err.contains(words), "{to}: {}", answer.err);
        assert!(answer.err.contains("pages/second.toml:3: "), "{to}: {}", answer.err);
    }
    let (head, below) = TABLE.split_once("hybrid  | wide").expect("a first row");
    lab.write("pages/second.toml", format!("{head}{}", &below[below.rfind("\"\"\"").expect("the end")..]));
    let empty = lab.call(&["claims", "claims.toml"]);
    assert!(empty.status == 2 && empty.err.contains("`rows` has no row below its head"), "{}", empty.err);
    assert!(!lab.has_entries(), "nothing ran");
}

/// One trial has no interval, and the words beside the verdict say so.
#[test]
fn one_trial_is_said_to_have_no_interval() {
    let lab = Lab::with("config.toml", TINY.replace("trials = 2", "trials = 1"));
    let text = format!("{}{}", EXPERIMENT.replace("../", ""), claim("links").replace("0.9", "0.99999"));
    lab.write("claims.toml", text);
    let answer = lab.call(&["claims", "claims.toml"]);
    assert!(answer.out.contains("one trial and no interval"), "{}{}", answer.out, answer.err);
}
