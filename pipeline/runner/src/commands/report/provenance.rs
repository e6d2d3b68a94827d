//! Where the figures of a page come from: code, data, machine, commands.

use std::path::PathBuf;

use crate::cli::RunArguments;
use crate::task::{Done, Task, Wire};

/// Commit and state of the working copy that the program was built from.
pub(super) const COMMIT: &str = env!("VEILGRAPH_COMMIT");

/// Lines of name and value.
pub(super) fn lines(tasks: &[Task], done: &[Done]) -> Vec<[String; 2]> {
    let mut lines = vec![
        ["program".to_owned(), format!("veilgraph {}, commit {COMMIT}", env!("CARGO_PKG_VERSION"))],
        ["machine".to_owned(), machine()],
    ];
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
    let (mut brand, mut memory) = (String::new(), 0);
    if let Ok(mut system) = sysinfo::System::new() {
        system.refresh_memory();
        system.refresh_cpu_all();
        brand = system.cpus().first().map(|cpu| cpu.brand().to_owned()).unwrap_or_default();
        memory = system.total_memory() >> 30;
    }
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
        "{}{}{}{sets}",
        configs.join(" "),
        folder("--data-dir", &arguments.data_dir),
        folder("--published", &arguments.published)
    );
    let named = name.map_or(String::new(), |name| format!(" --name {}", quoted(name)));
    let commit = COMMIT.split(' ').next().unwrap_or_default();
    vec![
        format!("git checkout {commit} && cargo build --release --locked"),
        format!("veilgraph run {rest}"),
        format!("veilgraph report {rest}{named}"),
    ]
}
