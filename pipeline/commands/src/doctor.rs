//! `doctor`: what this machine offers, for people and for bug reports.

use std::fs;
use std::path::Path;

use serde::Serialize;
use veilgraph_runner::build::{self, CodeOfCrate, stage_crates};
use veilgraph_runner::datasets::{self, Dataset};
use veilgraph_runner::ledger::Ledger;
use veilgraph_runner::output;
use veilgraph_store::Store;
use veilgraph_train::Device;

/// What `doctor` found, for people and for programs. What could be found without a problem has none.
#[derive(Serialize)]
struct Findings {
    version: &'static str,
    commit: &'static str,
    cores: usize,
    memory: Memory,
    devices: Vec<DeviceFinding>,
    code: &'static [CodeOfCrate],
    store: StoreFinding,
    ledger: CountFinding,
    entries: CountFinding,
    /// Nothing without `--data-dir`.
    data: Vec<DataFinding>,
}

/// In bytes.
#[derive(Serialize)]
struct Memory {
    total: u64,
    available: u64,
}

#[derive(Serialize)]
struct DeviceFinding {
    name: &'static str,
    available: bool,
    problem: Option<String>,
}

#[derive(Serialize)]
struct StoreFinding {
    path: String,
    writable: bool,
    problem: Option<String>,
}

/// How many rows or entries there are, if that can be told.
#[derive(Serialize)]
struct CountFinding {
    count: Option<usize>,
    problem: Option<String>,
}

#[derive(Serialize)]
struct DataFinding {
    name: String,
    state: DataState,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum DataState {
    Complete,
    /// Every file is there, and of some the checksum is not known.
    CompleteUnpinned,
    OtherChecksum,
    Incomplete,
}

/// Prints what a run depends on; fails if a run could not work.
pub(crate) fn check(store: &Store, data_dir: Option<&Path>, as_json: bool) -> anyhow::Result<()> {
    if let Some(data_dir) = data_dir {
        datasets::check_data_dir(data_dir)?;
    }
    let findings = Findings::of(store, data_dir);
    if as_json {
        output::data(&serde_json::to_string_pretty(&findings)?);
    } else {
        findings.lines().iter().for_each(|(name, text)| output::line(&format!("{name:<10} {text}")));
    }
    let StoreFinding { path, writable, .. } = &findings.store;
    anyhow::ensure!(*writable, "{path}: make the store writable, or choose another --store");
    Ok(())
}

impl Findings {
    fn of(store: &Store, data_dir: Option<&Path>) -> Self {
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        let devices = [("cuda", Device::Cuda), ("vulkan", Device::Vulkan)].map(|(name, device)| {
            let problem = device.check().err().map(|error| error.to_string());
            DeviceFinding { name, available: problem.is_none(), problem }
        });
        let problem = writable(store).err().map(|error| error.to_string());
        let ledger = Ledger::open(store).and_then(|ledger| ledger.reconcile().map(|()| ledger.rows().len()));
        let data = data_dir.into_iter().flat_map(|folder| {
            datasets::all().into_iter().map(move |(name, dataset)| DataFinding { state: state(&dataset, folder), name })
        });
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: build::commit(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory: Memory { total: system.total_memory(), available: system.available_memory() },
            devices: devices.into(),
            code: stage_crates(),
            store: StoreFinding { path: store.root().display().to_string(), writable: problem.is_none(), problem },
            ledger: CountFinding::of(ledger.map_err(|error| error.to_string())),
            entries: CountFinding::of(
                store
                    .entries(&veilgraph_runner::task::STAGES)
                    .map(|entries| entries.len())
                    .map_err(|error| error.to_string()),
            ),
            data: data.collect(),
        }
    }

    /// The names of the findings, each with what is found.
    fn lines(&self) -> Vec<(&str, String)> {
        let Memory { total, available } = self.memory;
        let mut lines = vec![
            ("version", format!("{}, commit {}", self.version, self.commit)),
            ("cores", self.cores.to_string()),
            ("memory", format!("{} MiB, {} MiB available", total >> 20, available >> 20)),
        ];
        for DeviceFinding { name, problem, .. } in &self.devices {
            lines.push((*name, problem.clone().unwrap_or_else(|| "available".to_owned())));
        }
        for CodeOfCrate { name, code, .. } in self.code {
            lines.push(("code", format!("{name} {}", &code[..12])));
        }
        let StoreFinding { path, problem, .. } = &self.store;
        let state = problem.as_ref().map_or("writable".to_owned(), |problem| format!("not writable ({problem})"));
        lines.push(("store", format!("{path}: {state}")));
        lines.push(("ledger", self.ledger.in_words(" rows, unbroken")));
        lines.push(("entries", self.entries.in_words("")));
        for DataFinding { name, state } in &self.data {
            let state = match state {
                DataState::Complete => "complete, checksums right",
                DataState::CompleteUnpinned => "complete; not every checksum is known",
                DataState::OtherChecksum => "a file has another checksum",
                DataState::Incomplete => "incomplete or absent",
            };
            lines.push(("data", format!("{name}: {state}")));
        }
        lines
    }
}

impl CountFinding {
    fn of(counted: Result<usize, String>) -> Self {
        let (count, problem) = counted.map_or_else(|problem| (None, Some(problem)), |count| (Some(count), None));
        Self { count, problem }
    }

    /// The count with its unit, or the problem.
    fn in_words(&self, unit: &str) -> String {
        self.count.map_or_else(|| self.problem.clone().unwrap_or_default(), |count| format!("{count}{unit}"))
    }
}

/// Whether a folder of datasets has this one.
fn state(dataset: &Dataset, data_dir: &Path) -> DataState {
    let folder = data_dir.join(dataset.ingest.get("folder").and_then(|folder| folder.as_str()).unwrap_or(""));
    let files = dataset.files.iter();
    let states: Vec<Option<bool>> =
        files.map(|(file, source)| fs::read(folder.join(file)).ok().map(|bytes| source.may_be(&bytes))).collect();
    match (states.iter().all(|state| *state == Some(true)), states.contains(&Some(false))) {
        (true, _) if dataset.files.values().any(|source| source.sha256.is_none()) => DataState::CompleteUnpinned,
        (true, _) => DataState::Complete,
        (false, true) => DataState::OtherChecksum,
        (false, false) => DataState::Incomplete,
    }
}

fn writable(store: &Store) -> std::io::Result<()> {
    // A store that is not there yet will be made in the nearest folder above.
    let folder = std::path::absolute(store.root())?;
    let folder = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    fs::write(&probe, b"")?;
    fs::remove_file(&probe)
}
