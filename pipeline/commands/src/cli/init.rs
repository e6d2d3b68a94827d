//! What `init` is told.

use std::path::PathBuf;

use clap::Args;

/// One's own files, and the config to write for them.
#[derive(Args, Clone)]
pub(crate) struct InitArguments {
    /// Files of links, features, labels or nodes; what each of them is is told by its name (`edges.csv`, `links.parquet`,
    /// `labels.csv`). A folder of Planetoid or of the Open Graph Benchmark is named alone.
    pub files: Vec<PathBuf>,
    /// The file of links.
    #[arg(long, value_name = "FILE")]
    pub edges: Option<PathBuf>,
    /// The file of features.
    #[arg(long, value_name = "FILE")]
    pub features: Option<PathBuf>,
    /// The file of classes.
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// The file that lists all nodes.
    #[arg(long, value_name = "FILE")]
    pub nodes: Option<PathBuf>,
    /// The column of the classes (default: by its name, else the last one).
    #[arg(long, value_name = "NAME")]
    pub label_column: Option<String>,
    /// Whether texts begin with a row of column names (default: each file tells for itself).
    #[arg(long, value_name = "BOOL")]
    pub header: Option<bool>,
    /// The config to write, which must not exist yet.
    #[arg(long, value_name = "FILE", default_value = "graph.toml")]
    pub to: PathBuf,
}
