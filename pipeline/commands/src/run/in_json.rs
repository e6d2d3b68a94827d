//! How each task ended, and what it spent, as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use veilgraph_runner::config::Config;
use veilgraph_runner::task::{Done, Status, Task};

/// Every task with its end, the machine that ran it, its time, and its files.
pub(crate) fn stages_json(tasks: &[Task], done: &[Done]) -> Value {
    let rows = tasks.iter().zip(done).map(|(task, done)| {
        let (status, why) = match &done.status {
            Status::Fresh => ("fresh", Vec::new()),
            Status::Fetched => ("fetched", Vec::new()),
            Status::Ran { why, .. } => ("ran", why.clone()),
            Status::Queued { why } => ("queued", why.clone()),
            Status::WouldRun { why } => ("would run", why.clone()),
            Status::MayRun => ("may run", vec!["its inputs may change".to_owned()]),
            Status::Elsewhere => ("elsewhere", Vec::new()),
            Status::Failed { .. } => ("failed", Vec::new()),
            Status::Skipped => ("skipped", vec!["what it reads from failed".to_owned()]),
        };
        let (seconds, host, peak_memory) = match &done.status {
            Status::Ran { took, host, memory, .. } => (Some(took.as_secs_f64()), Some(host), memory.peak),
            _ => (None, None, None),
        };
        let error = if let Status::Failed { error } = &done.status { Some(error) } else { None };
        let outputs: BTreeMap<&str, Value> = done
            .entry
            .iter()
            .flat_map(|entry| {
                entry.manifest.outputs.iter().map(move |(name, output)| {
                    let owner = output.zone == "owner";
                    (name.as_str(), json!({"path": entry.path(output), "digest": output.digest, "owner": owner}))
                })
            })
            .collect();
        let key = done.entry.as_ref().map(|entry| &entry.manifest.key);
        json!({
            "stage": task.stage, "function": task.function, "label": task.label(), "also": &task.labels[1..],
            "trial": task.trial, "key": key,
            "status": status, "why": why, "error": error, "seconds": seconds, "host": host,
            "peak_memory": peak_memory, "outputs": outputs,
        })
    });
    rows.collect()
}

/// What the tasks that ran, or would run, release.
pub(crate) fn spent_json(config: &Config, tasks: &[Task], done: &[Done]) -> Value {
    let ran = tasks
        .iter()
        .zip(done)
        .filter(|(_, done)| matches!(done.status, Status::Ran { .. } | Status::WouldRun { .. } | Status::MayRun));
    ran.flat_map(|(task, done)| {
        // What a deployment asks for twice is drawn once, unless the second is about other data.
        let is_drawn = config.is_deployment() && matches!(done.status, Status::Ran { .. });
        let releases = if is_drawn { &task.releases } else { task.added_releases() };
        releases.iter().map(move |release| {
            json!({"stage": task.stage, "function": task.function, "label": task.label(), "release": release})
        })
    })
    .collect()
}
