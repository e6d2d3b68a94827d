//! One node's home: its files, and the program that runs there.

use std::fmt::Display;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;
use veilgraph_client::{PublicParameters, Report, decode};

/// The parameters that every home begins with.
pub(crate) const PARAMETERS: &str = "population = \"town\"\nmechanism = \"blink\"\nn_nodes = 200\nepsilon_links = 0.75\n\
                          epsilon_degree = 0.25\nrelease = 1\n";

pub(crate) struct Home(TempDir);

impl Home {
    /// The home of node 5, whose neighbours are 3 and 17.
    pub(crate) fn new() -> Self {
        let home = Self(tempfile::tempdir().expect("a folder"));
        home.write("parameters", PARAMETERS);
        home.write("links", "3\n17\n");
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("readable")
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Every name in the home, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let items = fs::read_dir(self.0.path()).expect("readable");
        let mut names: Vec<String> =
            items.map(|item| item.expect("readable").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The parameters as they are now.
    pub(crate) fn parameters(&self) -> String {
        String::from_utf8(self.bytes("parameters")).expect("text")
    }

    pub(crate) fn decoded(&self, name: &str) -> Report {
        let parameters = PublicParameters::from_text(&self.parameters()).expect("usable");
        decode(&self.bytes(name), &parameters).expect("a report")
    }

    /// What each release cost, as the state folder records it.
    pub(crate) fn spent(&self) -> Vec<f64> {
        let text = String::from_utf8(self.bytes("state/releases")).expect("text");
        text.lines().filter_map(|line| line.strip_prefix("cost = ")?.parse().ok()).collect()
    }

    pub(crate) fn report(&self, to: &str, arguments: &[&str]) -> Call {
        self.report_of(5, to, arguments)
    }

    pub(crate) fn report_of(&self, node: impl Display, to: &str, arguments: &[&str]) -> Call {
        Call(self.command(&node.to_string(), to, arguments).output().expect("started"))
    }

    /// The same under strace, which injects `fault` into a system call.
    pub(crate) fn report_with(&self, fault: &str, to: &str, arguments: &[&str]) -> Call {
        let plain = self.command("5", to, arguments);
        let mut command = Command::new("strace");
        command.args(["-f", "-o", "strace.log", "-e", fault]).arg(plain.get_program()).args(plain.get_args());
        // strace hands its own environment on.
        command.env_remove("LD_LIBRARY_PATH");
        Call(command.current_dir(self.0.path()).output().expect("started"))
    }

    pub(crate) fn spawn(&self, to: &str, arguments: &[&str]) -> Child {
        let mut command = self.command("5", to, arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started")
    }

    pub(crate) fn show(&self, report: &str) -> Call {
        let mut command = Command::new(env!("CARGO_BIN_EXE_veilgraph-client"));
        command.current_dir(self.0.path()).args(["show", report, "--parameters", "parameters"]);
        Call(command.output().expect("started"))
    }

    fn command(&self, node: &str, to: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_veilgraph-client"));
        command.current_dir(self.0.path()).args(["report", "--parameters", "parameters", "--links", "links"]);
        command.args(["--state", "state", "--to", to, "--node", node]).args(arguments);
        // Cargo's search path of libraries multiplies the system calls of the start, each of which gets its faults.
        command.env_remove("LD_LIBRARY_PATH");
        command
    }
}

/// A call that has ended.
pub(crate) struct Call(Output);

impl Call {
    pub(crate) fn status(&self) -> Option<i32> {
        self.0.status.code()
    }

    pub(crate) fn warned(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// What it printed.
    pub(crate) fn succeeds(self) -> String {
        assert_eq!(self.status(), Some(0), "{}", self.warned());
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    /// Why it failed.
    pub(crate) fn fails(self) -> String {
        assert_eq!(self.status(), Some(1), "{}", self.warned());
        self.warned()
    }
}
