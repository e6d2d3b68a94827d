//! What `show` is told.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// An artifact, and what is asked about it.
#[derive(Args)]
pub(crate) struct ShowArguments {
    /// A Parquet file, a name such as `cora/privatize/trial-0/noisy_links` (`cora@2/…` for the last run but one), or the key of an
    /// entry (`ls`), of which the lineage is shown.
    pub artifact: PathBuf,
    /// Show the lineage: what it was made from, when and where, which runs and entries use it, and how to make it again.
    #[arg(long, conflicts_with_all = ["sql", "head"])]
    pub lineage: bool,
    /// Query it; the table is called `artifact`.
    #[arg(long)]
    pub sql: Option<String>,
    /// Number of rows to print (default: 10; for a query, all that it gives).
    #[arg(long)]
    pub head: Option<u32>,
    /// Print rows for people, or for programs: then all rows and nothing else.
    #[arg(long, value_enum, default_value_t = ShowFormat::Table)]
    pub format: ShowFormat,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowFormat {
    /// A table for people.
    Table,
    /// Comma-separated values with a header.
    Csv,
    /// A JSON object for each row, one in a line.
    Json,
}
