//! Checks of a config, claims about configs, and tables of scores.

use serde_json::Value;

use crate::support::{Answer, BLINK_TABLES, Lab, TINY, TINY_HEAD, rows};

/// The tiny experiment with a floor, a ceiling and three trials.
fn compared() -> String {
    let more = "trials = 3\nreferences = [\"no-links\", \"non-private\"]\n";
    format!(
        "{more}{}",
        TINY.replace("trials = 2\nreferences = []\n", "").replace("epsilon = 6.0", "epsilon = [2.0, 6.0]")
    )
}

#[test]
fn references_run_beside_everything_else() {
    let lab = Lab::with("config.toml", compared());
    let document = lab.json(&[]);
    let accuracy = |name: &str| {
        rows(&document["metrics"]).filter(|row| row["metric"] == "accuracy" && row["alternative"] == name).count()
    };
    assert_eq!((accuracy(""), accuracy("no-links"), accuracy("non-private")), (2, 1, 1));
    let wrong = lab.call(&["run", "config.toml", "--set", "references=[\"nolinks\"]"]);
    assert!(wrong.status == 2 && wrong.err.contains("did you mean `no-links`"), "{}", wrong.err);
    let twice = lab.call(&["run", "config.toml", "--set", "references=[\"majority\", \"majority\"]"]);
    assert!(twice.status == 2 && twice.err.contains("named `majority`"), "{}", twice.err);
}

#[test]
fn a_table_comes_in_four_formats_and_says_what_it_compares() {
    let lab = Lab::with("config.toml", compared());
    let early = lab.call(&["table", "config.toml"]);
    assert!(early.status == 1 && early.err.contains("run `veilgraph run config.toml` first"), "{}", early.err);
    lab.json(&[]);
    let table = |arguments: &[&str]| {
        let answer = lab.call(&[&["table", "config.toml"], arguments].concat());
        assert_eq!(answer.status, 0, "{}", answer.err);
        answer.out
    };
    let markdown = table(&[]);
    for words in ["| 0 | 2 | 6 | ∞ |", "3 trials in every cell", "Holm's correction", "the best floor", "non-private"]
    {
        assert!(markdown.contains(words), "{words}: {markdown}");
    }
    let latex = table(&["--format", "latex"]);
    for words in ["\\toprule", "\\caption{", "\\label{tab:tiny-", "-accuracy}", "accuracy \\%", "$\\infty$", "$\\pm$"] {
        assert!(latex.contains(words), "{words}: {latex}");
    }
    assert_eq!(latex.matches('{').count(), latex.matches('}').count(), "{latex}");
    assert!(table(&["--format", "typst"]).contains("table.header("));
    let csv = table(&["--format", "csv", "--score", "macro_f1", "--against", "non-private"]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let at = |name: &str| header.iter().position(|column| column == name).expect(name);
    let lines: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("a row")).collect();
    assert_eq!(lines.len(), 4, "two budgets, a floor and a ceiling: {csv}");
    assert_eq!(lines.iter().filter(|line| !line[at("verdict")].is_empty()).count(), 2, "private methods alone: {csv}");
    let number = |line: &csv::StringRecord, name: &str| line[at(name)].parse::<f64>().expect(name);
    for line in &lines {
        let (mean, low, high) = (number(line, "mean"), number(line, "bootstrap_low"), number(line, "bootstrap_high"));
        assert!(low <= mean && mean <= high && line[at("trials")] == *"3", "{line:?}");
    }
    let unknown = lab.call(&["table", "config.toml", "--score", "accurracy"]);
    assert!(unknown.status == 2 && unknown.err.contains("did you mean `accuracy`"), "{}", unknown.err);
    let absent = lab.call(&["table", "config.toml", "--score", "attack_auc"]);
    assert!(absent.status == 1 && absent.err.contains("no row has the score"), "{}", absent.err);
    let nobody = lab.call(&["table", "config.toml", "--against", "nobody"]);
    assert!(nobody.status == 2 && nobody.err.contains("--against nobody"), "{}", nobody.err);
    let columns = lab.call(&["table", "config.toml", "--columns", "train.hidden"]);
    assert!(columns.status == 2 && columns.err.contains("nothing sweeps it"), "{}", columns.err);
}

#[test]
fn a_table_of_one_column_is_headed_by_its_score() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let table = lab.call(&["table", "config.toml"]).out;
    assert!(table.lines().any(|line| line.starts_with("| ") && line.ends_with("| accuracy % |")), "{table}");
    let csv = lab.call(&["table", "config.toml", "--format", "csv"]).out;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let at = reader.headers().expect("a header").iter().position(|name| name == "column").expect("a column");
    assert!(reader.records().all(|record| record.expect("a row")[at].is_empty()), "no field is swept: {csv}");
}

/// Both ends of a link report it to one mechanism and one end to the other, so that the same cost of a link is another
/// epsilon for each.
#[test]
fn columns_per_link_align_what_a_link_costs() {
    let alternatives = "[[compare]]\nname = \"both-ends\"\nprivatize.links.epsilon = 3.0\n\
                        [[compare]]\nname = \"one-end\"\nprivatize.links.mechanism = \"symrr\"\n";
    let lab = Lab::with("config.toml", format!("{TINY}{alternatives}"));
    lab.json(&[]);
    let head = |arguments: &[&str]| {
        let answer = lab.call(&[&["table", "config.toml"], arguments].concat());
        assert_eq!(answer.status, 0, "{}", answer.err);
        let head = answer.out.lines().find(|line| line.starts_with("| alternative")).map(str::to_owned);
        (head.expect("a head"), answer.out)
    };
    assert!(head(&[]).0.ends_with("| 3 | 6 |"), "{:?}", head(&[]));
    let (per_link, text) = head(&["--columns", "per-link"]);
    assert!(per_link.ends_with("| 6 |") && !per_link.contains("| 3 |"), "{per_link}");
    assert!(text.contains("epsilon, nats per undirected link"), "{text}");
}

/// Trials in one split share its test nodes: pooled, a split is one trial, whose score is the mean of its trials.
#[test]
fn splits_are_pooled_as_trials() {
    let lab = Lab::with("config.toml", compared());
    let split = "ingest.split={train=0.5, validation=0.2, test=0.3, seed=[1, 2, 3, 4]}";
    let sets = ["--set", split, "--set", "trials=2"];
    let document = lab.json(&sets);
    let table = |arguments: &[&str]| lab.call(&[&["table", "config.toml"], &sets[..], arguments].concat());
    let pooled = table(&["--over", "ingest.split.seed"]);
    assert_eq!(pooled.status, 0, "{}", pooled.err);
    for words in ["over 4 values of `ingest.split.seed`", "with n = 36", "test nodes of their own"] {
        assert!(pooled.out.contains(words), "{words}: {}", pooled.out);
    }
    assert!(table(&[]).out.contains("the intervals above do not cover that"), "{}", table(&[]).out);
    let csv = table(&["--over", "ingest.split.seed", "--format", "csv"]).out;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let at = |name: &str| header.iter().position(|column| column == name).expect(name);
    let lines: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("a row")).collect();
    assert_eq!(lines.len(), 4, "two budgets, a floor and a ceiling: {csv}");
    assert!(lines.iter().all(|line| line[at("trials")] == *"4"), "{csv}");
    let splits: Vec<f64> = rows(&document["metrics"])
        .filter(|row| row["metric"] == "accuracy" && row["alternative"] == "no-links")
        .filter_map(|row| row["mean"].as_f64())
        .collect();
    assert_eq!(splits.len(), 4);
    let floor = lines.iter().find(|line| line[at("alternative")] == *"no-links").expect("the floor");
    let mean: f64 = floor[at("mean")].parse().expect("a number");
    assert!((mean - splits.iter().sum::<f64>() / 4.0).abs() < 1e-12, "{mean} {splits:?}");
    let unknown = table(&["--over", "train.hidden"]);
    assert!(unknown.status == 2 && unknown.err.contains("choose among ingest.split.seed"), "{}", unknown.err);
}

/// A row for each trial of the CSV would let a reader take one trial for several.
#[test]
fn one_trial_has_no_interval_and_proves_nothing() {
    let lab = Lab::with("config.toml", compared().replace("trials = 3", "trials = 1"));
    lab.json(&[]);
    let answer = lab.call(&["table", "config.toml"]);
    assert!(answer.out.contains("One trial in every cell") && !answer.out.contains('±'), "{}", answer.out);
    assert_eq!(lab.call(&["report", "config.toml"]).status, 0);
    let page = std::fs::read_to_string(lab.path("artifacts/auditor/reports/tiny.html")).expect("the page");
    assert!(page.contains("one trial proves nothing") && page.contains(">one trial</td>"), "the page says so");
}

const CHECKS: &str = "
[[check]]
score = \"average_precision\"
no_worse_with = \"epsilon\"
fail = true
[[check]]
name = \"as many links as there are\"
score = \"expected_entries\"
near = \"true_entries\"
within = 0.5
[[check]]
score = \"accuracy\"
at_most = 100
[[check]]
score = \"accuracy\"
at_least = \"floor\"
";

#[test]
fn checks_pass_warn_or_fail_the_run() {
    let lab = Lab::with("config.toml", compared() + CHECKS);
    let document = lab.json(&[]);
    let checks: Vec<&Value> = rows(&document["checks"]).collect();
    assert_eq!(checks.len(), 4);
    assert!(checks[..3].iter().all(|check| check["passed"] == true), "{checks:?}");
    assert_eq!((&checks[0]["cells"], &checks[2]["cells"], &checks[3]["cells"]), (&1.into(), &4.into(), &2.into()));
    // What nobody reaches is a warning, and fails the run where it is asked to.
    let out_of_reach = "\n[[check]]\nname = \"perfect\"\nscore = \"accuracy\"\nat_least = 100.5\n";
    lab.write("config.toml", compared() + out_of_reach);
    let warned = lab.call(&["run", "config.toml"]);
    assert!(warned.status == 0 && warned.out.contains("check warning: perfect"), "{}{}", warned.out, warned.err);
    lab.write("config.toml", compared() + out_of_reach + "fail = true\n");
    let failed = lab.call(&["run", "config.toml"]);
    assert!(failed.status == 1 && failed.err.contains("these checks of them failed: perfect"), "{}", failed.err);
    assert!(failed.out.contains("Classification of test nodes"), "the scores stand: {}", failed.out);
    assert_eq!(lab.call(&["report", "config.toml"]).status, 0);
    let page = std::fs::read_to_string(lab.path("artifacts/auditor/reports/tiny.html")).expect("the page");
    assert!(page.contains("id=\"checks\"") && page.contains("perfect"), "the page shows checks");
}

#[test]
fn a_check_that_cannot_be_judged_is_a_mistake_or_does_not_pass() {
    let lab = Lab::with("config.toml", compared());
    for (check, status, words) in [
        ("score = \"accurracy\"\nat_least = 1", 2, "did you mean `accuracy`"),
        ("score = \"accuracy\"", 2, "every [[check]] of a score needs one of"),
        ("score = \"accuracy\"\nat_least = 1\nat_most = 2", 2, "every [[check]] of a score needs one of"),
        ("score = \"accuracy\"\nat_leat = 1", 2, "at_leat"),
        ("score = \"n_nodes\"\nno_worse_with = \"epsilon\"", 2, "neither direction"),
        ("score = \"accuracy\"\nat_least = \"ceiling\"", 2, "is no number and not \"floor\""),
        ("score = \"accuracy\"\nat_least = 1\nwhere = { mechanism = \"rr\" }\nfail = true", 1, "failed"),
    ] {
        lab.write("config.toml", format!("{}[[check]]\n{check}\n", compared()));
        let answer = lab.call(&["run", "config.toml"]);
        assert!(answer.status == status && answer.err.contains(words), "{check}: {}", answer.err);
    }
}

/// Two graphs of one dataset, and two shares of a budget, are never compared with each other.
#[test]
fn comparisons_stay_on_one_graph_and_one_method() {
    let lab = Lab::with("config.toml", compared());
    let nodes = ["--set", "ingest.synthetic.nodes=[60, 120]"];
    lab.json(&nodes);
    let answer = lab.call(&[&["table", "config.toml", "--format", "csv"], &nodes[..]].concat());
    assert_eq!(answer.status, 0, "{}", answer.err);
    let mut reader = csv::Reader::from_reader(answer.out.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let at = |name: &str| header.iter().position(|column| column == name).expect(name);
    let lines: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("a row")).collect();
    let mean = |line: &csv::StringRecord| line[at("mean")].parse::<f64>().expect("a number");
    let private: Vec<&csv::StringRecord> = lines.iter().filter(|line| !line[at("difference")].is_empty()).collect();
    assert_eq!(private.len(), 4, "two budgets on two graphs: {}", answer.out);
    for line in private {
        let is_floor = |other: &&csv::StringRecord| {
            &other[at("alternative")] == "no-links"
                && other[at("ingest.synthetic.nodes")] == line[at("ingest.synthetic.nodes")]
        };
        let floor = lines.iter().find(is_floor).expect("a floor on the same graph");
        let difference = line[at("difference")].parse::<f64>().expect("a number");
        assert!((difference - (mean(line) - mean(floor))).abs() < 1e-9, "{line:?} beside {floor:?}");
    }
    // More budget finds more links at either share, in whatever order the shares stand.
    for shares in ["[0.95, 0.1]", "[0.1, 0.95]"] {
        let shares = format!("privatize.links.degree_fraction={shares}");
        lab.write("config.toml", compared() + "\n[[check]]\nscore = \"mae\"\nno_worse_with = \"epsilon\"\n");
        let document = lab.json(&["--set", &shares]);
        assert_eq!((&document["checks"][0]["cells"], &document["checks"][0]["passed"]), (&2.into(), &true.into()));
    }
}

const CLAIMS: &str = "
[[experiment]]
name = \"tiny\"
config = \"config.toml\"
quick = []
fixed = [\"trials=4\"]
[[experiment]]
name = \"large\"
config = \"nowhere.toml\"
full = []
[[claim]]
id = \"links.found\"
says = \"links are found at 6 nats\"
source = \"this test\"
experiment = \"tiny\"
score = \"average_precision\"
where = { mechanism = \"blink\", variant = \"\" }
over = \"epsilon\"
expected = { 6 = 0.999 }
tolerance = 0.01
[[claim]]
id = \"links.better\"
says = \"more budget finds more links\"
source = \"this test\"
experiment = \"tiny\"
score = \"roc_auc\"
where = { epsilon = 6 }
at_least = 0.9
[[claim]]
id = \"far\"
says = \"something that only --full runs\"
source = \"this test\"
experiment = \"large\"
score = \"accuracy\"
at_least = 1
";

#[test]
fn claims_hold_fail_or_are_skipped() {
    let lab = Lab::with("config.toml", compared());
    lab.write("claims.toml", CLAIMS);
    let answer = lab.call(&["claims", "claims.toml", "--quick"]);
    assert_eq!(answer.status, 0, "{}{}", answer.out, answer.err);
    for words in [
        "holds     links.found.6",
        "holds     links.better",
        "skipped   1 claim of `large`",
        "no part of --quick",
        "2 hold, 0 fail",
    ] {
        assert!(answer.out.contains(words), "{words}: {}", answer.out);
    }
    let page = std::fs::read_to_string(lab.path("artifacts/auditor/reports/claims-quick.html")).expect("the page");
    assert!(page.contains("2 of 2 claims hold") && page.contains("links.found.6"));
    lab.write("claims.toml", CLAIMS.replace("6 = 0.999", "6 = 0.5"));
    let failed = lab.call(&["claims", "claims.toml", "--json", "--only", "links"]);
    assert!(failed.status == 1 && failed.err.contains("1 of 2 claims fail"), "{}", failed.err);
    let document: Value = serde_json::from_str(&failed.out).expect("one document");
    let verdicts: Vec<&Value> = rows(&document).map(|claim| &claim["verdict"]).collect();
    assert_eq!(verdicts, ["fails", "holds"]);
    assert!(document[0]["value"].as_f64().is_some_and(|value| value > 0.9) && document[0]["trials"] == 3);
}

/// A mean over graphs is one claim, and each graph is a trial of it.
#[test]
fn a_claim_may_be_about_a_mean_over_a_swept_field() {
    let claims =
        CLAIMS.replacen("where = { epsilon = 6 }", "where = { epsilon = 6 }\nmean_over = \"ingest.synthetic.seed\"", 1);
    let lab = Lab::with("claims.toml", &claims);
    for trials in ["2", "1"] {
        let config = compared().replace("[ingest.synthetic]\n", "[ingest.synthetic]\nseed = [1, 2, 4]\n");
        lab.write("config.toml", config.replace("trials = 3", &format!("trials = {trials}")));
        let of_run = lab.json(&[]);
        let scores: Vec<f64> = rows(&of_run["metrics"])
            .filter(|row| row["metric"] == "roc_auc" && row["epsilon"] == 6.0)
            .flat_map(|row| rows(&row["values"]).filter_map(Value::as_f64).collect::<Vec<_>>())
            .collect();
        let answer = lab.call(&["claims", "claims.toml", "--json", "--only", "links.better"]);
        assert_eq!(answer.status, 0, "{}", answer.err);
        let document: Value = serde_json::from_str(&answer.out).expect("one document");
        assert_eq!(rows(&document).count(), 1, "one verdict, and not one for each graph: {document}");
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let value = document[0]["value"].as_f64().expect("a score");
        assert!((value - mean).abs() < 1e-12 && scores.len().is_multiple_of(3), "{value} beside {mean}: {scores:?}");
        assert_eq!(document[0]["trials"], 3);
        assert!(
            document[0]["found"].as_str().is_some_and(|found| found.starts_with("mean over ingest.synthetic.seed"))
        );
    }
    for (to, words) in [
        ("mean_over = \"epsilon\"", "has to be the path of a swept field"),
        ("mean_over = \"ingest.split.seed\"\nno_better_than.\"ingest.split.seed\" = 1", "nothing else may name it"),
    ] {
        lab.write("claims.toml", claims.replacen("mean_over = \"ingest.synthetic.seed\"", to, 1));
        let answer = lab.call(&["claims", "claims.toml"]);
        assert!(answer.status == 2 && answer.err.contains(words), "{to}: {}", answer.err);
    }
}

#[test]
fn claims_run_in_the_store_that_their_configs_name() {
    let lab = Lab::with("config.toml", format!("{}\n[privacy]\nstore = \"kept\"\n", compared()));
    lab.write("claims.toml", CLAIMS);
    // The lab names `artifacts` on the command line.
    let elsewhere = lab.call(&["claims", "claims.toml"]);
    assert!(elsewhere.status == 2 && elsewhere.err.contains("the store of this config is"), "{}", elsewhere.err);
    let answer = Answer::of(
        std::process::Command::new(env!("CARGO_BIN_EXE_veilgraph"))
            .args(["claims", "claims.toml"])
            .current_dir(lab.path("."))
            .env_remove("VEILGRAPH_STORE")
            .env_remove("DATA_DIR")
            .env_remove("PUBLISHED"),
    );
    assert_eq!(answer.status, 0, "{}", answer.err);
    assert!(lab.path("kept/auditor/reports/claims-quick.html").is_file() && !lab.path("artifacts").exists());
}

#[test]
fn a_file_of_claims_with_a_mistake_runs_nothing() {
    let lab = Lab::with("config.toml", compared());
    for (from, to, words) in [
        ("average_precision", "average_precison", "did you mean `average_precision`"),
        ("experiment = \"large\"", "experiment = \"larger\"", "there is no experiment `larger`"),
        ("tolerance = 0.01", "tollerance = 0.01", "tollerance"),
        ("tolerance = 0.01", "", "`expected` needs a `tolerance`"),
        ("over = \"epsilon\"", "", "name both or neither"),
        ("id = \"far\"", "id = \"links.better\"", "two claims have the id"),
        ("at_least = 0.9", "", "name one of"),
    ] {
        assert!(CLAIMS.contains(from), "{from}");
        lab.write("claims.toml", CLAIMS.replacen(from, to, 1));
        let answer = lab.call(&["claims", "claims.toml"]);
        assert!(answer.status == 2 && answer.err.contains(words), "{to}: {}", answer.err);
    }
    lab.write("claims.toml", CLAIMS);
    // A claim is checked by a simulation, and makes no release.
    let os = "[privacy]\nrandomness = \"os\"\npopulation = \"members\"\nbudget = 20\n";
    lab.write("deployment.toml", format!("{os}{}", TINY.replace(TINY_HEAD, "")));
    lab.write("claims.toml", CLAIMS.replacen("config.toml", "deployment.toml", 1));
    let refused = lab.call(&["claims", "claims.toml", "--only", "links"]);
    assert!(refused.status == 1 && refused.err.contains("claims are checked by simulations"), "{}", refused.err);
    lab.write("claims.toml", CLAIMS.replacen("where = { mechanism", "where = { mechansim", 1));
    let column = lab.call(&["claims", "claims.toml"]);
    assert!(column.status == 2 && column.err.contains("no column `mechansim`"), "{}", column.err);
    lab.write("claims.toml", CLAIMS);
    let nobody = lab.call(&["claims", "claims.toml", "--only", "link"]);
    assert!(nobody.status == 2 && nobody.err.contains("there is no such claim"), "{}", nobody.err);
    assert!(!lab.path("artifacts/auditor").exists(), "nothing ran");
}

/// The claims of the repository can be read, and name experiments that can be planned.
#[test]
fn the_claims_of_the_repository_are_in_order() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let lab = Lab::new();
    let file = root.join("claims.toml").to_string_lossy().into_owned();
    let answer = lab.call(&["claims", &file, "--only", "nothing"]);
    assert!(answer.status == 2 && answer.err.contains("there is no such claim"), "{}", answer.err);
    let mut files = vec![root.join("claims.toml")];
    let pages = std::fs::read_dir(root.join("claims")).expect("a folder with the claims of each page");
    files.extend(pages.map(|page| page.expect("a file").path()));
    let text: String = files.iter().map(|file| std::fs::read_to_string(file).expect("claims")).collect();
    let mut configs = 0;
    for line in text.lines().filter(|line| line.starts_with("config = ")) {
        let config = line.trim_start_matches("config = ").trim_matches('"');
        assert!(root.join("claims").join(config).is_file(), "{config}");
        configs += 1;
    }
    assert!(configs > 30, "{configs} experiments");
    for page in &files[1..] {
        let name = page.file_name().expect("a name").to_string_lossy();
        assert!(text.contains(&format!("\"claims/{name}\"")), "claims.toml includes {name}");
    }
}

/// Where nothing is said, a classification by private links stands beside the floors that cost no report.
#[test]
fn the_usual_floors_stand_beside_every_accuracy() {
    let text = TINY.replace("references = []\n", "");
    let lab = Lab::with("config.toml", &text);
    let names = |arguments: &[&str]| -> Vec<String> {
        let document = lab.json(&[&["--set", "trials=1"], arguments].concat());
        let accuracies = rows(&document["metrics"]).filter(|row| row["metric"] == "accuracy");
        let mut names: Vec<String> =
            accuracies.filter_map(|row| Some(row["alternative"].as_str()?.to_owned())).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names(&[]), ["", "features-only", "majority", "no-links"]);
    // A mechanism of this name is that floor already; and links that are not protected need none.
    let mechanisms = "privatize.links.mechanism=[\"blink\", \"no-links\"]";
    assert_eq!(names(&["--set", mechanisms]), ["", "", "features-only", "majority"]);
    assert_eq!(names(&["--set", "privatize.links.mechanism=public"]), [""]);
    assert_eq!(names(&["--set", "references=[\"majority\"]"]), ["", "majority"]);
    assert_eq!(names(&["--set", "references=[]"]), [""]);
    let document = lab.json(&["--until", "construct"]);
    assert!(rows(&document["stages"]).all(|row| row["stage"] != "similarity"), "no floor is trained");
    // What a floor reads excuses no mistake.
    lab.write("config.toml", text.replace(BLINK_TABLES, ""));
    let unread = ["--set", "privatize.links.mechanism=rr", "--set", "privatize.links.triangle=strict"];
    let refused = lab.call(&[&["run", "config.toml"], &unread[..]].concat());
    assert!(refused.status == 2 && refused.err.contains("`triangle` is not read"), "{}", refused.err);
}
