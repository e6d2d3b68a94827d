//! Tasks on the workers of a Dask cluster.
//!
//! A Python process (`python/veilgraph/dask_executor.py`) speaks with the scheduler. It reads one line of JSON for each
//! task and writes one for everything that it hears. Dask sees keys and nothing else: data go through the store.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::json;

use super::{Executor, Handover, News, WorkerCommand};

/// The Python side. Its functions travel to the workers, which need nothing but Dask and the program `veilgraph`.
const DRIVER: &str = include_str!("../../../../python/veilgraph/dask_executor.py");

/// How long the Python side may take to leave before it is ended.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);

/// Lines of the Python side's complaints that an error quotes.
const QUOTED: usize = 12;

/// A Dask cluster.
pub(super) struct Dask {
    command: WorkerCommand,
    child: Mutex<Child>,
    tasks: Mutex<Option<ChildStdin>>,
    news: Mutex<Receiver<News>>,
    width: usize,
}

/// One line of the Python side.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line {
    Ready { threads: usize },
    Step { key: String, done: u64, total: u64 },
    Made { key: String, seconds: f64, host: String, log: String },
    Failed { key: String, error: String },
    Said { text: String },
    Broken { error: String },
}

impl Dask {
    /// Connects to a scheduler.
    pub(super) fn start(python: &Path, scheduler: &str, command: WorkerCommand) -> anyhow::Result<Self> {
        let mut starter = Command::new(python);
        starter.args(["-c", DRIVER, "--scheduler", scheduler]);
        let pipes = starter.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().with_context(|| {
            format!("{}: this Python cannot be started; name another one with --python", python.display())
        })?;
        let (tasks, lines, complaints) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (tell, news) = channel();
        let complaints = keep_last_lines(complaints.context("a pipe is missing")?);
        let mut lines = BufReader::new(lines.context("a pipe is missing")?);
        let first = next_line(&mut lines);
        let width = match first {
            Some(Line::Ready { threads }) => threads,
            Some(Line::Broken { error }) => bail!("{error}"),
            _ => {
                let _ = child.wait();
                bail!("{}: it ended before it reached the scheduler: {}", python.display(), quoted(&complaints))
            }
        };
        std::thread::spawn(move || pass_on(lines, &tell, &complaints));
        Ok(Self { command, child: Mutex::new(child), tasks: Mutex::new(tasks), news: Mutex::new(news), width })
    }
}

impl Executor for Dask {
    fn send(&self, key: &str) -> anyhow::Result<Handover> {
        let line = json!({"key": key, "argv": self.command.words(key), "threads": self.command.threads});
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let tasks = tasks.as_mut().context("the connection to the scheduler is closed")?;
        writeln!(tasks, "{line}").context("the Python process that speaks with the scheduler is gone")?;
        Ok(Handover::Running)
    }

    fn next(&self, moment: Duration) -> Option<News> {
        match self.news.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(moment) {
            Ok(news) => Some(news),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(News::Broken("the Python process that speaks with the scheduler is gone".to_owned()))
            }
        }
    }

    fn width(&self) -> usize {
        self.width
    }

    fn finish(&self) -> anyhow::Result<Option<String>> {
        Ok(None)
    }
}

impl Drop for Dask {
    /// The Python side cancels what still runs when it reads the end of its input.
    fn drop(&mut self) {
        drop(self.tasks.lock().unwrap_or_else(PoisonError::into_inner).take());
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        while start.elapsed() < LEAVE_WITHIN {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Passes on what the Python side says, until it ends.
fn pass_on(mut lines: BufReader<impl Read>, tell: &Sender<News>, complaints: &Mutex<VecDeque<String>>) {
    while let Some(line) = next_line(&mut lines) {
        let news = match line {
            Line::Ready { .. } => continue,
            Line::Step { key, done, total } => News::Step { key, done, total },
            Line::Made { key, seconds, host, log } => News::Made { key, seconds, host, log },
            Line::Failed { key, error } => News::Failed { key, error },
            Line::Said { text } => News::Said(text),
            Line::Broken { error } => News::Broken(error),
        };
        if tell.send(news).is_err() {
            return;
        }
    }
    let text = format!("the Python process that speaks with the scheduler ended: {}", quoted(complaints));
    let _ = tell.send(News::Broken(text));
}

/// The next line that is one of ours; a library may print something, too.
fn next_line(lines: &mut impl BufRead) -> Option<Line> {
    loop {
        let mut text = String::new();
        if lines.read_line(&mut text).ok()? == 0 {
            return None;
        }
        match serde_json::from_str(&text) {
            Ok(line) => return Some(line),
            // A task whose end is not understood must not be waited for.
            Err(error) if text.starts_with("{\"event\"") => {
                return Some(Line::Broken {
                    error: format!("the Python side said what is not understood ({error}): {text}"),
                });
            }
            Err(_) => tracing::debug!("dask: {}", text.trim_end()),
        }
    }
}

/// Keeps the last lines of what the Python side complains about.
fn keep_last_lines(complaints: impl Read + Send + 'static) -> Arc<Mutex<VecDeque<String>>> {
    let kept = Arc::new(Mutex::new(VecDeque::new()));
    let keep = Arc::clone(&kept);
    std::thread::spawn(move || {
        for line in BufReader::new(complaints).lines().map_while(Result::ok) {
            tracing::debug!("dask: {line}");
            let mut keep = keep.lock().unwrap_or_else(PoisonError::into_inner);
            keep.push_back(line);
            if keep.len() > QUOTED {
                keep.pop_front();
            }
        }
    });
    kept
}

fn quoted(complaints: &Mutex<VecDeque<String>>) -> String {
    let complaints = complaints.lock().unwrap_or_else(PoisonError::into_inner);
    if complaints.is_empty() { "it said nothing".to_owned() } else { Vec::from(complaints.clone()).join("\n") }
}
