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
    let (mut centres, mut nearest) = draw_centres(&rows, k, rng);
    for _ in 0..MOST_ROUNDS {
        let groups: Vec<u32> = nearest.iter().map(|nearest| nearest.group).collect();
        centres = means(&rows, &groups, centres);
        nearest = nearest_of(&rows, &centres, &groups);
        if nearest.iter().zip(&groups).all(|(nearest, &group)| nearest.group == group) {
            break;
        }
    }
    nearest.into_iter().map(|nearest| nearest.group).collect()
}

/// The nearest of the centres that a point was compared with; of several equally near ones, the first.
#[derive(Clone, Copy)]
struct Nearest {
    group: u32,
    /// The squared Euclidean distance.
    distance: f64,
}

impl Nearest {
    /// Takes the centre of `group` where it is nearer, or as near and earlier.
    fn compare(&mut self, row: &[f64], group: u32, centre: &[f64]) {
        let Some(distance) = squared_distance(row, centre, self.distance) else { return };
        if distance < self.distance || (distance <= self.distance && group < self.group) {
            *self = Self { group, distance };
        }
    }
}

/// Returns the squared Euclidean distance of two points, or none where it exceeds `most`, which the first columns often tell.
///
/// # Shapes
/// `a` and `b`: `[width]`.
fn squared_distance(a: &[f64], b: &[f64], most: f64) -> Option<f64> {
    const BLOCK: usize = 64;
    let mut sum = 0.0;
    for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
        a.iter().zip(b).for_each(|(a, b)| sum += (a - b) * (a - b));
        if sum > most {
            return None;
        }
    }
    Some(sum)
}

/// Draws `k` points as centres: the first uniformly, each further one with probability in proportion to its squared
/// distance from the nearest of the earlier centres. Returns also which centre is the nearest of each point.
///
/// # Shapes
/// `rows`: `[n][width]`. Returns `[k][width]` and `[n]`.
fn draw_centres(rows: &[&[f64]], k: usize, rng: &mut impl Rng) -> (Vec<Vec<f64>>, Vec<Nearest>) {
    let mut centres = vec![rows[rng.random_range(0..rows.len())].to_vec()];
    let mut nearest = vec![Nearest { group: 0, distance: f64::INFINITY }; rows.len()];
    loop {
        let group = centres.len() - 1;
        let last = &centres[group];
        nearest.par_iter_mut().zip(rows).for_each(|(nearest, row)| nearest.compare(row, group as u32, last));
        if centres.len() >= k {
            return (centres, nearest);
        }
        let mut rest = rng.random::<f64>() * nearest.iter().map(|nearest| nearest.distance).sum::<f64>();
        let drawn = nearest.iter().position(|nearest| {
            rest -= nearest.distance;
            rest < 0.0
        });
        // If no point is drawn, all points stand on centres, up to rounding, and any point will do.
        centres.push(rows[drawn.unwrap_or(0)].to_vec());
    }
}

/// Returns the nearest centre of each point, which is most likely that of its group before.
///
/// # Shapes
/// `rows`: `[n][width]`; `centres`: `[k][width]`; `groups`: `[n]`. Returns `[n]`.
fn nearest_of(rows: &[&[f64]], centres: &[Vec<f64>], groups: &[u32]) -> Vec<Nearest> {
    let closest = |(row, &before): (&&[f64], &u32)| {
        let mut nearest = Nearest { group: before, distance: f64::INFINITY };
        nearest.compare(row, before, &centres[before as usize]);
        (0..).zip(centres).for_each(|(group, centre)| nearest.compare(row, group, centre));
        nearest
    };
    rows.par_iter().zip(groups).map(closest).collect()
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
