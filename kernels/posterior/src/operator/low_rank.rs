//! Few claims: a smooth part of low rank, corrected at the claimed pairs.

use rayon::prelude::*;

use super::real::Real;
use crate::kernel_sum::Kernel;
use crate::model::Posterior;

/// `P` as a smooth part of low rank plus a sparse correction at the claimed pairs.
///
/// With `B_ij = σ(β_i + β_j − 2 ε_links) = e^{β_i} g(β_i, β_j) e^{β_j}`, where `g` is smooth, `B` is
/// `D L G Lᵀ D`: `L` interpolates at a few Chebyshev nodes (algorithms.md, section E).
pub struct LowRank<T> {
    n_nodes: usize,
    rank: usize,
    /// `D L`, one row of `rank` numbers per node.
    factor: Vec<T>,
    /// `G`, symmetric.
    core: Vec<T>,
    /// `−B_ii`: `P` has no diagonal.
    own: Vec<T>,
    offsets: Vec<usize>,
    partners: Vec<u32>,
    corrections: Vec<T>,
}

impl<T: Real> LowRank<T> {
    pub(super) fn new(posterior: &Posterior) -> Self {
        let base = posterior.evidence_logit(0);
        let (rank, factor, core) =
            if base == f64::NEG_INFINITY { (0, Vec::new(), Vec::new()) } else { low_rank(posterior.beta(), base) };
        let unclaimed = |s: f64| if base == f64::NEG_INFINITY { 0.0 } else { Kernel::Logistic.at(s + base) };
        let own = posterior.beta().iter().map(|&b| T::of(-unclaimed(2.0 * b))).collect();
        let n_nodes = posterior.n_nodes();
        let mut offsets = vec![0; n_nodes + 1];
        for (i, j, _) in posterior.evidence().pairs() {
            offsets[i as usize + 1] += 1;
            offsets[j as usize + 1] += 1;
        }
        for node in 0..n_nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut partners = vec![0; offsets[n_nodes]];
        let mut corrections = vec![T::default(); offsets[n_nodes]];
        for (i, j, claims) in posterior.evidence().pairs() {
            let s = posterior.beta()[i as usize] + posterior.beta()[j as usize];
            let correction = T::of(Kernel::Logistic.at(s + posterior.evidence_logit(claims)) - unclaimed(s));
            for (row, partner) in [(i, j), (j, i)] {
                let at = next[row as usize];
                partners[at] = partner;
                corrections[at] = correction;
                next[row as usize] += 1;
            }
        }
        Self { n_nodes, rank, factor, core, own, offsets, partners, corrections }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    pub(super) fn apply(&self, x: &[T], width: usize) -> Vec<T> {
        // The own precision inside a few terms, double across them: hundreds of corrections add up.
        const TERMS: usize = 32;
        let spread = self.moments(x, width);
        let mut product = vec![T::default(); x.len()];
        product.par_chunks_exact_mut(width.max(1)).enumerate().for_each(|(node, out)| {
            let mut sums = vec![0.0_f64; width];
            let mut add_up = |out: &mut [T]| {
                sums.iter_mut().zip(&*out).for_each(|(sum, &partial)| *sum += partial.wide());
                out.fill(T::default());
            };
            for (k, &weight) in self.factor[node * self.rank..(node + 1) * self.rank].iter().enumerate() {
                add_scaled(out, weight, &spread[k * width..(k + 1) * width]);
            }
            add_scaled(out, self.own[node], &x[node * width..(node + 1) * width]);
            add_up(out);
            let range = self.offsets[node]..self.offsets[node + 1];
            for (partners, weights) in
                self.partners[range.clone()].chunks(TERMS).zip(self.corrections[range].chunks(TERMS))
            {
                for (&partner, &weight) in partners.iter().zip(weights) {
                    add_scaled(out, weight, &x[partner as usize * width..(partner as usize + 1) * width]);
                }
                add_up(out);
            }
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out = T::of(sum));
        });
        product
    }

    /// `G Lᵀ D x`: what the smooth part needs to know of `x`, of shape `[rank, width]`.
    fn moments(&self, x: &[T], width: usize) -> Vec<T> {
        // Double precision: thousands of rows add up here.
        let mut gathered = vec![0.0_f64; self.rank * width];
        for (node, row) in x.chunks_exact(width.max(1)).enumerate() {
            for (k, &weight) in self.factor[node * self.rank..(node + 1) * self.rank].iter().enumerate() {
                for (sum, &term) in gathered[k * width..(k + 1) * width].iter_mut().zip(row) {
                    *sum += (weight * term).wide();
                }
            }
        }
        let mut spread = vec![T::default(); self.rank * width];
        for k in 0..self.rank {
            for l in 0..self.rank {
                let weight = self.core[k * self.rank + l];
                for (sum, &term) in spread[k * width..(k + 1) * width].iter_mut().zip(&gathered[l * width..]) {
                    *sum += weight * T::of(term);
                }
            }
        }
        spread
    }
}

fn add_scaled<T: Real>(out: &mut [T], weight: T, row: &[T]) {
    for (sum, &term) in out.iter_mut().zip(row) {
        *sum += weight * term;
    }
}

/// Rank, factor `D L` and core `G` of the unclaimed part.
fn low_rank<T: Real>(beta: &[f64], base: f64) -> (usize, Vec<T>, Vec<T>) {
    let (low, high) = beta.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &b| (low.min(b), high.max(b)));
    let (middle, half_width) = (f64::midpoint(low, high), ((high - low) / 2.0).max(1e-9));
    let smooth = |x: f64, y: f64| libm::exp(base) / (1.0 + libm::exp(x + y + base));
    let mut rank = 4;
    loop {
        let angle = |k: usize| std::f64::consts::PI * (k as f64 + 0.5) / rank as f64;
        let nodes: Vec<f64> = (0..rank).map(|k| middle + half_width * libm::cos(angle(k))).collect();
        // Barycentric weights of Chebyshev nodes of the first kind.
        let weights: Vec<f64> =
            (0..rank).map(|k| if k % 2 == 0 { libm::sin(angle(k)) } else { -libm::sin(angle(k)) }).collect();
        let basis = |x: f64| -> Vec<f64> {
            if let Some(hit) = nodes.iter().position(|&node| (node - x).abs() < 1e-14) {
                return (0..rank).map(|k| if k == hit { 1.0 } else { 0.0 }).collect();
            }
            let terms: Vec<f64> = nodes.iter().zip(&weights).map(|(&node, &weight)| weight / (x - node)).collect();
            let total: f64 = terms.iter().sum();
            terms.into_iter().map(|term| term / total).collect()
        };
        // The hardest slice is the one nearest to the poles of `smooth`: the largest partner.
        let error = (0..=64)
            .map(|step| {
                let x = low + (high - low) * f64::from(step) / 64.0;
                let between: f64 = basis(x).iter().zip(&nodes).map(|(&l, &node)| l * smooth(node, high)).sum();
                (between / smooth(x, high) - 1.0).abs()
            })
            .fold(0.0, f64::max);
        if error < T::INTERPOLATION_ERROR || rank >= 96 {
            let factor =
                beta.iter().flat_map(|&b| basis(b).into_iter().map(move |l| T::of(libm::exp(b) * l))).collect();
            let core = nodes.iter().flat_map(|&x| nodes.iter().map(move |&y| T::of(smooth(x, y)))).collect();
            return (rank, factor, core);
        }
        rank += rank / 2;
    }
}
