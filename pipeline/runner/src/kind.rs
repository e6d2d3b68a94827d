//! Which tasks take about as long, and about as much memory, as each other.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::task::RawHandle;

/// What a task has in common with those that take about as long: stage function, parameters, and data.
///
/// Left out is what hardly changes how long a task takes: seeds, what scores are about, and numbers with a fraction, such as
/// budgets and rates. Of a list of these, as in a grid, the length counts. Names of experiments are left out as well, so
/// that one experiment tells how long the next one will take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskKind {
    name: String,
    /// The data that the task rests on, as the settings that made them.
    data: String,
}

/// Parameters that hardly change how long a task takes.
const LEFT_OUT: [&str; 3] = ["seed", "cell", "trial"];

/// A seed of which a grid may have several: their number counts, and not the seeds.
const SEEDS: &str = "initial_seed";

impl TaskKind {
    /// The kind of a task with these parameters. `filled` are the names of its slots that are filled, since a network whose
    /// setting was chosen trains one where others train a grid; `files` are the files of the user that it reads, and
    /// `sources` the kinds of the tasks that it reads from.
    pub(crate) fn of<'a>(
        stage: &str,
        function: &str,
        params: &Value,
        filled: &[&str],
        files: &[RawHandle],
        sources: impl Iterator<Item = &'a Self>,
    ) -> Self {
        let paths: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
        // Numbers with a fraction decide how large data are.
        let own = digest(&[&reduced(params, true).to_string(), &paths.join("\n")]);
        let params = reduced(params, false).to_string();
        let mut data: BTreeSet<&str> = sources.map(|source| source.data.as_str()).collect();
        if data.is_empty() {
            data.insert(&own);
        }
        let data: Vec<&str> = data.into_iter().collect();
        let data = if let [one] = data.as_slice() { (*one).to_owned() } else { digest(&data) };
        Self { name: digest(&[stage, function, &filled.join(" "), &params, &data]), data }
    }

    /// The kind as a word for logs.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn digest(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// The parameters without what is left out, with or without fractions.
fn reduced(params: &Value, has_fractions: bool) -> Value {
    match params {
        Value::Number(number) if number.is_f64() && !has_fractions => Value::Null,
        Value::Array(values) => values.iter().map(|value| reduced(value, has_fractions)).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
            let of_field = |(name, value): (&String, &Value)| {
                let is_seeds = name == SEEDS;
                let number = || Value::from(value.as_array().map_or(1, Vec::len));
                (name.clone(), if is_seeds { number() } else { reduced(value, has_fractions) })
            };
            kept.map(of_field).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn trained(params: &Value, data: &TaskKind) -> TaskKind {
        TaskKind::of("train", "classify", params, &[], &[], std::iter::once(data))
    }

    #[test]
    fn budgets_seeds_and_rates_are_one_kind_and_models_sizes_and_data_are_not() {
        let data = |nodes: u32, seed: u32| {
            let params = json!({"synthetic": {"nodes": nodes, "mean_degree": 4.0, "seed": seed}});
            TaskKind::of("ingest", "ingest", &params, &[], &[], std::iter::empty())
        };
        let small = data(100, 0);
        assert_eq!(small, data(100, 1));
        let gcn = json!({"model": "gcn", "epochs": 200, "learning_rate": [0.1, 0.01], "initial_seed": 0});
        let like = json!({"model": "gcn", "epochs": 200, "learning_rate": [0.3, 0.2], "initial_seed": 7});
        assert_eq!(trained(&gcn, &small), trained(&like, &small));
        for other in [
            json!({"model": "gat", "epochs": 200, "learning_rate": [0.1, 0.01], "initial_seed": 0}),
            json!({"model": "gcn", "epochs": 20, "learning_rate": [0.1, 0.01], "initial_seed": 0}),
            json!({"model": "gcn", "epochs": 200, "learning_rate": [0.1, 0.01, 0.001], "initial_seed": 0}),
            json!({"model": "gcn", "epochs": 200, "learning_rate": [0.1, 0.01], "initial_seed": [0, 1]}),
        ] {
            assert_ne!(trained(&gcn, &small).name(), trained(&other, &small).name(), "{other}");
        }
        let large = data(1000, 0);
        assert_ne!(trained(&gcn, &small).name(), trained(&gcn, &large).name());
        let of_both = TaskKind::of("train", "classify", &gcn, &[], &[], [&small, &large].into_iter());
        assert_ne!(of_both.name(), trained(&gcn, &small).name());
        let chosen = TaskKind::of("train", "classify", &gcn, &["chosen_setting"], &[], std::iter::once(&small));
        assert_ne!(chosen.name(), trained(&gcn, &small).name(), "one setting is no grid");
    }
}
