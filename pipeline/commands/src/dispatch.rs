//! Each command by its name, on the store that it names.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use veilgraph_contract::Randomness;
use veilgraph_runner::config::Config;
use veilgraph_runner::engine::SideChoice;
use veilgraph_runner::ledger::Ledger;
use veilgraph_runner::output;
use veilgraph_store::Store;

use crate::cli::{Cli, Command, without_unused_options};
use crate::{
    advise, claims, collect, config, diff, doctor, exec, export, fetch, gc, init, interruption, ledger, ls, man, plan,
    predict, report, run, show, table, verify, watch,
};

/// Runs a command.
pub(crate) fn dispatch(cli: Cli) -> anyhow::Result<()> {
    let store = Store::open(place_of_store(&cli)?)?;
    refuse_absent_store(&store, &cli.command)?;
    interruption::tell_of_interruptions(&cli.command);
    match cli.command {
        Command::Run { run, rules, others } => run::run(&store, &run, rules, &others, cli.quiet),
        Command::Exec(arguments) => exec::exec(&store, &arguments),
        Command::Plan { format, run } => plan::plan(&store, format, &run),
        Command::Report { name, partial, run } => report::report(&store, name.as_deref(), partial, &run),
        Command::Table(arguments) => table::table(&store, &arguments),
        Command::Claims(arguments) => claims::claims(&store, &arguments, cli.quiet),
        Command::Advise(arguments) => advise::advise(&store, &arguments),
        Command::Show(arguments) => show::show(&store, &arguments),
        Command::Ls { names, runs: true, json } => ls::list_runs(&store, &names, json),
        Command::Ls { names, runs: false, json } => ls::list(&store, &names, json),
        Command::Verify { remove, json } => verify::verify(&store, remove, json),
        Command::Gc { dry_run, all, older_than, keep_last, keep_size, forget, json: as_json } => {
            let forget = forget.as_deref();
            let rule = gc::GarbageRule { dry_run, as_json, all, older_than, keep_last, keep_size, forget };
            gc::collect_garbage(&store, rule)
        }
        Command::Diff { before, after, json } => diff::diff(&store, &before, &after, json),
        Command::Config { config, sets } => config::print(&store, &config, &sets),
        Command::Init(arguments) => init::init(&arguments),
        Command::Watch { once, json } => watch::watch(&store, once, json),
        Command::Ledger { json } => ledger::print(&store, json),
        Command::Predict { model, number, to, run } => predict::predict(&store, &model, number, &to, run, cli.quiet),
        Command::Export { to, yes, run } => export::export(&store, run, &to, yes),
        Command::Parameters { to, numbers, release, run } => {
            collect::parameters(&run, release, &to, numbers.as_deref())
        }
        Command::Collect { reports, to, simulated, release, run } => {
            collect::collect(&run, release, &reports, &to, simulated)
        }
        Command::Fetch { dataset, data_dir, mirror, from } => {
            let origin = match (&mirror, &from) {
                (Some(mirror), _) => fetch::Origin::Mirror(mirror),
                (None, Some(from)) => fetch::Origin::Folder(from),
                (None, None) => fetch::Origin::Hosts,
            };
            fetch::fetch(&dataset, &data_dir, origin)
        }
        Command::Doctor { data_dir, json } => doctor::check(&store, data_dir.as_deref(), json),
        Command::Completions { shell } => {
            // The generator panics where nobody reads any more (`| head`).
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut without_unused_options(Cli::command()), "veilgraph", &mut script);
            output::line(String::from_utf8_lossy(&script).trim_end());
            Ok(())
        }
        Command::Man { to } => man::write(&to),
    }
}

/// The folder of the artifacts where nobody names another one.
const DEFAULT_STORE: &str = "artifacts";

/// The folder of the artifacts: that of the command line, else that which a config names, else `artifacts`.
fn place_of_store(cli: &Cli) -> anyhow::Result<PathBuf> {
    let given = cli.store.as_deref();
    let run = match &cli.command {
        Command::Run { run, .. }
        | Command::Plan { run, .. }
        | Command::Report { run, .. }
        | Command::Export { run, .. }
        | Command::Predict { run, .. } => Some(run),
        Command::Table(arguments) => Some(&arguments.run),
        _ => None,
    };
    let (configs, sets): (Vec<PathBuf>, &[String]) = match (run, &cli.command) {
        (Some(run), _) if run.side() == SideChoice::All => (run.configs.clone(), run.sets.as_slice()),
        (None, Command::Claims(arguments)) => (claims::configs(arguments)?, &[][..]),
        // A server and an auditor keep stores of their own.
        _ => (Vec::new(), &[][..]),
    };
    let mut named: Option<PathBuf> = None;
    for path in &configs {
        let config = Config::load(path, sets)?;
        let store = match &config.privacy.store {
            Some(store) => config.folder().join(store),
            None => given.unwrap_or(Path::new(DEFAULT_STORE)).to_owned(),
        };
        if given.is_none() && config.privacy.store.is_none() {
            refuse_new_ledger(&config, &store)?;
        }
        if let Some(other) = named.as_deref().or(given).filter(|other| !is_same_folder(other, &store)) {
            let problem = format!(
                "the store of this config is {}, and {} is asked for; a budget counts what one store knows, so {}",
                store.display(),
                other.display(),
                if given.is_some() {
                    "remove --store (VEILGRAPH_STORE), or let it name the store of the config"
                } else {
                    "name one of the configs at a time"
                }
            );
            return Err(config.error("privacy.store", &problem).into());
        }
        named = Some(store);
    }
    Ok(named.or(given.map(Path::to_owned)).unwrap_or_else(|| PathBuf::from(DEFAULT_STORE)))
}

/// Refuses to begin the ledger of a deployment in the usual folder: called from another folder, the same config would find no
/// ledger, and spend its budget again.
fn refuse_new_ledger(config: &Config, store: &Path) -> anyhow::Result<()> {
    if !config.is_deployment() {
        return Ok(());
    }
    let ledger = Ledger::open(&Store::open(store.to_owned())?)?;
    if !ledger.spent(config.population(None), &[], Randomness::Os)?.releases.is_empty() {
        return Ok(());
    }
    let problem = "nothing names the store of this deployment, and none of its releases is known here. A budget counts what one \
                   store knows, and another folder has another store: write `store = \"artifacts\"` below [privacy], from the \
                   folder of the config, or name the store with --store (VEILGRAPH_STORE)";
    Err(config.error("privacy.store", problem).into())
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    whole(one) == whole(other)
}

/// A mistyped folder must not look like one in which nothing was ever released.
fn refuse_absent_store(store: &Store, command: &Command) -> anyhow::Result<()> {
    let reads_alone = match command {
        Command::Show(arguments) => !arguments.artifact.is_file(),
        Command::Ls { .. }
        | Command::Verify { .. }
        | Command::Ledger { .. }
        | Command::Diff { .. }
        | Command::Watch { .. } => true,
        _ => false,
    };
    anyhow::ensure!(
        !reads_alone || store.root().is_dir(),
        "{}: there is no store; name the folder of the artifacts with --store (VEILGRAPH_STORE), or run an experiment first",
        store.root().display()
    );
    Ok(())
}
