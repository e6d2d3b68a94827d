//! `watch`: how far the runs of a store are, seen from another terminal.

use std::time::Duration;

use indicatif::HumanDuration;
use veilgraph_runner::live::{self, LiveState};
use veilgraph_runner::output;
use veilgraph_store::Store;

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Prints how far every run is, and goes on until none is left or `once` is given.
pub(crate) fn watch(store: &Store, once: bool, as_json: bool) -> anyhow::Result<()> {
    let mut said: Vec<String> = Vec::new();
    loop {
        let states = live::states(store);
        if states.is_empty() {
            if !as_json || said.is_empty() {
                output::line(if as_json { "[]" } else { "no run uses this store" });
            }
            return Ok(());
        }
        let lines: Vec<String> =
            if as_json { vec![serde_json::to_string(&states)?] } else { states.iter().map(in_words).collect() };
        for line in lines.iter().filter(|line| !said.contains(line)) {
            if as_json { output::data(line) } else { output::line(line) }
        }
        if once {
            return Ok(());
        }
        said = lines;
        std::thread::sleep(LOOK_EVERY);
    }
}

fn in_words(state: &LiveState) -> String {
    let LiveState { experiments, done, total, current, seconds, seconds_left, without_estimate } = state;
    let elapsed = HumanDuration(Duration::from_secs(*seconds));
    let beside = match without_estimate {
        0 => String::new(),
        number => format!(" without {number} of which none like them has run yet"),
    };
    let left = seconds_left
        .map_or_else(String::new, |left| format!(", about {} left{beside}", HumanDuration(Duration::from_secs(left))));
    format!("{}: {done} of {total} stage runs after {elapsed}{left}; {current}", experiments.join(", "))
}
