//! `doctor`: what this machine offers, for people and for bug reports.

use std::fs;
use std::path::Path;

use veilgraph_store::Store;
use veilgraph_train::Device;

use crate::datasets;
use crate::ledger::Ledger;
use crate::output;

/// Prints what a run depends on; fails if a run could not work.
pub(crate) fn check(store: &Store, data_dir: Option<&Path>) -> anyhow::Result<()> {
    let line = |name: &str, text: &str| output::line(&format!("{name:<10} {text}"));
    line("version", env!("CARGO_PKG_VERSION"));
    line("cores", &std::thread::available_parallelism().map_or(0, usize::from).to_string());
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    line("memory", &format!("{} MiB, {} MiB available", system.total_memory() >> 20, system.available_memory() >> 20));
    for (name, device) in [("cuda", Device::Cuda), ("vulkan", Device::Vulkan)] {
        line(name, &device.check().map_or_else(|error| error.to_string(), |()| "available".to_owned()));
    }
    for (stage, code, _) in crate::code::CODE {
        line("code", &format!("{stage} {}", &code[..12]));
    }
    let writable = writable(store);
    let place = store.root().display();
    line(
        "store",
        &writable
            .as_ref()
            .map_or_else(|error| format!("{place}: not writable ({error})"), |()| format!("{place}: writable")),
    );
    match Ledger::open(store).and_then(|ledger| ledger.reconcile().map(|()| ledger)) {
        Ok(ledger) => line("ledger", &format!("{} rows, unbroken", ledger.rows().len())),
        Err(error) => line("ledger", &error.to_string()),
    }
    match store.entries(&crate::task::STAGES) {
        Ok(entries) => line("entries", &entries.len().to_string()),
        Err(error) => line("entries", &error.to_string()),
    }
    if let Some(data_dir) = data_dir {
        anyhow::ensure!(data_dir.is_dir(), "{}: there is no such folder; check --data-dir", data_dir.display());
        for (name, dataset) in datasets::all() {
            let folder = data_dir.join(dataset.ingest.get("folder").and_then(|folder| folder.as_str()).unwrap_or(""));
            let states: Vec<Option<bool>> = dataset
                .files
                .iter()
                .map(|(file, source)| fs::read(folder.join(file)).ok().map(|bytes| source.may_be(&bytes)))
                .collect();
            let text = match (states.iter().all(|state| *state == Some(true)), states.contains(&Some(false))) {
                (true, _) if dataset.files.values().any(|source| source.sha256.is_none()) => {
                    "complete; not every checksum is known"
                }
                (true, _) => "complete, checksums right",
                (false, true) => "a file has another checksum",
                (false, false) => "incomplete or absent",
            };
            line("data", &format!("{name}: {text}"));
        }
    }
    anyhow::ensure!(writable.is_ok(), "{place}: make the store writable, or choose another --store");
    Ok(())
}

fn writable(store: &Store) -> std::io::Result<()> {
    // A store that is not there yet will be made in the nearest folder above.
    let folder = std::path::absolute(store.root())?;
    let folder = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    fs::write(&probe, b"")?;
    fs::remove_file(&probe)
}
