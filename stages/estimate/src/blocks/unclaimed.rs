//! This module holds what pairs say by not being claimed.

use super::learned::Learned;
use super::{ClaimRatios, MOST_LIKELY};
use crate::similar_claims::{SimilarClaim, SimilarClaims};

/// Holds the affinity of two nodes as a function of their classes.
#[derive(Default)]
pub(crate) struct ClassAffinity {
    /// `1 − h`: the affinity of two classes.
    pub any: f32,
    /// `h / π_c`: what a common class adds, `[n_classes]`.
    pub same: Vec<f32>,
}

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
/// `offsets`: `[n + 1]`; all others: `[entries]`.
pub(crate) struct Unclaimed {
    offsets: Vec<usize>,
    partners: Vec<u32>,
    /// What one unit of common class says for being expected of any pair, with the opposite sign.
    expected: Vec<f32>,
    /// `w_i w_j g_ij` where nobody claims the pair; 0 where somebody does.
    bases: Vec<f32>,
    /// `L(0) − 1`, by which no claim makes a link less likely, relatively.
    less_one: f64,
}

impl Unclaimed {
    /// Lists the similar pairs: nobody's claim says more than the background where the pair is likely linked.
    pub(crate) fn new(learned: &Learned, similar: &SimilarClaims, ratios: ClaimRatios, n_nodes: usize) -> Self {
        let expected = ratios.less_one[0] * ratios.unclaimed;
        let weight = |i: usize, pair: &SimilarClaim| learned.weights[i] * learned.weights[pair.partner as usize];
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
        let mut partners = vec![0; n_entries];
        let (mut minus_expected, mut bases) = (vec![0.0; n_entries], vec![0.0; n_entries]);
        for i in 0..n_nodes {
            for pair in similar.row(i) {
                let base = if pair.claims == 0 { learned.base(i, pair.partner, pair.bin) } else { 0.0 };
                let minus = -expected * weight(i, pair);
                for (row, partner) in [(i, pair.partner), (pair.partner as usize, i as u32)] {
                    partners[next[row]] = partner;
                    (minus_expected[next[row]], bases[next[row]]) = (minus as f32, base as f32);
                    next[row] += 1;
                }
            }
        }
        Self { offsets, partners, expected: minus_expected, bases, less_one: ratios.less_one[0] }
    }

    /// Returns what the pairs that are not claimed say about the class of a node, in nats, up to a constant.
    ///
    /// # Shapes
    /// `beliefs`: `[n, n_classes]`, row-major; Returns `[n_classes]`.
    pub(crate) fn field(
        &self,
        node: usize,
        background: &Background,
        beliefs: &[f32],
        affinity: &ClassAffinity,
    ) -> Vec<f64> {
        let (any_class, same_class) = (affinity.any, affinity.same.as_slice());
        let belief = |node: usize| &beliefs[node * same_class.len()..][..same_class.len()];
        let own = background.learned.weights[node];
        let of_all = background.weight_by_class.iter().zip(belief(node));
        let mut field: Vec<f64> =
            of_all.map(|(sum, &belief)| background.per_weight * own * (sum - own * f64::from(belief))).collect();
        let mut told = vec![0.0; same_class.len()];
        for entry in self.offsets[node]..self.offsets[node + 1] {
            let (base, partner) = (f64::from(self.bases[entry]), belief(self.partners[entry] as usize));
            let most = partner.iter().zip(same_class).map(|(belief, same)| belief * same).fold(any_class, f32::max);
            let is_linear = base * f64::from(any_class + most) < MOST_LIKELY;
            let strength = f64::from(self.expected[entry]) + if is_linear { self.less_one * base } else { 0.0 };
            field.iter_mut().zip(partner).for_each(|(sum, &belief)| *sum += strength * f64::from(belief));
            if !is_linear {
                for (sum, (belief, same)) in told.iter_mut().zip(partner.iter().zip(same_class)) {
                    let probability = base * f64::from(any_class + belief * same);
                    *sum += self.less_one * probability.min(MOST_LIKELY);
                }
            }
        }
        let per_class = field.iter_mut().zip(same_class).zip(told);
        per_class.for_each(|((sum, &same), told)| *sum = *sum * f64::from(same) + told);
        field
    }
}
