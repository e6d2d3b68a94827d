//! This module divides pairs into bins by a score, from a histogram of the scores alone.

/// Says how many pairs and how many bins there may be.
#[derive(Clone, Copy, Debug)]
pub struct BinLimits {
    /// At most this many pairs have bin 1 or a later one.
    pub most_pairs: usize,
    /// The bounds on the number of pairs fall from bin to bin; a bin whose bound would be below this is not made.
    pub least_pairs: usize,
    /// There are at most this many bins, without bin 0.
    pub most_bins: u8,
}

/// Says in which bin the pairs of each cell are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellBins {
    /// Each cell has one entry; bin 0 is that of the pairs with the lowest scores.
    pub bin_of_cell: Vec<u8>,
    /// There are this many bins, without bin 0.
    pub n_bins: u8,
}

/// Divides pairs into bins of ascending score. A cell of a histogram holds `counts[cell]` pairs, all with the score
/// `scores[cell]`.
///
/// Bins are nested from the top: at most `most_pairs` pairs have bin 1 or a later one, at most `most_pairs / 1.6` have
/// bin 2 or a later one, and so on, as long as these bounds are at least `least_pairs`.
///
/// # Shapes
/// `counts` and `scores`: `[cells]`, in any order.
#[must_use]
pub fn bins_of_cells(counts: &[u64], scores: &[f64], limits: BinLimits) -> CellBins {
    let thresholds = bin_thresholds(counts, scores, limits);
    let bin = |&score: &f64| thresholds.partition_point(|&threshold| threshold <= score) as u8;
    CellBins { bin_of_cell: scores.iter().map(bin).collect(), n_bins: thresholds.len() as u8 }
}

/// Returns the least score of each bin, in ascending order, from bin 1 on.
fn bin_thresholds(counts: &[u64], scores: &[f64], limits: BinLimits) -> Vec<f64> {
    /// A bin and all later ones may hold this many times as many pairs as the next bin and all later ones.
    const RATIO: f64 = 1.6;
    let mut cells_by_score: Vec<usize> = (0..counts.len()).filter(|&cell| counts[cell] > 0).collect();
    cells_by_score.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let bounds = (0..i32::from(limits.most_bins)).map(|bin| (limits.most_pairs as f64 / RATIO.powi(bin)) as u64);
    let bounds: Vec<u64> = bounds.take_while(|&bound| bound >= limits.least_pairs.max(1) as u64).collect();
    let mut thresholds: Vec<f64> = Vec::new();
    let (mut n_cells, mut n_pairs) = (0, 0);
    for bound in bounds.into_iter().rev() {
        while n_cells < cells_by_score.len() && n_pairs + counts[cells_by_score[n_cells]] <= bound {
            n_pairs += counts[cells_by_score[n_cells]];
            n_cells += 1;
        }
        // A bound that lets no further cell in makes no bin.
        let threshold = n_cells.checked_sub(1).map(|last| scores[cells_by_score[last]]);
        thresholds.extend(threshold.filter(|threshold| thresholds.last() != Some(threshold)));
    }
    thresholds.reverse();
    thresholds
}

#[cfg(test)]
mod tests;
