//! One graph as several tasks: the same bytes, whatever the number of blocks.

use serde_json::Value;

use crate::support::{BLINK_TABLES, Lab, TINY, rows};

/// Digests of the artifacts that both ways make, by name of the artifact and of the run without its blocks.
fn results(document: &Value) -> Vec<(String, String)> {
    let steps = ["logit_counts", "likely_threshold", "likely_pairs"];
    let mut found = Vec::new();
    for row in
        rows(&document["stages"]).filter(|row| !row["label"].as_str().is_some_and(|label| label.contains("-of-")))
    {
        for (artifact, output) in row["outputs"].as_object().expect("outputs") {
            if !steps.contains(&artifact.as_str()) {
                found.push((format!("{} {} {artifact}", row["stage"], row["label"]), output["digest"].to_string()));
            }
        }
    }
    found.sort();
    found
}

fn blocks(number: &str) -> [String; 2] {
    ["--set".to_owned(), format!("privatize.links.row_blocks={number}")]
}

/// Bits and lists, few and many known pairs, with and without bins, every variant.
#[test]
fn blocks_of_rows_make_the_same_bytes() {
    for (epsilon, method) in [("0.5", "published"), ("6.0", "published"), ("6.0", "best"), ("inf", "published")] {
        let text = TINY.replace("epsilon = 6.0", &format!("epsilon = {epsilon}"));
        let text = text.replace("variant = \"hybrid\"", "variant = [\"hard\", \"soft\", \"hybrid\"]");
        let lab = Lab::with("config.toml", text.replace("epochs = 20", "epochs = 3"));
        let method = format!("estimate.method={method}");
        let arguments = ["--set", &method];
        let whole = results(&lab.json(&arguments));
        assert!(whole.iter().any(|(name, _)| name.ends_with(" graph")));
        for number in ["1", "2", "5"] {
            let [set, field] = blocks(number);
            let more = [&arguments[..], &[&set, &field]].concat();
            assert_eq!(results(&lab.json(&more)), whole, "epsilon {epsilon}, {method}, {number} blocks");
        }
    }
}

/// The reports are drawn once and whatever follows the graph stays fresh.
#[test]
fn only_what_is_divided_runs_again() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let [set, field] = blocks("3");
    assert_eq!(lab.ran(&[&set, &field]), ["estimate", "construct"]);
    let document = lab.json(&[&set, &field]);
    let labels: Vec<String> =
        rows(&document["stages"]).map(|row| format!("{} {}", row["stage"], row["label"])).collect();
    for block in 1..=3 {
        let expected = format!("\"estimate\" \"pair-{block}-of-3,trial-0\"");
        assert!(labels.contains(&expected), "{expected} is not in {labels:?}");
    }
    let answer = lab.call(&["run", "config.toml", &set, &field]);
    assert!(answer.err.contains("fresh") && !answer.err.contains("never ran"), "{}", answer.err);
    // The readable names lead to the graph, not to one of its blocks.
    let shown = lab.call(&["show", "tiny/construct/trial-0/graph"]);
    assert_eq!(shown.status, 0, "{}", shown.err);
}

#[test]
fn a_number_of_blocks_that_makes_no_sense_is_refused() {
    let lab = Lab::tiny();
    for number in ["0", "-1", "2.5", "[2, 4]", "[4]", "1000000", "\"many\""] {
        let [set, field] = blocks(number);
        let answer = lab.call(&["run", "config.toml", &set, &field]);
        assert_ne!(answer.status, 0, "{number}");
        assert!(answer.err.contains("row_blocks") && answer.err.contains("1 to 512"), "{number}: {}", answer.err);
    }
    let [set, field] = blocks("2");
    let (ldpgen, given) = ("privatize.links.mechanism=ldpgen", TINY.replace(BLINK_TABLES, ""));
    lab.write("config.toml", given);
    let answer = lab.call(&["run", "config.toml", "--set", ldpgen, &set, &field]);
    assert!(answer.status != 0 && answer.err.contains("it is by blink"), "{}", answer.err);
    assert!(!lab.has_entries());
}
