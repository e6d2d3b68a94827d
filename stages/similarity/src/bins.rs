//! From similarities of all pairs to a list of the most similar ones.

use rayon::prelude::*;
use veilgraph_posterior::bins_of_cells;

use crate::classes::Classes;
use crate::cosine::Directions;

/// Similarities of all pairs: never kept, made row by row when they are needed.
pub(crate) struct AllPairs {
    pub directions: Directions,
    pub classes: Option<Classes>,
    pub n_nodes: usize,
}

/// Cells in which similarities are counted: cosines (cell 0 holds the pairs without a common feature) by
/// probabilities of a common class.
const COSINE_CELLS: usize = 2048;
const CLASS_CELLS: usize = 128;

impl AllPairs {
    /// The `most` most similar pairs, in bins from little to much alike: number of bins, and rows of partners above
    /// each node.
    pub(crate) fn most_similar(&self, most: usize, most_bins: u8) -> (u8, Vec<Vec<(u32, u8)>>) {
        let counts = self.counts();
        let scores = scores(&counts);
        let (bins, n_bins) = bins_of_cells(&counts, &scores, most, self.n_nodes / 4, most_bins);
        let row = |scratch: &mut Scratch, node: usize| {
            let pairs = (node as u32 + 1..).zip(self.cells(node, scratch).map(|cell| bins[cell]));
            pairs.filter(|&(_, bin)| bin > 0).collect()
        };
        (n_bins, (0..self.n_nodes).into_par_iter().map_init(Scratch::default, row).collect())
    }

    /// Number of pairs in each cell.
    fn counts(&self) -> Vec<u64> {
        let empty = || vec![0_u64; COSINE_CELLS * CLASS_CELLS];
        (0..self.n_nodes)
            .into_par_iter()
            .fold(
                || (empty(), Scratch::default()),
                |(mut counts, mut scratch), node| {
                    self.cells(node, &mut scratch).for_each(|cell| counts[cell] += 1);
                    (counts, scratch)
                },
            )
            .map(|(counts, _)| counts)
            .reduce(empty, |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                a
            })
    }

    /// Cells of the pairs of `node` with every later node.
    fn cells<'a>(&self, node: usize, scratch: &'a mut Scratch) -> impl Iterator<Item = usize> + 'a {
        let Scratch { cosines, shared } = scratch;
        self.directions.with_later(node, cosines);
        shared.resize(cosines.len(), 0.0);
        if let Some(classes) = &self.classes {
            classes.with_later(node, shared);
        }
        cosines.iter().zip(&*shared).map(|(&cosine, &shared)| {
            let cosine = (cosine * (COSINE_CELLS - 1) as f32).ceil() as usize;
            cosine.min(COSINE_CELLS - 1) * CLASS_CELLS + ((shared * CLASS_CELLS as f32) as usize).min(CLASS_CELLS - 1)
        })
    }
}

#[derive(Default)]
struct Scratch {
    cosines: Vec<f32>,
    shared: Vec<f32>,
}

/// Similarity of the pairs in each cell, in nats: how much likelier a link is, about.
///
/// Chosen by looking at the true links of Cora and CiteSeer: log odds rise by 0.75 with the logarithm of a cosine's rank among all pairs, and
/// with the probability `a` of a common class like `0.8 ln(1 + a / 0.03)`. Only the order matters: how much
/// likelier links really are in each bin is learned from the reports.
fn scores(counts: &[u64]) -> Vec<f64> {
    let total = counts.iter().sum::<u64>() as f64;
    let mut scores = vec![0.0; counts.len()];
    let mut reached = 0;
    for cosine in (0..COSINE_CELLS).rev() {
        let range = cosine * CLASS_CELLS..(cosine + 1) * CLASS_CELLS;
        reached += counts[range.clone()].iter().sum::<u64>();
        let by_cosine = if reached > 0 { -0.75 * libm::log(reached as f64 / total) } else { f64::INFINITY };
        for (class, score) in scores[range].iter_mut().enumerate() {
            *score = by_cosine + 0.8 * libm::log1p(class as f64 / CLASS_CELLS as f64 / 0.03);
        }
    }
    scores
}
