//! Where the server's tasks run, if not here.

mod dask;
mod slurm_array;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use bytesize::ByteSize;
use veilgraph_cache::Cache;
use veilgraph_store::{Entry, Store};

use dask::Dask;
use slurm_array::SlurmArray;

/// Brings tasks to other machines.
pub(crate) trait Executor: Sync {
    /// Takes over the task `key`, whose order is written.
    fn send(&self, key: &str) -> anyhow::Result<Handover>;

    /// The next thing that is heard of the tasks, if anything is heard within a moment.
    fn next(&self, moment: Duration) -> Option<News>;

    /// How many tasks run at a time, as far as that is known.
    fn width(&self) -> usize;

    /// What whoever gave the command has to do next, after everything that could be sent was sent.
    fn finish(&self) -> anyhow::Result<Option<String>>;
}

/// What became of a task that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handover {
    /// Its end will be heard of.
    Running,
    /// It waits for a job, after which the same command goes on.
    Queued,
}

/// Something that is heard of tasks elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum News {
    /// The task `key` is so many steps far.
    Step { key: String, done: u64, total: u64 },
    /// The entry of a task is there; `log` is what the program had to say.
    Made { key: String, seconds: f64, host: String, log: String },
    /// A task cannot be done.
    Failed { key: String, error: String },
    /// Something that whoever runs this must know.
    Said(String),
    /// Nothing more will be heard.
    Broken(String),
}

/// Everything that a run has beside this machine.
#[derive(Default)]
pub struct OtherMachines {
    pub(crate) executor: Option<Box<dyn Executor>>,
    /// The cache that machines share.
    pub(crate) cache: Option<Cache>,
    /// Keys of the entries that the cache has.
    cached: Mutex<BTreeSet<String>>,
}

/// Where the server's tasks run, if not here.
#[derive(Clone, Debug, PartialEq)]
pub enum Elsewhere {
    /// On the workers of a Dask cluster.
    Dask {
        /// The address of its scheduler.
        scheduler: String,
        /// The Python that has `dask` and `distributed`.
        python: PathBuf,
    },
    /// In jobs of Slurm, for which scripts are written.
    SlurmArray {
        /// The folder of the scripts.
        folder: PathBuf,
        /// Most jobs in one array.
        size: u32,
        /// Memory of each job; that of one artifact, where nobody says.
        memory: Option<ByteSize>,
        /// Names of the experiments of the run.
        experiments: Vec<String>,
    },
}

/// What workers have.
#[derive(Clone, Debug, PartialEq)]
pub struct Workers {
    /// The program; this one, where nobody says.
    pub program: Option<PathBuf>,
    /// Where they see the store, or, with a cache, a folder of their own; the path of the store here, where nobody says.
    pub store: Option<PathBuf>,
    /// Cores that each task may use.
    pub threads: u32,
}

/// How a worker calls the program.
struct WorkerCommand {
    program: PathBuf,
    store: PathBuf,
    cache: Option<String>,
    memory_limit: Option<ByteSize>,
    /// Cores of each task.
    threads: u32,
}

impl OtherMachines {
    /// A cache, and workers elsewhere.
    ///
    /// # Errors
    /// When two of these contradict each other, or the other machines cannot be reached.
    pub fn open(
        store: &Store,
        cache: Option<Cache>,
        elsewhere: Option<&Elsewhere>,
        workers: &Workers,
        memory_limit: Option<ByteSize>,
    ) -> anyhow::Result<Self> {
        let command = |memory_limit| WorkerCommand::of(store, workers, cache.as_ref(), memory_limit);
        let executor: Option<Box<dyn Executor>> = match elsewhere {
            None => None,
            Some(Elsewhere::Dask { scheduler, python }) => {
                Some(Box::new(Dask::start(python, scheduler, command(memory_limit)?)?))
            }
            Some(Elsewhere::SlurmArray { folder, size, memory, experiments }) => {
                let memory = memory.or(memory_limit);
                if let (Some(job), Some(artifact)) = (memory, memory_limit) {
                    anyhow::ensure!(
                        artifact <= job,
                        "--memory-limit lets one artifact take {artifact}, and --array-memory gives a whole job {job}; raise \
                         --array-memory or lower --memory-limit"
                    );
                }
                let command = command(memory_limit.or(memory))?.seen_from_here()?;
                Some(Box::new(SlurmArray::new(folder, *size, memory, command, store, experiments)?))
            }
        };
        let is_blocked = executor.is_some() && cache.as_ref().is_some_and(Cache::is_read_only);
        anyhow::ensure!(!is_blocked, "--cache-read-only keeps workers from handing over what they make; leave it out");
        Ok(Self { executor, cache, cached: Mutex::default() })
    }

    /// How many tasks run at a time on other machines, as far as that is known; at least one, also where there is none.
    #[must_use]
    pub fn width(&self) -> usize {
        self.executor.as_ref().map_or(1, |executor| executor.width())
    }

    /// What whoever gave the command has to do next, after everything that could be sent was sent.
    ///
    /// # Errors
    /// When the executor cannot write what it has to leave behind.
    pub fn finish(&self) -> anyhow::Result<Option<String>> {
        self.executor.as_ref().map_or(Ok(None), |executor| executor.finish())
    }

    /// Puts what a server may see of an entry into the cache, if there is one.
    pub(crate) fn share(&self, entry: &Entry) -> anyhow::Result<()> {
        let Some(cache) = &self.cache else { return Ok(()) };
        let key = &entry.manifest.key;
        if self.cached.lock().unwrap_or_else(PoisonError::into_inner).contains(key) {
            return Ok(());
        }
        cache.put_entry(entry)?;
        self.cached.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        Ok(())
    }
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{}: no path", path.display()))
}

impl WorkerCommand {
    fn of(
        store: &Store,
        workers: &Workers,
        cache: Option<&Cache>,
        memory_limit: Option<ByteSize>,
    ) -> anyhow::Result<Self> {
        let program = match &workers.program {
            Some(program) => program.clone(),
            None => std::env::current_exe().context("the path of this program is not known; give --worker-program")?,
        };
        let store = match &workers.store {
            Some(folder) => folder.clone(),
            None => absolute(store.root())?,
        };
        let cache = cache.map(|cache| cache.url().to_owned());
        Ok(Self { program, store, cache, memory_limit, threads: workers.threads })
    }

    /// The same for a process that may run in any folder: relative paths are those from the current one. A program without a
    /// folder is looked up where the worker runs.
    fn seen_from_here(self) -> anyhow::Result<Self> {
        let has_folder = self.program.parent().is_some_and(|folder| !folder.as_os_str().is_empty());
        let program = if has_folder { absolute(&self.program)? } else { self.program };
        Ok(Self { program, store: absolute(&self.store)?, ..self })
    }

    /// The words of the command that runs the task `key`.
    fn words(&self, key: &str) -> Vec<String> {
        let text = |path: &Path| path.display().to_string();
        let mut words = vec![text(&self.program), "exec".to_owned(), key.to_owned()];
        words.extend(["--store".to_owned(), text(&self.store)]);
        let limit = self.memory_limit.map(|limit| limit.as_u64().to_string());
        words.extend(limit.into_iter().flat_map(|limit| ["--memory-limit".to_owned(), limit]));
        words.extend(self.cache.iter().flat_map(|url| ["--cache".to_owned(), url.clone()]));
        words
    }
}
