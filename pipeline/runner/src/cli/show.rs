//! What `show` is told.

use std::path::PathBuf;

use clap::Args;

/// An artifact, and what is asked about it.
#[derive(Args)]
pub(crate) struct ShowArguments {
    /// A Parquet file, or a name below `runs/` such as `cora/privatize/trial-0/noisy_links`.
    pub artifact: PathBuf,
    /// Query it; the table is called `artifact`.
    #[arg(long)]
    pub sql: Option<String>,
    /// Number of rows to print (default: 10; for a query, all that it gives).
    #[arg(long)]
    pub head: Option<u32>,
}
