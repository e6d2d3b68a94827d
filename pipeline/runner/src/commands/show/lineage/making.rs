//! When and where an entry was made, as the logs of runs say.

use std::fs;

use serde::{Deserialize, Serialize};
use veilgraph_store::Store;

use crate::runs;

/// The run of a stage function that made an entry.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Making {
    /// When the run of the experiment ended, in seconds since 1970.
    pub time: u64,
    /// The version of the program.
    pub version: String,
    /// The machine.
    pub host: Option<String>,
    /// How long the function took.
    pub seconds: f64,
    /// Why it ran.
    pub why: Vec<String>,
}

/// A line of a log: a run of an experiment.
#[derive(Deserialize)]
struct LogLine {
    time: u64,
    version: String,
    ran: Vec<Ran>,
}

/// A stage function that ran. Logs of earlier versions have no key.
#[derive(Deserialize)]
struct Ran {
    key: Option<String>,
    host: Option<String>,
    seconds: f64,
    #[serde(default)]
    why: Vec<String>,
}

impl Making {
    /// The last time that the entry `key` was made, if a log says so.
    pub(super) fn of(store: &Store, key: &str) -> Option<Self> {
        let places = runs::folders(store).into_iter().filter(|place| !runs::is_half_written(place));
        let texts = places.filter_map(|place| fs::read_to_string(place.join("log.jsonl")).ok());
        texts.filter_map(|text| Self::in_log(&text, key)).max_by_key(|making| making.time)
    }

    fn in_log(log: &str, key: &str) -> Option<Self> {
        // Most lines are about other entries; one that a crash cut short says nothing.
        let lines = log.lines().filter(|line| line.contains(key));
        let lines = lines.filter_map(|line| serde_json::from_str::<LogLine>(line).ok());
        let mut makings = lines.filter_map(|LogLine { time, version, ran }| {
            let Ran { host, seconds, why, .. } = ran.into_iter().find(|ran| ran.key.as_deref() == Some(key))?;
            Some(Self { time, version, host, seconds, why })
        });
        makings.next_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_with_the_key_counts() {
        let log = "{\"time\": 1, \"version\": \"0\", \"ran\": [{\"key\": \"a\", \"seconds\": 1.0, \"why\": [\"new\"], \"host\": \"h\"}]}\n\
                   {\"time\": 2, \"version\": \"0\", \"ran\": [{\"stage\": \"train\", \"seconds\": 1.0, \"why\": [\"a\"]}]}\n\
                   {\"time\": 3, \"version\": \"1\", \"ran\": [{\"key\": \"b\", \"seconds\": 2.0}, {\"key\": \"a\", \"seconds\": 3.0}]}\n\
                   {\"time\": 4, \"version\": \"1\", \"ran\": [{\"key\": \"a\", \"sec";
        let wanted = Making { time: 3, version: "1".to_owned(), host: None, seconds: 3.0, why: Vec::new() };
        assert_eq!(Making::in_log(log, "a"), Some(wanted));
        assert_eq!(Making::in_log(log, "c"), None);
    }
}
