//! This module holds what pairs say by not being claimed.

use super::learned::Learned;
use super::{ClaimRatios, MOST_LIKELY};
use crate::known_pairs::{SimilarClaim, SimilarClaims};

/// Holds what all pairs say by not being claimed, as far as it is expected without links.
pub(crate) struct Background<'a> {
    /// `Σ_j w_j b_j` of each class.
    pub weight_by_class: Vec<f64>,
    /// What one unit of `w_i w_j` says.
    pub per_weight: f64,
    pub learned: &'a Learned,
}

/// Lists what similar pairs say by not being claimed, beyond what is expected of all pairs, in both directions.
///
/// # Shapes
/// `offsets`: `[n + 1]`; `partners` and `strengths`: `[entries]`.
pub(crate) struct Unclaimed {
    offsets: Vec<usize>,
    partners: Vec<u32>,
    strengths: Vec<f32>,
}

impl Unclaimed {
    /// Lists the similar pairs: nobody's claim says more than the background where the pair is likely linked.
    pub(crate) fn new(learned: &Learned, similar: &SimilarClaims, ratios: ClaimRatios, n_nodes: usize) -> Self {
        let expected = ratios.less_one[0] * ratios.unclaimed;
        let strength = |i: usize, pair: &SimilarClaim| {
            let base = learned.base(i, pair.partner, pair.bin);
            let said = if pair.claims == 0 { ratios.less_one[0] * base.min(MOST_LIKELY) } else { 0.0 };
            (said - expected * learned.weights[i] * learned.weights[pair.partner as usize]) as f32
        };
        let mut offsets = vec![0; n_nodes + 1];
        for i in 0..n_nodes {
            for pair in similar.row(i) {
                offsets[i + 1] += 1;
                offsets[pair.partner as usize + 1] += 1;
            }
        }
        for node in 0..n_nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let n_entries = offsets[n_nodes];
        let (mut partners, mut strengths) = (vec![0; n_entries], vec![0.0; n_entries]);
        for i in 0..n_nodes {
            for pair in similar.row(i) {
                let strength = strength(i, pair);
                for (row, partner) in [(i, pair.partner), (pair.partner as usize, i as u32)] {
                    (partners[next[row]], strengths[next[row]]) = (partner, strength);
                    next[row] += 1;
                }
            }
        }
        Self { offsets, partners, strengths }
    }

    /// Returns what the pairs that are not claimed say about the class of a node, in nats, up to a constant.
    ///
    /// # Shapes
    /// `beliefs`: `[n, n_classes]`, row-major; `same_class`: `[n_classes]`. Returns `[n_classes]`.
    pub(crate) fn field(&self, node: usize, background: &Background, beliefs: &[f32], same_class: &[f32]) -> Vec<f64> {
        let belief = |node: usize| &beliefs[node * same_class.len()..][..same_class.len()];
        let own = background.learned.weights[node];
        let of_all = background.weight_by_class.iter().zip(belief(node));
        let mut field: Vec<f64> =
            of_all.map(|(sum, &belief)| background.per_weight * own * (sum - own * f64::from(belief))).collect();
        for entry in self.offsets[node]..self.offsets[node + 1] {
            let strength = f64::from(self.strengths[entry]);
            let partner = belief(self.partners[entry] as usize);
            field.iter_mut().zip(partner).for_each(|(sum, &belief)| *sum += strength * f64::from(belief));
        }
        field.iter_mut().zip(same_class).for_each(|(sum, &same)| *sum *= f64::from(same));
        field
    }
}
