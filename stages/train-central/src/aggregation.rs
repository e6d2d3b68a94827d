//! Sums over neighbours with exact Gaussian noise (the PMA of GAP).

use rayon::prelude::*;
use veilgraph_contract::StageRng;
use veilgraph_graph::AdjacencyList;
use veilgraph_noise::discrete_gaussian::{Sigma, discrete_gaussian};

/// Most binary digits behind the point of what is summed.
const DIGITS: i32 = 16;

/// Who contributes to whom: each node to all its neighbours, or to `max_degree` of them.
///
/// # Privacy
/// What a node contributes to is chosen from its own list alone, with random words of its own. Blanking a node therefore
/// changes no contribution of another one. (Published code cuts the matrix of links, where a link that goes lets another one
/// of the neighbour's in.)
pub(crate) struct Contributions {
    /// For each node, those who contribute to it.
    senders: Vec<Vec<u32>>,
}

impl Contributions {
    pub(crate) fn new(links: &AdjacencyList, max_degree: Option<u32>, rng: &StageRng) -> Self {
        Self::of_lists(links.n_nodes(), max_degree, rng, |node| links.neighbours(node as usize).to_vec())
    }

    /// The same for lists that are made on the way.
    pub(crate) fn of_lists(
        n_nodes: usize,
        max_degree: Option<u32>,
        rng: &StageRng,
        list: impl Fn(u32) -> Vec<u32>,
    ) -> Self {
        let mut senders = vec![Vec::new(); n_nodes];
        for node in 0..n_nodes as u32 {
            let mut receivers = list(node);
            if let Some(most) = max_degree.map(|most| most as usize).filter(|&most| receivers.len() > most) {
                let mut words = rng.stream("aggregation: whom a node contributes to", u64::from(node));
                let kept = rand::seq::index::sample(&mut words, receivers.len(), most);
                receivers = kept.into_iter().map(|at| receivers[at]).collect();
            }
            receivers.into_iter().for_each(|receiver| senders[receiver as usize].push(node));
        }
        Self { senders }
    }

    /// Those who contribute to a node, ascending.
    pub(crate) fn senders(&self, node: usize) -> &[u32] {
        &self.senders[node]
    }

    /// For every node the noisy sum of the rows of those who contribute to it, scaled to norm 1: `[n_nodes, width]`. Rows
    /// have a norm of at most 1.
    ///
    /// # Privacy
    /// Rows are rounded towards zero to whole steps, so that their norm never grows, and integer Gaussian noise of standard
    /// deviation `sigma` or a little more is added: the release is exact to the last bit. A row that moves by 1 in each of
    /// `k` sums costs `k / (2 sigma²)` in concentrated differential privacy. A node's own sum is for that node alone: it is
    /// not released, so what others send to it costs nothing.
    ///
    /// # Source
    /// Sajadmanesh, Shamsabadi, Bellet, Gatica-Perez (2023), GAP, algorithm 1.
    pub(crate) fn noisy_sums(&self, rows: &[f32], width: usize, sigma: f64, rng: &StageRng, hop: u32) -> Vec<f32> {
        // As fine as exact sampling allows for so much noise.
        let digits = if sigma > 0.0 {
            DIGITS.min(libm::floor(libm::log2(Sigma::MOST as f64 / 2.0 / sigma)) as i32)
        } else {
            DIGITS
        };
        let steps = libm::exp2(f64::from(digits));
        let sigma = (sigma > 0.0).then(|| {
            let drawn = Sigma::at_least(sigma * steps);
            // Sums without noise in the place of noisy ones would break the promise.
            drawn.unwrap_or_else(|| unreachable!("with {digits} digits, noise of {sigma} can be drawn"))
        });
        let purpose = format!("aggregation: noise of hop {hop}");
        let sum = |node: usize| -> Vec<f32> {
            let mut sum = vec![0_i64; width];
            for &sender in &self.senders[node] {
                let row = &rows[sender as usize * width..(sender as usize + 1) * width];
                sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += (f64::from(*value) * steps) as i64);
            }
            if let Some(sigma) = sigma {
                let mut words = rng.stream(&purpose, node as u64);
                sum.iter_mut().for_each(|sum| *sum += discrete_gaussian(sigma, &mut words));
            }
            let mut row: Vec<f32> = sum.into_iter().map(|sum| (sum as f64 / steps) as f32).collect();
            normalize(&mut row);
            row
        };
        (0..self.senders.len()).into_par_iter().flat_map_iter(sum).collect()
    }
}

/// Scales a row to norm 1, or a little less; a row of zeros stays.
pub(crate) fn normalize(row: &mut [f32]) {
    let norm = row.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>().sqrt();
    if norm > 0.0 {
        // A margin for the rounding to single precision, so that no norm exceeds 1.
        let scale = (1.0 - 1e-6) / norm;
        row.iter_mut().for_each(|value| *value = (f64::from(*value) * scale) as f32);
    }
}

/// Rows side by side: `[n_rows, sum of widths]`.
pub(crate) fn side_by_side(blocks: &[(Vec<f32>, usize)]) -> (Vec<f32>, usize) {
    let width: usize = blocks.iter().map(|block| block.1).sum();
    let n_rows = blocks.first().map_or(0, |(values, width)| values.len() / width.max(&1));
    let mut all = Vec::with_capacity(n_rows * width);
    for row in 0..n_rows {
        for (values, width) in blocks {
            all.extend_from_slice(&values[row * width..(row + 1) * width]);
        }
    }
    (all, width)
}

#[cfg(test)]
mod tests;
