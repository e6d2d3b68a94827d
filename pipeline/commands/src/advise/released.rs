//! What an earlier release already tells about degrees: free, because it is post-processing.

use std::path::Path;

use anyhow::{Context, ensure};
use polars::prelude::LazyFrame;
use veilgraph_exposure::{Law, Observation, Signal};
use veilgraph_runner::belief::SeenBefore;
use veilgraph_store::{Store, metadata_of};

use crate::scan::scan_parquet;
use crate::show;

/// What is read off the artifact `link_model` of an earlier release.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Released {
    /// Where it was read.
    pub name: String,
    pub nodes: u64,
    /// Mean of the estimated degrees, in links.
    pub mean_degree: f64,
    /// Their standard deviation over their mean.
    pub spread: f64,
    /// The reports of that release, which the server has.
    pub reports: SeenBefore,
}

impl Released {
    /// Reads the estimated degrees of an artifact, by its path or its name below the runs of the store.
    pub(super) fn read(store: &Store, artifact: &Path) -> anyhow::Result<Self> {
        let path = show::find(store, artifact)?;
        let name = artifact.display().to_string();
        let degrees = scan_parquet(&path)
            .and_then(LazyFrame::collect)
            .and_then(|frame| frame.column("degree").and_then(|column| column.f64().cloned()))
            .with_context(|| format!("{name}: no artifact `link_model`, which has a column `degree`"))?;
        let degrees: Vec<f64> = degrees.iter().flatten().collect();
        let nodes = degrees.len() as f64;
        let mean_degree = degrees.iter().sum::<f64>() / nodes;
        ensure!(
            mean_degree > 0.0,
            "{name}: no degrees were estimated; name the artifact of a release with bits or degrees"
        );
        let variance =
            degrees.iter().map(|degree| (degree - mean_degree) * (degree - mean_degree)).sum::<f64>() / nodes;
        let spread = variance.sqrt() / mean_degree;
        let metadata = metadata_of(&path).with_context(|| format!("{name}: its facts cannot be read"))?;
        let budget_of = |fact: &str| {
            let budget = metadata.get(fact).and_then(|text| text.parse::<f64>().ok());
            budget.with_context(|| {
                format!("{name}: the fact `{fact}` is missing, so what its reports cost is unknown; estimate it again")
            })
        };
        let (epsilon_links, epsilon_degree) = (budget_of("epsilon_links")?, budget_of("epsilon_degree")?);
        // Both nodes of a pair sent a bit about it, and the pair counts in the degrees of both.
        let look = Observation { law: Law::RandomizedResponse, epsilon: epsilon_links };
        let pair = if epsilon_links > 0.0 { vec![look; 2] } else { Vec::new() };
        let sent_degrees = if epsilon_degree > 0.0 { vec![epsilon_degree] } else { Vec::new() };
        let reports = SeenBefore {
            signal: Signal { pair, degrees: sent_degrees, knows_degrees: false },
            per_link: 2.0 * (epsilon_links + epsilon_degree),
        };
        Ok(Self { nodes: degrees.len() as u64, mean_degree, spread, reports, name })
    }
}
