//! Indices drawn in proportion to weights.

use rand::distr::{Distribution, Uniform};
use rand::rngs::ChaCha8Rng;

/// Indices in proportion to weights: from the same random words the same ones as `rand`'s `WeightedIndex` draws.
///
/// `WeightedIndex` bisects the sums of all weights for each draw, which for millions of weights waits for memory some
/// twenty times. Here a table says where to begin: the range of the sums is divided into equal cells.
pub(super) struct Weighted {
    /// Sums of the first weights: entry `k` is the sum up to weight `k`. The sum of all is left out.
    sums: Vec<f64>,
    /// From 0 to the sum of all weights.
    range: Uniform<f64>,
    /// How many sums lie in cells before each one, and the number of all sums at the end.
    before_cell: Vec<u32>,
    cells_per_weight: f64,
}

impl Weighted {
    /// For these weights, of which one is positive and none negative.
    pub(super) fn new(weights: &[f64]) -> Self {
        let mut total = 0.0;
        let mut sums: Vec<f64> = weights
            .iter()
            .map(|weight| {
                total += weight;
                total
            })
            .collect();
        sums.pop();
        let range = Uniform::new(0.0, total).unwrap_or_else(|error| unreachable!("weights are positive: {error}"));
        let n_cells = weights.len();
        let mut index =
            Self { range, before_cell: vec![0; n_cells + 1], cells_per_weight: n_cells as f64 / total, sums };
        for &sum in &index.sums {
            let cell = index.cell(sum);
            index.before_cell[cell + 1] += 1;
        }
        for cell in 0..n_cells {
            index.before_cell[cell + 1] += index.before_cell[cell];
        }
        index
    }

    /// The cell of a sum or of a draw. It never falls where its argument grows, so a draw exceeds all sums in cells before
    /// its own and none in later ones.
    fn cell(&self, x: f64) -> usize {
        ((x * self.cells_per_weight) as usize).min(self.before_cell.len() - 2)
    }

    /// One index.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        self.at(self.draw_sum(rng))
    }

    /// A number between 0 and the sum of all weights, at which an index is looked up.
    pub(super) fn draw_sum(&self, rng: &mut ChaCha8Rng) -> f64 {
        self.range.sample(rng)
    }

    /// The index at a sum: the first one up to which the weights add up to more than `sum`.
    pub(super) fn at(&self, sum: f64) -> usize {
        let cell = self.cell(sum);
        let (first, last) = (self.before_cell[cell] as usize, self.before_cell[cell + 1] as usize);
        first + self.sums[first..last].partition_point(|&before| before <= sum)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::distr::weighted::WeightedIndex;

    use super::*;

    #[test]
    fn the_same_words_give_the_same_indices_as_bisection() {
        let falling: Vec<f64> = (1..2000).map(|rank| 1.0 / f64::from(rank)).collect();
        let gaps: Vec<f64> = (0..500).map(|index| f64::from(index % 7 / 3) * 1e-3).collect();
        for weights in [falling, gaps, vec![1.0; 1000], vec![5.0], vec![1e-300, 1.0, 1e-300], vec![0.0, 2.0, 0.0]] {
            let (guided, bisected) = (Weighted::new(&weights), WeightedIndex::new(&weights).expect("weights"));
            let (mut a, mut b) = (ChaCha8Rng::seed_from_u64(7), ChaCha8Rng::seed_from_u64(7));
            for _ in 0..5000 {
                assert_eq!(guided.draw(&mut a), bisected.sample(&mut b));
            }
        }
    }
}
