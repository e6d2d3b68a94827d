//! What `advise` is told.

use std::path::PathBuf;

use clap::Args;
use veilgraph_runner::belief::Range;

/// What is publicly known about a graph, and what is asked about it. Numbers may be ranges, such as `10-20`.
#[derive(Args, Clone)]
pub(crate) struct AdviseArguments {
    /// Number of nodes.
    #[arg(long, required_unless_present = "released", conflicts_with = "released")]
    pub nodes: Option<u64>,
    /// Artifact `link_model` of an earlier release about the same nodes: what it tells about degrees is known already.
    #[arg(long, value_name = "ARTIFACT")]
    pub released: Option<PathBuf>,
    /// Mean number of links of a node, or a range (default: 2-50).
    #[arg(long, value_name = "RANGE")]
    pub mean_degree: Option<Range>,
    /// Standard deviation of the degrees over their mean, or a range (default: 0.8-2.2).
    #[arg(long, value_name = "RANGE")]
    pub degree_spread: Option<Range>,
    /// Number of classes of the nodes.
    #[arg(long)]
    pub classes: Option<u32>,
    /// Share of the links that join nodes of one class, or a range (default: 0.6-0.9).
    #[arg(long, value_name = "RANGE")]
    pub homophily: Option<Range>,
    /// Accuracy of a classifier that reads features and training labels and no link, or a range; left out, nodes have no
    /// features. Where features and labels are public, measuring it costs no budget.
    #[arg(long, value_name = "RANGE")]
    pub features_accuracy: Option<Range>,
    /// Share of the nodes whose class is known to the server.
    #[arg(long, default_value_t = 0.5)]
    pub training_share: f64,
    /// Where a number comes from, e.g. `--source mean-degree="annual report 2025"`.
    #[arg(long = "source", value_name = "NAME=TEXT")]
    pub sources: Vec<String>,
    /// Budgets to compare, in nats per list bit (per undirected link where a curator releases).
    #[arg(long, value_delimiter = ',', default_value = "1,2,3,4,6,8")]
    pub epsilon: Vec<f64>,
    /// Mechanisms to compare.
    #[arg(long, value_delimiter = ',', default_values_t = ["blink".to_owned()])]
    pub mechanism: Vec<String>,
    /// Shares of the budget that pay for a noisy degree, to compare: numbers from 0 to 1, `auto`, `auto-with-bits`,
    /// `public-rule` or `advised` (default: `auto-with-bits` for Blink). Mechanisms without such a share are asked about once.
    #[arg(long, value_delimiter = ',', value_name = "SHARE")]
    pub degree_fraction: Vec<String>,
    /// Lay a value over the config that is asked about, e.g. `--set train.hidden=64`.
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    pub sets: Vec<String>,
    /// The belief up to which a pair of two hubs that both claim a link is called deniable.
    #[arg(long, default_value_t = 0.5)]
    pub at_most_belief: f64,
    /// Number of synthetic graphs that are drawn to take the place of the graph: networks are trained on them, to say what
    /// the budgets are worth (minutes). Needs --classes.
    #[arg(long, default_value_t = 0)]
    pub surrogates: u32,
    /// Number of public graphs that take the place of the graph: of those in the data folder, the ones that are nearest to
    /// what is known (minutes each). Needs --classes and --data-dir.
    #[arg(long, default_value_t = 0)]
    pub public_graphs: u32,
    /// Folder with public graphs, as `veilgraph fetch` makes it; only --public-graphs reads it.
    #[arg(long, env = "DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Page to write (HTML), which must not exist yet.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

impl AdviseArguments {
    /// Share of the nodes that score a network; as many choose its setting.
    pub(crate) fn test_share(&self) -> f64 {
        (1.0 - self.training_share) / 2.0
    }
}
