//! This module chooses the pairs from which a score is learned, and those that judge it.

use std::ops::Range;

use rayon::prelude::*;

use super::{ListedPair, mixed};
use crate::known_pairs::STRIPES;

/// Holds the chosen pairs.
///
/// Where there are too many, a pair is chosen with a probability in proportion to its slope, what it adds to the gradient
/// where nothing has been learned yet, and weighs one over that probability. So sums over the chosen pairs are those over
/// all pairs in the mean over such choices, and among all probabilities with as many pairs these make the gradient err
/// least. A hash of both nodes stands for chance. A pair that one of its nodes claims says nothing and is never chosen.
pub(super) struct Chosen {
    pub learned_from: Vec<Stripe>,
    /// About every fifth pair, by another hash of its nodes.
    pub held_out: Vec<Stripe>,
}

/// Is every sixteenth node with the chosen pairs of its row, one row after another.
///
/// # Shapes
/// `rows`: nodes that have chosen pairs, each with the range of its pairs in `pairs`.
pub(super) struct Stripe {
    pub rows: Vec<(usize, Range<usize>)>,
    pub pairs: Vec<ChosenPair>,
}

/// Is a pair that counts as many.
pub(super) struct ChosenPair {
    pub pair: ListedPair,
    /// As how many pairs it counts.
    pub weight: f32,
}

impl Chosen {
    /// Chooses about `most` pairs, or all where no more say anything.
    ///
    /// # Shapes
    /// `rows`: one row for each node.
    pub(super) fn new(rows: &[Vec<ListedPair>], most: usize) -> Self {
        let count = |row: &Vec<ListedPair>| -> (usize, f64) {
            let slopes = row.iter().map(slope).filter(|&slope| slope > 0.0);
            slopes.fold((0, 0.0), |(count, total), slope| (count + 1, total + slope))
        };
        let counts: Vec<(usize, f64)> = rows.par_iter().map(count).collect();
        let n_telling: usize = counts.iter().map(|&(count, _)| count).sum();
        let total: f64 = counts.iter().map(|&(_, total)| total).sum();
        let per_slope = if n_telling <= most { f64::INFINITY } else { most as f64 / total };
        let stripes = |are_held_out: bool| -> Vec<Stripe> {
            let choose = |i: usize, pair: &ListedPair| {
                let hash = mixed(((i as u64) << 32) | u64::from(pair.partner));
                if hash.is_multiple_of(5) == are_held_out { weight(pair, hash, per_slope) } else { None }
            };
            (0..STRIPES).into_par_iter().map(|first| Stripe::new(rows, first, choose)).collect()
        };
        Self { learned_from: stripes(false), held_out: stripes(true) }
    }
}

impl Stripe {
    /// Takes the pairs to which `choose` gives a weight.
    fn new(rows: &[Vec<ListedPair>], first: usize, choose: impl Fn(usize, &ListedPair) -> Option<f32>) -> Self {
        let mut stripe = Self { rows: Vec::new(), pairs: Vec::new() };
        for i in (first..rows.len()).step_by(STRIPES) {
            let start = stripe.pairs.len();
            let chosen = rows[i].iter().filter_map(|&pair| Some(ChosenPair { pair, weight: choose(i, &pair)? }));
            stripe.pairs.extend(chosen);
            if stripe.pairs.len() > start {
                stripe.rows.push((i, start..stripe.pairs.len()));
            }
        }
        stripe
    }
}

/// Returns the size of the derivative of `ln (1 + θ e^s R)` by `s` at 0.
fn slope(pair: &ListedPair) -> f64 {
    let change = pair.change(0.0);
    (change / (1.0 + change)).abs()
}

/// Returns the weight of a pair, if it is chosen.
fn weight(pair: &ListedPair, hash: u64, per_slope: f64) -> Option<f32> {
    let slope = slope(pair);
    if slope.is_nan() || slope == 0.0 {
        return None;
    }
    let probability = (per_slope * slope).min(1.0);
    // The hash also says which pairs are held out, so its bits are mixed once more.
    let uniform = (mixed(hash) >> 11) as f64 / (1_u64 << 53) as f64;
    (uniform < probability).then_some((1.0 / probability) as f32)
}
