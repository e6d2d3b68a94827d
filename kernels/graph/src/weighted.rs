//! The graph that the server builds and trains on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

/// How link probabilities become a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Construction {
    /// Links more likely than not, with weight 1.
    Hard,
    /// Every pair, with its probability as weight.
    Soft,
    /// The most likely pairs, as many as expected, with their probabilities as weights.
    Hybrid,
}

/// Undirected weighted graph, or the instruction to use all pairs implicitly (soft).
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedGraph {
    /// How it was built.
    pub construction: Construction,
    /// Number of nodes.
    pub n_nodes: usize,
    /// `(i, j, weight)` with `i < j`, sorted; empty for soft, whose weights are the posterior itself.
    pub links: Vec<(u32, u32, f32)>,
}

impl fmt::Display for Construction {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Self::Hard => "hard",
            Self::Soft => "soft",
            Self::Hybrid => "hybrid",
        })
    }
}

impl FromStr for Construction {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "hard" => Ok(Self::Hard),
            "soft" => Ok(Self::Soft),
            "hybrid" => Ok(Self::Hybrid),
            other => Err(Invalid(format!("`{other}` is no construction"))),
        }
    }
}

// A function of the noisy reports alone (post-processing).
impl Public for WeightedGraph {}

impl Artifact for WeightedGraph {
    const NAME: &'static str = "graph";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("source", ColumnType::U32), ("target", ColumnType::U32), ("weight", ColumnType::F32)];

    fn facts(&self) -> Facts {
        let form = if self.construction == Construction::Soft { "implicit" } else { "explicit" };
        Facts::default().with("variant", self.construction).with("n_nodes", self.n_nodes).with("form", form)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        const ROWS: usize = 1 << 20;
        Box::new(self.links.chunks(ROWS).map(|rows| {
            vec![
                Column::U32(rows.iter().map(|row| row.0).collect()),
                Column::U32(rows.iter().map(|row| row.1).collect()),
                Column::F32(rows.iter().map(|row| row.2).collect()),
            ]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_nodes = facts.get("n_nodes")?;
        let mut links = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let sources: Vec<u32> = take(&mut columns)?;
            let targets: Vec<u32> = take(&mut columns)?;
            let weights: Vec<f32> = take(&mut columns)?;
            links.extend(sources.into_iter().zip(targets).zip(weights).map(|((i, j), weight)| (i, j, weight)));
        }
        match links.iter().position(|&(i, j, weight)| i >= j || j as usize >= n_nodes || !weight.is_finite()) {
            Some(row) => Err(Invalid(format!("row {row}: {:?} is no weighted link", links[row]))),
            None => Ok(Self { construction: facts.get("variant")?, n_nodes, links }),
        }
    }
}
