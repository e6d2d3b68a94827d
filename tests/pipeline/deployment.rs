//! Deployments: a release is drawn once, whatever changes around it, and the server gets it and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::schemas::printed;
use crate::support::{Answer, Lab, copy_folder, rows};

/// A ring of 40 nodes with classes and features for all of them.
pub(crate) const RING: &str = "name = \"ring\"\n[privacy]\nrandomness = \"os\"\npopulation = \"members\"\nbudget = 10.0\n\
                    [ingest]\nedges = \"e.csv\"\nlabels = \"l.csv\"\nfeatures = \"f.csv\"\n\
                    [privatize.links]\nepsilon = 2.0\n[estimate]\nmethod = \"published\"\nridge = 0.5\n[construct]\nvariant = \"hard\"\n\
                    [train]\nepochs = 5\n";

const NODES: u32 = 40;

pub(crate) fn links(extra: &[(u32, u32)]) -> String {
    let ring = (0..NODES).map(|node| (node, (node + 1) % NODES));
    ring.chain(extra.iter().copied()).map(|(a, b)| format!("{a},{b}\n")).collect()
}

pub(crate) fn ring() -> Lab {
    let lab = Lab::with("config.toml", RING);
    lab.write("e.csv", links(&[]));
    lab.write("l.csv", (0..NODES).map(|node| format!("{node},{}\n", node % 3)).collect::<String>());
    lab.write("f.csv", (0..NODES).map(|node| format!("{node},{},1\n", node % 5)).collect::<String>());
    lab
}

pub(crate) fn release(lab: &Lab, arguments: &[&str]) -> Answer {
    lab.call(&[&["run", "config.toml", "--until", "privatize"], arguments].concat())
}

pub(crate) fn ledger(lab: &Lab) -> Vec<Value> {
    if !lab.path("artifacts").exists() {
        return Vec::new();
    }
    let answer = lab.call(&["ledger", "--json"]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    serde_json::from_str::<Value>(&answer.out).expect("JSON").as_array().expect("rows").clone()
}

/// All files below a folder, those that links lead to left out.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).expect("readable") {
            let path = item.expect("readable").path();
            if path.is_dir() && !path.is_symlink() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// The one release of a lab, as its bytes.
fn released(lab: &Lab) -> Vec<Vec<u8>> {
    let all = files_below(&lab.path("artifacts/owner/privatize"));
    let tables = all.iter().filter(|path| path.extension().is_some_and(|ending| ending == "parquet"));
    tables.map(|path| fs::read(path).expect("readable")).collect()
}

/// H6: harmless changes neither draw nor charge a second release.
#[test]
fn nothing_harmless_draws_a_second_release() {
    let lab = ring();
    assert_eq!(release(&lab, &[]).status, 0);
    let (drawn, charged) = (released(&lab), ledger(&lab));
    let unchanged = |what: &str, lab: &Lab, answer: &Answer| {
        assert_eq!(answer.status, 0, "{what}: {}", answer.err);
        assert!(released(lab) == drawn && ledger(lab) == charged, "{what} drew or charged a second release");
    };
    for (what, arguments) in [
        ("again", vec![]),
        ("another spelling of the same split", vec!["--set", "privatize.links.degree_fraction=\"auto\""]),
        ("the same number as an integer", vec!["--set", "privatize.links.epsilon=2"]),
        ("a default written out", vec!["--set", "privatize.links.degree_noise=discrete-laplace"]),
        ("another name of the config", vec!["--set", "name=\"tuesday\""]),
        ("another name of the dataset", vec!["--set", "ingest.dataset=\"ours\""]),
        ("another split of the nodes", vec!["--set", "ingest.split={train=0.5,validation=0.25,test=0.25,seed=7}"]),
        ("other scaling of features", vec!["--set", "ingest.binarize=true"]),
        ("withheld features", vec!["--set", "privacy.features=\"withheld\""]),
        ("a larger budget", vec!["--set", "privacy.budget=20"]),
        ("another estimate", vec!["--set", "estimate.ridge=0.7"]),
        ("one more mechanism that shares it", vec!["--set", "privatize.links.mechanism=[\"blink\"]"]),
    ] {
        let is_auto = what.starts_with("another spelling");
        // What `auto` comes to at this budget is not 0.1: ask for that share first.
        if !is_auto {
            unchanged(what, &lab, &release(&lab, &arguments));
        }
    }
    for (what, file, text) in [
        ("a repeated row", "e.csv", links(&[(0, 1)])),
        ("the other direction", "e.csv", links(&[(1, 0)])),
        ("a self-loop", "e.csv", links(&[(3, 3)])),
        ("the order of rows", "e.csv", links(&[]).lines().rev().map(|line| format!("{line}\n")).collect()),
        ("other separators", "e.csv", links(&[]).replace(',', "\t")),
        ("a label", "l.csv", (0..NODES).map(|node| format!("{node},{}\n", (node + node / 7) % 3)).collect()),
        ("the secret of another moment", "notes.txt", "nothing".to_owned()),
    ] {
        let before = fs::read(lab.path(file)).unwrap_or_default();
        lab.write(file, text);
        unchanged(what, &lab, &release(&lab, &[]));
        lab.write(file, before);
    }
    fs::copy(lab.path("config.toml"), lab.path("tuesday.toml")).expect("copied");
    unchanged("a copy of the config", &lab, &lab.call(&["run", "tuesday.toml", "--until", "privatize"]));
    let elsewhere = Lab::new();
    copy_folder(&lab.path("artifacts"), &elsewhere.path("artifacts"));
    for file in ["config.toml", "e.csv", "l.csv", "f.csv"] {
        fs::copy(lab.path(file), elsewhere.path(file)).expect("copied");
    }
    unchanged("moving house", &elsewhere, &release(&elsewhere, &[]));
    assert_eq!(lab.call(&["gc", "--all"]).status, 0);
    unchanged("cleaning", &lab, &release(&lab, &[]));
}

/// Two rules that come to one share of the budget are one release.
#[test]
fn two_spellings_of_one_split_are_one_release() {
    let lab = ring();
    assert_eq!(release(&lab, &["--set", "privatize.links.degree_fraction=\"auto\""]).status, 0);
    let charged = ledger(&lab);
    let of = |target: &str| {
        let mine = charged.iter().find(|row| row["target"] == target && row["relation"] == "list-bit");
        mine.map_or(0.0, |row| row["epsilon"].as_f64().expect("a number"))
    };
    let share = of("degree") / (of("degree") + of("link"));
    let set = format!("privatize.links.degree_fraction={share}");
    assert_eq!(release(&lab, &["--set", &set]).status, 0);
    assert_eq!(ledger(&lab), charged);
}

/// What happens to the data or to the store after a release.
type Change<'a> = &'a dyn Fn(&Lab);

/// H6: what may be another release is refused until somebody accepts it.
#[test]
fn what_may_be_a_second_release_is_refused() {
    let changes: [(&str, Change, &str); 10] = [
        ("one link more", &|lab| lab.write("e.csv", links(&[(0, 20)])), "the private data have changed"),
        (
            "the secret is lost",
            &|lab| fs::remove_file(lab.path("artifacts/owner/.key")).expect("removed"),
            "the secret of this store is gone",
        ),
        ("the secret is remade", &|lab| lab.write("artifacts/owner/.key", [9; 32]), "the private data have changed"),
        ("the secret is cut", &|lab| lab.write("artifacts/owner/.key", [9; 31]), "the secret of the store is damaged"),
        (
            "the secret is damaged",
            &|lab| {
                let mut secret = fs::read(lab.path("artifacts/owner/.key")).expect("there");
                secret[0] ^= 1;
                lab.write("artifacts/owner/.key", secret);
            },
            "the secret of the store is damaged",
        ),
        (
            "the release is lost",
            &|lab| fs::remove_dir_all(lab.path("artifacts/owner/privatize")).expect("removed"),
            "drawn before",
        ),
        (
            "the release and its mark are lost",
            &|lab| {
                for folder in ["privatize", "drawn"] {
                    fs::remove_dir_all(lab.path("artifacts/owner").join(folder)).expect("removed");
                }
            },
            "drawn before",
        ),
        (
            "the ledger and all releases are lost",
            &|lab| {
                for folder in ["owner/privatize", "server"] {
                    fs::remove_dir_all(lab.path("artifacts").join(folder)).expect("removed");
                }
                for file in ["ledger.jsonl", "ledger.head"] {
                    fs::remove_file(lab.path("artifacts/owner").join(file)).expect("removed");
                }
            },
            "the privacy ledger does not know of it",
        ),
        (
            "all private folders are lost",
            &|lab| fs::remove_dir_all(lab.path("artifacts/owner")).expect("removed"),
            "lacks the release",
        ),
        (
            "the population is renamed",
            &|lab| lab.write("config.toml", RING.replace("members", "others")),
            "released under that name",
        ),
    ];
    for (what, change, words) in changes {
        let lab = ring();
        assert_eq!(release(&lab, &[]).status, 0);
        let ledger_before = fs::read(lab.path("artifacts/owner/ledger.jsonl")).expect("there");
        change(&lab);
        for jobs in ["1", "2"] {
            let answer = release(&lab, &["--jobs", jobs]);
            assert!(answer.status == 1 && answer.err.contains(words), "{what}: {}", answer.err);
        }
        if let Ok(after) = fs::read(lab.path("artifacts/owner/ledger.jsonl")) {
            assert_eq!(after, ledger_before, "{what}: nothing was charged");
        }
    }
    let lab = ring();
    assert_eq!(release(&lab, &[]).status, 0);
    lab.write("e.csv", links(&[(0, 20)]));
    // What the links are is known once they were read.
    assert_eq!(lab.call(&["run", "config.toml", "--until", "ingest"]).status, 0);
    let plan = lab.call(&["plan", "config.toml", "--until", "privatize"]);
    assert!(plan.out.contains("would be refused without --spend"), "{}", plan.err);
    let accepted = release(&lab, &["--spend"]);
    assert_eq!(accepted.status, 0, "{}", accepted.err);
    assert_eq!(ledger(&lab).len(), 8, "a second release was charged");
    let drawn = released(&lab);
    assert_eq!(release(&lab, &[]).status, 0, "the second release is that of the changed graph");
    lab.write("e.csv", links(&[]));
    assert_eq!(release(&lab, &[]).status, 0, "the first release is still that of the first graph");
    assert!(released(&lab) == drawn && ledger(&lab).len() == 8);
}

/// H7: a budget belongs to the people, by name or by graph, for every mechanism in either order.
#[test]
fn a_renamed_population_has_no_new_budget() {
    let mechanisms = ["blink", "rr", "symrr", "l-dpgcn", "dprr", "ldpgen"];
    for (first, second) in mechanisms.iter().zip(mechanisms.iter().cycle().skip(1)) {
        let lab = ring();
        let text = RING
            .replace("[construct]\nvariant = \"hard\"\n", "")
            .replace("[estimate]\nmethod = \"published\"\nridge = 0.5\n", "");
        lab.write("config.toml", text);
        let run = |mechanism: &str, population: &str| {
            let sets = [
                format!("privatize.links.mechanism={mechanism}"),
                format!("privacy.population={population}"),
                "privacy.budget=2".to_owned(),
            ];
            release(&lab, &["--set", &sets[0], "--set", &sets[1], "--set", &sets[2]])
        };
        assert_eq!(run(first, "a").status, 0, "{first}");
        let charged = ledger(&lab);
        let renamed = run(second, "b");
        assert!(
            renamed.status == 1 && renamed.err.contains("2 of 2 nats are spent"),
            "{second} after {first}: {}",
            renamed.err
        );
        assert_eq!(ledger(&lab), charged, "{second} after {first}");
    }
}

/// Two runs that ask at the same moment for the same about the same data, each under a population of its own, release once.
#[test]
fn runs_side_by_side_release_the_same_data_once() {
    for _ in 0..4 {
        let lab = ring();
        let ingested = lab.call(&["run", "config.toml", "--until", "ingest"]);
        assert_eq!(ingested.status, 0, "{}", ingested.err);
        let start = |population: &str| {
            let set = format!("privacy.population={population}");
            let arguments = ["run", "config.toml", "--until", "privatize", "--set", &set];
            lab.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started")
        };
        let statuses = [start("a"), start("b")].map(|mut run| run.wait().expect("ended").success());
        assert_eq!(statuses.iter().filter(|&&is_success| is_success).count(), 1, "one of them is refused");
        let populations: BTreeSet<String> =
            ledger(&lab).iter().map(|row| row["population"].as_str().expect("a name").to_owned()).collect();
        assert_eq!(populations.len(), 1, "{populations:?}");
    }
}

/// A deployment names whose data it releases, how much may be spent, and who the nodes are.
#[test]
fn a_deployment_says_for_whom_and_how_much() {
    for (from, to, words) in [
        ("population = \"members\"\n", "", "needs a `population`"),
        ("budget = 10.0\n", "", "needs a `population`"),
        ("labels = \"l.csv\"\nfeatures = \"f.csv\"\n", "", "the set of nodes"),
    ] {
        let lab = ring();
        lab.write("config.toml", RING.replace(from, to));
        let answer = release(&lab, &[]);
        assert!(answer.status == 2 && answer.err.contains(words), "{}", answer.err);
        assert!(!lab.path("artifacts").exists());
    }
}

/// H3, H4, H5: all that lies outside the server's part is closed, and nothing in the server's part undoes the noise.
#[test]
fn the_server_may_see_one_folder_and_it_says_nothing_private() {
    let lab = ring();
    let whole = lab.call(&["run", "config.toml"]);
    assert_eq!(whole.status, 0, "{}", whole.err);
    assert_eq!(lab.call(&["report", "config.toml"]).status, 0);
    for item in fs::read_dir(lab.path("artifacts")).expect("readable") {
        let path = item.expect("readable").path();
        let mode = fs::metadata(&path).expect("there").permissions().mode() & 0o777;
        let is_open = path.ends_with("server") || path.ends_with("layout");
        assert!(is_open || mode == 0o700, "{}: {mode:o}", path.display());
    }
    for path in files_below(&lab.path("artifacts/server")) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(!["links.parquet", "held_out_labels.parquet", "metrics.parquet"].contains(&name.as_str()), "{name}");
        assert_ne!(name, "log.jsonl", "it would tell when the owner ran what");
        if path.is_symlink() {
            let target = fs::canonicalize(&path).expect("it leads somewhere");
            let server = fs::canonicalize(lab.path("artifacts/server")).expect("there");
            assert!(target.starts_with(server), "{} leads to {}", path.display(), target.display());
        }
        if name == "manifest.json" {
            let manifest: Value = serde_json::from_slice(&fs::read(&path).expect("readable")).expect("JSON");
            let stage = manifest["recipe"]["stage"].as_str().expect("a name").to_owned();
            if ["ingest", "privatize"].contains(&stage.as_str()) {
                assert!(manifest["recipe"]["seed"].is_null() && manifest["outputs"].get("links").is_none());
                let inputs = manifest["recipe"]["inputs"].as_object().expect("inputs");
                assert_eq!(inputs.keys().collect::<Vec<_>>(), ["outputs"], "{stage}: digests of private files");
            }
        }
    }
    let scores = whole.out;
    assert!(scores.contains("ccuracy") && !scores.contains("Mean absolute error"), "{scores}");
    let page = fs::read_to_string(lab.path("artifacts/auditor/reports/ring.html")).expect("the page");
    assert!(page.contains("is a deployment") && !page.contains("seed 42") && !page.contains("is a simulation"));
    // Of the graph it says what the server knows as well, and of the releases that another program may have drawn them.
    assert!(page.contains("<td>40</td>") && !page.contains("homophily") && !page.contains("mean degree"), "the graph");
    assert!(page.contains("may have been made by other code") && page.contains("It is privatize"), "the release");
}

/// The server goes on in a copy of its folder, or in what was exported, with the same results.
#[test]
fn the_server_goes_on_in_what_was_handed_over() {
    let lab = ring();
    let whole = lab.json(&["--until", "train"]);
    let keys = |document: &Value| -> Vec<String> {
        let server = rows(&document["stages"]).filter(|row| ["construct", "train"].iter().any(|s| row["stage"] == *s));
        server.map(|row| row["key"].to_string()).collect()
    };
    let shown = lab.call(&["export", "config.toml", "--to", "handed"]);
    assert!(shown.status == 1 && shown.err.contains("--yes"), "{}", shown.err);
    assert!(shown.out.contains("2 nats per list bit, 4 per undirected link"), "{}", shown.out);
    assert!(!lab.path("handed").exists());
    let exported = lab.call(&["export", "config.toml", "--to", "handed", "--yes"]);
    assert_eq!(exported.status, 0, "{}", exported.err);
    assert!(lab.call(&["ls", "--runs"]).out.contains("ring@1"), "the owner has a history");
    // Whoever asks how a release is made again must not be told to draw it.
    for (folder, words) in
        [("owner/privatize", "No run draws this release again"), ("server/privatize", "the owner handed it over")]
    {
        let mut entries = fs::read_dir(lab.path("artifacts").join(folder)).expect("there");
        let key = entries.next().expect("one").expect("readable").file_name().to_string_lossy().into_owned();
        let told = lab.call(&["show", &key]).out;
        assert!(told.contains(words) && !told.contains("veilgraph run"), "{folder}: {told}");
    }
    assert!(!lab.path("artifacts/server/runs/ring/history").exists(), "and it is not in the part that may be copied");
    for from in ["artifacts/server", "handed"] {
        let server = Lab::with("config.toml", RING);
        copy_folder(&lab.path(from), &server.path("artifacts"));
        let everything = server.call(&["run", "config.toml"]);
        assert!(everything.status == 1 && everything.err.contains("--side server"), "{from}: {}", everything.err);
        let document = server.json(&["--side", "server", "--until", "train"]);
        assert_eq!(keys(&document), keys(&whole), "{from}");
        assert!(!keys(&document).is_empty());
        // The server's own runs have a history, and those of the owner are not in it.
        server.json(&["--side", "server", "--until", "train", "--set", "train.hidden=8"]);
        let runs = server.call(&["ls", "--runs"]).out;
        assert!(runs.contains("ring@2") && !runs.contains("ring@3"), "{from}: {runs}");
        let changed = server.call(&["diff", "ring@2", "ring@1"]).out;
        assert!(changed.contains("hidden changed 16 -> 8"), "{from}: {changed}");
        let seeded = RING.replace("randomness = \"os\"\n", "");
        server.write("seeded.toml", seeded);
        let wrong = server.call(&["run", "seeded.toml", "--side", "server", "--until", "train"]);
        assert!(wrong.status == 1 && wrong.err.contains("the config simulates"), "{from}: {}", wrong.err);
        assert_eq!(server.call(&["verify"]).status, 0, "{from}");
    }
}

/// M3: an export holds exactly the releases of its config.
#[test]
fn an_export_holds_exactly_what_its_config_says() {
    let lab = ring();
    assert_eq!(release(&lab, &["--set", "privatize.links.epsilon=[1.0, 4.0]"]).status, 0);
    let one = ["--set", "privatize.links.epsilon=1.0", "--to", "out", "--yes"];
    let answer = lab.call(&[&["export", "config.toml"], &one[..]].concat());
    assert_eq!(answer.status, 0, "{}", answer.err);
    assert_eq!(fs::read_dir(lab.path("out/privatize")).expect("there").count(), 1);
    let cost: Value = serde_json::from_slice(&fs::read(lab.path("out/cost.json")).expect("there")).expect("JSON");
    let list_bit: f64 = rows(&cost["releases"])
        .filter(|row| row["relation"] == "list-bit")
        .filter_map(|row| row["epsilon"].as_f64())
        .sum();
    assert!((list_bit - 1.0).abs() < 1e-12, "{cost}");
    let total = rows(&cost["total"]).find(|row| row["relation"] == "list-bit").expect("a total");
    assert_eq!(total["epsilon"], 1.0, "{cost}");
    for field in ["population", "config", "date", "version"] {
        assert!(cost[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {cost}");
    }
    let another = ["--set", "privatize.links.epsilon=3.0", "--to", "more", "--yes"];
    let answer = lab.call(&[&["export", "config.toml"], &another[..]].concat());
    assert!(answer.status == 1 && answer.err.contains("was not released"), "{}", answer.err);
    assert!(!lab.path("more").exists());
}

/// M4: an artifact is loaded only as what it is.
#[test]
fn an_artifact_of_another_zone_is_never_loaded() {
    let lab = ring();
    assert_eq!(lab.call(&["run", "config.toml"]).status, 0);
    // A forger points the server's labels at the auditor's file, and mends every digest that he can.
    let server = lab.path("artifacts/server/ingest");
    let entry = fs::read_dir(&server).expect("there").next().expect("one").expect("readable").path();
    let held_out = files_below(&lab.path("artifacts/auditor/ingest"));
    let held_out = held_out.iter().find(|path| path.ends_with("held_out_labels.parquet")).expect("there");
    fs::copy(held_out, entry.join("labels.parquet")).expect("copied");
    let digest = blake3::hash(&fs::read(held_out).expect("there")).to_hex().to_string();
    let path = entry.join("manifest.json");
    let text = fs::read_to_string(&path).expect("there");
    let mut manifest: Value = serde_json::from_str(&text).expect("JSON");
    let before = manifest["outputs"]["labels"]["digest"].as_str().expect("text").to_owned();
    let checksum = manifest["checksum"].as_str().expect("text").to_owned();
    manifest["checksum"] = Value::from("");
    let forged = text.replace(&format!("\"digest\": \"{before}\""), &format!("\"digest\": \"{digest}\""));
    let unsigned = forged.replace(&checksum, "");
    let signed = forged.replace(&checksum, blake3::hash(unsigned.as_bytes()).to_hex().as_ref());
    fs::write(&path, signed).expect("written");
    for folder in ["estimate", "construct", "train"] {
        let _ = fs::remove_dir_all(lab.path("artifacts/server").join(folder));
    }
    let copy = Lab::with("config.toml", RING);
    copy_folder(&lab.path("artifacts/server"), &copy.path("artifacts"));
    let answer = copy.call(&["run", "config.toml", "--side", "server", "--until", "train"]);
    assert!(answer.status == 1 && answer.err.contains("calls itself `held_out_labels`"), "{}", answer.err);
}

/// A release that was put into the store by hand has no charge, and nothing reads it.
#[test]
fn a_release_without_a_charge_is_refused() {
    let (lab, other) = (ring(), ring());
    assert_eq!(release(&lab, &[]).status, 0);
    assert_eq!(release(&other, &["--set", "privatize.links.epsilon=8"]).status, 0);
    copy_folder(&other.path("artifacts/owner/privatize/."), &lab.path("artifacts/owner/privatize"));
    for command in [vec!["run", "config.toml"], vec!["verify"], vec!["export", "config.toml", "--to", "out", "--yes"]] {
        let answer = lab.call(&command);
        assert!(answer.status == 1 && answer.err.contains("lacks the release"), "{command:?}: {}", answer.err);
    }
}

/// L8: what a run prints of private data is nothing; names from files command no terminal.
#[test]
fn a_run_prints_no_number_about_private_links() {
    let (one, two) = (ring(), ring());
    two.write("e.csv", links(&[(0, 20), (3, 3), (0, 1)]));
    let plain = |lab: &Lab| {
        let text = release(lab, &[]).err;
        text.lines().filter(|line| !line.contains("ran (")).map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(plain(&one), plain(&two));
    let lab = ring();
    lab.write("e.csv", links(&[]) + "a\u{1b}[2Jb,1\n");
    let answer = release(&lab, &[]);
    assert!(
        answer.status == 1 && answer.err.contains("\\u{1b}[2J") && !answer.err.contains('\u{1b}'),
        "{}",
        answer.err
    );
}

/// What a release says is compared with the ledger of earlier versions: whoever changes one of these texts makes every
/// deployment draw that release again.
#[test]
fn the_statement_of_every_mechanism_is_pinned() {
    let pinned = [
        (
            "blink",
            "blink: randomized response on link, list-bit 1.80000000000e0 0.00000000000e0; randomized response on link, edge 3.60000000000e0 0.00000000000e0; discrete-laplace noise on degree, list-bit 2.00000000000e-1 0.00000000000e0; discrete-laplace noise on degree, edge 4.00000000000e-1 0.00000000000e0",
        ),
        (
            "rr",
            "rr: randomized response on link, list-bit 2.00000000000e0 0.00000000000e0; randomized response on link, edge 4.00000000000e0 0.00000000000e0",
        ),
        (
            "symrr",
            "symrr: randomized response on link, list-bit 2.00000000000e0 0.00000000000e0; randomized response on link, edge 2.00000000000e0 0.00000000000e0",
        ),
        (
            "l-dpgcn",
            "l-dpgcn: discrete-laplace noise on entries on link, list-bit 2.00000000000e0 0.00000000000e0; discrete-laplace noise on entries on link, edge 4.00000000000e0 0.00000000000e0",
        ),
        (
            "dprr",
            "dprr: randomized response on link, list-bit 1.80000000000e0 0.00000000000e0; randomized response on link, edge 3.60000000000e0 0.00000000000e0; discrete-laplace noise on degree, list-bit 2.00000000000e-1 0.00000000000e0; discrete-laplace noise on degree, edge 4.00000000000e-1 0.00000000000e0",
        ),
    ];
    let text = RING
        .replace("[construct]\nvariant = \"hard\"\n", "")
        .replace("[estimate]\nmethod = \"published\"\nridge = 0.5\n", "");
    for (mechanism, statement) in pinned {
        let lab = ring();
        lab.write("config.toml", &text);
        let set = format!("privatize.links.mechanism={mechanism}");
        assert_eq!(release(&lab, &["--set", &set]).status, 0, "{mechanism}");
        assert_eq!(statements(&lab), [statement], "{mechanism}");
    }
    let lab = ring();
    lab.write("config.toml", &text);
    assert_eq!(release(&lab, &["--set", "privatize.links.mechanism=ldpgen"]).status, 0);
    let round = |round: u8| {
        format!(
            "ldpgen-round-{round}: discrete-laplace noise on counts of neighbours on link, list-bit 1.00000000000e0 \
             0.00000000000e0; discrete-laplace noise on counts of neighbours on link, edge 2.00000000000e0 0.00000000000e0"
        )
    };
    assert_eq!(statements(&lab), [round(1), round(2)]);
    // Both rounds are handed over, and the server goes on from them.
    let export = ["export", "config.toml", "--to", "handed", "--yes", "--set", "privatize.links.mechanism=ldpgen"];
    let exported = lab.call(&export);
    assert_eq!(exported.status, 0, "{}", exported.err);
    assert_eq!(fs::read_dir(lab.path("handed/privatize")).expect("there").count(), 2);
    let server = Lab::with("config.toml", text.replace("epsilon = 2.0", "epsilon = 2.0\nmechanism = \"ldpgen\""));
    copy_folder(&lab.path("handed"), &server.path("artifacts"));
    server.json(&["--side", "server", "--until", "train"]);
}

/// What the releases of a lab say, sorted.
fn statements(lab: &Lab) -> Vec<String> {
    let manifests = files_below(&lab.path("artifacts/server/privatize"));
    let read = |path: &PathBuf| -> Option<String> {
        let manifest: Value = serde_json::from_slice(&fs::read(path).expect("readable")).ok()?;
        Some(manifest["release"]["statement"].as_str()?.to_owned())
    };
    let mut all: Vec<String> = manifests.iter().filter_map(read).collect();
    all.sort();
    all
}

/// A config of a collector says what to do instead where somebody runs it as an owner would; its budget counts.
#[test]
fn a_collector_holds_no_links_and_keeps_to_the_budget() {
    let lab = ring();
    let collector = RING.replace("edges = \"e.csv\"", "nodes = \"n.csv\"");
    lab.write("n.csv", (0..NODES).map(|node| format!("{node}\n")).collect::<String>());
    lab.write("collector.toml", &collector);
    let run = lab.call(&["run", "collector.toml"]);
    assert!(run.status == 1 && run.err.contains("veilgraph collect"), "{}", run.err);
    let dear = lab.call(&["parameters", "collector.toml", "--to", "p.toml", "--set", "privatize.links.epsilon=11"]);
    assert!(dear.status == 1 && dear.err.contains("exceed the budget: 0 of 10 nats are spent"), "{}", dear.err);
    let with_links = lab.call(&["parameters", "config.toml", "--to", "p.toml"]);
    assert!(with_links.status == 1 && with_links.err.contains("leave `edges` out"), "{}", with_links.err);
    let several =
        lab.call(&["parameters", "collector.toml", "--to", "p.toml", "--set", "privatize.links.epsilon=[1, 2]"]);
    assert!(several.status == 1 && several.err.contains("one at a time"), "{}", several.err);
    assert!(!lab.path("p.toml").exists());
    let written = lab.call(&["parameters", "collector.toml", "--to", "p.toml", "--numbers", "numbers.csv"]);
    assert_eq!(written.status, 0, "{}", written.err);
    let numbers = fs::read_to_string(lab.path("numbers.csv")).expect("there");
    assert!(numbers.starts_with("node,name\n0,0\n1,1\n") && numbers.lines().count() == 41, "{numbers}");
    let parameters = fs::read_to_string(lab.path("p.toml")).expect("there");
    let numbering = format!("numbering = \"{}\"", blake3::hash(numbers.as_bytes()).to_hex());
    assert!(parameters.contains("n_nodes = 40") && parameters.contains(&numbering), "{parameters}");
    let nothing = lab.call(&["collect", ".", "collector.toml", "--to", "store"]);
    assert!(nothing.status == 1 && nothing.err.contains("no file there ends in .vgr"), "{}", nothing.err);
    lab.write("in/bad.vgr", "no report");
    for (name, target) in [("zero.vgr", "/dev/zero"), ("link.vgr", "bad.vgr")] {
        std::os::unix::fs::symlink(target, lab.path("in").join(name)).expect("a link");
    }
    let pipe = std::process::Command::new("mkfifo").arg(lab.path("in/pipe.vgr")).status();
    assert!(pipe.expect("mkfifo starts").success());
    let nothing = lab.call(&["collect", "in", "collector.toml", "--to", "store"]);
    assert!(nothing.status == 1 && nothing.err.contains("no sound report"), "{}", nothing.err);
    for name in ["bad", "zero", "link", "pipe"] {
        assert!(nothing.err.contains(&format!("left out in/{name}.vgr")), "{name}: {}", nothing.err);
    }
    let second = ["parameters", "collector.toml", "--to", "second.toml", "--release", "2"];
    assert_eq!(lab.call(&second).status, 0);
    assert!(fs::read_to_string(lab.path("second.toml")).expect("there").contains("release = 2"));
    let twice = lab.call(&["parameters", "collector.toml", "--to", "pp", "--numbers", "pp"]);
    assert!(twice.status == 1, "{}", twice.err);
    for item in fs::read_dir(lab.path("")).expect("readable") {
        let name = item.expect("readable").file_name().to_string_lossy().into_owned();
        assert!(!name.starts_with('.') && name != "store", "{name} is left behind");
    }
}

/// What a crash leaves between the two files of a charge is one charge, whose rows get into the ledger before noise is drawn.
#[test]
fn a_charge_that_a_crash_cut_short_is_completed() {
    let lab = ring();
    assert_eq!(release(&lab, &[]).status, 0);
    let ledger_path = lab.path("artifacts/owner/ledger.jsonl");
    let rows = fs::read_to_string(&ledger_path).expect("there");
    let cut = &rows[..rows.len() / 2];
    for left in ["", cut] {
        let nothing = blake3::hash(b"").to_hex().to_string();
        let head = serde_json::json!({"length": 0, "digest": nothing, "pending": rows});
        lab.write("artifacts/owner/ledger.head", head.to_string());
        lab.write("artifacts/owner/ledger.jsonl", left);
        for folder in ["owner/privatize", "owner/drawn", "server"] {
            fs::remove_dir_all(lab.path("artifacts").join(folder)).expect("removed");
        }
        let again = release(&lab, &[]);
        assert_eq!(again.status, 0, "{}", again.err);
        assert!(again.err.contains("it was charged before"), "{}", again.err);
        assert_eq!(fs::read_to_string(&ledger_path).expect("there"), rows, "charged once, and written down");
    }
}

/// A release that is gone is named, although no file of it is left that could be damaged.
#[test]
fn verify_names_a_release_that_is_gone() {
    let lab = ring();
    assert_eq!(release(&lab, &[]).status, 0);
    lab.write("e.csv", links(&[(0, 20)]));
    assert_eq!(release(&lab, &["--spend"]).status, 0);
    assert_eq!(lab.call(&["verify"]).status, 0);
    let rows = ledger(&lab);
    let entry = |row: Option<&Value>| row.expect("a row")["entry"].as_str().expect("a key").to_owned();
    let remove = |key: &str| fs::remove_dir_all(lab.path("artifacts/owner/privatize").join(key)).expect("removed");
    // Another budget is another statement, of which no later release was drawn.
    assert_eq!(release(&lab, &["--set", "privatize.links.epsilon=2.5"]).status, 0);
    assert!(ledger(&lab).len() > rows.len(), "a release of its own");
    let replaced = entry(rows.first());
    remove(&replaced);
    let answer = lab.call(&["verify"]);
    assert!(answer.status == 0 && answer.err.contains("a later one took its place"), "{}", answer.err);
    let key = entry(ledger(&lab).last());
    remove(&key);
    let answer = lab.call(&["verify"]);
    assert!(
        answer.status == 1 && answer.err.contains(&format!("privatize/{key}: the ledger has this release")),
        "{}",
        answer.err
    );
    assert!(
        answer.err.contains("restore the folders of releases that are gone") && !answer.err.contains("mends"),
        "{}",
        answer.err
    );
    let document: Value = serde_json::from_str(&lab.call(&["verify", "--json"]).out).expect("JSON");
    assert_eq!(document["lost_releases"], serde_json::json!([key]));
    assert_eq!(document["replaced_releases"], serde_json::json!([replaced]));
    // A draft that no run could publish does not stand for the release.
    let draft = format!("artifacts/tmp/privatize-{key}/owner");
    fs::create_dir_all(lab.path(&draft)).expect("made");
    lab.write(&format!("{draft}/manifest.json"), "{");
    assert_eq!(lab.call(&["verify"]).status, 1);
}

/// What each side has learned counts earlier releases too, and is said where something was released.
#[test]
fn a_deployment_says_what_each_side_has_learned() {
    let lab = ring();
    let ingest = lab.call(&["run", "config.toml", "--until", "ingest"]);
    assert!(ingest.status == 0 && !ingest.out.contains("what each side has learned"), "{}", ingest.out);
    let first = release(&lab, &[]);
    assert!(first.out.contains("so far cost each node 2 nats per list bit"), "{}", first.out);
    lab.write("e.csv", links(&[(0, 20)]));
    let second = release(&lab, &["--spend"]);
    assert!(second.out.contains("so far cost each node 4 nats per list bit"), "{}", second.out);
}

/// The ledger tells which program drew a release, and that two populations have nodes of the same names.
#[test]
fn the_ledger_knows_programs_and_names_of_nodes() {
    let lab = ring();
    assert_eq!(release(&lab, &[]).status, 0);
    let marks = files_below(&lab.path("artifacts/owner/drawn"));
    assert!(marks.len() == 1 && fs::read_to_string(&marks[0]).expect("readable").contains("\"code\":"), "{marks:?}");
    let rows_of_ledger = printed(&lab, 0, &["ledger"]);
    assert!(
        rows(&rows_of_ledger).all(|row| row["program"].is_object() && row["nodes"].is_string()),
        "{rows_of_ledger}"
    );
    lab.write("e.csv", links(&[(0, 20)]));
    let other = release(&lab, &["--set", "privacy.population=other"]);
    assert!(other.status == 0 && other.err.contains("the nodes have exactly the names of `members`"), "{}", other.err);
    // Other people have other names.
    for file in ["e.csv", "l.csv", "f.csv"] {
        let text = fs::read_to_string(lab.path(file)).expect("readable");
        let renamed = text.lines().map(|line| match (file, line.split_once(',')) {
            ("e.csv", Some((from, to))) => format!("n{from},n{to}\n"),
            _ => format!("n{line}\n"),
        });
        lab.write(file, renamed.collect::<String>());
    }
    let third = release(&lab, &["--set", "privacy.population=third"]);
    assert!(third.status == 0 && !third.err.contains("the nodes have exactly the names"), "{}", third.err);
}

/// A damaged release of a deployment is kept: no run makes it anew.
#[test]
fn verify_never_removes_a_release() {
    let lab = ring();
    assert_eq!(release(&lab, &[]).status, 0);
    let files = files_below(&lab.path("artifacts/owner/privatize"));
    let damaged = files.iter().find(|path| path.ends_with("noisy_links.parquet")).expect("there");
    fs::write(damaged, "x").expect("written");
    let answer = lab.call(&["verify", "--remove"]);
    assert!(answer.status == 1 && answer.err.contains("which no run makes anew"), "{}", answer.err);
    assert!(damaged.is_file());
}

/// Processes that race draw one release.
#[test]
fn runs_at_once_release_once() {
    let lab = ring();
    let start = || lab.command(&["--quiet", "run", "config.toml", "--until", "privatize"]).spawn().expect("starts");
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    for mut child in children {
        assert!(child.wait().expect("ended").success());
    }
    assert_eq!(ledger(&lab).len(), 4);
    assert_eq!(fs::read_dir(lab.path("artifacts/owner/privatize")).expect("there").count(), 1);
}

/// What the server may see of a release lies twice in the store of an owner. The copy is mended from what the owner holds.
#[test]
fn a_damaged_copy_of_the_server_is_mended() {
    let lab = ring();
    assert_eq!(release(&lab, &[]).status, 0);
    let charged = ledger(&lab);
    let copies = files_below(&lab.path("artifacts/server/privatize"));
    for ending in ["parquet", "json"] {
        let is_wanted = |path: &&PathBuf| path.extension().is_some_and(|found| found == ending);
        let copy = copies.iter().find(is_wanted).expect("a copy");
        let sound = fs::read(copy).expect("readable");
        let mut damaged = sound.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        fs::write(copy, damaged).expect("written");
        assert_eq!(lab.call(&["verify"]).status, 1, "{ending}");
        let again = release(&lab, &[]);
        assert_eq!(again.status, 0, "{ending}: {}", again.err);
        assert_eq!(fs::read(copy).expect("readable"), sound, "{ending}");
        assert_eq!(lab.call(&["verify"]).status, 0, "{ending}");
    }
    assert_eq!(ledger(&lab), charged, "nothing was drawn again");
    // What is damaged is known to be the copy of a release that is whole, and no reason to refuse another one.
    let manifest = copies.iter().find(|path| path.ends_with("manifest.json")).expect("a manifest");
    let sound = fs::read(manifest).expect("readable");
    fs::write(manifest, "{").expect("written");
    let further = release(&lab, &["--set", "privatize.links.epsilon=[2, 1]"]);
    assert_eq!(further.status, 0, "{}", further.err);
    assert_eq!(fs::read(manifest).expect("readable"), sound, "it is mended by the end");
}
