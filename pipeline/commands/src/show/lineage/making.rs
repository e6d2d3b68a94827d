//! When and where an entry was made, as the logs of runs say.

use serde::Serialize;
use veilgraph_runner::runs::{self, LogLine, RanTask};
use veilgraph_store::Store;

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

impl Making {
    /// The last time that the entry `key` was made, if a log says so.
    pub(super) fn of(store: &Store, key: &str) -> Option<Self> {
        let places = runs::folders(store).into_iter();
        places.filter_map(|place| Self::in_log(&runs::log_of(&place), key)).max_by_key(|making| making.time)
    }

    fn in_log(log: &str, key: &str) -> Option<Self> {
        // Most lines are about other entries. Logs of earlier versions have no keys.
        let mut makings = runs::lines_with(log, key).filter_map(|LogLine { time, version, ran }| {
            let RanTask { host, seconds, why, .. } = ran.into_iter().find(|ran| ran.key.as_deref() == Some(key))?;
            Some(Self { time, version, host: Some(host).filter(|host| !host.is_empty()), seconds, why })
        });
        makings.next_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_with_the_key_counts() {
        let task = |key: &str, more: &str| {
            format!("{{\"stage\": \"train\", \"label\": \"trial-0\", {key} \"why\": [\"new\"], {more}}}")
        };
        let line = |time: u64, version: &str, ran: &[String]| {
            format!("{{\"time\": {time}, \"version\": \"{version}\", \"ran\": [{}]}}\n", ran.join(", "))
        };
        let log = [
            line(1, "0", &[task("\"key\": \"a\",", "\"seconds\": 1.0, \"host\": \"h\"")]),
            line(2, "0", &[task("", "\"seconds\": 1.0, \"host\": \"a\"")]),
            line(3, "1", &[task("\"key\": \"b\",", "\"seconds\": 2.0"), task("\"key\": \"a\",", "\"seconds\": 3.0")]),
            "{\"time\": 4, \"version\": \"1\", \"ran\": [{\"key\": \"a\", \"sec".to_owned(),
        ]
        .concat();
        let wanted = Making { time: 3, version: "1".to_owned(), host: None, seconds: 3.0, why: vec!["new".to_owned()] };
        assert_eq!(Making::in_log(&log, "a"), Some(wanted));
        assert_eq!(Making::in_log(&log, "c"), None);
    }
}
