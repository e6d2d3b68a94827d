//! The bytes that the server sees stay what `tests/golden/digests.csv` holds. Most rows are of commit 228681b; docs/decisions.md
//! says which were renewed since, and why.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{BLINK_TABLES, Lab, TINY, rows};

const RECORD: &str = include_str!("../golden/digests.csv");

/// Reports, posteriors and graphs of every mechanism. Models are left out: their last bits depend on the processor's
/// vector units (`make digests` compares them too, on a machine like the one that made the record).
#[test]
fn every_mechanism_makes_the_bytes_that_it_always_made() {
    let mechanisms = "mechanism = [\"rr\", \"symrr\", \"l-dpgcn\", \"dprr\", \"ldpgen\", \"solitude\", \"non-private\", \"no-links\"]";
    let blink = "[construct]\nvariant = [\"hard\", \"soft\", \"hybrid\"]\n[estimate]\n";
    for (name, links, more) in [
        ("tiny-mechanisms", format!("epsilon = 6.0\n{mechanisms}"), String::new()),
        ("tiny-low-budget", format!("epsilon = 1.0\n{mechanisms}"), String::new()),
        ("tiny-blink", "epsilon = [1.0, 6.0]".to_owned(), format!("{blink}method = \"published\"\nridge = 0.1\n")),
        ("tiny-best", "epsilon = [2.0, 4.0]".to_owned(), format!("{blink}method = \"best\"\n")),
    ] {
        let text = TINY.replace(BLINK_TABLES, &more).replace("epsilon = 6.0", &links);
        let document = Lab::with("config.toml", text).json(&["--until", "construct"]);
        let made: BTreeSet<(String, String)> = rows(&document["stages"])
            .filter(|row| row["stage"] != "ingest")
            .flat_map(|row| row["outputs"].as_object().into_iter().flatten())
            .map(|(artifact, output)| (artifact.clone(), digest(output)))
            .collect();
        let recorded: Vec<Vec<&str>> = RECORD.lines().map(|line| line.split(',').collect()).collect();
        let mine: Vec<&Vec<&str>> = recorded.iter().filter(|row| row[0] == name && row[1] != "train").collect();
        assert!(mine.len() >= 12, "{name}: {} artifacts are recorded", mine.len());
        for row in mine {
            let (artifact, digest) = (row[2].to_owned(), row[3].to_owned());
            assert!(made.contains(&(artifact, digest)), "{name}: {} {} is not made any more", row[2], row[3]);
        }
    }
}

/// The first 16 digits of an output's digest, as the record has them.
fn digest(output: &Value) -> String {
    output["digest"].as_str().unwrap_or_default().chars().take(16).collect()
}
