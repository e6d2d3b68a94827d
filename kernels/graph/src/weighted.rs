//! The graph that the server builds and trains on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use crate::bits::BitMatrix;

/// How the server comes to a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Construction {
    /// Links more likely than not, with weight 1.
    Hard,
    /// Every pair, with its probability as weight.
    Soft,
    /// The most likely pairs, as many as expected, with their probabilities as weights.
    Hybrid,
    /// Links as a mechanism other than Blink gives them, with weight 1.
    Given,
    /// The same as the start of weights that are learned in training.
    Learned,
}

/// Weighted graph, or the instruction to use all pairs implicitly (soft).
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedGraph {
    /// How it was built.
    pub construction: Construction,
    /// Number of nodes.
    pub n_nodes: usize,
    /// Whether a link carries messages from its source to its target alone.
    pub directed: bool,
    /// The links; none for soft, whose weights are the posterior itself.
    pub links: Links,
}

/// Links, listed or as bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Links {
    /// `(source, target, weight)`, ascending; `source < target` in an undirected graph.
    Listed(Vec<(u32, u32, f32)>),
    /// Links of weight 1, where they are many: row source, column target; both directions of an undirected link.
    Bits(BitMatrix),
}

impl WeightedGraph {
    /// An undirected graph of listed `(i, j, weight)` with `i < j`, ascending.
    #[must_use]
    pub fn undirected(construction: Construction, n_nodes: usize, links: Vec<(u32, u32, f32)>) -> Self {
        Self { construction, n_nodes, directed: false, links: Links::Listed(links) }
    }

    /// All links as `(source, target, weight)`, ascending; undirected ones once, with `source < target`.
    #[must_use]
    pub fn links(&self) -> Box<dyn Iterator<Item = (u32, u32, f32)> + '_> {
        match &self.links {
            Links::Listed(links) => Box::new(links.iter().copied()),
            Links::Bits(bits) => Box::new((0..self.n_nodes).flat_map(move |source| {
                let first = if self.directed { 0 } else { source + 1 };
                bits.ones_from(source, first).map(move |target| (source as u32, target, 1.0))
            })),
        }
    }

    /// Number of directions in which messages go: two for an undirected link.
    #[must_use]
    pub fn n_entries(&self) -> usize {
        match &self.links {
            Links::Listed(links) => links.len() * if self.directed { 1 } else { 2 },
            Links::Bits(bits) => bits.count_ones(),
        }
    }

    fn form(&self) -> &'static str {
        match (&self.links, self.construction) {
            (_, Construction::Soft) => "implicit",
            (Links::Listed(_), _) => "listed",
            (Links::Bits(_), _) => "bits",
        }
    }
}

impl fmt::Display for Construction {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Self::Hard => "hard",
            Self::Soft => "soft",
            Self::Hybrid => "hybrid",
            Self::Given => "given",
            Self::Learned => "learned",
        })
    }
}

impl FromStr for Construction {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let all = [Self::Hard, Self::Soft, Self::Hybrid, Self::Given, Self::Learned];
        let found = all.into_iter().find(|construction| construction.to_string() == text);
        found.ok_or_else(|| Invalid(format!("`{text}` is no construction")))
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
        let facts = Facts::default().with("variant", self.construction).with("n_nodes", self.n_nodes);
        facts.with("form", self.form()).with("directed", self.directed)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        const ROWS: usize = 1 << 20;
        let mut links = self.links();
        Box::new(std::iter::from_fn(move || {
            let rows: Vec<_> = links.by_ref().take(ROWS).collect();
            (!rows.is_empty()).then(|| {
                vec![
                    Column::U32(rows.iter().map(|row| row.0).collect()),
                    Column::U32(rows.iter().map(|row| row.1).collect()),
                    Column::F32(rows.iter().map(|row| row.2).collect()),
                ]
            })
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_nodes = facts.get("n_nodes")?;
        let (form, directed): (String, bool) = (facts.get("form")?, facts.get("directed")?);
        let is_dense = form == "bits";
        let mut bits = BitMatrix::from_rows(if is_dense { n_nodes } else { 0 }, |_, _| {});
        let mut links = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let sources: Vec<u32> = take(&mut columns)?;
            let targets: Vec<u32> = take(&mut columns)?;
            let weights: Vec<f32> = take(&mut columns)?;
            for (row, ((i, j), weight)) in sources.into_iter().zip(targets).zip(weights).enumerate() {
                let is_ordered = if directed { i != j } else { i < j };
                let is_weighted = if is_dense { weight == 1.0 } else { weight.is_finite() };
                if !is_ordered || i.max(j) as usize >= n_nodes || !is_weighted {
                    return Err(Invalid(format!("row {row}: ({i}, {j}, {weight}) is no link of this graph")));
                }
                if is_dense {
                    bits.set(i as usize, j);
                    if !directed {
                        bits.set(j as usize, i);
                    }
                } else {
                    links.push((i, j, weight));
                }
            }
        }
        if directed && !links.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)) {
            return Err(Invalid("the links of a directed graph do not ascend".to_owned()));
        }
        let links = if is_dense { Links::Bits(bits) } else { Links::Listed(links) };
        Ok(Self { construction: facts.get("variant")?, n_nodes, directed, links })
    }

    /// Bits, and the same transposed where messages go one way.
    fn footprint(facts: &Facts) -> Result<u64, Invalid> {
        let n: f64 = facts.get("n_nodes")?;
        let form: String = facts.get("form")?;
        Ok(if form == "bits" { (n * n / 4.0) as u64 } else { 0 })
    }
}
