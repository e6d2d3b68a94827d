use super::*;

fn compared(nodes: &[&str], linked: &[&str]) -> Result<Agreement, Error> {
    let names = Names { file: "l.csv", n_rows: nodes.len() + 1, nodes: nodes.to_vec() };
    agreement(&names, "e.csv", &linked.iter().copied().collect())
}

#[test]
fn names_that_match_are_counted() {
    let whole = compared(&["1", "2"], &["1", "2"]).expect("the same names");
    assert!(whole.is_whole);
    assert_eq!(whole.text, "l.csv: 3 rows name 2 nodes, of which 2 are in e.csv");
    let fewer = compared(&["1"], &["1", "2", "3"]).expect("some of the names");
    assert!(fewer.is_whole, "a node may lack a label");
    assert_eq!(fewer.text, "l.csv: 2 rows name 1 nodes, of which 1 are in e.csv; 2 nodes of e.csv are not in l.csv");
    let more = compared(&["1", "2", "zoe"], &["1", "2"]).expect("a node may lack links");
    assert!(!more.is_whole);
    assert_eq!(more.text, "l.csv: 4 rows name 3 nodes, of which 2 are in e.csv; 1 (such as `zoe`) have no links");
    assert!(compared(&[], &["1"]).is_ok_and(|agreement| agreement.is_whole), "nothing is named");
}

#[test]
fn names_that_would_match_are_hinted_at() {
    let shifted = compared(&["0", "1", "2"], &["1", "2", "3"]).expect("two of three match");
    assert!(!shifted.is_whole && shifted.text.contains("if 1 were added"), "{}", shifted.text);
    let shifted = compared(&["2", "3", "4"], &["1", "2", "3"]).expect("two of three match");
    assert!(shifted.text.contains("if 1 were subtracted"), "{}", shifted.text);
    let isolated = compared(&["1", "2", "3", "4"], &["1", "2", "3"]).expect("three of four match");
    assert!(!isolated.text.contains("would fit"), "{}", isolated.text);
    for (nodes, words) in [
        (["u1", "u2"], "write the same names"),
        (["1.0", "2.0"], "`1.0` is not `1`"),
        (["01", "02"], "as a number"),
        (["-1", "0"], "write the same names"),
    ] {
        let problem = compared(&nodes, &["1", "2"]).err().expect("nothing matches").to_string();
        let begins =
            problem.starts_with(&format!("l.csv: none of the 2 nodes that its 3 rows name (such as `{}`)", nodes[0]));
        assert!(begins && problem.contains("e.csv (such as `1`)") && problem.contains(words), "{problem}");
    }
    let far = compared(&["10"], &["11"]).err().expect("nothing matches").to_string();
    assert!(far.contains("if 1 were added"), "{far}");
}
