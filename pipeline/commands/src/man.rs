//! `man`: manual pages.

use std::path::Path;

use anyhow::{Context, ensure};
use clap::CommandFactory;
use veilgraph_runner::output;

use crate::cli::{Cli, with_examples, without_unused_options};
use crate::new_files::cannot_write;

/// Writes a page for the program and one for each command into a new folder.
pub(crate) fn write(to: &Path) -> anyhow::Result<()> {
    ensure!(!to.exists(), "{}: exists already; name a folder that does not", to.display());
    std::fs::create_dir_all(to).with_context(|| format!("{}: cannot create the folder", to.display()))?;
    let command = without_unused_options(with_examples(Cli::command()));
    clap_mangen::generate_to(command.disable_help_subcommand(true), to).with_context(|| cannot_write(to))?;
    output::line(&format!("{}: `man -l {}/veilgraph.1` shows the first of the pages", to.display(), to.display()));
    Ok(())
}
