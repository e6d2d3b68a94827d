//! Which entries the last run of a config used.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use veilgraph_store::{Part, Store, StoreKind};

use super::folder;
use crate::config::Config;
use crate::engine::SideChoice;
use crate::task::Task;

/// Which entries the last run of a config used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Stage to key, by stage function and label.
    entries: BTreeMap<String, BTreeMap<String, String>>,
}

/// An entry that a run used.
#[derive(Clone, Copy, Debug)]
pub struct NamedEntry<'a> {
    pub stage: &'a str,
    /// Stage function; empty in records of layout 1.
    pub function: &'a str,
    pub label: &'a str,
    pub key: &'a str,
}

impl RunRecord {
    /// The record of the last run of `config`; empty if it never ran.
    ///
    /// # Errors
    /// When the record is damaged or cannot be read.
    pub fn of(store: &Store, config: &Config, side: SideChoice) -> anyhow::Result<Self> {
        let parts: &[Part] = match (config.is_deployment(), store.kind(), side) {
            (true, StoreKind::Whole, SideChoice::All) => &[Part::Owner, Part::Server],
            (true, ..) => &[Part::Server],
            (false, ..) => &[Part::Simulation],
        };
        let places = parts.iter().map(|part| folder(store, *part, &config.name));
        // Layouts before 3 had one folder of names.
        let places = places.chain([store.root().join("runs").join(&config.name)]);
        let mut found = places.filter(|place| place.join("run.json").is_file());
        found.next().map_or_else(|| Ok(Self::default()), |place| Self::read(&place))
    }

    /// The record in a folder of readable names; empty if there is none.
    ///
    /// # Errors
    /// When the record is damaged or cannot be read.
    pub fn read(place: &Path) -> anyhow::Result<Self> {
        let path = place.join("run.json");
        if !path.exists() {
            return Ok(Self::default());
        }
        let text =
            fs::read(&path).with_context(|| format!("{}: cannot read the record of the last run", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{}: damaged; remove it and run again", path.display()))
    }

    /// Key of the entry that a run called `label` of the task's stage function used.
    pub fn key(&self, task: &Task, label: &str) -> Option<&str> {
        let of_stage = self.entries.get(task.stage)?;
        // Records of layout 1 hold bare labels.
        of_stage.get(&recorded_name(task, label)).or_else(|| of_stage.get(label)).map(String::as_str)
    }

    /// Stage and key of every entry.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().flat_map(|(stage, labels)| labels.values().map(move |key| (stage.as_str(), key.as_str())))
    }

    /// Every entry with its stage and name.
    pub fn named(&self) -> impl Iterator<Item = NamedEntry<'_>> {
        self.entries.iter().flat_map(|(stage, names)| {
            names.iter().map(move |(name, key)| {
                let (function, label) = name.split_once(' ').unwrap_or(("", name));
                NamedEntry { stage, function, label, key }
            })
        })
    }

    /// Writes the record of the config `name` into a server's store.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, server: &Store, name: &str) -> anyhow::Result<()> {
        let place = folder(server, Part::Server, name);
        let wrong = || format!("{}: cannot write the record of the run", place.display());
        fs::create_dir_all(&place).with_context(wrong)?;
        fs::write(place.join("run.json"), serde_json::to_vec_pretty(self)?).with_context(wrong)
    }

    /// Lays a newer record over this one.
    pub(super) fn take_over(&mut self, newer: Self) {
        // Records of layout 1 hold bare labels.
        self.entries.values_mut().for_each(|labels| labels.retain(|name, _| name.contains(' ')));
        for (stage, labels) in newer.entries {
            self.entries.entry(stage).or_default().extend(labels);
        }
    }

    /// Notes the entry that all runs of a task used.
    pub fn note(&mut self, task: &Task, key: &str) {
        for label in &task.labels {
            let of_stage = self.entries.entry(task.stage.to_owned()).or_default();
            of_stage.insert(recorded_name(task, label), key.to_owned());
        }
    }
}

/// What a run is called in the record: functions of one stage share labels.
fn recorded_name(task: &Task, label: &str) -> String {
    format!("{} {label}", task.function)
}
