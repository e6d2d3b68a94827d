//! What everything that would run takes together.

use std::collections::BTreeMap;
use std::time::Duration;

use bytesize::ByteSize;
use indicatif::HumanDuration;
use serde_json::{Value, json};
use veilgraph_contract::Release;
use veilgraph_privacy::composition::totals;
use veilgraph_runner::costs::in_words;
use veilgraph_runner::measured::{Measured, Measurements};
use veilgraph_runner::remaining::Remaining;
use veilgraph_runner::systems::GRID;
use veilgraph_runner::task::{Done, Task, Wire};
use veilgraph_train::HalveSettings;

/// What the tasks that would run take together.
pub(super) struct Totals<'a> {
    tasks: usize,
    /// Networks that are trained for scores or for a choice among settings.
    models: usize,
    /// Releases that would be drawn and protect something, by population.
    releases: BTreeMap<&'a str, Drawn<'a>>,
    /// Tasks at a time.
    jobs: usize,
    /// What is known from earlier runs of the store.
    time: Option<Duration>,
    peak_memory: Option<u64>,
    /// Earlier tasks from which that is known.
    known_from: usize,
    /// Tasks of which none like them has ever run, by stage and function.
    unknown: BTreeMap<(&'a str, &'a str), usize>,
}

/// Releases that would be drawn about one population.
#[derive(Default)]
struct Drawn<'a> {
    /// Number of tasks that draw one.
    tasks: usize,
    /// What they say, part by part.
    parts: Vec<&'a Release>,
}

impl<'a> Totals<'a> {
    /// Of the tasks that would run, `jobs` at a time.
    pub(super) fn of(tasks: &'a [Task], done: &[Done], measurements: &Measurements, jobs: usize) -> Self {
        let left: Vec<&Task> =
            tasks.iter().zip(done).filter(|(_, done)| done.would_run()).map(|(task, _)| task).collect();
        let mut releases: BTreeMap<&str, Drawn> = BTreeMap::new();
        let mut unknown: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut measured: BTreeMap<&str, &Measured> = BTreeMap::new();
        for &task in &left {
            let parts: Vec<&Release> =
                task.added_releases().iter().filter(|release| release.cost.epsilon().is_finite()).collect();
            if !parts.is_empty() {
                let drawn = releases.entry(task.population.as_str()).or_default();
                drawn.tasks += 1;
                drawn.parts.extend(parts);
            }
            match measurements.of_kind(task.kind.name()) {
                Some(of_kind) => {
                    measured.insert(task.kind.name(), of_kind);
                }
                None => *unknown.entry((task.stage, task.function)).or_default() += 1,
            }
        }
        let mut remaining = Remaining::of(left.iter().copied(), jobs);
        remaining.learn(measurements);
        Self {
            tasks: left.len(),
            models: left.iter().map(|task| models(task, tasks)).sum(),
            releases,
            jobs,
            time: remaining.time().map(|left| left.time),
            peak_memory: measured.values().filter_map(|of_kind| of_kind.peak_memory).max(),
            known_from: measured.values().map(|of_kind| of_kind.tasks).sum(),
            unknown,
        }
    }

    /// A line for each total; none where nothing would run.
    pub(super) fn words(&self) -> Vec<String> {
        if self.tasks == 0 {
            return Vec::new();
        }
        let mut lines = Vec::new();
        if self.models > 0 {
            let noun = if self.models == 1 { "model" } else { "models" };
            lines.push(format!("to train: {} {noun}", self.models));
        }
        for (population, drawn) in &self.releases {
            let cost = in_words(&totals(drawn.parts.iter().copied()));
            lines.push(format!("to release about `{population}`: {} times, {cost} together", drawn.tasks));
        }
        lines.push(self.time_in_words());
        lines
    }

    /// How long everything takes and how much memory, and from what that is known.
    fn time_in_words(&self) -> String {
        let Some(time) = self.time else {
            return "time: unknown, for none like these has run in this store".to_owned();
        };
        let memory = self.peak_memory.map_or_else(String::new, |bytes| {
            format!(", and up to {} of memory in the process while one of them runs", ByteSize(bytes))
        });
        let named = self.unknown.iter().map(|((stage, function), number)| format!("{stage} {function} {number}"));
        let named = named.collect::<Vec<_>>().join(", ");
        let (unknown, the_others) = match self.unknown.values().sum::<usize>() {
            0 => (String::new(), ""),
            number => {
                let all = self.tasks;
                let why = "none like them has run in this store";
                (format!("unknown for {number} of {all} stage runs, for {why} ({named}); "), "for the others ")
            }
        };
        format!(
            "time: {unknown}{the_others}about {}, {} at a time{memory}, from {} stage runs like these in this store",
            HumanDuration(time),
            self.jobs,
            self.known_from
        )
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Value {
        let releases: usize = self.releases.values().map(|drawn| drawn.tasks).sum();
        json!({
            "tasks": self.tasks, "models": self.models, "releases": releases, "jobs": self.jobs,
            "seconds": self.time.map(|time| time.as_secs_f64()), "peak_memory": self.peak_memory,
            "known_from": self.known_from, "without_estimate": self.unknown.values().sum::<usize>(),
        })
    }
}

/// Networks that a task of the stage `train` trains: one for each setting of its grid, or of those that were chosen.
fn models(task: &Task, tasks: &[Task]) -> usize {
    let chooses = matches!(task.function, "choose-setting" | "halve-settings");
    if task.stage != "train" || chooses || task.canonical.get("epochs").is_none() {
        return 0;
    }
    let values = GRID.iter().map(|field| task.canonical.get(field).and_then(Value::as_array));
    let of_grid = values.map(|values| values.map_or(1, Vec::len)).product();
    let wires = |task: &Task, artifact: &str| -> Vec<Wire> {
        task.slots.iter().filter(|slot| slot.slot.artifact == artifact).flat_map(|slot| slot.wires.clone()).collect()
    };
    match wires(task, "chosen_setting").as_slice() {
        [] => of_grid,
        // After each trial before this one, some of the settings were given up; where many were dropped or fail, fewer are left.
        [Wire::Output { task: chooser, .. }] if tasks[*chooser].function == "halve-settings" => {
            let n_trials = wires(&tasks[*chooser], "curve").len();
            HalveSettings::n_left(of_grid, n_trials)
        }
        _ => 1,
    }
}
