//! One's own graph: from files to a page by the words of the README, and what is around runs.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Answer, Lab, TINY, TINY_HEAD, rows};

/// Files of a graph of three kinds of people, who know mostly people of their own kind.
fn own_files(lab: &Lab) {
    const KINDS: [&str; 3] = ["baker", "miner", "nurse"];
    let (mut edges, mut features) = ("source,target\n".to_owned(), "node,a,b,c,d\n".to_owned());
    let mut labels = "node,label\n".to_owned();
    for person in 0..90_usize {
        for step in [3, 6, 9] {
            edges += &format!("p{person},p{}\n", (person + step) % 90);
        }
        let kind = person % 3;
        let word = |at: usize| usize::from(at == kind || (person / 3 + at).is_multiple_of(4));
        features += &format!("p{person},{},{},{},{}\n", word(0), word(1), word(2), person % 2);
        labels += &format!("p{person},{}\n", KINDS[kind]);
    }
    lab.write("edges.csv", edges);
    lab.write("features.csv", features);
    lab.write("labels.csv", labels);
}

/// The lines of the first block of commands below a heading of the README.
fn commands_of_readme(heading: &str) -> Vec<String> {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).expect("the README");
    let section = readme.split_once(heading).expect("the section").1;
    let block = section.split_once("```sh\n").expect("commands").1.split_once("```").expect("its end").0;
    let commands = block.lines().map(|line| line.split('#').next().unwrap_or_default().trim().to_owned());
    commands.filter(|command| !command.is_empty()).collect()
}

#[test]
fn the_readme_leads_from_own_files_to_a_page() {
    let lab = Lab::new();
    own_files(&lab);
    let commands = commands_of_readme("## Your own graph");
    let mut said = Vec::new();
    for command in &commands {
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[0], "veilgraph", "{command}");
        let answer = lab.call(&words[1..]);
        assert_eq!(answer.status, 0, "{command}: {}", answer.err);
        said.push(answer.out);
    }
    assert!(commands.len() >= 4, "{commands:?}");
    for words in ["90 nodes", "4 features", "3 classes (baker, miner, nurse)", "4 per undirected link"] {
        assert!(said[0].contains(words), "`{words}` is not in {}", said[0]);
    }
    assert!(said[1].contains("in all: 0 stage runs are fresh"), "{}", said[1]);
    assert!(said[2].contains("Classification of test nodes"), "{}", said[2]);
    let page = fs::read_to_string(lab.path(said[3].trim())).expect("the page");
    assert!(page.contains("<svg"), "a figure");
    assert!(page.contains("edges.csv (keyed BLAKE3 "), "where the data are from");
    // Classes keep their names to the last file.
    let model = fs::read_dir(lab.path("artifacts/simulation/runs/mygraph/train")).expect("trained").flatten();
    let model = model.map(|run| run.path()).find(|run| run.join("model.safetensors").is_file()).expect("a model");
    let model = model.join("model.safetensors");
    let answer = lab.call(&["predict", model.to_str().expect("UTF-8"), "mygraph.toml", "--to", "predictions"]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    let file = fs::read_dir(lab.path("predictions")).expect("predictions").flatten().next().expect("a file").path();
    let text = fs::read_to_string(file).expect("predictions");
    assert!(text.starts_with("node,name,class,probability_baker,probability_miner,probability_nurse\n"), "{text}");
    let classes: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').nth(2)).collect();
    assert!(classes.len() == 90 && classes.iter().all(|class| ["baker", "miner", "nurse"].contains(class)), "{text}");
}

#[test]
fn init_refuses_what_it_cannot_tell_and_leaves_nothing_behind() {
    let lab = Lab::new();
    own_files(&lab);
    lab.write("x.csv", "1,2\n2,3\n");
    lab.write("broken-links.csv", "1,2\n2\n");
    for (arguments, words) in [
        (vec!["x.csv", "labels.csv"], vec!["x.csv", "does not say what the file holds", "--edges"]),
        (vec!["labels.csv", "features.csv"], vec!["no file of links", "--edges FILE"]),
        (vec!["edges.csv", "absent-labels.csv"], vec!["absent-labels.csv", "no such file"]),
        (vec!["edges.csv", "broken-links.csv"], vec!["both look like edges"]),
        (vec!["broken-links.csv"], vec!["line 2", "1 fields where the first row has 2"]),
        (vec!["x.csv", "--to", "my graph.toml"], vec!["my graph.toml", "takes its name from the file"]),
    ] {
        let answer = lab.call(&[&["init"], &arguments[..]].concat());
        assert!(
            answer.status != 0 && words.iter().all(|word| answer.err.contains(word)),
            "{arguments:?}: {}",
            answer.err
        );
        assert!(!lab.path("graph.toml").exists(), "{arguments:?}");
    }
    assert_eq!(lab.call(&["init", "x.csv"]).status, 0);
    let again = lab.call(&["init", "x.csv"]);
    assert!(again.status == 1 && again.err.contains("graph.toml: exists already"), "{}", again.err);
}

/// No rule tells unusual names above words from the names of two nodes.
#[test]
fn init_is_told_that_files_begin_with_names_of_columns() {
    let lab = Lab::new();
    let links: String = (0..40).map(|at| format!("anna{at},berta{}\n", (at * 7) % 40)).collect();
    lab.write("edges.csv", format!("employee,colleague\n{links}"));
    let found = |arguments: &[&str]| {
        let answer = lab.call(&[&["init", "edges.csv"], arguments].concat());
        assert_eq!(answer.status, 0, "{}", answer.err);
        answer.out
    };
    assert!(found(&[]).contains("found: 82 nodes"), "the first row is read as a link");
    let told = found(&["--header", "true", "--to", "named.toml"]);
    assert!(told.contains("found: 80 nodes"), "{told}");
    assert!(fs::read_to_string(lab.path("named.toml")).expect("a config").contains("header = true"));
}

/// A config of `init` says `edge_multiple` for its hybrid graph, which no hard graph reads.
#[test]
fn another_choice_on_the_command_line_may_leave_a_field_of_the_file_unread() {
    let lab = Lab::new();
    own_files(&lab);
    assert_eq!(lab.call(&["init", "edges.csv", "features.csv", "labels.csv", "--to", "mine.toml"]).status, 0);
    let plan = |more: &[&str]| lab.call(&[&["plan", "mine.toml"], more].concat());
    let hard = plan(&["--set", "construct.variant=hard"]);
    let warning = "construct.edge_multiple: the config gives this field, and nothing reads it beside --set";
    assert!(hard.status == 0 && hard.err.contains(warning), "{}", hard.err);
    assert!(!plan(&[]).err.contains(warning));
    // What was asked for on the command line is refused where nobody reads it, and so is a slip in the file.
    let asked = plan(&["--set", "construct.variant=hard", "--set", "construct.edge_multiple=3"]);
    assert!(asked.status == 2 && asked.err.contains("--set construct.edge_multiple"), "{}", asked.err);
    // Another mechanism may leave whole tables unread.
    let rr = plan(&["--set", "references=[]", "--set", "privatize.links.mechanism=rr"]);
    let unread =
        "construct.variant: the config gives this field, and nothing reads it beside --set privatize.links.mechanism";
    assert!(rr.status == 0 && rr.err.contains(unread), "{}", rr.err);
    let asked = ["references=[]", "privatize.links.mechanism=rr", "construct.variant=hard"];
    let asked = plan(&asked.map(|set| ["--set", set]).concat());
    assert!(asked.status == 2 && asked.err.contains("asks for [construct]"), "{}", asked.err);
    // A file that is mistaken by itself stays so beside a field that has nothing to do with the mistake.
    let text = fs::read_to_string(lab.path("mine.toml")).expect("the config");
    let hard = text.replace("references = ", "# ").replace("hybrid", "hard");
    lab.write("hard.toml", hard);
    for more in [&[][..], &["--set", "train.epochs=3"], &["--set", "trials=2"]] {
        let mistaken = lab.call(&[&["plan", "hard.toml"], more].concat());
        assert!(mistaken.status == 2 && mistaken.err.contains("construct.edge_multiple"), "{more:?}: {}", mistaken.err);
    }
    lab.write("mine.toml", text.replace("edge_multiple", "edge_multipel"));
    let slip = plan(&["--set", "construct.variant=hard"]);
    assert!(slip.status == 2 && slip.err.contains("unknown field `edge_multipel`"), "{}", slip.err);
}

/// One file under two spellings: the class must not become a feature. Private labels give no class a name.
#[test]
fn a_class_is_no_feature_and_its_name_stays_private() {
    let lab = Lab::new();
    own_files(&lab);
    let people: String = (0..90).map(|p| format!("p{p},{},{},{}\n", p % 2, p % 5, ["flu", "rare"][p % 2])).collect();
    lab.write("people.csv", format!("node,a,b,class\n{people}"));
    let config = |features: &str, privatize: &str| {
        format!(
            "[ingest]\nedges = \"edges.csv\"\nfeatures = \"{features}\"\nlabels = \"people.csv\"\n\
             [privatize.links]\nepsilon = 4\n{privatize}"
        )
    };
    for (name, features) in [("one", "people.csv"), ("two", "./people.csv")] {
        lab.write(&format!("{name}.toml"), config(features, ""));
        let answer = lab.call(&["run", &format!("{name}.toml"), "--until", "ingest"]);
        assert!(answer.status == 0 && answer.err.contains("90 nodes, 2 features, 2 classes"), "{name}: {}", answer.err);
    }
    let public = lab.call(&["show", "one/ingest/all/nodes"]).out;
    assert!(public.contains("class_names") && public.contains("rare"), "{public}");
    let private = "[privatize.labels]\nmechanism = \"randomized-response\"\nepsilon = 1\n";
    lab.write("private.toml", config("people.csv", private));
    assert_eq!(lab.call(&["run", "private.toml", "--until", "ingest"]).status, 0);
    let nodes = lab.call(&["show", "private/ingest/all/nodes"]).out;
    assert!(nodes.contains("n_classes") && !nodes.contains("rare"), "{nodes}");
}

/// A graph without features trains on something in their place, and says so; without `init`, it says why it does not.
#[test]
fn a_graph_without_features_says_what_it_trains_on() {
    let lab = Lab::new();
    own_files(&lab);
    assert_eq!(lab.call(&["init", "edges.csv", "labels.csv"]).status, 0);
    let small = ["--set", "trials=1", "--set", "privatize.links.epsilon=4", "--set", "train.epochs=20"];
    let answer = lab.call(&[&["run", "graph.toml"], &small[..]].concat());
    assert!(answer.status == 0 && answer.out.contains("Classification of test nodes"), "{}{}", answer.out, answer.err);
    lab.write(
        "bare.toml",
        "[ingest]\nedges = \"edges.csv\"\nlabels = \"labels.csv\"\n[privatize.links]\nepsilon = 4\n",
    );
    let answer = lab.call(&["run", "bare.toml"]);
    let words = ["no network is trained, because nodes have no features", "feature-free", "docs/config.md"];
    assert!(answer.status == 0 && words.iter().all(|word| answer.err.contains(word)), "{}", answer.err);
}

#[test]
fn configs_build_on_each_other() {
    let lab = Lab::with("base.toml", TINY);
    fs::create_dir(lab.path("profiles")).expect("made");
    lab.write("profiles/soft.toml", "[construct]\nvariant = \"soft\"\n[train]\nepochs = 7\n");
    lab.write("mine.toml", "extends = [\"base.toml\", \"profiles/soft.toml\"]\n[privatize.links]\nepsilon = 2.5\n");
    let resolved = lab.call(&["config", "mine.toml", "--set", "trials=4"]);
    assert_eq!(resolved.status, 0, "{}", resolved.err);
    let table: toml::Table = resolved.out.parse().expect("TOML");
    assert_eq!(table["name"].as_str(), Some("mine"), "a name is not taken over");
    assert_eq!(table["trials"].as_integer(), Some(4));
    assert_eq!(table["privatize"]["links"]["epsilon"].as_float(), Some(2.5));
    assert_eq!(table["construct"]["variant"].as_str(), Some("soft"));
    assert_eq!(
        (table["train"]["epochs"].as_integer(), table["ingest"]["synthetic"]["nodes"].as_integer()),
        (Some(7), Some(120))
    );
    // What is printed is a config that means the same.
    lab.write("printed.toml", &resolved.out);
    assert_eq!(lab.call(&["config", "printed.toml"]).out, resolved.out);
    lab.write("one.toml", "extends = \"two.toml\"\n");
    lab.write("two.toml", "extends = \"one.toml\"\n");
    for (text, words) in [
        ("extends = \"one.toml\"\n", "extends itself"),
        ("extends = \"absent.toml\"\n", "absent.toml: cannot read the config"),
        ("extends = 3\n", "extends"),
    ] {
        lab.write("wrong.toml", text);
        let answer = lab.call(&["plan", "wrong.toml"]);
        assert!(answer.status == 2 && answer.err.contains(words), "{text}: {}", answer.err);
    }
}

/// An error about a field of an extended file named the outer file, without a line.
#[test]
fn errors_in_extended_files_name_both_files_and_their_lines() {
    let lab = Lab::with("config.toml", "trials = 2\nextends = [\"good.toml\", \"middle.toml\"]\n[train]\nepochs = 3\n");
    lab.write("good.toml", TINY);
    lab.write("middle.toml", "# One more.\n\nextends = \"inner.toml\"\n");
    for (inner, place) in [
        ("[train]\nepoch = 3\n", "inner.toml:2: train.epoch: unknown field `epoch`"),
        ("\n[train\n", "inner.toml:2: "),
        ("[privatize.links]\n\nepsilon = -1\n", "inner.toml:3: privatize.links.epsilon"),
        ("extends = \"absent.toml\"\n", "inner.toml:1: extends: absent.toml: cannot read the config"),
        ("[trian]\n", "inner.toml:1: trian: unknown field"),
    ] {
        lab.write("inner.toml", inner);
        let answer = lab.call(&["plan", "config.toml"]);
        assert_eq!(answer.status, 2, "{inner}: {}", answer.err);
        for words in [place, "\n  this file is extended by middle.toml:3", "\n  this file is extended by config.toml:2"]
        {
            assert!(answer.err.contains(words), "{inner}: `{words}` is not in {}", answer.err);
        }
    }
    // What a file says itself is its own mistake, whatever the files say that it extends.
    lab.write("inner.toml", "[train]\nepochs = 0\n");
    lab.write("config.toml", "extends = [\"good.toml\", \"middle.toml\"]\n\n[train]\nepochs = 0\n");
    let answer = lab.call(&["plan", "config.toml"]);
    assert!(answer.status == 2 && answer.err.contains("config.toml:3: train: epochs"), "{}", answer.err);
    assert!(!answer.err.contains("is extended by"), "{}", answer.err);
    let answer = lab.call(&["plan", "config.toml", "--set", "train.epochs=-1"]);
    assert!(answer.status == 2 && answer.err.contains("--set train.epochs: "), "{}", answer.err);
}

#[test]
fn diff_says_what_changed_and_what_it_was_worth() {
    let lab = Lab::tiny();
    lab.json(&[]);
    lab.write("other.toml", format!("{}\n", TINY.replace("\"tiny\"", "\"other\"").replace("hybrid", "hard")));
    assert_eq!(lab.call(&["run", "other.toml"]).status, 0);
    let answer = lab.call(&["diff", "tiny", "other.toml"]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    for words in
        ["variant changed hybrid -> hard", "input `graph` changed", "stage runs are the same", "other − tiny (95 %)"]
    {
        assert!(answer.out.contains(words), "`{words}` is not in {}", answer.out);
    }
    assert!(!answer.out.contains("privatize "), "reports are the same: {}", answer.out);
    let same = lab.call(&["diff", "tiny", "tiny"]).out;
    assert!(!same.contains("changed") && same.contains("scores are the same"), "{same}");
    let wrong = lab.call(&["diff", "tiny", "othr"]);
    assert!(wrong.status == 1 && wrong.err.contains("did you mean `other`"), "{}", wrong.err);
}

#[test]
fn a_store_that_does_not_exist_is_no_empty_store() {
    let lab = Lab::tiny();
    for command in [&["ls"][..], &["ledger"], &["verify"], &["diff", "a", "b"], &["show", "tiny/x"]] {
        let answer = lab.call(command);
        assert!(answer.status == 1 && answer.err.contains("there is no store"), "{command:?}: {}", answer.err);
    }
    assert_eq!(lab.call(&["plan", "config.toml"]).status, 0);
    assert_eq!(lab.call(&["doctor"]).status, 0);
    own_files(&lab);
    lab.write("own.toml", "[ingest]\nedges = \"edges.csv\"\nlabels = \"labels.csv\"\n[privatize.links]\nepsilon = 4\n");
    fs::create_dir(lab.path("empty")).expect("folder");
    for store in ["artifacts", "empty"] {
        assert_eq!(lab.call(&["plan", "own.toml", "--store", store]).status, 0);
    }
    assert_eq!(fs::read_dir(lab.path("empty")).expect("folder").count(), 0, "a plan leaves nothing behind");
    for command in ["table", "report"] {
        let answer = lab.call(&[command, "own.toml"]);
        assert!(answer.status == 1 && answer.err.contains("run `veilgraph run own.toml`"), "{command}: {}", answer.err);
    }
    assert!(!lab.path("artifacts").exists(), "looking makes no store");
}

/// A deployment that names its store is not found empty from another folder.
#[test]
fn a_config_names_its_store() {
    let lab = Lab::with(
        "config.toml",
        format!("references = []\n[privacy]\nstore = \"kept\"\n{}", TINY.replace(TINY_HEAD, "")),
    );
    let run = Command::new(env!("CARGO_BIN_EXE_veilgraph"))
        .args(["run", "config.toml", "--until", "privatize"])
        .current_dir(lab.path("."))
        .env_remove("VEILGRAPH_STORE")
        .output()
        .expect("runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(lab.path("kept/layout").is_file() && !lab.path("artifacts").exists());
    // The lab names `artifacts` on the command line.
    let elsewhere = lab.call(&["run", "config.toml"]);
    assert!(elsewhere.status == 2 && elsewhere.err.contains("the store of this config is"), "{}", elsewhere.err);
    assert!(!lab.path("artifacts").exists());
    // Two configs of one command are held against one ledger, and a file that is extended means its own folder.
    lab.write("plain.toml", TINY);
    let both = lab.call(&["plan", "plain.toml", "config.toml"]);
    assert!(both.status == 2 && both.err.contains("the store of this config is"), "{}", both.err);
    lab.write("deep/inner.toml", "extends = \"../config.toml\"\n");
    let inner: toml::Table = lab.call(&["config", "deep/inner.toml"]).out.parse().expect("TOML");
    let store = inner["privacy"]["store"].as_str().expect("a path");
    assert_eq!(std::path::Path::new(store).canonicalize().ok(), lab.path("kept").canonicalize().ok());
    let moved = lab.call(&["plan", "config.toml", "--set", "privacy.store=artifacts"]);
    assert!(moved.status == 2 && moved.err.contains("in its file"), "{}", moved.err);
    lab.write("same.toml", "extends = \"config.toml\"\n[privacy]\nstore = \"artifacts\"\n");
    assert_eq!(lab.call(&["plan", "same.toml"]).status, 0, "the same folder may be named");
}

/// Called from another folder, a deployment that names no store would find an empty ledger there.
#[test]
fn the_ledger_of_a_deployment_does_not_begin_in_a_folder_that_nobody_names() {
    let privacy = "[privacy]\nrandomness = \"os\"\npopulation = \"members\"\nbudget = 100.0\n[ingest.synthetic]";
    let lab = Lab::with("config.toml", TINY.replace("trials = 2", "").replace("[ingest.synthetic]", privacy));
    fs::create_dir(lab.path("elsewhere")).expect("a folder");
    let run = |folder: &str, config: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_veilgraph"));
        command
            .args(["run", config, "--until", "privatize"])
            .current_dir(lab.path(folder))
            .env_remove("VEILGRAPH_STORE");
        Answer::of(&mut command)
    };
    // The ledger of a simulation knows of no release of a deployment.
    lab.write("simulated.toml", TINY);
    assert_eq!(lab.call(&["run", "simulated.toml", "--until", "privatize"]).status, 0);
    let unnamed = run(".", "config.toml");
    assert!(
        unnamed.status == 2 && unnamed.err.contains("nothing names the store of this deployment"),
        "{}",
        unnamed.err
    );
    // A store that has the ledger is the one that is meant, and the lab names one.
    assert_eq!(lab.call(&["run", "config.toml", "--until", "privatize"]).status, 0);
    let again = run(".", "config.toml");
    assert!(again.status == 0 && !again.err.contains("it was never released"), "{}", again.err);
    assert_eq!(run("elsewhere", "../config.toml").status, 2);
}

/// Whoever forgets an experiment wants its room back, and that of no other one.
#[test]
fn what_only_a_forgotten_experiment_used_goes_with_it() {
    let lab = Lab::tiny();
    lab.json(&[]);
    lab.json(&["--set", "name=other", "--set", "train.epochs=3"]);
    let forgotten = lab.call(&["gc", "--forget", "other", "--json"]);
    assert_eq!(forgotten.status, 0, "{}", forgotten.err);
    let document: serde_json::Value = serde_json::from_str(&forgotten.out).expect("JSON");
    let stages: Vec<&str> = rows(&document["removed_entries"]).filter_map(|row| row["stage"].as_str()).collect();
    assert!(stages.contains(&"train") && !stages.contains(&"privatize"), "{stages:?}");
    assert!(lab.ran(&[]).is_empty(), "the first run is still whole");
    // What an earlier run of another experiment used is not only the forgotten one's.
    let three = ["--set", "privatize.links.epsilon=3"];
    lab.json(&three);
    lab.json(&[]);
    lab.json(&[&three[..], &["--set", "name=other"]].concat());
    assert_eq!(lab.call(&["gc", "--forget", "other"]).status, 0);
    assert!(!lab.ran(&three).contains(&"privatize".to_owned()), "the earlier run is whole too");
}

/// Ages beside shares: divided by their sum, hardly anything of the shares is left.
#[test]
fn features_that_are_no_bits_are_scaled_by_columns() {
    let lab = Lab::new();
    own_files(&lab);
    let features: String = (0..90).map(|p| format!("p{p},{},{}\n", 20 + p % 60, f64::from(p % 10) / 10.0)).collect();
    lab.write("numbers.csv", format!("node,age,share\n{features}"));
    let init = |features: &str, to: &str| {
        let answer = lab.call(&["init", "edges.csv", "--features", features, "labels.csv", "--to", to]);
        assert_eq!(answer.status, 0, "{}", answer.err);
        fs::read_to_string(lab.path(to)).expect("a config")
    };
    assert!(init("numbers.csv", "scaled.toml").contains("normalize = \"min-max\""));
    assert!(!init("features.csv", "bits.toml").contains("normalize"));
    let ingest = |more: &[&str]| lab.call(&[&["run", "scaled.toml", "--until", "ingest"], more].concat()).err;
    let warning = "one of 2 columns holds 99 % of the sum of all features";
    let (scaled, divided) = (ingest(&[]), ingest(&["--set", "ingest.normalize=row"]));
    assert!(!scaled.contains("holds 99 %") && divided.contains(warning), "{scaled}{divided}");
}

#[test]
fn gc_spares_what_is_young_and_what_a_run_uses() {
    let lab = Lab::tiny();
    lab.json(&[]);
    lab.json(&["--set", "privatize.links.epsilon=3"]);
    let young = lab.call(&["gc"]).out;
    assert!(young.contains("0 unused entries") && young.contains("younger than 14 days"), "{young}");
    assert!(lab.ran(&[]).is_empty(), "the first run is still whole");
    // While a run goes on, nothing is removed, whatever is asked.
    let long =
        ["run", "config.toml", "--set", "train.epochs=2000000", "--set", "name=long", "--checkpoint-seconds", "1"];
    let mut run = lab.command(&long).stderr(std::process::Stdio::null()).spawn().expect("started");
    let deadline = Instant::now() + Duration::from_mins(1);
    let answer = loop {
        let answer = lab.call(&["gc", "--older-than", "0", "--dry-run"]);
        if answer.err.contains("a run uses this store") || Instant::now() > deadline {
            break answer;
        }
    };
    assert!(answer.status == 1 && answer.err.contains("nothing was removed"), "{}{}", answer.out, answer.err);
    assert_eq!(lab.call(&["gc", "--all"]).status, 1);
    let checkpoints = lab.path("artifacts/simulation/checkpoints");
    while !checkpoints.exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    // Another terminal sees how far it is.
    let watched = loop {
        let watched = lab.call(&["watch", "--once"]).out;
        if watched.contains("long: ") || Instant::now() > deadline {
            break watched;
        }
    };
    assert!(watched.contains("stage runs after") && watched.contains("; "), "{watched}");
    // Whoever interrupts a run learns that it goes on later.
    let id = run.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("sent").success());
    assert_eq!(run.wait().expect("ended").code(), Some(130));
    assert_eq!(lab.call(&["watch"]).out, "no run uses this store\n");
    // What lets it go on stays, however little else is unused.
    assert_eq!(lab.call(&["gc"]).status, 0);
    assert!(fs::read_dir(&checkpoints).expect("checkpoints").next().is_some(), "a young checkpoint stays");
    assert!(lab.call(&["gc", "--older-than", "0"]).out.contains("removed"));
}

#[test]
fn ls_and_show_speak_of_the_same_names() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let listed = lab.call(&["ls", "tiny/construct"]).out;
    let name = listed.split('|').map(str::trim).find(|cell| cell.starts_with("tiny/construct/")).expect("a name");
    assert!(!listed.contains("tiny/train"), "{listed}");
    assert_eq!(lab.call(&["show", &format!("{name}/graph")]).status, 0, "{name}");
    let folder = lab.call(&["show", "tiny/construct"]);
    assert!(folder.status == 0 && folder.out.contains("tiny/construct/trial-0/graph"), "{}{}", folder.out, folder.err);
    let near = lab.call(&["show", "tiny/construct/trial-0/grph"]);
    assert!(near.status == 1 && near.err.contains("did you mean `tiny/construct/trial-0/graph`"), "{}", near.err);
    assert_eq!(lab.call(&["ls", "nothing"]).status, 1);
}

#[test]
fn every_command_has_a_manual_page() {
    let lab = Lab::new();
    assert_eq!(lab.call(&["man", "--to", "man"]).status, 0);
    for page in ["veilgraph.1", "veilgraph-run.1", "veilgraph-init.1"] {
        let text = fs::read_to_string(lab.path(&format!("man/{page}"))).expect(page);
        assert!(text.contains("Example") && text.contains(".TH"), "{page}: {text}");
    }
    assert_eq!(lab.call(&["man", "--to", "man"]).status, 1, "nothing is replaced");
}
