//! What is refused, with its place and its remedy.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::home::{Home, PARAMETERS};

#[test]
fn nothing_is_overwritten_and_nothing_is_charged_for_it() {
    let home = Home::new();
    home.write("out.vgr", "mine");
    let refused = home.report("out.vgr", &["--budget", "1"]).fails();
    assert!(refused.contains("exists and is not this report; nothing is overwritten"), "{refused}");
    assert_eq!((home.bytes("out.vgr"), home.spent()), (b"mine".to_vec(), vec![]));
    let refused = home.report("no/out.vgr", &["--budget", "1"]).fails();
    assert!(refused.contains("there is no folder"), "{refused}");
    home.report("state/out.vgr", &["--budget", "1"]).fails();
    assert_eq!(home.spent(), [] as [f64; 0]);
    home.report("a.vgr", &["--budget", "1"]).succeeds();
    home.report("out.vgr", &["--budget", "1"]).fails();
    assert_eq!(home.names(), ["a.vgr", "links", "out.vgr", "parameters", "state"]);
}

#[test]
fn the_state_folder_is_private() {
    let home = Home::new();
    home.report("a.vgr", &["--budget", "1"]).succeeds();
    let mode = |name: &str| fs::metadata(home.path(name)).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode("state"), mode("state/secret"), mode("state/releases")), (0o700, 0o600, 0o600));
    fs::set_permissions(home.path("state"), fs::Permissions::from_mode(0o750)).expect("changed");
    let refused = home.report("a.vgr", &["--budget", "1"]).fails();
    assert!(refused.contains("others may enter") && refused.contains("chmod 700"), "{refused}");
}

#[test]
fn a_state_folder_that_lost_or_changed_a_file_is_refused() {
    let home = Home::new();
    home.report("a.vgr", &["--budget", "1"]).succeeds();
    let refused_without = |name: &str, bytes: Option<&[u8]>, why: &str| {
        let kept = home.bytes(name);
        match bytes {
            Some(bytes) => fs::write(home.path(name), bytes).expect("written"),
            None => fs::remove_file(home.path(name)).expect("removed"),
        }
        let refused = home.report("a.vgr", &["--budget", "1"]).fails();
        assert!(refused.contains(why) && refused.contains("restore the folder"), "{name}: {refused}");
        fs::write(home.path(name), kept).expect("written");
    };
    refused_without("state/secret", None, "holds releases and has lost its file `secret`");
    refused_without("state/releases", None, "has lost its file `releases`");
    refused_without("state/secret", Some(b"short"), "secret is damaged");
    refused_without("state/secret", Some(&[7; 32]), "not the secret with which the releases were recorded");
    refused_without("state/releases", Some(b""), "releases is damaged");
    let mut flipped = home.bytes("state/releases");
    let cheaper = String::from_utf8_lossy(&flipped).find("cost = 1.0").expect("a cost") + 7;
    flipped[cheaper] = b'0';
    refused_without("state/releases", Some(&flipped), "its checksum is another one");
    let kept = ["state/secret", "state/releases"].map(|name| (name, home.bytes(name)));
    kept.iter().for_each(|(name, _)| fs::remove_file(home.path(name)).expect("removed"));
    let refused = home.report("b.vgr", &["--budget", "1"]).fails();
    assert!(refused.contains("has lost its files") && refused.contains("restore the folder"), "{refused}");
    kept.iter().for_each(|(name, bytes)| fs::write(home.path(name), bytes).expect("written"));
    home.report("a.vgr", &["--budget", "1"]).succeeds();
    home.write("state/notes", "mine");
    assert!(home.report("a.vgr", &["--budget", "1"]).fails().contains("holds other files"));
}

#[test]
fn wrong_links_are_named_with_their_line() {
    let home = Home::new();
    for (text, why) in [
        ("3\nabc\n", "line 2: `abc` is no number of a node"),
        ("3\n-1\n", "line 2: `-1` is no number"),
        ("# note\n3\n200\n", "line 3: there is no node 200: the numbers of 200 nodes begin with 0"),
        ("99999999999\n", "line 1: there is no node 99999999999"),
        ("5\n", "line 1: node 5 is this node"),
        ("3 4\n", "line 1: `3 4` is no number"),
        ("\u{1b}[2J\u{202e}\n", "line 1: `\\u{1b}[2J\\u{202e}` is no number"),
    ] {
        home.write("links", text);
        let refused = home.report("out.vgr", &["--budget", "1"]).fails();
        assert!(refused.contains(why) && !refused.contains('\u{1b}'), "{refused}");
    }
    fs::write(home.path("links"), b"\xff\xfe\n").expect("written");
    home.report("out.vgr", &["--budget", "1"]).fails();
    assert!(!home.exists("state") && !home.exists("out.vgr"));
}

#[test]
fn wrong_parameters_are_named_with_their_line() {
    let home = Home::new();
    home.write("parameters", &PARAMETERS.replace("n_nodes = 200", "n_nodes = 2e2"));
    assert!(home.report("out.vgr", &["--budget", "1"]).fails().contains("line 3: "));
    home.write("parameters", &PARAMETERS.replace("0.75", "75"));
    let refused = home.report("out.vgr", &["--budget", "1"]).fails();
    assert!(refused.contains("epsilon_links must be a number of nats between 0 and 20, not 75"), "{refused}");
    home.write("parameters", PARAMETERS);
    let refused = home.report_of(200, "out.vgr", &["--budget", "1"]).fails();
    assert!(refused.contains("there is no node 200") && refused.contains("correct --node"), "{refused}");
}

/// Numbers of another list mean other people, and with `symrr` both ends might report a link.
#[test]
fn another_list_of_numbers_is_refused() {
    let home = Home::new();
    home.write("numbers.csv", "node,name\n0,a\n1,b\n");
    let with_numbers = ["--budget", "1", "--numbers", "numbers.csv"];
    let refused = home.report("out.vgr", &with_numbers).fails();
    assert!(refused.contains("no line `numbering`"), "{refused}");
    let digest = blake3::hash(&home.bytes("numbers.csv")).to_hex();
    home.write("parameters", &format!("{PARAMETERS}numbering = \"{digest}\"\n"));
    home.write("other.csv", "node,name\n0,b\n1,a\n");
    let refused = home.report("out.vgr", &["--budget", "1", "--numbers", "other.csv"]).fails();
    assert!(refused.contains("other.csv is not the list of numbers"), "{refused}");
    assert!(!home.exists("state") && !home.exists("out.vgr"));
    home.report("out.vgr", &with_numbers).succeeds();
}

/// Numbers are no names that a person knows.
#[test]
fn nodes_may_be_written_by_their_names() {
    let home = Home::new();
    // As `veilgraph parameters --numbers` writes it; a name may be a number too, and that of another node.
    let name = |node: u32| if node == 7 { "#3".to_owned() } else { (node + 1).to_string() };
    let names: String = (0..200).map(|node| format!("{node},{}\n", name(node))).collect();
    home.write("numbers.csv", &format!("node,name\n{names}"));
    let digest = blake3::hash(&home.bytes("numbers.csv")).to_hex();
    home.write("parameters", &format!("{PARAMETERS}numbering = \"{digest}\"\n"));
    home.write("links", "3\n7\n");
    home.report_of(5, "by-number.vgr", &["--simulate-seed", "1", "--numbers", "numbers.csv"]).succeeds();
    home.write("links", "n3\n");
    let refused = home.report("out.vgr", &["--budget", "1"]).fails();
    assert!(refused.contains("line 1: `n3` is no number of a node") && refused.contains("add --names"), "{refused}");
    let by_name = ["--simulate-seed", "1", "--numbers", "numbers.csv", "--names"];
    home.write("links", "4\n#33\n");
    let refused = home.report_of(6, "by-name.vgr", &by_name).fails();
    assert!(refused.contains("line 2: no node is called `#33`"), "a misspelt name is no remark: {refused}");
    home.write("links", "4\n#3\n");
    home.report_of(6, "by-name.vgr", &by_name).succeeds();
    assert_eq!(home.bytes("by-number.vgr"), home.bytes("by-name.vgr"));
    let refused = home.report_of("eve", "out.vgr", &by_name).fails();
    assert!(refused.contains("no node is called `eve` in numbers.csv; correct --node"), "{refused}");
}

#[test]
fn wrong_usage_has_status_two() {
    let home = Home::new();
    for arguments in
        [&[][..], &["--budget", "-1"], &["--budget", "nan"], &["--budget", "1", "--trial", "2"], &["--wrong"]]
    {
        assert_eq!(home.report("out.vgr", arguments).status(), Some(2), "{arguments:?}");
    }
    assert!(!home.exists("state"));
}

#[test]
fn show_refuses_what_is_no_report_for_these_parameters() {
    let home = Home::new();
    home.report("out.vgr", &["--budget", "1"]).succeeds();
    home.write("parameters", &PARAMETERS.replace("release = 1", "release = 2"));
    assert!(home.show("out.vgr").fails().contains("report of node 5: the report was made for other parameters"));
    assert!(home.show("parameters").fails().contains("these bytes are no report"));
    assert!(home.show("nothing").fails().contains("cannot read the report"));
}
