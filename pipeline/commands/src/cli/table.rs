//! What `table` is told.

use clap::{Args, ValueEnum};

use super::RunArguments;

/// A table of scores, and the experiments that it is about.
#[derive(Args, Clone)]
pub(crate) struct TableArguments {
    /// How the table is written.
    #[arg(long, value_enum, default_value_t = TableFormat::Markdown)]
    pub format: TableFormat,
    /// The score (default: accuracy, else one of link prediction, links or features).
    #[arg(long)]
    pub score: Option<String>,
    /// What the cells are compared with: an alternative, a mechanism or a model (default: the best floor).
    #[arg(long, value_name = "NAME")]
    pub against: Option<String>,
    /// The swept field whose values are the columns, or `per-link` for what all reports about an undirected link cost
    /// (default: a budget).
    #[arg(long, value_name = "TABLE.KEY")]
    pub columns: Option<String>,
    /// The swept field whose values count as trials, such as the seeds of splits: intervals are then over them.
    #[arg(long, value_name = "TABLE.KEY")]
    pub over: Option<String>,
    /// Show what has run, and mark what is missing or failed; without it, everything has to have run.
    #[arg(long)]
    pub partial: bool,
    /// The experiments.
    #[command(flatten)]
    pub run: RunArguments,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// For a paper, with the package `booktabs`.
    Latex,
    /// For a README.
    Markdown,
    /// For a paper in Typst.
    Typst,
    /// One row for each cell, with both intervals and p-values.
    Csv,
}
