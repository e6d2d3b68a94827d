use super::*;

fn names<'a>(file: &'a str, nodes: &[&'a str]) -> Names<'a> {
    let nodes = nodes.iter().enumerate().map(|(at, node)| (*node, Some(at as u64 + 1)));
    Names { file, n_rows: nodes.len() + 1, nodes: nodes.collect() }
}

fn compared(nodes: &[&str], linked: &[&str]) -> Result<Agreement, Error> {
    agreement(&names("l.csv", nodes), "e.csv", &linked.iter().copied().collect())
}

#[test]
fn names_that_match_are_counted() {
    let whole = compared(&["1", "2"], &["1", "2"]).expect("the same names");
    assert!(whole.hint.is_none());
    assert_eq!(whole.counts, "l.csv: 3 rows name 2 nodes, of which 2 are in e.csv");
    let fewer = compared(&["1"], &["1", "2", "3"]).expect("some of the names");
    assert_eq!(fewer.counts, "l.csv: 2 rows name 1 nodes, of which 1 are in e.csv; 2 nodes of e.csv are not in l.csv");
    let more = compared(&["1", "2", "zoe"], &["1", "2"]).expect("a node may lack links");
    assert!(more.hint.is_none());
    assert_eq!(more.counts, "l.csv: 4 rows name 3 nodes, of which 2 are in e.csv; 1 (such as `zoe`) have no links");
    assert!(compared(&[], &["1"]).is_ok(), "nothing is named");
}

#[test]
fn names_that_would_match_are_hinted_at() {
    let hint = |nodes: &[&str]| compared(nodes, &["1", "2", "3"]).expect("some of the names match").hint;
    assert!(hint(&["0", "1", "2"]).is_some_and(|hint| hint.contains("if 1 were added")));
    assert!(hint(&["2", "3", "4"]).is_some_and(|hint| hint.contains("if 1 were subtracted")));
    assert_eq!(hint(&["1", "2", "3", "4"]), None, "a node may lack links");
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

#[test]
fn a_stranger_is_named_with_its_line_and_the_remedy() {
    let listed = names("n.csv", &["1", "2", "3"]);
    let refused = |nodes: &[&str]| refuse_strangers(&names("l.csv", nodes), &listed).map_err(|error| error.to_string());
    assert_eq!(refused(&["3", "1"]), Ok(()));
    let stranger = "l.csv: line 2: the node `zoe` is not in n.csv; add the node to n.csv, or remove its row";
    assert_eq!(refused(&["1", "zoe", "amy"]), Err(stranger.to_owned()));
    assert!(refused(&["2", "3", "4"]).is_err_and(|problem| problem.contains("if 1 were subtracted")));
    let unlined = Names { file: "f.json", n_rows: 1, nodes: [("zoe", None)].into() };
    let problem = refuse_strangers(&unlined, &listed).expect_err("a stranger").to_string();
    assert!(problem.starts_with("f.json: the node `zoe` is not in n.csv"), "{problem}");
}

#[test]
fn a_number_that_is_written_twice_is_refused() {
    let refused = |nodes: &[&str]| {
        let all = nodes.iter().copied().collect();
        refuse_two_spellings(&all, || vec![names("e.csv", nodes)]).map_err(|error| error.to_string())
    };
    let problem = refused(&["0", "1", "1.0"]).expect_err("one node would be two");
    assert!(problem.starts_with("e.csv: line 3: the node `1.0` would be another one than `1`"), "{problem}");
    let problem = refused(&["0", "007", "7"]).expect_err("one node would be two");
    assert!(problem.contains("the node `7` would be another one than `007`"), "{problem}");
    assert!(refused(&["07", "7.0", "8"]).is_err());
    for nodes in [&["0", "1", "2"][..], &["0.0", "1.0"], &["0", "1.5"], &["1", "1.0", "1.1", "1.10"], &["00", "01"]] {
        assert_eq!(refused(nodes), Ok(()), "{nodes:?}");
    }
}
