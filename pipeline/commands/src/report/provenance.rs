//! Where the figures of a page come from: code, data, machine, commands.

use std::io::Read;
use std::path::PathBuf;

use clap::ValueEnum;
use veilgraph_contract::Artifact;
use veilgraph_graph::AdjacencyList;
use veilgraph_ingest::Ingest;
use veilgraph_runner::build::{self, commit};
use veilgraph_runner::output::quote;
use veilgraph_runner::task::{Done, RawHandle, Task, Wire};
use veilgraph_runner::{datasets, registry};
use veilgraph_store::Entry;

use crate::cli::{DeviceChoice, RunArguments};

/// The program and the machine, as lines of name and value.
pub(crate) fn program_and_machine() -> Vec<[String; 2]> {
    vec![
        ["program".to_owned(), format!("veilgraph {}, commit {}", env!("CARGO_PKG_VERSION"), commit())],
        ["machine".to_owned(), machine()],
    ]
}

/// Lines of name and value.
///
/// # Errors
/// When a graph is not what its entry says.
pub(super) fn lines(tasks: &[Task], done: &[Done], is_deployment: bool) -> anyhow::Result<Vec<[String; 2]>> {
    let mut lines = program_and_machine();
    for (task, done) in tasks.iter().zip(done) {
        if task.stage != "ingest" {
            continue;
        }
        let files = task.slots.iter().flat_map(|slot| {
            let digests = done.entry.as_ref().and_then(|entry| entry.manifest.recipe.inputs.get(slot.slot.artifact));
            let digests = digests.cloned().unwrap_or_default();
            slot.wires
                .iter()
                .zip(digests)
                .filter_map(|(wire, digest)| match wire {
                    Wire::Raw(file) => Some(with_digest(file, &digest)),
                    Wire::Output { .. } => None,
                })
                .collect::<Vec<_>>()
        });
        let files: Vec<String> = files.collect();
        let words = if files.is_empty() {
            let entry = done.entry.as_ref().filter(|_| !is_deployment);
            let digest = entry.map_or(Ok(None), |entry| digest_of_links(entry))?;
            let digest = digest.map_or_else(String::new, |digest| format!("; {digest}"));
            format!("drawn from its parameters and seed{digest}")
        } else {
            let licence = licence(task).map_or_else(String::new, |licence| format!("; licence: {licence}"));
            format!("{}{licence}", files.join(", "))
        };
        let is_data = task.is_of::<Ingest>();
        let name = if is_data {
            format!("data, {}", task.label())
        } else {
            format!("released graph, {}", task.labels.join(", "))
        };
        let line = [name, words];
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Ok(lines)
}

/// The licence of a known dataset.
pub(super) fn licence(task: &Task) -> Option<String> {
    let dataset = task.params.get("dataset").and_then(toml::Value::as_str);
    dataset.and_then(|name| datasets::named(name).ok()).map(|known| known.licence)
}

/// The file of the links of a graph that was drawn, with its digest: whoever has the parameters and the seed can draw the
/// same bytes and compare them. None where the file is on another machine.
fn digest_of_links(entry: &Entry) -> anyhow::Result<Option<String>> {
    let output = entry.manifest.outputs.get(AdjacencyList::NAME);
    let Some(output) = output.filter(|output| entry.path(output).is_file()) else { return Ok(None) };
    let mut bytes = Vec::new();
    entry.check(output)?.read_to_end(&mut bytes)?;
    Ok(Some(format!("{} (SHA-256 {})", output.file, datasets::sha256(&bytes))))
}

/// Stage runs that may have been made by other code than this program's, as stage and label. A release of a deployment is
/// drawn once, by whatever program drew it: the ledger says by which, and its entry does not.
///
/// # Errors
/// When a stage function is not known.
pub(super) fn of_other_code(tasks: &[Task], done: &[Done]) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for (task, done) in tasks.iter().zip(done) {
        let Some(entry) = &done.entry else { continue };
        let (code, dependencies) = build::digests(&registry::find(task.stage, task.function)?.crate_name());
        let recipe = &entry.manifest.recipe;
        if recipe.code != code || recipe.dependencies != dependencies {
            found.push(format!("{} {}", task.stage, task.label()));
        }
    }
    Ok(found)
}

/// A file with the digest that anybody can compare, where it is a file of a known dataset. The digest of one's own file is
/// keyed with the secret of the store, since a plain one would let others test guesses of the file.
fn with_digest(file: &RawHandle, recorded: &str) -> String {
    let RawHandle { name, sha256, .. } = file;
    match sha256 {
        Some(sha256) => format!("{name} (SHA-256 {sha256})"),
        // A recipe holds the name of a file before its digest.
        None => format!("{name} (keyed BLAKE3 {})", recorded.rsplit(':').next().unwrap_or(recorded)),
    }
}

/// Processor, cores, memory and system.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    system.refresh_cpu_all();
    let brand = system.cpus().first().map_or("", |cpu| cpu.brand());
    let memory = system.total_memory() >> 30;
    format!("{brand}, {cores} cores, {memory} GiB, {} {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// The commands that make the page again.
pub(super) fn again(arguments: &RunArguments, name: Option<&str>) -> Vec<String> {
    let folder = |flag: &str, folder: &Option<PathBuf>| {
        folder.as_ref().map_or(String::new(), |folder| format!(" {flag} {}", quote(&folder.display().to_string())))
    };
    let configs: Vec<String> = arguments.configs.iter().map(|path| quote(&path.display().to_string())).collect();
    let sets: String = arguments.sets.iter().map(|set| format!(" --set {}", quote(set))).collect();
    let device = arguments.device.to_possible_value().map_or(String::new(), |device| device.get_name().to_owned());
    let rest = format!(
        "{}{}{}{sets}{}{}",
        configs.join(" "),
        folder("--data-dir", &arguments.data_dir),
        folder("--published", &arguments.published),
        arguments.until.as_ref().map_or(String::new(), |stage| format!(" --until {stage}")),
        if arguments.device == DeviceChoice::Cpu { String::new() } else { format!(" --device {device}") },
    );
    let named = name.map_or(String::new(), |name| format!(" --name {}", quote(name)));
    let mut commands = Vec::new();
    let built_from = commit();
    match built_from.split_once(' ') {
        _ if built_from == "unknown" => {
            commands.push("# The program was built outside git, so its commit is not known.".to_owned());
        }
        Some((commit, _)) => {
            commands.push(format!("# The program was built from {commit} with changes that no commit holds."));
        }
        None => commands.push(format!("git checkout {built_from} && cargo build --release --locked")),
    }
    let program = "target/release/veilgraph";
    commands.push(format!("{program} run {rest}"));
    commands.push(format!("{program} report {rest}{named}"));
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_says_whether_it_is_keyed() {
        let file = |sha256: Option<&str>| RawHandle {
            name: "e.csv".to_owned(),
            path: "e.csv".into(),
            places: Vec::new(),
            dataset: None,
            sha256: sha256.map(str::to_owned),
        };
        assert_eq!(with_digest(&file(None), "e.csv:0a1b"), "e.csv (keyed BLAKE3 0a1b)");
        assert_eq!(with_digest(&file(Some("23cf")), "e.csv:0a1b"), "e.csv (SHA-256 23cf)");
    }
}
