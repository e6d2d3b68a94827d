//! The graph of `EdgeRefine`: few pairs, whose neighbourhoods in the reported graph resemble each other most.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Draws, Progress, Server, Stage, StageRng};
use veilgraph_graph::{BitMatrix, Construction, WeightedGraph};
use veilgraph_privacy::NoisyLinks;
use veilgraph_privacy::randomized_response::flip_probability;

use crate::Error;

/// Keeps few of the reported pairs, and fewer of the others, by how much the reported neighbourhoods of their nodes
/// overlap.
///
/// A bit of a pair comes from one of its nodes, the one with the larger number. Pairs are divided into ten bins by the
/// Jaccard similarity of their nodes in the reported graph, and the share of reported pairs in a bin ranks its pairs. Of
/// as many pairs as are wanted, the share that tells the truth is taken among the reported ones and the rest among the
/// others, the pairs of the best bins first, and within a bin those of the smallest numbers.
///
/// How many are wanted is a multiple of the number of links. Their code reads it off the private graph, which nothing
/// pays for; here it is estimated from the reports: of `N` pairs with a flip probability `p`, `L (1 − p) + (N − L) p` are
/// reported on average.
///
/// # Complexity
/// `O(n³ / 64)` steps, and `n²` bits.
///
/// # Source
/// Liu et al. (2026), `EdgeRefine`, as their code has it: `jaccard_probability` with a histogram, and
/// `graph_sampling_with_ratio`.
pub struct ConstructRefined;

/// What this function reads of `[construct]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How many pairs are kept, as a multiple of the estimated number of links (0.01 in the code of the authors).
    #[serde(default = "default_edge_multiple")]
    pub edge_multiple: f64,
}

/// Similarities are told apart in so many steps.
const CELLS: usize = 1 << 16;
/// Bins of about equally many pairs.
const BINS: usize = 10;

fn default_edge_multiple() -> f64 {
    0.01
}

impl Params {
    /// Checks the parameters.
    ///
    /// # Errors
    /// When the multiple is no positive number.
    pub fn check(&self) -> Result<(), Error> {
        let is_positive = self.edge_multiple > 0.0 && self.edge_multiple.is_finite();
        if is_positive { Ok(()) } else { Err(Error::EdgeMultiple(self.edge_multiple)) }
    }
}

impl Stage for ConstructRefined {
    const STAGE: &'static str = "construct";
    const TASK: &'static str = "refined";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = Params;
    type Inputs = (NoisyLinks,);
    type Outputs = (WeightedGraph,);
    type Error = Error;

    fn check_params(params: &Params) -> Result<(), Error> {
        params.check()
    }

    fn run((links,): Self::Inputs, params: &Params, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        params.check()?;
        let reported = ReportedGraph::of(&links);
        // Each number is a pair: of what is not reported, and of what is.
        let mut of_cell = vec![[0_u64; 2]; CELLS];
        reported.pairs().for_each(|(_, _, cell, is_reported)| of_cell[cell][usize::from(is_reported)] += 1);
        let bin_of_cell = bins_of_cells(&of_cell);
        let mut of_bin = [[0_u64; 2]; BINS];
        for (&bin, [unreported, reported]) in bin_of_cell.iter().zip(&of_cell) {
            of_bin[bin][0] += unreported;
            of_bin[bin][1] += reported;
        }
        let [unreported, n_reported] = of_bin.iter().fold([0_u64; 2], |sum, bin| [sum[0] + bin[0], sum[1] + bin[1]]);
        let flip = flip_probability(links.facts.budget.links);
        let wanted = wanted(unreported + n_reported, n_reported, flip, params.edge_multiple);
        let mut room = room(&of_bin, wanted);
        let mut left: u64 = wanted.iter().sum();
        let mut kept = Vec::new();
        for (i, j, cell, is_reported) in reported.pairs() {
            if left == 0 {
                break;
            }
            let room = &mut room[bin_of_cell[cell]][usize::from(is_reported)];
            if *room > 0 {
                *room -= 1;
                left -= 1;
                kept.push((i as u32, j as u32, 1.0));
            }
        }
        Ok((WeightedGraph::undirected(Construction::Given, links.n_nodes(), kept),))
    }
}

/// The reported graph, with both directions of every reported pair.
struct ReportedGraph {
    bits: BitMatrix,
    degrees: Vec<u64>,
}

impl ReportedGraph {
    fn of(links: &NoisyLinks) -> Self {
        let n_nodes = links.n_nodes();
        let mut bits = BitMatrix::from_rows(n_nodes, |_, _| {});
        for node in 0..n_nodes {
            for other in links.ones(node).filter(|&other| (other as usize) < node) {
                bits.set(node, other);
                bits.set(other as usize, node as u32);
            }
        }
        let degree = |node: usize| bits.row(node).iter().map(|word| u64::from(word.count_ones())).sum();
        let degrees = (0..n_nodes).map(degree).collect();
        Self { bits, degrees }
    }

    /// Every pair of nodes in ascending order, with the cell of its similarity and whether it was reported.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize, usize, bool)> + '_ {
        let n_nodes = self.degrees.len();
        let pairs = (0..n_nodes).flat_map(move |i| (i + 1..n_nodes).map(move |j| (i, j)));
        pairs.map(move |(i, j)| (i, j, self.cell(i, j), self.bits.contains(i, j as u32)))
    }

    /// The Jaccard similarity of two neighbourhoods, from 0 to `CELLS - 1`. It is 0 where neither node has a neighbour.
    fn cell(&self, i: usize, j: usize) -> usize {
        let words = self.bits.row(i).iter().zip(self.bits.row(j));
        let both: u64 = words.map(|(a, b)| u64::from((a & b).count_ones())).sum();
        let either = self.degrees[i] + self.degrees[j] - both;
        (both * (CELLS as u64 - 1)).checked_div(either).unwrap_or(0) as usize
    }
}

/// The bin of every cell: how many of the nine inner deciles of all pairs are in this cell or in one below.
fn bins_of_cells(of_cell: &[[u64; 2]]) -> Vec<usize> {
    let n_pairs: u64 = of_cell.iter().map(|[unreported, reported]| unreported + reported).sum();
    let mut up_to = 0;
    let bin = |[unreported, reported]: &[u64; 2]| {
        up_to += unreported + reported;
        (1..BINS as u64).filter(|decile| up_to > decile * n_pairs.saturating_sub(1) / BINS as u64).count()
    };
    of_cell.iter().map(bin).collect()
}

/// How many unreported and how many reported pairs are kept.
fn wanted(n_pairs: u64, n_reported: u64, flip: f64, edge_multiple: f64) -> [u64; 2] {
    let estimated = (n_reported as f64 - n_pairs as f64 * flip) / (1.0 - 2.0 * flip);
    // Coins that are fair tell nothing about the number of links.
    let estimated = if estimated.is_finite() { estimated.clamp(0.0, n_pairs as f64) } else { 0.0 };
    let target = (estimated * edge_multiple).floor().min(n_pairs as f64);
    let reported = (target * (1.0 - flip)).round();
    [((target - reported) as u64).min(n_pairs - n_reported), (reported as u64).min(n_reported)]
}

/// The wanted pairs by bin: those with the largest shares of reported pairs are filled first.
fn room(of_bin: &[[u64; 2]; BINS], wanted: [u64; 2]) -> [[u64; 2]; BINS] {
    let share = |bin: usize| of_bin[bin][1] as f64 / (of_bin[bin][0] + of_bin[bin][1]).max(1) as f64;
    let mut by_share: Vec<usize> = (0..BINS).collect();
    by_share.sort_by(|&a, &b| share(b).total_cmp(&share(a)));
    let mut room = [[0; 2]; BINS];
    for (kind, mut rest) in wanted.into_iter().enumerate() {
        for &bin in &by_share {
            room[bin][kind] = rest.min(of_bin[bin][kind]);
            rest -= room[bin][kind];
        }
    }
    room
}

#[cfg(test)]
mod tests;
