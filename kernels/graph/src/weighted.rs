//! This module holds the graph that the server builds and trains on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Artifact, Blocks, Column, ColumnType, Facts, Invalid, Public, Streamed, Zone, take};

use crate::bits::BitMatrix;

/// Says how the server comes to a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Construction {
    /// The graph has the links that are more likely than not, each with weight 1.
    Hard,
    /// Every pair is a link whose weight is its probability.
    Soft,
    /// The graph has the most likely pairs, as many as links are expected, with their probabilities as weights.
    Hybrid,
    /// The graph has the links that a mechanism other than Blink gives, each with weight 1, or those that another program has drawn,
    /// with their weights.
    Given,
    /// The graph has the same links as with [`Self::Given`], and training learns their weights, starting from 1.
    Learned,
}

/// This is a weighted graph; a soft one lists no links, because the posterior itself gives the weights of all pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedGraph {
    /// The graph was built in this way.
    pub construction: Construction,
    /// The graph has this many nodes.
    pub n_nodes: usize,
    /// If true, a link carries messages from its source to its target only; if false, in both directions.
    pub directed: bool,
    /// These are the links; a soft graph has none here.
    pub links: Links,
}

/// Links `(source, target, weight)` in ascending order, in pieces of any size.
pub type LinkPieces = Box<dyn Iterator<Item = Result<Vec<(u32, u32, f32)>, Invalid>>>;

/// Holds links as a list or, where they are many, as bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Links {
    /// The entries `(source, target, weight)` ascend; an undirected graph has `source < target`.
    Listed(Vec<(u32, u32, f32)>),
    /// Every link has weight 1; its source is the row and its target the column. Both directions of an undirected link
    /// are set.
    Bits(BitMatrix),
}

impl WeightedGraph {
    /// Builds an undirected graph from a list `(i, j, weight)` with `i < j`, in ascending order.
    #[must_use]
    pub fn undirected(construction: Construction, n_nodes: usize, links: Vec<(u32, u32, f32)>) -> Self {
        Self { construction, n_nodes, directed: false, links: Links::Listed(links) }
    }

    /// Builds the same graph while it is written: `links` gives the links in pieces of any size.
    #[must_use]
    pub fn streamed(
        construction: Construction,
        n_nodes: usize,
        links: impl Fn() -> LinkPieces + Send + Sync + 'static,
    ) -> Streamed<Self> {
        let blocks = move || -> Blocks {
            let (mut pieces, mut waiting) = (links(), Vec::new());
            Box::new(std::iter::from_fn(move || {
                while waiting.len() < LINKS_PER_BLOCK
                    && let Some(piece) = pieces.next()
                {
                    match piece {
                        Ok(piece) => waiting.extend(piece),
                        Err(error) => return Some(Err(error)),
                    }
                }
                let rest = waiting.split_off(waiting.len().min(LINKS_PER_BLOCK));
                let block = std::mem::replace(&mut waiting, rest);
                (!block.is_empty()).then(|| Ok(columns(&block)))
            }))
        };
        Streamed::from_blocks(Self::undirected(construction, n_nodes, Vec::new()).facts(), blocks)
    }

    /// Iterates over all links as `(source, target, weight)`, in ascending order; an undirected link comes once, with
    /// `source < target`.
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

    /// Counts the directions in which messages go: an undirected link has two.
    #[must_use]
    pub fn n_entries(&self) -> usize {
        match &self.links {
            Links::Listed(links) => links.len() * if self.directed { 1 } else { 2 },
            Links::Bits(bits) => bits.count_ones(),
        }
    }

    /// Returns the graph with the links among the kept nodes alone. The other nodes stay, without a link.
    #[must_use]
    pub fn among(&self, is_kept: impl Fn(u32) -> bool) -> Self {
        let links = match &self.links {
            Links::Listed(links) => {
                let kept = links.iter().filter(|&&(source, target, _)| is_kept(source) && is_kept(target));
                Links::Listed(kept.copied().collect())
            }
            Links::Bits(bits) => {
                let mut mask = vec![0_u64; self.n_nodes.div_ceil(64)];
                (0..self.n_nodes as u32).filter(|&node| is_kept(node)).for_each(|node| {
                    mask[node as usize / 64] |= 1 << (node % 64);
                });
                Links::Bits(BitMatrix::from_rows(self.n_nodes, |node, row| {
                    if mask[node / 64] >> (node % 64) & 1 == 1 {
                        row.iter_mut().zip(bits.row(node)).zip(&mask).for_each(|((to, from), mask)| *to = from & mask);
                    }
                }))
            }
        };
        Self { links, ..*self }
    }

    /// Names the form of the links in the facts of the artifact.
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

/// A block, the row group of an artifact, has this many links.
const LINKS_PER_BLOCK: usize = 1 << 20;

fn columns(links: &[(u32, u32, f32)]) -> Vec<Column> {
    vec![
        Column::U32(links.iter().map(|link| link.0).collect()),
        Column::U32(links.iter().map(|link| link.1).collect()),
        Column::F32(links.iter().map(|link| link.2).collect()),
    ]
}

// The graph is a function of the noisy reports alone, so it is post-processing and reveals no more than they do.
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
        let mut links = self.links();
        Box::new(std::iter::from_fn(move || {
            let rows: Vec<_> = links.by_ref().take(LINKS_PER_BLOCK).collect();
            (!rows.is_empty()).then(|| columns(&rows))
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
        if !links.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)) {
            return Err(Invalid("the links of a graph do not ascend, or one of them comes twice".to_owned()));
        }
        let links = if is_dense { Links::Bits(bits) } else { Links::Listed(links) };
        Ok(Self { construction: facts.get("variant")?, n_nodes, directed, links })
    }

    /// Counts the bits twice, because a directed graph is also kept transposed; a list takes what is stored of it.
    fn footprint(facts: &Facts, stored: u64) -> Result<u64, Invalid> {
        let n: f64 = facts.get("n_nodes")?;
        let form: String = facts.get("form")?;
        Ok(if form == "bits" { (n * n / 4.0) as u64 } else { stored })
    }
}

#[cfg(test)]
mod tests;
