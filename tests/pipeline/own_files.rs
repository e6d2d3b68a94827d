//! One's own files: the program reads what they say, says what it read, and never reads another graph instead.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Lab, digests};

const EDGES: &str = "source,target\nann,bob\nbob,cy\ncy,dan\ndan,eve\neve,flo\n";
const LABELS: &str = "node,label\nann,x\nbob,y\ncy,x\ndan,y\neve,x\nflo,y\n";
const SPLIT: &str = "node,split\nann,train\nbob,train\ncy,validation\ndan,validation\neve,test\nflo,test\n";

/// A run with these fields of `[ingest]`.
fn config(ingest: &str) -> String {
    format!("[ingest]\n{ingest}\n[privatize.links]\nepsilon = 4\n")
}

/// A folder with `config.toml`, a file of links and a split that fits it.
fn lab(ingest: &str, edges: &str) -> Lab {
    let lab = Lab::with("config.toml", config(ingest));
    lab.write("e.csv", edges);
    lab.write("s.csv", SPLIT);
    lab
}

/// The digests of what ingest makes of these files.
fn ingested(lab: &Lab) -> Vec<(String, String)> {
    // Digests of private files can be compared where their secret is the same.
    lab.write("artifacts/owner/.key", [7; 32]);
    let folder = lab.path("artifacts/owner");
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).expect("changed");
    digests(&lab.json(&["--until", "ingest"]))
}

/// Runs a config that must be refused: `status` 2 before any file is read, 1 afterwards.
fn refused(lab: &Lab, status: i32, words: &[&str]) {
    let answer = lab.call(&["--quiet", "run", "config.toml", "--until", "ingest"]);
    assert_eq!(answer.status, status, "{words:?}: {}", answer.err);
    assert!(words.iter().all(|word| answer.err.contains(word)), "{words:?}: {}", answer.err);
    assert!(!answer.err.contains("panicked") && !lab.has_entries(), "{}", answer.err);
}

#[test]
fn the_name_of_a_known_dataset_beside_own_files_is_refused() {
    for (ingest, name, field) in [
        ("dataset = \"cora\"\nedges = \"e.csv\"", "`cora`", "remove `edges`"),
        ("dataset = [\"mine\", \"cora\"]\nedges = \"e.csv\"", "`cora`", "remove `edges`"),
        ("dataset = [\"cora\", \"mine\"]\nedges = \"e.csv\"", "`cora`", "remove `edges`"),
        ("dataset = \"lastfm\"\nlabels = \"l.csv\"", "`lastfm`", "remove `labels`"),
        ("dataset = \"synthetic\"\nedges = \"e.csv\"", "`synthetic`", "remove `edges`"),
        ("dataset = \"cora\"\nformat = \"synthetic\"", "`cora`", "remove `format`"),
    ] {
        refused(&lab(ingest, EDGES), 2, &["config.toml:2", name, "is a known dataset", field]);
    }
    let named = lab("dataset = \"mine\"\nedges = \"e.csv\"", EDGES);
    assert!(!ingested(&named).is_empty(), "another name is fine");
}

#[test]
fn the_synthetic_graph_never_takes_the_place_of_own_files() {
    for field in
        ["labels = \"l.csv\"", "features = \"f.csv\"", "node_column = \"id\"", "header = true", "induced = true"]
    {
        let lab = lab(field, EDGES);
        lab.write("l.csv", LABELS);
        let name = field.split(' ').next().expect("a field");
        refused(&lab, 2, &["config.toml:", &format!("`{name}` is given"), "`edges` is missing", "edges = "]);
    }
    refused(&lab("folder = \"data\"", EDGES), 2, &["`folder`", "edges = "]);
    for synthetic in ["dataset = \"synthetic\"", "format = \"synthetic\"", "", "[ingest.synthetic]\nnodes = 50"] {
        assert!(!ingested(&lab(synthetic, EDGES)).is_empty(), "{synthetic}");
    }
}

/// However the columns stand, the same links, labels and features give the same bytes.
#[test]
fn columns_are_found_by_their_names() {
    let ingest = "edges = \"e.csv\"\nlabels = \"l.csv\"\nfeatures = \"f.csv\"\nsplit = \"s.csv\"";
    let features = "node,a,b\nann,1,0\nbob,0,1\ncy,1,1\ndan,0,2\neve,1,0\nflo,0,1\n";
    let plain = lab(ingest, EDGES);
    plain.write("l.csv", LABELS);
    plain.write("f.csv", features);
    let wanted = ingested(&plain);
    // Puts a column of row numbers before the others, or turns the columns round.
    let numbered = |text: &str, name: &str| -> String {
        let number = |at: usize| if at == 0 { name.to_owned() } else { at.to_string() };
        text.lines().enumerate().map(|(at, line)| format!("{},{line}\n", number(at))).collect()
    };
    let turned = |text: &str| -> String {
        text.lines().map(|line| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n").collect()
    };
    let moved = lab(ingest, &numbered(EDGES, "id"));
    moved.write("l.csv", numbered(&turned(LABELS), "row"));
    moved.write("f.csv", "a,node,b\n1,ann,0\n0,bob,1\n1,cy,1\n0,dan,2\n1,eve,0\n0,flo,1\n");
    assert_eq!(ingested(&moved), wanted);
    let said = moved.call(&["run", "config.toml", "--until", "ingest", "--set", "ingest.binarize=true"]).err;
    for words in [
        "e.csv: links below a row of column names; first ends from column `source`, second ends from column `target`; \
         not read: column `id`",
        "l.csv: 6 rows below a row of column names; nodes from column `node`, classes from column `label`; not read: \
         column `row`",
        "f.csv: 6 rows; nodes from column `node`",
    ] {
        assert!(said.contains(words), "`{words}` is not in {said}");
    }
    let renamed = numbered(EDGES, "").replace("source,target", "person,friend");
    let named = lab(&format!("{ingest}\nsource_column = \"person\"\ntarget_column = \"friend\""), &renamed);
    named.write("l.csv", LABELS);
    named.write("f.csv", features);
    assert_eq!(ingested(&named), wanted, "columns that the config names");
}

#[test]
fn row_numbers_without_a_column_name_are_refused() {
    let index = "the first column has no name";
    refused(
        &lab("edges = \"e.csv\"", ",source,target\n0,ann,bob\n1,bob,cy\n"),
        1,
        &["e.csv: line 1", index, "index=False", "source_column"],
    );
    let labels = lab("edges = \"e.csv\"\nlabels = \"l.csv\"", EDGES);
    labels.write("l.csv", ",node,label\n0,ann,x\n1,bob,y\n");
    refused(&labels, 1, &["l.csv: line 1", index, "index=False", "node_column"]);
    let features = lab("edges = \"e.csv\"\nfeatures = \"f.csv\"", EDGES);
    features.write("f.csv", ",node,a\n0,ann,1\n1,bob,2\n");
    refused(&features, 1, &["f.csv: line 1", index, "index=False"]);
    let half = lab("edges = \"e.csv\"\nsource_column = \"source\"", EDGES);
    refused(&half, 2, &["`source_column`", "`target_column`", "both"]);
}

#[test]
fn names_that_match_between_files_are_counted() {
    let of = |labels: &str| {
        let lab = lab("edges = \"e.csv\"\nlabels = \"l.csv\"", "1,2\n2,3\n3,4\n4,5\n5,6\n");
        lab.write("l.csv", labels);
        lab
    };
    let read = |labels: &str| {
        // Counts about links stand only in the log of whoever asks for everything.
        let answer = of(labels).call(&["-vv", "run", "config.toml", "--until", "ingest"]);
        assert_eq!(answer.status, 0, "{}", answer.err);
        answer.err
    };
    let whole = read("node,label\n1,x\n2,y\n3,x\n4,y\n5,x\n6,y\n");
    assert!(whole.contains("l.csv: 6 rows name 6 nodes, of which 6 are in e.csv"), "{whole}");
    assert!(!whole.contains("have no links"), "{whole}");
    let isolated = read("node,label\n1,x\n2,y\n3,x\n4,y\n5,x\n6,y\n9,y\n");
    assert!(isolated.contains("l.csv: 7 rows name 7 nodes, of which 6 are in e.csv"), "{isolated}");
    assert!(isolated.contains("1 (such as `9`) have no links") && isolated.contains("7 nodes, "), "{isolated}");
    assert!(!isolated.contains("would fit"), "{isolated}");
    let shifted = of("node,label\n0,x\n1,y\n2,x\n3,y\n4,x\n5,y\n");
    refused(&shifted, 1, &["e.csv: line 5", "`6`, which is not in l.csv", "fit if 1 were subtracted from it"]);
    let strangers = of("node,label\nu1,x\nu2,y\nu3,x\nu4,y\n");
    refused(&strangers, 1, &["l.csv: none of the 4 nodes", "`u1`", "e.csv (such as `1`)", "same names"]);
    let decimals = of("node,label\n1.0,x\n2.0,y\n3.0,x\n4.0,y\n");
    refused(&decimals, 1, &["l.csv: none of the 4 nodes", "`1.0` is not `1`"]);
}

/// Two graphs that differ in the link of a leaf, which no other file named, had different public files.
#[test]
fn the_set_of_nodes_is_an_input_of_its_own() {
    let ingest = "edges = \"e.csv\"\nnodes = \"n.csv\"";
    let lab_with = |edges: &str| {
        let lab = lab(ingest, edges);
        lab.write("n.csv", "page,name\n1,gus\n2,ann\n3,bob\n4,cy\n5,dan\n6,eve\n7,flo\n");
        lab
    };
    let public = |lab: &Lab| {
        let mut all = ingested(lab);
        all.retain(|(name, _)| name.ends_with(" nodes") || name.ends_with(" node_map"));
        assert_eq!(all.len(), 2);
        all
    };
    let leaf = format!("{EDGES}flo,gus\n");
    assert_eq!(public(&lab_with(&leaf)), public(&lab_with(EDGES)), "a leaf does not show");
    let answer = lab_with(EDGES).call(&["run", "config.toml", "--until", "ingest"]);
    assert!(
        answer.err.contains("n.csv: 7 rows below a row of column names; nodes from column `name`"),
        "{}",
        answer.err
    );
    let derived = |edges: &str| lab("edges = \"e.csv\"", edges);
    assert_ne!(public(&derived(&leaf)), public(&derived(EDGES)), "here it does");
    let warned = derived(&leaf).call(&["run", "config.toml", "--until", "ingest"]).err;
    assert!(warned.contains("the set of nodes is taken from the links"), "{warned}");
    // A link of another node is refused, and so is a label.
    let stranger = lab_with(&format!("{EDGES}flo,zoe\n"));
    refused(
        &stranger,
        1,
        &["e.csv: line 7: the link names the node `zoe`, which is not in n.csv", "add the node to n.csv"],
    );
    let described = lab_with(EDGES);
    described.write("config.toml", config(&format!("{ingest}\nlabels = \"l.csv\"")));
    described.write("l.csv", format!("{LABELS}zoe,x\n"));
    refused(&described, 1, &["l.csv: line 8: the node `zoe` is not in n.csv", "remove its row"]);
    let labelled = lab("edges = \"e.csv\"\nlabels = \"l.csv\"", &leaf);
    labelled.write("l.csv", LABELS);
    refused(&labelled, 1, &["e.csv: line 7", "`gus`, which is not in l.csv", "name it in `nodes`"]);
}

/// Whoever reads the log of a build server must not learn how many links there are.
#[test]
fn the_log_tells_nothing_of_the_links_unless_it_is_asked() {
    let said = |edges: &str, arguments: &[&str]| {
        let lab = lab("edges = \"e.csv\"\nlabels = \"l.csv\"", edges);
        lab.write("l.csv", LABELS);
        let answer = lab.call(&[arguments, &["run", "config.toml", "--until", "ingest"]].concat());
        assert_eq!(answer.status, 0, "{}", answer.err);
        // The last lines say how long it took.
        answer.err.lines().filter(|line| line.contains("ingest:")).map(str::to_owned).collect::<Vec<_>>()
    };
    let other = format!("{EDGES}ann,cy\nbob,ann\neve,eve\n");
    let default = said(EDGES, &[]);
    assert!(default.iter().any(|line| line.contains("6 nodes, no features, 2 classes")), "{default:?}");
    assert_eq!(said(&other, &[]), default);
    let all = said(&other, &["-vv"]).join("\n");
    assert!(all.contains("6 links (8 rows; dropped 1 self-loops and 1 repeated mentions), 0 isolated nodes"), "{all}");
}

/// Whoever misspelt a file of one's own was told to download a dataset.
#[test]
fn a_missing_file_is_named_with_all_places_where_it_was_looked_for() {
    let own = Lab::with("sub/config.toml", config("edges = \"e.csv\"\nfolder = \"mine\""));
    let answer = own.call(&["run", "sub/config.toml", "--data-dir", "data"]);
    for words in ["looked for data/mine/e.csv, data/e.csv, sub/e.csv", "correct its path in the config"] {
        assert!(answer.status == 1 && answer.err.contains(words), "{}", answer.err);
    }
    assert!(!answer.err.contains("fetch"), "{}", answer.err);
    let known = Lab::with("config.toml", config("dataset = \"cora\""));
    let answer = known.call(&["run", "config.toml"]);
    assert!(answer.status == 1 && answer.err.contains("`veilgraph fetch cora --data-dir DIR`"), "{}", answer.err);
}

/// Files beside the config were read in place of those in the folder that was meant.
#[test]
fn a_data_folder_that_is_none_is_refused() {
    let lab = lab("edges = \"e.csv\"\nlabels = \"l.csv\"", EDGES);
    lab.write("l.csv", LABELS);
    for folder in ["nowhere", "e.csv"] {
        let answer = lab.call(&["run", "config.toml", "--until", "ingest", "--data-dir", folder]);
        let problem = format!("{folder}: there is no such folder; check --data-dir");
        assert!(answer.status != 0 && answer.err.contains(&problem), "{}", answer.err);
        assert!(!lab.path("artifacts").exists(), "nothing was read");
    }
    let made_up = Lab::tiny().call(&["run", "config.toml", "--until", "ingest", "--data-dir", "nowhere"]);
    assert_eq!(made_up.status, 0, "no file is needed: {}", made_up.err);
}

/// Their squares overflowed in the comparison of nodes, which panicked after the release was made.
#[test]
fn features_whose_squares_overflow_are_refused_at_ingest() {
    let lab = lab("edges = \"e.csv\"\nfeatures = \"f.csv\"\nlabels = \"l.csv\"\nnormalize = \"none\"", EDGES);
    lab.write("l.csv", LABELS);
    lab.write("f.csv", "node,a,b\nann,1,0\nbob,3e38,-3e38\n");
    let answer = lab.call(&["run", "config.toml"]);
    for words in ["f.csv", "node 1", "largest number of 32 bits", "scale the features"] {
        assert!(answer.status == 1 && answer.err.contains(words), "{words}: {}", answer.err);
    }
}

/// R writes `NA` where a value is missing, and such nodes became a class without a word.
#[test]
fn a_class_that_reads_like_a_missing_value_is_warned_of() {
    let lab = lab("edges = \"e.csv\"\nlabels = \"l.csv\"", EDGES);
    lab.write("l.csv", "node,label\nann,x\nbob,y\ncy,NA\ndan,x\neve,y\nflo,x\n");
    let answer = lab.call(&["run", "config.toml", "--until", "ingest"]);
    assert!(answer.status == 0 && answer.err.contains("`NA` is read as a class"), "{}", answer.err);
}

/// Links of topics whose names begin with `#` were left out without a word.
#[test]
fn rows_that_look_like_comments_are_warned_of() {
    let said = |edges: &str| {
        let answer = lab("edges = \"e.csv\"", edges).call(&["run", "config.toml", "--until", "ingest"]);
        assert_eq!(answer.status, 0, "{}", answer.err);
        answer.err
    };
    let warning = "e.csv: lines below the first row begin with `#`";
    let topics = "source,target\nann,bob\nbob,cy\n#rust,#python\n";
    assert!(said(topics).contains(warning));
    let quoted = said(&topics.replace("#rust", "\"#rust\""));
    assert!(!quoted.contains(warning) && quoted.contains("5 nodes, "), "{quoted}");
    assert!(!said("# of SNAP\n# two more\nann,bob\nbob,cy\n").contains(warning), "comments at the top are usual");
}

#[test]
fn nodes_without_a_row_of_features_are_counted_unless_features_are_private() {
    let said = |features: &str, table: &str| {
        let lab = lab("edges = \"e.csv\"\nnodes = \"n.csv\"\nfeatures = \"f.csv\"", EDGES);
        lab.write("n.csv", "node\nann\nbob\ncy\ndan\neve\nflo\n");
        lab.write("f.csv", features);
        let text = fs::read_to_string(lab.path("config.toml")).expect("the config");
        lab.write("config.toml", format!("{text}{table}"));
        let answer = lab.call(&["run", "config.toml", "--until", "ingest"]);
        assert_eq!(answer.status, 0, "{}", answer.err);
        answer.err
    };
    let (some, all) = ("node,a,b\nann,1,0\nbob,0,1\n", "node,a\nann,1\nbob,1\ncy,0\ndan,0\neve,1\nflo,1\n");
    let counted = said(some, "");
    assert!(counted.contains("4 of 6 nodes have no row in f.csv"), "{counted}");
    assert!(!said(all, "").contains("have no row"));
    let withheld = said(some, "[privacy]\nfeatures = \"withheld\"\n");
    assert!(!withheld.contains("have no row"), "{withheld}");
}

#[test]
fn compressed_feature_lists_are_the_feature_lists() {
    let lists = r#"{"ann": [0, 2], "bob": [1], "cy": [2], "dan": [], "eve": [0], "flo": [1]}"#;
    let plain = lab("edges = \"e.csv\"\nfeatures = \"f.json\"", EDGES);
    plain.write("f.json", lists);
    let packed = lab("edges = \"e.csv\"\nfeatures = \"f.json.gz\"", EDGES);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(lists.as_bytes()).expect("in memory");
    packed.write("f.json.gz", encoder.finish().expect("in memory"));
    assert_eq!(ingested(&packed), ingested(&plain));
}

#[test]
fn a_file_of_another_format_is_called_by_its_name() {
    for (text, words) in [
        ("<?xml version=\"1.0\"?>\n<graphml/>\n", "GraphML"),
        ("graph [\n  node [ id 1 ]\n]\n", "GML"),
        ("*Vertices 3\n1 \"a\"\n", "Pajek"),
    ] {
        refused(&lab("edges = \"e.csv\"", text), 1, &["e.csv: ", words, "one link per row"]);
    }
}
