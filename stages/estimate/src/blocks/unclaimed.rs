//! This module holds what pairs say by not being claimed.

use veilgraph_graph::{RowPlaces, row_offsets};

use super::MOST_LIKELY;
use super::learned::Learned;
use crate::similar_claims::SimilarClaims;

/// Holds the affinity of two nodes as a function of their classes.
#[derive(Default)]
pub(crate) struct ClassAffinity {
    /// `1 − h`: the affinity of two classes.
    pub any: f32,
    /// `h / π_c`: what a common class adds, for each class; zeros may follow.
    pub same: Vec<f32>,
}

impl ClassAffinity {
    /// Returns a bound on the affinity of two nodes, whatever is believed of them.
    fn largest(&self) -> f32 {
        self.any + self.same.iter().copied().fold(self.any, f32::max)
    }
}

/// Holds what all pairs say by not being claimed, as far as it is expected without links.
pub(crate) struct Background<'a> {
    /// `Σ_j w_j b_j` of each class.
    pub weight_by_class: Vec<f64>,
    /// What one unit of `w_i w_j` says.
    pub per_weight: f64,
    /// `L(0) − 1`, by which no claim makes a link less likely, relatively.
    pub less_one: f64,
    pub learned: &'a Learned,
}

/// Lists the similar pairs in both directions, with their bins where nobody claims them: then they say more than the
/// background, because they are likelier linked.
///
/// A similar pair takes 10 bytes. What it says follows from weights and bins and is worked out in every pass, so that one
/// list serves all of them.
///
/// # Shapes
/// `offsets`: `[n + 1]`; all others: `[entries]`.
pub(crate) struct Unclaimed {
    offsets: Vec<usize>,
    partners: Vec<u32>,
    /// The bin of the pair, or 0 where somebody claims it.
    bins: Vec<u8>,
}

impl Unclaimed {
    /// Lists the similar pairs.
    pub(crate) fn new(similar: &SimilarClaims) -> Self {
        let n_nodes = similar.n_nodes();
        let ends = (0..n_nodes).flat_map(|i| similar.row(i).iter().flat_map(move |pair| [i, pair.partner as usize]));
        let offsets = row_offsets(n_nodes, ends);
        let mut places = RowPlaces::new(&offsets);
        let n_entries = offsets[n_nodes];
        let (mut partners, mut bins) = (vec![0; n_entries], vec![0; n_entries]);
        for i in 0..n_nodes {
            for pair in similar.row(i) {
                let bin = if pair.claims == 0 { pair.bin } else { 0 };
                for (row, partner) in [(i, pair.partner), (pair.partner as usize, i as u32)] {
                    let place = places.take(row);
                    (partners[place], bins[place]) = (partner, bin);
                }
            }
        }
        Self { offsets, partners, bins }
    }

    /// Writes what the pairs that are not claimed say about the class of a node, in nats, up to a constant.
    ///
    /// `LANES` is the number of classes, known to the compiler; 0 stands for any number.
    ///
    /// # Shapes
    /// `beliefs`: `[n, n_classes]`, row-major; `field`, which is written, and `told`, which is room: `[n_classes]`.
    pub(crate) fn write_field<const LANES: usize>(
        &self,
        node: usize,
        background: &Background,
        beliefs: &[f32],
        affinity: &ClassAffinity,
        field: &mut [f64],
        told: &mut [f64],
    ) {
        let n_classes = if LANES == 0 { field.len() } else { LANES };
        let Background { weight_by_class, per_weight, less_one, learned } = background;
        let (any_class, same_class) = (affinity.any, &affinity.same[..n_classes]);
        let belief = |node: usize| &beliefs[node * n_classes..][..n_classes];
        let own = learned.weights[node];
        let (field, told) = (&mut field[..n_classes], &mut told[..n_classes]);
        for (field, (sum, &belief)) in field.iter_mut().zip(weight_by_class.iter().zip(belief(node))) {
            *field = per_weight * own * (sum - own * f64::from(belief));
        }
        told.fill(0.0);
        let largest = f64::from(affinity.largest());
        for entry in self.offsets[node]..self.offsets[node + 1] {
            let (j, bin) = (self.partners[entry], self.bins[entry]);
            let base = if bin > 0 { learned.base(node, j, bin) } else { 0.0 };
            let partner = belief(j as usize);
            // What is expected of any pair is taken out again.
            let mut strength = -per_weight * own * learned.weights[j as usize];
            let most = || partner.iter().zip(same_class).map(|(belief, same)| belief * same).fold(any_class, f32::max);
            if base * largest < MOST_LIKELY || base * f64::from(any_class + most()) < MOST_LIKELY {
                strength += less_one * base;
            } else {
                for (sum, (belief, same)) in told.iter_mut().zip(partner.iter().zip(same_class)) {
                    let probability = base * f64::from(any_class + belief * same);
                    *sum += less_one * probability.min(MOST_LIKELY);
                }
            }
            field.iter_mut().zip(partner).for_each(|(sum, &belief)| *sum += strength * f64::from(belief));
        }
        let per_class = field.iter_mut().zip(same_class).zip(told);
        per_class.for_each(|((sum, &same), told)| *sum = *sum * f64::from(same) + *told);
    }
}
