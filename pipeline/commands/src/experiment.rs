//! An experiment as the command line asks for it: its config and tasks, and how they are brought to their end. All commands about
//! experiments begin here.

mod device;

use std::path::Path;
use std::time::Duration;

use bytesize::ByteSize;
use veilgraph_evaluate::Metrics;
use veilgraph_runner::config::Config;
use veilgraph_runner::engine::{Engine, SideChoice, n_that_train_side_by_side};
use veilgraph_runner::executor::OtherMachines;
use veilgraph_runner::ledger::{Allowance, Ledger};
use veilgraph_runner::plan::Options;
use veilgraph_runner::progress::Display;
use veilgraph_runner::published::Published;
use veilgraph_runner::runs::{self, RunRecord};
use veilgraph_runner::systems;
use veilgraph_runner::task::{Done, Task};
use veilgraph_store::{MemoryLimit, Store, StoreKind};

use crate::cli::RunArguments;
use crate::{checks, scores};

/// The published figures, if a folder is named.
pub(crate) fn read_published(arguments: &RunArguments) -> anyhow::Result<Option<Published>> {
    arguments.published.as_deref().map(Published::read).transpose()
}

/// Every config with its tasks.
pub(crate) fn prepare_all(
    arguments: &RunArguments,
    published: Option<&Published>,
) -> anyhow::Result<Vec<(Config, Vec<Task>)>> {
    anyhow::ensure!(!arguments.json || arguments.configs.len() == 1, "--json prints one document; name one config");
    let experiments: Vec<_> =
        arguments.configs.iter().map(|config| prepare(arguments, config, published)).collect::<Result<_, _>>()?;
    for (at, (config, _)) in experiments.iter().enumerate() {
        if experiments[..at].iter().any(|(earlier, _)| earlier.name == config.name) {
            let problem = format!("two configs are named `{}`; give one of them a `name` of its own", config.name);
            return Err(config.error("name", &problem).into());
        }
    }
    Ok(experiments)
}

/// The config of `arguments`, where there must be only one, and its tasks.
pub(crate) fn prepare_one(arguments: &RunArguments) -> anyhow::Result<(Config, Vec<Task>)> {
    match arguments.configs.as_slice() {
        [config] => prepare(arguments, config, read_published(arguments)?.as_ref()),
        several => anyhow::bail!("{} configs are named; this command takes one", several.len()),
    }
}

/// A config and its tasks.
fn prepare(
    arguments: &RunArguments,
    config: &Path,
    published: Option<&Published>,
) -> anyhow::Result<(Config, Vec<Task>)> {
    let mut config = Config::load(config, &arguments.sets)?;
    config.published.clone_from(&arguments.published);
    let device = device::chosen(arguments.device);
    device.check()?;
    let (data_dir, until) = (arguments.data_dir.as_deref(), arguments.until.as_deref());
    let options = Options { data_dir, published, until, device, spend: arguments.accepted.spend };
    let tasks = systems::plan(&config, &options)?;
    // A part of a plan makes a part of the artifacts.
    if plans_all(arguments) {
        checks::refuse_unknown(&config, &tasks)?;
    }
    Ok((config, tasks))
}

/// Brings all tasks to their end on this machine (or only says how).
pub(crate) fn bring(
    store: &Store,
    config: &Config,
    tasks: &[Task],
    arguments: &RunArguments,
    is_plan: bool,
    display: &Display,
) -> anyhow::Result<Vec<Done>> {
    let doing = if is_plan { Doing::Plan } else { Doing::Run };
    bring_with(store, config, tasks, arguments, &OtherMachines::default(), doing, display)
}

/// Brings all tasks to their end on this machine and gives their entries the names of the run; the scores.
pub(crate) fn bring_and_name(
    store: &Store,
    config: &Config,
    tasks: &[Task],
    arguments: &RunArguments,
    display: &Display,
) -> anyhow::Result<Vec<Metrics>> {
    // Until the entries have names, `gc` would take them for unused.
    let _running = store.lock_for_run()?;
    let done = bring(store, config, tasks, arguments, false, display)?;
    let metrics = read_metrics(&done)?;
    runs::publish(store, config, tasks, &done, |folder| scores::write(&metrics, folder))?;
    Ok(metrics)
}

/// What is done with the tasks of an experiment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It is only said what would run.
    Plan,
    /// They run until one fails.
    Run,
    /// They run, but for those that read from one that fails.
    KeepGoing,
}

/// Brings all tasks to their end, with the help of other machines.
pub(crate) fn bring_with(
    store: &Store,
    config: &Config,
    tasks: &[Task],
    arguments: &RunArguments,
    others: &OtherMachines,
    doing: Doing,
    display: &Display,
) -> anyhow::Result<Vec<Done>> {
    let is_plan = doing == Doing::Plan;
    refuse_wrong_store(store, config, arguments)?;
    let _running = if is_plan { None } else { Some(store.lock_for_run()?) };
    let record = RunRecord::of(store, config, arguments.side())?;
    let ledger = Ledger::open(store)?;
    // The server keeps no account.
    if arguments.side() == SideChoice::All {
        ledger.reconcile()?;
    }
    let jobs = jobs(arguments, is_plan);
    let engine = Engine {
        config,
        store,
        tasks,
        record: &record,
        ledger: &ledger,
        side: arguments.side(),
        is_simulation: arguments.simulation,
        memory: memory_limit(arguments.memory_limit),
        jobs,
        training_jobs: n_that_train_side_by_side(tasks, jobs),
        checkpoint_interval: Duration::from_secs(arguments.checkpoint_seconds),
        allowance: allowance(config, arguments),
        is_plan,
        keeps_going: doing == Doing::KeepGoing,
        others,
        display,
    };
    let done = engine.run();
    display.close();
    done
}

/// A server's store holds what one deployment handed over, and nothing else belongs there.
fn refuse_wrong_store(store: &Store, config: &Config, arguments: &RunArguments) -> anyhow::Result<()> {
    if store.kind() == StoreKind::Whole {
        return Ok(());
    }
    let root = store.root().display();
    anyhow::ensure!(
        config.is_deployment(),
        "{root}: this is the store of a deployment's server, and the config simulates; set [privacy] randomness = \"os\", or \
         choose another --store"
    );
    anyhow::ensure!(
        arguments.side() != SideChoice::Auditor,
        "{root}: this is the store of a deployment's server; an auditor keeps a copy of it as the folder `server` of another \
         store"
    );
    anyhow::ensure!(
        arguments.side() == SideChoice::Server,
        "{root}: this is the store of a deployment's server, which holds no private data; add --side server --until train"
    );
    Ok(())
}

/// How much the releases of a config may cost.
pub(crate) fn allowance(config: &Config, arguments: &RunArguments) -> Allowance {
    Allowance {
        budgets: config.privacy.budget.clone(),
        spend: arguments.accepted.spend,
        accept_belief: arguments.accepted.accept_belief,
    }
}

/// Whether everything is scored that the config asks for.
pub(crate) fn is_whole(arguments: &RunArguments) -> bool {
    matches!(arguments.side(), SideChoice::All | SideChoice::Auditor) && plans_all(arguments)
}

/// Whether no stage is left out.
fn plans_all(arguments: &RunArguments) -> bool {
    matches!(arguments.until.as_deref(), None | Some("evaluate"))
}

/// An error where something of an experiment would still have to run.
pub(crate) fn ensure_fresh(tasks: &[Task], done: &[Done], path: &Path) -> anyhow::Result<()> {
    let stale = done.iter().filter(|done| done.entry.is_none()).count();
    anyhow::ensure!(
        stale == 0,
        "{stale} of {} stage runs are not fresh; run `veilgraph run {}` first, or add --partial to show what has run",
        tasks.len(),
        path.display()
    );
    Ok(())
}

/// Tasks at a time.
pub(crate) fn jobs(arguments: &RunArguments, is_plan: bool) -> usize {
    let allowed = arguments.jobs.or_else(|| std::thread::available_parallelism().ok());
    if is_plan { 1 } else { allowed.map_or(1, usize::from) }
}

/// What the user allows, else what the machine or its container has.
pub(crate) fn memory_limit(allowed: Option<ByteSize>) -> MemoryLimit {
    let machine = || {
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        let limits = system.cgroup_limits().map_or(u64::MAX, |limits| limits.total_memory);
        Some(system.total_memory().min(limits)).filter(|&bytes| bytes > 0)
    };
    MemoryLimit(allowed.map(|size| size.as_u64()).or_else(machine).unwrap_or(u64::MAX))
}

/// Scores of every evaluation of a run, in its order.
pub(crate) fn read_metrics(done: &[Done]) -> anyhow::Result<Vec<Metrics>> {
    let entries = done.iter().filter_map(|done| done.entry.as_ref());
    let scored = entries.filter(|entry| entry.manifest.outputs.contains_key("metrics") && entry.is_complete());
    scored.map(|entry| Ok(entry.read("metrics", MemoryLimit(u64::MAX))?)).collect()
}
