//! Why a task runs.

use serde_json::Value;
use veilgraph_store::Recipe;

use crate::config::sweep::canonical;

/// What changed between the recipe of the last run and the one at hand.
#[must_use]
pub fn reasons(before: Option<&Recipe>, now: &Recipe) -> Vec<String> {
    let Some(before) = before else { return vec!["it never ran".to_owned()] };
    let mut reasons = Vec::new();
    if before.task != now.task {
        let name = |recipe: &Recipe| recipe.task.clone().unwrap_or_else(|| "none".to_owned());
        reasons.push(format!("its function changed {} -> {}", name(before), name(now)));
    }
    if before.layout != now.layout {
        reasons.push("the layout of the store changed".to_owned());
    }
    if before.code != now.code {
        reasons.push("its code changed".to_owned());
    }
    if before.dependencies != now.dependencies {
        reasons.push("its dependencies changed".to_owned());
    }
    differences("", &before.params, &now.params, &mut reasons);
    if before.seed != now.seed {
        reasons.push(format!("seed changed {} -> {}", number(before.seed), number(now.seed)));
    }
    for (slot, digests) in &now.inputs {
        if before.inputs.get(slot) != Some(digests) {
            reasons.push(format!("input `{slot}` changed"));
        }
    }
    if reasons.is_empty() {
        reasons.push("its entry is missing".to_owned());
    }
    reasons
}

/// Settings that differ between the texts of two configs, with both values.
#[must_use]
pub fn changed_settings(before: &str, now: &str) -> Vec<String> {
    let read = |text: &str| text.parse().map(|table| canonical(&toml::Value::Table(table))).unwrap_or_default();
    let mut changed = Vec::new();
    differences("", &read(before), &read(now), &mut changed);
    changed
}

fn number(value: Option<u64>) -> String {
    value.map_or("none".to_owned(), |value| value.to_string())
}

/// Fields that differ, with both values.
fn differences(path: &str, before: &Value, now: &Value, reasons: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            let keys: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                differences(
                    &path,
                    before.get(key).unwrap_or(&Value::Null),
                    now.get(key).unwrap_or(&Value::Null),
                    reasons,
                );
            }
        }
        _ if before != now => reasons.push(format!("{path} changed {} -> {}", plain(before), plain(now))),
        _ => {}
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "absent".to_owned(),
        other => other.to_string(),
    }
}
