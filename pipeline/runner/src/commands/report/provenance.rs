//! Where the figures of a page come from: code, data, machine, commands.

use std::path::PathBuf;

use crate::cli::{DeviceChoice, RunArguments};
use crate::task::{Done, Task, Wire};

/// Commit and state of the working copy that the program was built from.
pub(super) const COMMIT: &str = env!("VEILGRAPH_COMMIT");

/// The program and the machine, as lines of name and value.
pub(crate) fn program_and_machine() -> Vec<[String; 2]> {
    vec![
        ["program".to_owned(), format!("veilgraph {}, commit {COMMIT}", env!("CARGO_PKG_VERSION"))],
        ["machine".to_owned(), machine()],
    ]
}

/// Lines of name and value.
pub(super) fn lines(tasks: &[Task], done: &[Done]) -> Vec<[String; 2]> {
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
                    Wire::Raw(file) => Some(format!("{} (BLAKE3 {digest})", file.name)),
                    Wire::Output { .. } => None,
                })
                .collect::<Vec<_>>()
        });
        let files: Vec<String> = files.collect();
        let words = if files.is_empty() { "drawn from its parameters and seed".to_owned() } else { files.join(", ") };
        let line = [format!("data, {}", task.label()), words];
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
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
    let quoted = |text: &str| {
        let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=,:".contains(c));
        if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
    };
    let folder = |flag: &str, folder: &Option<PathBuf>| {
        folder.as_ref().map_or(String::new(), |folder| format!(" {flag} {}", quoted(&folder.display().to_string())))
    };
    let configs: Vec<String> = arguments.configs.iter().map(|path| quoted(&path.display().to_string())).collect();
    let sets: String = arguments.sets.iter().map(|set| format!(" --set {}", quoted(set))).collect();
    let rest = format!(
        "{}{}{}{sets}{}{}",
        configs.join(" "),
        folder("--data-dir", &arguments.data_dir),
        folder("--published", &arguments.published),
        arguments.until.as_ref().map_or(String::new(), |stage| format!(" --until {stage}")),
        if arguments.device == DeviceChoice::Cpu { "" } else { " --device auto" },
    );
    let named = name.map_or(String::new(), |name| format!(" --name {}", quoted(name)));
    let mut commands = Vec::new();
    match COMMIT.split_once(' ') {
        _ if COMMIT == "unknown" => {
            commands.push("# The program was built outside git, so its commit is not known.".to_owned());
        }
        Some((commit, _)) => {
            commands.push(format!("# The program was built from {commit} with changes that no commit holds."));
        }
        None => commands.push(format!("git checkout {COMMIT} && cargo build --release --locked")),
    }
    let program = "target/release/veilgraph";
    commands.push(format!("{program} run {rest}"));
    commands.push(format!("{program} report {rest}{named}"));
    commands
}
