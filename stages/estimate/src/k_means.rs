//! Lloyd's algorithm; own code, so that the groups do not depend on the number of threads.

use rand::{Rng, RngExt};
use rayon::prelude::*;

/// As in scikit-learn, whose defaults the published code takes.
const MOST_ROUNDS: usize = 300;

/// Group of each row of `points` (row-major, rows of `width`), from `k` centres that are spread at random
/// (k-means++: Arthur, Vassilvitskii 2007).
///
/// A group may end up empty.
pub(crate) fn k_means(points: &[f64], width: usize, k: usize, rng: &mut impl Rng) -> Vec<u32> {
    let rows: Vec<&[f64]> = points.chunks_exact(width).collect();
    let mut centres = spread(&rows, k, rng);
    let mut groups = nearest(&rows, &centres);
    for _ in 0..MOST_ROUNDS {
        centres = means(&rows, &groups, centres);
        let next = nearest(&rows, &centres);
        if next == groups {
            break;
        }
        groups = next;
    }
    groups
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Centres, each drawn with probability in proportion to the squared distance from those before it.
fn spread(rows: &[&[f64]], k: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
    let mut centres = vec![rows[rng.random_range(0..rows.len())].to_vec()];
    let mut distances = vec![f64::INFINITY; rows.len()];
    while centres.len() < k {
        let last = &centres[centres.len() - 1];
        distances.iter_mut().zip(rows).for_each(|(least, row)| *least = least.min(distance(row, last)));
        let mut rest = rng.random::<f64>() * distances.iter().sum::<f64>();
        let drawn = distances.iter().position(|&distance| {
            rest -= distance;
            rest < 0.0
        });
        // All points stand on centres: any will do.
        centres.push(rows[drawn.unwrap_or(0)].to_vec());
    }
    centres
}

fn nearest(rows: &[&[f64]], centres: &[Vec<f64>]) -> Vec<u32> {
    let closest = |row: &&[f64]| {
        let distances = (0..).zip(centres.iter().map(|centre| distance(row, centre)));
        distances.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(group, _)| group)
    };
    rows.par_iter().map(closest).collect()
}

/// The mean of each group; an empty one keeps its centre.
fn means(rows: &[&[f64]], groups: &[u32], centres: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let mut sums = vec![(0.0, vec![0.0; rows[0].len()]); centres.len()];
    for (row, &group) in rows.iter().zip(groups) {
        let (count, sum) = &mut sums[group as usize];
        *count += 1.0;
        sum.iter_mut().zip(*row).for_each(|(sum, value)| *sum += value);
    }
    let mean = |((count, sum), centre): ((f64, Vec<f64>), Vec<f64>)| {
        if count > 0.0 { sum.into_iter().map(|sum| sum / count).collect() } else { centre }
    };
    sums.into_iter().zip(centres).map(mean).collect()
}
