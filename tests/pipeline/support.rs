//! One place that knows how to call the program.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A small synthetic experiment that takes a fraction of a second.
pub(crate) const TINY: &str = r#"
name = "tiny"
trials = 2
references = []

[ingest.synthetic]
nodes = 120
classes = 3
mean_degree = 4
features = 40
words = 6

[privatize.links]
epsilon = 6.0

[estimate]
method = "published"

[construct]
variant = "hybrid"

[train]
epochs = 20
"#;

/// The lines of [`TINY`] above its first table.
pub(crate) const TINY_HEAD: &str = "name = \"tiny\"\ntrials = 2\nreferences = []\n";

/// The tables of [`TINY`] that Blink alone reads.
pub(crate) const BLINK_TABLES: &str = "[estimate]\nmethod = \"published\"\n\n[construct]\nvariant = \"hybrid\"\n";

/// A folder with a config and a store.
pub(crate) struct Lab {
    folder: TempDir,
}

/// What the program said.
pub(crate) struct Answer {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Lab {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A folder with the tiny experiment.
    pub(crate) fn tiny() -> Self {
        Self::with("config.toml", TINY)
    }

    /// A folder with one file.
    pub(crate) fn with(name: &str, text: impl AsRef<[u8]>) -> Self {
        let lab = Self::new();
        lab.write(name, text);
        lab
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().expect("inside the folder")).expect("a folder");
        fs::write(self.path(name), text).expect("written");
    }

    /// Starts the program and kills it as soon as a task has left the checkpoint `name`.
    pub(crate) fn kill_at_checkpoint(&self, arguments: &[&str], name: &str) {
        let mut child = self.command(arguments);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        let start = Instant::now();
        while !self.has_checkpoint(name) {
            assert!(start.elapsed() < Duration::from_mins(1), "no checkpoint was written");
            assert_eq!(child.try_wait().expect("it can be asked"), None, "it ended before it could be killed");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().expect("killed");
        child.wait().expect("it ends");
        assert!(self.has_checkpoint(name), "a kill leaves the checkpoint");
    }

    /// Whether a task has left the checkpoint `name`.
    pub(crate) fn has_checkpoint(&self, name: &str) -> bool {
        let tasks = fs::read_dir(self.path("artifacts/simulation/checkpoints")).into_iter().flatten().flatten();
        tasks.into_iter().any(|task| task.path().join(name).exists())
    }

    /// The program, with its store in this folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_veilgraph"));
        command
            .args(["--store", "artifacts"])
            .args(arguments)
            .current_dir(self.folder.path())
            .env_remove("DATA_DIR")
            .env_remove("PUBLISHED");
        command
    }

    /// Calls the program.
    pub(crate) fn call(&self, arguments: &[&str]) -> Answer {
        Answer::of(&mut self.command(arguments))
    }

    /// Runs `config.toml` and returns its JSON document.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let answer = self.call(&[&["run", "config.toml", "--json"], arguments].concat());
        assert_eq!(answer.status, 0, "{}", answer.err);
        serde_json::from_str(&answer.out).expect("JSON")
    }

    /// Runs `config.toml`; the stages that ran, each once, in order.
    pub(crate) fn ran(&self, arguments: &[&str]) -> Vec<String> {
        let mut stages: Vec<String> = rows(&self.json(arguments)["stages"])
            .filter(|row| row["status"] == "ran")
            .map(|row| row["stage"].as_str().expect("a name").to_owned())
            .collect();
        stages.sort_by_key(|stage| ORDER.iter().position(|name| name == stage));
        stages.dedup();
        stages
    }

    /// Whether the store holds any entry.
    pub(crate) fn has_entries(&self) -> bool {
        self.path("artifacts").exists() && self.call(&["ls", "--json"]).out.trim() != "[]"
    }
}

pub(crate) const ORDER: [&str; 8] =
    ["ingest", "privatize", "similarity", "estimate", "construct", "train", "audit", "evaluate"];

impl Answer {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { status: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Items of a JSON list.
pub(crate) fn rows(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Digests of every output by stage, label and artifact.
pub(crate) fn digests(document: &Value) -> Vec<(String, String)> {
    let of = |row: &Value| -> Vec<(String, String)> {
        let name = format!("{} {}", row["stage"], row["label"]);
        let outputs = row["outputs"].as_object().expect("outputs").iter();
        outputs.map(|(artifact, output)| (format!("{name} {artifact}"), output["digest"].to_string())).collect()
    };
    rows(&document["stages"]).flat_map(of).collect()
}

/// Copies a folder with all it holds, links as links.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").args([from, to]).status().expect("cp starts");
    assert!(done.success(), "cp -a {} {}", from.display(), to.display());
}

/// The folder of real graphs; says so where there is none. Not a print macro: tests hide those.
pub(crate) fn data_dir(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DATA_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        let _ = writeln!(std::io::stderr(), "skipped {test}: DATA_DIR is not set, so no real graph is at hand");
    }
    folder
}
