//! `[[check]]` of artifacts: what a query finds in them.

use serde_json::Value;

use crate::support::{Lab, TINY, rows};

fn config(check: &str) -> String {
    format!("{TINY}\n[[check]]\n{check}\n")
}

#[test]
fn queries_about_artifacts_pass_warn_or_fail_the_run() {
    let lab = Lab::tiny();
    let first = |document: &Value| rows(&document["checks"]).next().expect("a check").clone();
    let enough = "artifact = \"graph\"\nsql = \"SELECT COUNT(DISTINCT source) FROM artifact\"\nat_least = 20";
    lab.write("config.toml", config(enough));
    let passed = first(&lab.json(&[]));
    assert_eq!((&passed["passed"], &passed["cells"]), (&true.into(), &2.into()), "one graph in each trial: {passed}");
    assert_eq!(passed["counted"], "artifacts");
    assert_eq!(passed["name"], "`SELECT COUNT(DISTINCT source) FROM artifact` of graph at least 20");
    let few = "name = \"links\"\nartifact = \"graph\"\nsql = \"SELECT COUNT(*) FROM artifact\"\nat_least = 1e6";
    lab.write("config.toml", config(few));
    let warned = lab.call(&["run", "config.toml"]);
    assert!(warned.status == 0 && warned.out.contains("check warning: links (2 artifacts)"), "{}", warned.out);
    assert!(warned.out.contains("trial-1: "), "each problem names its artifact: {}", warned.out);
    lab.write("config.toml", config(&format!("{few}\nfail = true")));
    let failed = lab.call(&["run", "config.toml"]);
    assert!(failed.status == 1 && failed.err.contains("these checks of them failed: links"), "{}", failed.err);
    assert_eq!(lab.call(&["report", "config.toml"]).status, 0, "the page shows it as well");
}

/// What a query says of the links themselves would be a release, and a slip of the pen should not cost a run.
#[test]
fn an_artifact_that_cannot_be_asked_is_refused_before_anything_runs() {
    let lab = Lab::tiny();
    for (artifact, words) in [
        ("links", "the server may not see `links`"),
        ("held_out_labels", "the server may not see `held_out_labels`"),
        ("grpah", "did you mean `graph`"),
        ("something", "nothing in this experiment makes an artifact `something`; a check may ask"),
        // Another estimator would make it.
        ("class_beliefs", "nothing in this experiment makes"),
    ] {
        let check = format!("artifact = \"{artifact}\"\nsql = \"SELECT COUNT(*) FROM artifact\"\nat_least = 0");
        lab.write("config.toml", config(&check));
        for command in ["run", "plan"] {
            let answer = lab.call(&[command, "config.toml"]);
            assert!(answer.status == 2 && answer.err.contains(words), "{command} {artifact}: {}", answer.err);
        }
        assert_eq!(lab.call(&["plan", "config.toml", "--until", "ingest"]).status, 0, "a part of a plan asks nothing");
    }
    assert!(!lab.has_entries());
}

/// Matching makes the sum of all probabilities the sum of the estimated degrees, which the server checks by itself.
#[test]
fn matched_posteriors_expect_as_many_links_as_the_degrees_say() {
    let lab = Lab::tiny();
    let sets = ["--set", "estimate.match=true", "--set", "trials=1"];
    let document = lab.json(&sets);
    let score = |name: &str| {
        let row = rows(&document["metrics"]).find(|row| row["metric"] == name).expect(name);
        row["mean"].as_f64().expect("a number")
    };
    let (expected, ratio) = (score("expected_entries"), score("expected_link_ratio"));
    assert!((ratio - expected / score("true_entries")).abs() < 1e-12, "{ratio}");
    let of_degrees = "[[check]]\nartifact = \"link_model\"\nsql = \"SELECT SUM(degree) FROM artifact\"\n";
    let of_fit = "[[check]]\nscore = \"prior_residual\"\nat_most = 1e-4\n";
    let (least, most) = (expected * 0.999, expected * 1.001);
    lab.write("config.toml", format!("{TINY}\n{of_degrees}at_least = {least}\n{of_degrees}at_most = {most}\n{of_fit}"));
    let document = lab.json(&sets);
    let passed: Vec<&Value> = rows(&document["checks"]).map(|check| &check["passed"]).collect();
    assert_eq!(passed, [&Value::from(true); 3], "{}", document["checks"]);
    let table = lab.call(&[&["table", "config.toml", "--score", "expected_link_ratio"], &sets[..]].concat());
    assert!(table.out.contains("expected / true links"), "{}{}", table.out, table.err);
}

#[test]
fn a_query_that_finds_no_number_does_not_pass() {
    let lab = Lab::tiny();
    for (check, words) in [
        ("artifact = \"graph\"\nsql = \"SELECT heaviness FROM artifact\"", "the table is called `artifact`"),
        ("artifact = \"graph\"\nsql = \"SELECT * FROM artifact\"", "and not one number"),
        ("artifact = \"graph\"\nsql = \"SELECT 'much' AS word FROM artifact LIMIT 1\"", "finds no number"),
    ] {
        lab.write("config.toml", config(&format!("{check}\nat_least = 0")));
        let answer = lab.call(&["run", "config.toml"]);
        assert_eq!(answer.status, 0, "{}", answer.err);
        assert!(answer.out.contains("check warning") && answer.out.contains(words), "`{words}`: {}", answer.out);
    }
}

#[test]
fn a_check_of_an_artifact_with_a_mistake_runs_nothing() {
    let lab = Lab::tiny();
    let query = "artifact = \"graph\"\nsql = \"SELECT 1 FROM artifact\"\n";
    for (check, words) in [
        ("artifact = \"graph\"\nat_least = 1".to_owned(), "an artifact with sql"),
        (format!("{query}score = \"accuracy\"\nat_least = 1"), "an artifact with sql"),
        (query.to_owned(), "one of at_least and at_most"),
        (format!("{query}at_least = \"floor\""), "one of at_least and at_most"),
        (format!("{query}at_least = 1\nwhere = {{ epsilon = 1 }}"), "one of at_least and at_most"),
        (format!("{query}near = \"accuracy\"\nwithin = 0.1"), "one of at_least and at_most"),
    ] {
        lab.write("config.toml", config(&check));
        let answer = lab.call(&["run", "config.toml"]);
        assert!(answer.status == 2 && answer.err.contains(words), "{check}: {}", answer.err);
    }
    assert!(!lab.has_entries());
}
