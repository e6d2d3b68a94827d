//! A lineage for people.

use std::collections::{BTreeMap, BTreeSet};

use bytesize::ByteSize;
use serde_json::Value;
use veilgraph_runner::date::date;

use super::joined::Input;
use super::{Artifact, Lineage, Making, Origin, Use};

/// How many readers are listed.
const MOST_READERS: usize = 20;

impl Lineage {
    /// What is known, line by line, and below it the tree of what it was made from.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("{} {}", self.stage, self.key)];
        let mut say = |name: &str, text: String| lines.push(format!("  {name:<12}{text}"));
        if let Some(Origin { function, side, settings, seed, trial, code, dependencies, .. }) = self.entries.first() {
            say("function", format!("{}, run by the {side}", function.as_deref().unwrap_or("unknown")));
            say("made", self.made());
            let mut fields = Vec::new();
            flatten("", settings, &mut fields);
            say("settings", if fields.is_empty() { "none".to_owned() } else { fields.join("\n              ") });
            let number = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
            let (seed, trial) =
                (number(seed.map(|seed| seed.to_string())), number(trial.map(|trial| trial.to_string())));
            say("seed", format!("{seed}, trial {trial}"));
            let this = match self.same_code {
                Some(true) => ", which this program has",
                Some(false) => "; this program has other code, and makes another entry",
                None => "",
            };
            say("code", format!("{}, dependencies {}{this}", short(code), short(dependencies)));
        }
        for Artifact { name, zone, bytes, digest } in &self.artifacts {
            let size = if *bytes == 0 { String::new() } else { format!(", {}", ByteSize(*bytes)) };
            say("holds", format!("{name} ({zone}{size}, digest {})", short(digest)));
        }
        self.uses().into_iter().for_each(|text| say("used by", text));
        for reader in self.read_by.iter().take(MOST_READERS) {
            say("read by", format!("{} {}", reader.stage, reader.key));
        }
        if self.read_by.len() > MOST_READERS {
            say("read by", format!("and {} more", self.read_by.len() - MOST_READERS));
        }
        self.make_again.iter().for_each(|text| say("make again", text.clone()));
        if self.make_again.len() > 1 {
            say("", "(in the folder of the config, where paths of data begin)".to_owned());
        }
        lines.push("  made from".to_owned());
        let origins: BTreeMap<&str, &Origin> =
            self.entries.iter().map(|origin| (origin.key.as_str(), origin)).collect();
        branch(&self.key, 2, &origins, &mut BTreeSet::from([self.key.clone()]), &mut lines);
        lines
    }

    /// When, where, how long and why.
    fn made(&self) -> String {
        let Some(Making { time, version, host, seconds, why }) = &self.made else {
            return format!("in this store since {}; no log of this store says where it was made", at(self.since));
        };
        let host = host.as_deref().unwrap_or("a machine that was not recorded");
        let why = if why.is_empty() { String::new() } else { format!(", because {}", why.join(", ")) };
        format!("{} on {host} in {seconds:.2} s by veilgraph {version}{why}", at(*time))
    }

    /// The names of the last run of each experiment that used it.
    fn uses(&self) -> Vec<String> {
        let mut by_experiment: BTreeMap<&str, Vec<&Use>> = BTreeMap::new();
        for used in &self.used_by {
            let experiment = used.run.split('@').next().unwrap_or_default();
            by_experiment.entry(experiment).or_default().push(used);
        }
        let last = |uses: &Vec<&Use>| {
            let Some(first) = uses.first() else { return String::new() };
            let labels = uses.iter().filter(|used| used.run == first.run).map(|used| used.label.as_str());
            let mut labels: Vec<&str> = labels.collect();
            labels.sort_unstable();
            labels.dedup();
            let runs: BTreeSet<&str> = uses.iter().map(|used| used.run.as_str()).collect();
            let earlier =
                if runs.len() > 1 { format!(", and in {} earlier runs", runs.len() - 1) } else { String::new() };
            format!("{} as {}{earlier}", first.run, labels.join(" and "))
        };
        by_experiment.values().map(last).collect()
    }
}

/// The inputs of an entry, each below the one that was made from it. What stands above already is not told again.
fn branch(
    key: &str,
    depth: usize,
    origins: &BTreeMap<&str, &Origin>,
    told: &mut BTreeSet<String>,
    lines: &mut Vec<String>,
) {
    let Some(origin) = origins.get(key) else { return };
    for Input { name, stage, key, file } in &origin.inputs {
        let source = match (stage, key, file) {
            (Some(stage), Some(key), _) => format!("{stage} {key}"),
            (.., Some(file)) => format!("the file {file}"),
            _ => "not in this store".to_owned(),
        };
        let again = key.as_ref().is_some_and(|key| !told.insert(key.clone()));
        let has_inputs = |key: &String| origins.get(key.as_str()).is_some_and(|origin| !origin.inputs.is_empty());
        let note = if again && key.as_ref().is_some_and(has_inputs) { " (see above)" } else { "" };
        lines.push(format!("{:indent$}{name} from {source}{note}", "", indent = 2 * depth));
        if let Some(key) = key.as_ref().filter(|_| !again) {
            branch(key, depth + 1, origins, told, lines);
        }
    }
}

/// The fields of settings, each with its value.
fn flatten(path: &str, value: &Value, fields: &mut Vec<String>) {
    match value {
        Value::Object(inner) => {
            for (key, value) in inner {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(&path, value, fields);
            }
        }
        Value::Null => {}
        value if path.is_empty() => fields.push(value.to_string()),
        value => fields.push(format!("{path} = {value}")),
    }
}

/// A time in seconds since 1970.
fn at(seconds: u64) -> String {
    format!("{} {:02}:{:02} UTC", date(seconds), seconds / 3_600 % 24, seconds / 60 % 60)
}

/// The beginning of a digest.
fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}
