//! Budgets, deployments and the ledger that remembers both.

use std::fs;

use serde_json::Value;

use crate::support::{Answer, Lab, TINY};

fn ledger(lab: &Lab) -> Vec<Value> {
    let answer = lab.call(&["ledger", "--json"]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    serde_json::from_str::<Value>(&answer.out).expect("JSON").as_array().expect("rows").clone()
}

/// The tiny experiment as one release, with a `[privacy]` table.
fn deployment(privacy: &str) -> Lab {
    Lab::with(
        "config.toml",
        TINY.replace("trials = 2", "")
            .replace("[ingest.synthetic]", &format!("[privacy]\n{privacy}\n[ingest.synthetic]")),
    )
}

/// A `[privacy]` table of a deployment.
const OS: &str = "randomness = \"os\"\npopulation = \"members\"\nbudget = 100.0";

fn run(lab: &Lab, arguments: &[&str]) -> Answer {
    lab.call(&[&["--quiet", "run", "config.toml", "--until", "privatize"], arguments].concat())
}

#[test]
fn a_budget_refuses_an_overspend_before_noise_is_drawn() {
    let lab = deployment("budget = 10.0");
    let plan = lab.call(&["plan", "config.toml"]).out;
    assert!(
        plan.contains(
            "budget of `tiny`: 0 of 10 nats per list bit are spent under this name; all releases of this config cost 6"
        ),
        "{plan}"
    );
    assert_eq!(run(&lab, &[]).status, 0);
    assert_eq!(run(&lab, &[]).status, 0, "the same release is reused and costs nothing");
    let answer = run(&lab, &["--set", "privatize.links.epsilon=5"]);
    assert_eq!(answer.status, 1);
    for word in ["together cost 5 nats", "6 of 10 nats are spent", "4 remain", "--spend"] {
        assert!(answer.err.contains(word), "`{word}` is not in {}", answer.err);
    }
    assert_eq!(ledger(&lab).len(), 4, "a refused release is not charged");
    // The graph changed a little and the name did not: it is still about the same people.
    let changed = ["--set", "privatize.links.epsilon=4.5", "--set", "ingest.synthetic.seed=7"];
    assert!(run(&lab, &changed).err.contains("4 remain"), "another graph of the same population");
    // The name changed and the graph did not.
    let renamed = ["--set", "privatize.links.epsilon=4.5", "--set", "privacy.population=\"others\""];
    let refused = run(&lab, &renamed).err;
    assert!(refused.contains("4 remain"), "the same graph under another name: {refused}");
    assert!(refused.contains("spent on `others`, whose data were also released as `tiny`"), "{refused}");
    assert_eq!(run(&lab, &["--set", "privatize.links.epsilon=4"]).status, 0, "what remains may be spent");
    assert_eq!(run(&lab, &["--set", "privatize.links.epsilon=1", "--spend"]).status, 0);
    assert_eq!(ledger(&lab).len(), 12);
}

/// What no noise can represent is refused with the config, and neither a simulation nor a deployment pays for it.
#[test]
fn a_release_that_cannot_be_drawn_is_not_charged() {
    for privacy in ["budget = 10.0", OS] {
        let lab = deployment(privacy);
        for set in [
            "privatize.links={epsilon=1e-320}",
            "privatize.links={mechanism=\"dprr\",epsilon=1e-320}",
            "privatize.links={mechanism=\"l-dpgcn\",epsilon=1e-320}",
            "privatize.links={mechanism=\"ldpgen\",epsilon=1e-320}",
            "privatize.features={mechanism=\"one-bit\",epsilon=1e-20,dimension=40,clip=true}",
            "privatize.features={mechanism=\"laplace\",epsilon=1e-20,dimension=40,clip=true}",
            "privatize.features={mechanism=\"piecewise\",epsilon=1e-20,dimension=40,clip=true}",
            "privatize.features={mechanism=\"multi-bit\",epsilon=1e-20,dimension=40,clip=true}",
        ] {
            for command in ["plan", "run"] {
                let answer = lab.call(&[command, "config.toml", "--until", "privatize", "--set", set]);
                assert!(
                    answer.status == 2 && answer.err.contains("noise") && answer.err.contains("can represent"),
                    "{set}: {}",
                    answer.err
                );
            }
        }
        assert!(!lab.path("artifacts/owner/ledger.jsonl").exists(), "nothing was charged");
    }
    let lab = deployment("budget = 10.0");
    let set = "privatize.links={epsilon=9,degree_fraction=0,missing_share=0.1}";
    let answer = run(&lab, &["--set", set]);
    assert!(answer.status == 2 && answer.err.contains("needs a degree_fraction above 0"), "{}", answer.err);
    assert_eq!(run(&lab, &["--set", "privatize.links={epsilon=8}"]).status, 0, "the budget is whole");
}

#[test]
fn a_deployment_is_drawn_once_from_the_operating_system() {
    let lab = deployment(OS);
    let read = |lab: &Lab| {
        fs::read(lab.path("artifacts/owner/runs/tiny/privatize/trial-0/noisy_links.parquet")).expect("there")
    };
    assert_eq!(run(&lab, &[]).status, 0);
    let first = read(&lab);
    assert_eq!(run(&lab, &[]).status, 0);
    assert_eq!(read(&lab), first, "memoized");
    assert!(ledger(&lab).iter().all(|row| row["randomness"] == "os" && row["deployable"] == true));
    let other = deployment(OS);
    assert_eq!(run(&other, &[]).status, 0);
    assert_ne!(read(&other), first, "no seed anywhere");
    assert_eq!(lab.call(&["gc", "--older-than", "0"]).status, 0);
    for part in ["owner", "server"] {
        fs::remove_dir_all(lab.path("artifacts").join(part).join("runs")).expect("removed");
    }
    assert_eq!(lab.call(&["gc", "--older-than", "0"]).status, 0);
    assert!(
        lab.path("artifacts/owner/privatize").read_dir().expect("there").next().is_some(),
        "kept: nobody can draw it again"
    );
    // Damaged: drawing again would be a second release.
    let entry =
        lab.path("artifacts/owner/privatize").read_dir().expect("there").next().expect("one").expect("readable").path();
    fs::write(entry.join("noisy_links.parquet"), "x").expect("written");
    let answer = run(&lab, &[]);
    assert!(
        answer.status == 1 && answer.err.contains("drawn before") && answer.err.contains("--spend"),
        "{}",
        answer.err
    );
    assert_eq!(ledger(&lab).len(), 4);
    assert_eq!(run(&lab, &["--spend"]).status, 0);
    assert_eq!(ledger(&lab).len(), 8, "charged again");
}

#[test]
fn a_deployment_refuses_what_only_a_simulation_may_do() {
    for (set, word) in [
        ("trials=3", "a deployment makes one"),
        ("seed=1", "refuses a seed"),
        ("privatize.links.degree_noise=laplace", "floating-point bits"),
        ("privatize.links.epsilon=inf", "finite epsilon"),
        ("privatize.links.mechanism=non-private", "a mechanism that protects"),
        ("privatize.links.missing_share=0.5", "simulates missing nodes"),
        ("privacy.randomness=dice", "dice"),
        ("privacy.budget=-1", "positive"),
    ] {
        let answer = run(&deployment(OS), &["--set", set]);
        assert!(answer.status == 2 && answer.err.contains(word), "{set}: {}", answer.err);
    }
}

#[test]
fn only_deployable_releases_are_exported() {
    let export = |lab: &Lab| lab.call(&["export", "config.toml", "--to", "out", "--yes"]);
    let lab = deployment(OS);
    assert!(export(&lab).err.contains("was not released as this config says"));
    assert_eq!(run(&lab, &[]).status, 0);
    let answer = export(&lab);
    assert_eq!(answer.status, 0, "{}", answer.err);
    let cost: Value = serde_json::from_slice(&fs::read(lab.path("out/cost.json")).expect("written")).expect("JSON");
    assert_eq!(cost["releases"].as_array().expect("rows").len(), 4);
    assert!(export(&lab).err.contains("exists already"));
    let simulated = Lab::tiny();
    assert_eq!(run(&simulated, &[]).status, 0);
    let answer = export(&simulated);
    assert!(answer.status == 1 && answer.err.contains("drawn from a seed"), "{}", answer.err);
    assert!(!simulated.path("out").exists());
}

#[test]
fn a_ledger_that_does_not_end_as_its_last_charge_left_it_is_refused() {
    let lab = deployment("");
    assert_eq!(run(&lab, &[]).status, 0);
    assert_eq!(run(&lab, &["--set", "privatize.links.epsilon=1"]).status, 0);
    let path = lab.path("artifacts/owner/ledger.jsonl");
    let text = fs::read_to_string(&path).expect("there");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 8);
    let edited =
        |line: &str| line.replace("\"epsilon\":5.4", "\"epsilon\":0.4").replace("\"epsilon\":0.1", "\"epsilon\":0.0");
    let first_edited = [&[edited(lines[0]).as_str()], &lines[1..]].concat().join("\n") + "\n";
    let last_edited = [&lines[..7], &[edited(lines[7]).replace("0.2", "0.0").as_str()]].concat().join("\n") + "\n";
    assert!(first_edited != text && last_edited != text);
    let shortened = lines[..3].join("\n") + "\n";
    let extended = format!("{text}{{\"previous\":\"ab");
    for (how, broken) in [
        ("first row edited", first_edited.as_str()),
        ("last row edited", &last_edited),
        ("first row gone", &(lines[1..].join("\n") + "\n")),
        ("rolled back", &shortened),
        ("emptied", ""),
        ("extended", &extended),
        ("no rows", "no row\n"),
    ] {
        fs::write(&path, broken).expect("written");
        for command in [
            vec!["ledger"],
            vec!["verify"],
            vec!["run", "config.toml", "--set", "privatize.links.epsilon=2"],
            vec!["export", "config.toml", "--to", "out", "--yes"],
            vec!["export", "config.toml", "--to", "out", "--yes", "--side", "server"],
        ] {
            let answer = lab.call(&command);
            assert!(answer.status == 1, "{how}, {command:?}: {}", answer.err);
            assert!(
                answer.err.contains("from a copy") || answer.err.contains("drawn from a seed"),
                "{how}: {}",
                answer.err
            );
        }
    }
    fs::remove_file(&path).expect("removed");
    let answer = run(&lab, &["--set", "privatize.links.epsilon=2"]);
    assert!(answer.status == 1 && answer.err.contains("the privacy ledger is gone"), "{}", answer.err);
    // A copy of the ledger and its end, of an earlier moment: the releases in the store tell.
    for file in ["ledger.jsonl", "ledger.head"] {
        let _ = fs::remove_file(lab.path("artifacts/owner").join(file));
    }
    for command in [vec!["ledger"], vec!["verify"], vec!["run", "config.toml", "--set", "privatize.links.epsilon=2"]] {
        let answer = lab.call(&command);
        assert!(answer.status == 1 && answer.err.contains("lacks the release"), "{command:?}: {}", answer.err);
    }
}

/// A crash in the middle of a charge leaves the end of the ledger and some of the rows: the charge is completed.
#[test]
fn a_charge_that_a_crash_cut_short_is_completed() {
    let lab = deployment("population = \"Zürich\"");
    assert_eq!(run(&lab, &[]).status, 0);
    let path = lab.path("artifacts/owner/ledger.jsonl");
    let text = fs::read_to_string(&path).expect("there");
    // The end that a charge notes before it appends its rows.
    let end = serde_json::json!({"length": 0, "digest": blake3::hash(b"").to_hex().to_string(), "pending": text});
    fs::write(lab.path("artifacts/owner/ledger.head"), end.to_string()).expect("written");
    let in_a_letter = text.find('ü').expect("a letter of two bytes") + 1;
    for kept in [0, 10, in_a_letter, text.find('\n').expect("a line") + 1, text.len() / 2, text.len() - 1] {
        fs::write(&path, &text.as_bytes()[..kept]).expect("written");
        assert_eq!(ledger(&lab).len(), 4, "{kept} bytes were written");
        assert_eq!(run(&lab, &[]).status, 0);
    }
    assert_eq!(run(&lab, &["--set", "privatize.links.epsilon=1"]).status, 0);
    assert!(fs::read_to_string(&path).expect("there").starts_with(&text), "the rows that were missing are there");
    assert_eq!(ledger(&lab).len(), 8);
}
