//! Environment variables that stand for arguments.

use clap::builder::Resettable;
use clap::{Arg, Command};

/// The command line without variables that are set and empty: as in a shell, they say nothing.
pub(crate) fn without_empty_variables(command: Command) -> Command {
    let heard = |arg: Arg| {
        let is_empty = arg.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
        if is_empty { arg.env(Resettable::Reset) } else { arg }
    };
    command.mut_args(heard).mut_subcommands(without_empty_variables)
}
