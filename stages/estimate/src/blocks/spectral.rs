//! This module places the nodes where linked nodes are near each other: the start of latent blocks.

use rand::RngExt;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rayon::prelude::*;

use super::double_claims::DoubleClaimPairs;
use super::learned::Learned;
use super::{ClaimRatios, MOST_LIKELY};
use crate::orthonormal::orthonormalize;
use crate::similar_claims::SimilarClaims;

/// Is a matrix of expected links less those that degrees alone expect (the modularity of an uncertain graph).
///
/// With the prior `θ_ij = w_i w_j g_ij` without blocks and the posterior `P_ij`, the entries are `(P_ij − w_i w_j) /
/// √(D_i D_j)`, where `D` is the degree of a node plus the mean degree. Listed are the pairs that both nodes claim and the
/// similar ones. Of all others, those without a claim are expected to lose `c w_i w_j`; one claim changes nothing.
///
/// # Source
/// Newman (2006), Finding community structure using the eigenvectors of matrices; Qin, Rohe (2013), Regularized spectral
/// clustering under the degree-corrected stochastic blockmodel.
pub(crate) struct ExpectedLinks {
    /// The row of a node holds its partners on both sides, with the entries.
    rows: Vec<Vec<(u32, f32)>>,
    /// `w_i / √D_i`.
    weights: Vec<f64>,
    /// `c`.
    lost: f64,
}

impl ExpectedLinks {
    /// Lists the entries.
    ///
    /// # Shapes
    /// `degrees`: `[n]`, links.
    pub(crate) fn new(
        degrees: &[f64],
        alone: &Learned,
        similar: &SimilarClaims,
        pairs: &DoubleClaimPairs,
        ratios: ClaimRatios,
    ) -> Self {
        let n = degrees.len();
        let mean = degrees.iter().sum::<f64>() / n as f64;
        let scales: Vec<f64> = degrees.iter().map(|degree| 1.0 / (degree + mean).sqrt()).collect();
        let lost = -ratios.unclaimed * ratios.less_one[0];
        let entry = |i: usize, j: u32, bin: u8, claims: u8| -> f32 {
            let theta = alone.base(i, j, bin).min(MOST_LIKELY);
            let less_one = ratios.less_one[usize::from(claims)];
            let posterior = theta * (1.0 + less_one) / (1.0 + theta * less_one);
            // The mean −c is that of all pairs in no bin, their double claims included; similar pairs are exact.
            let taken_out = if bin > 0 { lost } else { 0.0 };
            let expected = alone.weights[i] * alone.weights[j as usize] * (1.0 - taken_out);
            ((posterior - expected) * scales[i] * scales[j as usize]) as f32
        };
        let claimed = |i: usize| -> Vec<(u32, f32)> {
            pairs
                .slots(i)
                .map(|slot| (pairs.partners[slot], entry(i, pairs.partners[slot], pairs.bins[slot], 2)))
                .collect()
        };
        let mut rows: Vec<Vec<(u32, f32)>> = (0..n).into_par_iter().map(claimed).collect();
        for i in 0..n {
            for pair in similar.row(i).iter().filter(|pair| pair.claims < 2) {
                let value = entry(i, pair.partner, pair.bin, pair.claims);
                rows[i].push((pair.partner, value));
                rows[pair.partner as usize].push((i as u32, value));
            }
        }
        let weights = alone.weights.iter().zip(&scales).map(|(weight, scale)| weight * scale).collect();
        Self { rows, weights, lost }
    }

    /// Returns the leading eigenvectors, those with the largest eigenvalues first, by orthogonal iteration.
    ///
    /// # Shapes
    /// Returns `[n, width]`, row-major.
    pub(crate) fn leading(&self, width: usize) -> Vec<f64> {
        const ITERATIONS: usize = 60;
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let mut vectors: Vec<f64> = (0..self.rows.len() * width).map(|_| rng.random::<f64>() - 0.5).collect();
        for _ in 0..ITERATIONS {
            orthonormalize(&mut vectors, width);
            vectors = self.times(&vectors, width);
        }
        orthonormalize(&mut vectors, width);
        vectors
    }

    /// Returns the matrix plus half the unit matrix, times these vectors. All eigenvalues of the matrix are about -1 at
    /// least, and what is added makes the largest ones those with the largest sizes.
    fn times(&self, vectors: &[f64], width: usize) -> Vec<f64> {
        const ADDED: f64 = 0.5;
        let mut along = vec![0.0; width];
        for (weight, row) in self.weights.iter().zip(vectors.chunks_exact(width)) {
            along.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
        }
        let mut product = vec![0.0; vectors.len()];
        product.par_chunks_exact_mut(width).enumerate().for_each(|(i, out)| {
            let (weight, own) = (self.weights[i], &vectors[i * width..][..width]);
            for ((out, own), along) in out.iter_mut().zip(own).zip(&along) {
                *out = ADDED * own - self.lost * weight * (along - weight * own);
            }
            for &(j, entry) in &self.rows[i] {
                let other = &vectors[j as usize * width..][..width];
                out.iter_mut().zip(other).for_each(|(out, value)| *out += f64::from(entry) * value);
            }
        });
        product
    }
}
