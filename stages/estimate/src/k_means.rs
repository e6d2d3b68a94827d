//! This module groups points by Lloyd's algorithm. The code is our own, so that the groups do not depend on the number
//! of threads.

use rand::{Rng, RngExt};
use rayon::prelude::*;

/// The algorithm stops after this many rounds, as in scikit-learn, whose defaults the published code takes.
const MOST_ROUNDS: usize = 300;

/// Returns the group of each point, from 0 to `k − 1`; a group may end up empty.
///
/// The first centre is a uniformly random point. Each further one is a random point, drawn with probability in
/// proportion to its squared distance from the nearest of the earlier centres. Then points move to their nearest centre
/// and centres to the mean of their points, until no point moves.
///
/// # Shapes
/// `points`: `[n, width]`, row-major. Returns `[n]`.
///
/// # Source
/// Lloyd (1982), Least squares quantization in PCM; Arthur, Vassilvitskii (2007), k-means++.
pub(crate) fn k_means(points: &[f64], width: usize, k: usize, rng: &mut impl Rng) -> Vec<u32> {
    let rows: Vec<&[f64]> = points.chunks_exact(width).collect();
    let mut centres = draw_centres(&rows, k, rng);
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

/// Returns the squared Euclidean distance of two points.
///
/// # Shapes
/// `a` and `b`: `[width]`.
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Draws `k` points as centres: the first uniformly, each further one with probability in proportion to its squared
/// distance from the nearest of the earlier centres.
///
/// # Shapes
/// `rows`: `[n][width]`. Returns `[k][width]`.
fn draw_centres(rows: &[&[f64]], k: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
    let mut centres = vec![rows[rng.random_range(0..rows.len())].to_vec()];
    let mut distances = vec![f64::INFINITY; rows.len()];
    while centres.len() < k {
        let last = &centres[centres.len() - 1];
        distances.iter_mut().zip(rows).for_each(|(least, row)| *least = least.min(squared_distance(row, last)));
        let mut rest = rng.random::<f64>() * distances.iter().sum::<f64>();
        let drawn = distances.iter().position(|&distance| {
            rest -= distance;
            rest < 0.0
        });
        // If no point is drawn, all points stand on centres, up to rounding, and any point will do.
        centres.push(rows[drawn.unwrap_or(0)].to_vec());
    }
    centres
}

/// Returns the nearest centre of each point; of several equally near ones, the first.
///
/// # Shapes
/// `rows`: `[n][width]`; `centres`: `[k][width]`. Returns `[n]`.
fn nearest(rows: &[&[f64]], centres: &[Vec<f64>]) -> Vec<u32> {
    let closest = |row: &&[f64]| {
        let distances = (0..).zip(centres.iter().map(|centre| squared_distance(row, centre)));
        distances.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(group, _)| group)
    };
    rows.par_iter().map(closest).collect()
}

/// Returns the mean of the points of each group; an empty group keeps its centre.
///
/// # Shapes
/// `rows`: `[n][width]`; `groups`: `[n]`; `centres`: `[k][width]`. Returns `[k][width]`.
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
