//! The commands, one file each.

mod advise;
mod checks;
mod claims;
mod collect;
mod comparison;
mod confirm;
mod costs;
mod doctor;
mod export;
mod fetch;
mod ledger;
mod plan;
mod predict;
mod protected;
mod report;
mod run;
mod scores;
mod show;
mod store;
mod summary;
mod table;

pub(crate) use advise::{Knowledge, Range, StatedKnowledge, believed, check_belief, sentences};
pub(crate) use claims::Mode;
pub(crate) use confirm::confirm;
pub(crate) use costs::in_words;
pub(crate) use summary::CENTRAL;

use clap::CommandFactory;
use veilgraph_store::Store;

use crate::cli::{Cli, Command};

/// Runs a command.
pub(crate) fn dispatch(cli: Cli) -> anyhow::Result<()> {
    let store = Store::open(cli.store)?;
    match cli.command {
        Command::Run(arguments) => run::run(&store, &arguments, cli.quiet),
        Command::Plan(arguments) => plan::plan(&store, &arguments),
        Command::Report { name, run } => report::report(&store, name.as_deref(), &run),
        Command::Table(arguments) => table::table(&store, &arguments),
        Command::Claims(arguments) => claims::claims(&store, &arguments, cli.quiet),
        Command::Advise(arguments) => advise::advise(&store, &arguments),
        Command::Show(arguments) => show::show(&store, &arguments),
        Command::Ls { json } => store::list(&store, json),
        Command::Verify { remove } => store::verify(&store, remove),
        Command::Gc { dry_run, all } => store::collect_garbage(&store, dry_run, all),
        Command::Ledger { json } => ledger::print(&store, json),
        Command::Predict { model, number, to, run } => predict::predict(&store, &model, number, &to, run, cli.quiet),
        Command::Export { to, yes, run } => export::export(&store, run, &to, yes),
        Command::Parameters { to, numbers, release, run } => {
            collect::parameters(&run, release, &to, numbers.as_deref())
        }
        Command::Collect { reports, to, simulated, release, run } => {
            collect::collect(&run, release, &reports, &to, simulated)
        }
        Command::Fetch { dataset, data_dir, mirror } => fetch::fetch(&dataset, &data_dir, mirror.as_deref()),
        Command::Doctor { data_dir } => doctor::check(&store, data_dir.as_deref()),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "veilgraph", &mut std::io::stdout());
            Ok(())
        }
    }
}
