//! What a deployment does before it charges anything: nothing is paid where something of the config cannot be had.

use crate::deployment::{RING, ledger, links, release, ring};
use crate::support::Answer;

/// M2: what cannot be released is refused before it is charged.
#[test]
fn a_refusal_costs_nothing() {
    for (sets, words) in [
        (vec!["--memory-limit", "700B"], "would take"),
        (vec!["--set", "privatize.links.degree_fraction=1e-8"], "lies outside"),
        (vec!["--set", "privatize.links.epsilon=50"], "at most 20 nats"),
        (vec!["--set", "privatize.links.lying_share=0.1"], "lying_share"),
        (vec!["--set", "privatize.links.epsilon=11"], "exceed the budget"),
        (
            vec!["--set", "privatize.links.mechanism=[\"rr\", \"symrr\"]", "--set", "privatize.links.epsilon=6"],
            "exceed the budget",
        ),
    ] {
        let lab = ring();
        let text = RING.replace("[construct]\nvariant = \"hard\"\n", "");
        lab.write(
            "config.toml",
            if sets.len() > 3 { text.replace("[estimate]\nmethod = \"published\"\nridge = 0.5\n", "") } else { text },
        );
        let answer = release(&lab, &sets);
        assert!(answer.status != 0 && answer.err.contains(words), "{sets:?}: {}", answer.err);
        assert!(ledger(&lab).is_empty(), "{sets:?}");
        assert!(!lab.path("artifacts/owner/privatize").exists() && !lab.path("artifacts/server").exists(), "{sets:?}");
    }
}

/// What is paid for a part of a config is lost where the rest of it cannot be had.
#[test]
fn nothing_is_charged_before_every_release_was_looked_at() {
    let lab = ring();
    assert_eq!(release(&lab, &[]).status, 0);
    let charged = ledger(&lab);
    let with_features = |more: &[&str]| {
        let features = [
            "--set",
            "privatize.features={mechanism=\"one-bit\",epsilon=1,clip=true,dimension=2}",
            "--set",
            "privacy.budget={list-bit=10,node-features=10}",
        ];
        release(&lab, &[&features[..], more].concat())
    };
    let refused = |answer: &Answer, words: &str| {
        assert!(answer.status == 1 && answer.err.contains(words), "{words}: {}", answer.err);
        assert_eq!(ledger(&lab), charged, "{words}");
    };
    refused(&with_features(&["--set", "privacy.population=others"]), "`members` was asked for the same before");
    lab.write("e.csv", links(&[(0, 7)]));
    refused(&with_features(&[]), "the private data have changed since");
    lab.write("e.csv", links(&[]));
    lab.write("other.csv", links(&[(0, 7)]));
    let both = ["--set", "ingest.edges=[\"e.csv\", \"other.csv\"]", "--set", "privatize.links.epsilon=1"];
    refused(&with_features(&both), "about another version of the data");
    // What was accepted and made stands in nobody's way.
    let accepted = release(&lab, &[&both[..], &["--spend"]].concat());
    assert_eq!(accepted.status, 0, "{}", accepted.err);
    let charged = ledger(&lab);
    let answer = with_features(&both);
    assert_eq!(answer.status, 0, "{}", answer.err);
    assert!(ledger(&lab).len() > charged.len(), "the features were released");
}

/// Earlier releases of any of the data count, whichever release of the config is charged first.
#[test]
fn a_budget_counts_what_was_released_of_all_data_of_a_config() {
    let lab = ring();
    let plain = RING.replace("[estimate]\nmethod = \"published\"\nridge = 0.5\n[construct]\nvariant = \"hard\"\n", "");
    lab.write("config.toml", plain);
    assert_eq!(release(&lab, &["--set", "privatize.links={mechanism=\"rr\",epsilon=8}"]).status, 0);
    let charged = ledger(&lab);
    let answer = release(
        &lab,
        &[
            "--jobs",
            "1",
            "--set",
            "privacy.population=others",
            "--set",
            "privatize.links.epsilon=4",
            "--set",
            "privatize.features={mechanism=\"one-bit\",epsilon=1,clip=true,dimension=2}",
            "--set",
            "privacy.budget={list-bit=10,node-features=10}",
        ],
    );
    assert!(answer.status == 1 && answer.err.contains("8 of 10 nats are spent"), "{}", answer.err);
    assert_eq!(ledger(&lab), charged, "the features were not charged either");
}

/// A second release of links that was accepted counts for what a server may believe, although features are charged before it.
#[test]
fn a_belief_counts_every_release_that_is_about_to_be_drawn() {
    const FEATURES: &str = "privatize.features={mechanism=\"one-bit\",epsilon=1,clip=true,dimension=2}";
    let lab = ring();
    let known = "public_knowledge = { nodes = 40, mean_degree = 2 }\nat_most_belief = 0.9\n";
    let plain = RING
        .replace("[estimate]\nmethod = \"published\"\nridge = 0.5\n[construct]\nvariant = \"hard\"\n", "")
        .replace("budget = 10.0\n", &format!("budget = {{ list-bit = 20, node-features = 10 }}\n{known}"))
        .replace("epsilon = 2.0", "epsilon = 1.5");
    lab.write("config.toml", plain);
    let first = release(&lab, &[]);
    assert_eq!(first.status, 0, "{}", first.err);
    let charged = ledger(&lab);
    lab.write("e.csv", links(&[(0, 7)]));
    let second = release(&lab, &["--jobs", "1", "--spend", "--set", FEATURES]);
    assert!(second.status == 1 && second.err.contains("at_most_belief is 90 %"), "{}", second.err);
    assert_eq!(ledger(&lab), charged, "the features were not charged either");
    lab.write("e.csv", links(&[]));
    let features = release(&lab, &["--set", FEATURES, "--set", "privacy.at_most_belief=0.5"]);
    assert_eq!(features.status, 0, "features say nothing of a link: {}", features.err);
}

/// A release that reads from another one counts for every version of the data, before the other one is there.
#[test]
fn second_rounds_count_for_every_version_of_the_data() {
    let lab = ring();
    let known = "budget = 20.0\npublic_knowledge = { nodes = 40, mean_degree = 2 }\nat_most_belief = 0.98\n";
    let plain = RING
        .replace("[estimate]\nmethod = \"published\"\nridge = 0.5\n[construct]\nvariant = \"hard\"\n", "")
        .replace("budget = 10.0\n", known);
    lab.write("config.toml", plain);
    lab.write("other.csv", links(&[(0, 7)]));
    let ldpgen = "privatize.links={mechanism=\"ldpgen\",epsilon=2}";
    let both = ["--set", ldpgen, "--set", "ingest.edges=[\"e.csv\", \"other.csv\"]"];
    let answer = release(&lab, &[&["--jobs", "1", "--spend"], &both[..]].concat());
    for words in ["4 nats per list bit, 8 per undirected link", "at_most_belief is 98 %"] {
        assert!(answer.status == 1 && answer.err.contains(words), "{words}: {}", answer.err);
    }
    assert!(ledger(&lab).is_empty());
    // One version is fine, and its second round is no reason to stop what comes later.
    assert_eq!(release(&lab, &["--set", ldpgen]).status, 0);
    let features = "privatize.features={mechanism=\"one-bit\",epsilon=1,clip=true,dimension=2}";
    let budget = "privacy.budget={list-bit=20,node-features=10}";
    let later = ["--jobs", "1", "--spend", "--set", ldpgen, "--set", features, "--set", budget];
    let answer = release(&lab, &later);
    assert!(answer.status == 0 && !answer.err.contains("per undirected link"), "{}", answer.err);
}

/// What the server can compute without a release is computed first, and scores that nothing makes are no reason to pay.
#[test]
fn nothing_is_charged_before_what_needs_no_release() {
    for (from, to, words) in [
        (
            "[estimate]\nmethod = \"published\"\nridge = 0.5\n",
            "[similarity]\nmost_pairs = 5\n",
            "let 5 pairs be listed",
        ),
        (
            "[train]",
            "[evaluate]\nmetrics = [\"feature-error\"]\n[train]",
            "nothing in this config makes the scores `feature-error`",
        ),
        (
            "[train]",
            "[privatize.features]\nmechanism = \"one-bit\"\nepsilon = 1\nclip = true\ndimension = 2\nrange = [0, 3e38]\n[train]",
            "too much for numbers of 32 bits",
        ),
    ] {
        let lab = ring();
        lab.write(
            "config.toml",
            RING.replace(from, to).replace("budget = 10.0", "budget = { list-bit = 10, node-features = 10 }"),
        );
        for more in [&["--jobs", "1"][..], &["--keep-going"]] {
            let answer = lab.call(&[&["run", "config.toml"], more].concat());
            assert!(answer.status != 0 && answer.err.contains(words), "{words}: {}", answer.err);
            assert!(ledger(&lab).is_empty(), "{words}");
        }
    }
}

/// A budget that is too small by its name alone is told before anything is computed, but for a run that keeps going.
#[test]
fn a_budget_is_compared_before_data_are_read() {
    for (more, is_read) in [(&[][..], false), (&["--keep-going"], true)] {
        let lab = ring();
        let answer = release(&lab, &[&["--set", "privatize.links.epsilon=11"], more].concat());
        assert!(answer.status == 1 && answer.err.contains("exceed the budget"), "{}", answer.err);
        assert_eq!(lab.path("artifacts/owner/ingest").exists(), is_read, "{more:?}");
    }
}

/// What two readings of one graph release is one release, for plan and budget too.
#[test]
fn what_a_config_asks_for_twice_is_counted_once() {
    let lab = ring();
    let twice = ["--set", "privatize.links.epsilon=6", "--set", "ingest.normalize=[\"none\", \"min-max\"]"];
    let plan = lab.call(&[&["plan", "config.toml"], &twice[..]].concat());
    assert!(plan.out.contains("all releases of this config cost 6 nats per list bit"), "{}", plan.out);
    assert!(!plan.out.contains("would refuse"), "{}", plan.out);
    let run = release(&lab, &twice);
    assert!(run.status == 0 && run.err.contains("costs each node of `members` 6 nats per list bit"), "{}", run.err);
}

/// The total of a plan is said before anything is drawn, budget or not.
#[test]
fn a_plan_says_what_all_its_releases_cost() {
    let lab = ring();
    let plan = lab.call(&["plan", "config.toml", "--set", "privatize.links.epsilon=[1, 4]"]);
    for words in ["0 of 10 nats per list bit are spent", "all releases of this config cost 5 nats per list bit, 10 per"]
    {
        assert!(plan.out.contains(words), "{words}: {}", plan.out);
    }
    let run = release(&lab, &["--set", "privatize.links.epsilon=[1, 4]"]);
    assert!(run.err.contains("5 nats per list bit"), "{}", run.err);
}
