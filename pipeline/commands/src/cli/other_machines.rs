//! What `run` and `exec` are told about other machines.

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use veilgraph_cache::Cache;
use veilgraph_runner::config::ConfigError;
use veilgraph_runner::executor::{Elsewhere, OtherMachines, Workers};
use veilgraph_store::Store;

/// A cache that several machines share.
#[derive(Args, Clone, Default)]
pub(crate) struct CacheArguments {
    /// A cache that machines share, `file:///FOLDER` or `s3://BUCKET/FOLDER` (with AWS_* variables): what a server may see
    /// of entries is taken from there instead of made, and put there.
    #[arg(long, value_name = "URL", env = "VEILGRAPH_CACHE")]
    pub cache: Option<String>,
    /// Put nothing into the cache.
    #[arg(long, requires = "cache")]
    pub cache_read_only: bool,
}

impl CacheArguments {
    /// The cache, if one is named.
    pub(crate) fn open(&self) -> anyhow::Result<Option<Cache>> {
        Ok(self.cache.as_deref().map(|url| Cache::open(url, self.cache_read_only)).transpose()?)
    }
}

/// Where the server's tasks run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExecutorChoice {
    /// On this machine.
    #[default]
    Local,
    /// On the workers of a Dask cluster.
    Dask,
    /// In jobs of Slurm, for which this command writes scripts.
    SlurmArray,
}

/// The variable of the environment with the address of Dask's scheduler.
const SCHEDULER: &str = "VEILGRAPH_SCHEDULER";

/// Where the server's tasks run; those of owner and auditor, and whatever is charged, run on this machine.
#[derive(Args, Clone)]
#[command(next_help_heading = "Other machines")]
pub(crate) struct OtherMachinesArguments {
    /// Where the server's tasks run.
    #[arg(long, value_enum, default_value_t = ExecutorChoice::Local)]
    pub executor: ExecutorChoice,
    /// Address of Dask's scheduler, e.g. `tcp://127.0.0.1:8786`.
    #[arg(long, value_name = "ADDRESS", required_if_eq("executor", "dask"), env = SCHEDULER)]
    pub scheduler: Option<String>,
    /// The Python that has `dask` and `distributed`, in the versions of the scheduler.
    #[arg(long, value_name = "PROGRAM", default_value = "python3", env = "VEILGRAPH_PYTHON")]
    pub python: PathBuf,
    /// The program `veilgraph` on the workers (default: the path of this one).
    #[arg(long, value_name = "PROGRAM")]
    pub worker_program: Option<PathBuf>,
    /// The store on the workers: where they see this one (default: its path here), or, with --cache, a folder of their own.
    #[arg(long, value_name = "FOLDER")]
    pub worker_store: Option<PathBuf>,
    /// Cores that each task on a worker may use (default: 1).
    #[arg(long, value_name = "CORES", value_parser = clap::value_parser!(u32).range(1..))]
    pub worker_threads: Option<u32>,
    /// Folder for the scripts of `--executor slurm-array`.
    #[arg(long, value_name = "FOLDER", required_if_eq("executor", "slurm-array"))]
    pub array_folder: Option<PathBuf>,
    /// Most jobs in one array: a job runs several tasks, one after the other, where there are more (default: 1000).
    #[arg(long, value_name = "JOBS", value_parser = clap::value_parser!(u32).range(1..))]
    pub array_size: Option<u32>,
    /// Memory of each job of the array, e.g. 16GiB (default: that of --memory-limit, else what the cluster gives). Where no
    /// --memory-limit is given, this is also the most that one artifact may take.
    #[arg(long, value_name = "SIZE")]
    pub array_memory: Option<ByteSize>,
    /// Where entries are that other machines made.
    #[command(flatten)]
    pub cache: CacheArguments,
}

impl OtherMachinesArguments {
    /// Refuses what the chosen executor does not read. Addresses and programs that come from the environment may stand there for
    /// other runs.
    fn refuse_unread(&self) -> Result<(), ConfigError> {
        let of_arrays = [
            ("--array-folder", self.array_folder.is_some()),
            ("--array-size", self.array_size.is_some()),
            ("--array-memory", self.array_memory.is_some()),
        ];
        let of_workers = [
            ("--worker-program", self.worker_program.is_some()),
            ("--worker-store", self.worker_store.is_some()),
            ("--worker-threads", self.worker_threads.is_some()),
        ];
        let given =
            |options: [(&'static str, bool); 3]| options.into_iter().find(|option| option.1).map(|option| option.0);
        if let Some(option) = given(of_arrays).filter(|_| self.executor != ExecutorChoice::SlurmArray) {
            let problem =
                format!("{option} is read with --executor slurm-array alone; add that, or leave {option} out");
            return Err(ConfigError(problem));
        }
        if let Some(option) = given(of_workers).filter(|_| self.executor == ExecutorChoice::Local) {
            let problem = format!(
                "{option} is read with --executor dask or slurm-array alone; add one of them, or leave {option} out"
            );
            return Err(ConfigError(problem));
        }
        let of_environment = std::env::var(SCHEDULER).ok();
        if self.scheduler.is_some() && self.scheduler != of_environment && self.executor != ExecutorChoice::Dask {
            let problem = "--scheduler is read with --executor dask alone; add that, or leave --scheduler out";
            return Err(ConfigError(problem.to_owned()));
        }
        Ok(())
    }

    /// What a run of these experiments has beside this machine.
    ///
    /// # Errors
    /// When an option is given that this executor does not read, or the cache or the executor cannot be opened.
    pub(crate) fn open(
        &self,
        store: &Store,
        experiments: Vec<String>,
        memory_limit: Option<ByteSize>,
    ) -> anyhow::Result<OtherMachines> {
        self.refuse_unread()?;
        // Each of the two has the one option that it needs, or the command line is refused.
        let elsewhere = match self.executor {
            ExecutorChoice::Local => None,
            ExecutorChoice::Dask => Some(Elsewhere::Dask {
                scheduler: self.scheduler.clone().unwrap_or_default(),
                python: self.python.clone(),
            }),
            ExecutorChoice::SlurmArray => Some(Elsewhere::SlurmArray {
                folder: self.array_folder.clone().unwrap_or_default(),
                size: self.array_size.unwrap_or(1000),
                memory: self.array_memory,
                experiments,
            }),
        };
        let workers = Workers {
            program: self.worker_program.clone(),
            store: self.worker_store.clone(),
            threads: self.worker_threads.unwrap_or(1),
        };
        OtherMachines::open(store, self.cache.open()?, elsewhere.as_ref(), &workers, memory_limit)
    }
}
