//! Few claims: a smooth part of low rank, corrected at the known pairs.

use rayon::prelude::*;

use super::corrections::{Corrections, add_scaled};
use super::real::Real;
use crate::evidence::Known;
use crate::kernel_sum::{Kernel, range};
use crate::model::Posterior;

/// `P` as a smooth part of low rank plus a sparse correction at the known pairs.
///
/// With `B_ij = σ(β_i + β_j − 2 ε_links) = e^{β_i} g(β_i, β_j) e^{β_j}`, where `g` is smooth, `B` is
/// `D L G Lᵀ D`: `L` interpolates at a few Chebyshev nodes (algorithms.md, section E). A wide range of
/// parameters is cut into pieces with nodes of their own, so that a few suffice for any range.
pub struct LowRank<T> {
    n_nodes: usize,
    /// Chebyshev nodes of a piece.
    rank: usize,
    /// Piece of each node.
    piece: Vec<u32>,
    /// `D L`, one row of `rank` numbers per node.
    factor: Vec<T>,
    /// `G`, symmetric, over the Chebyshev nodes of all pieces.
    core: Vec<T>,
    /// `−B_ii`: `P` has no diagonal.
    own: Vec<T>,
    corrections: Corrections<T>,
}

impl<T: Real> LowRank<T> {
    pub(super) fn new(posterior: &Posterior) -> Self {
        let base = posterior.evidence_logit(Known::default());
        let Smooth { rank, piece, factor, core } = if base == f64::NEG_INFINITY {
            Smooth::none(posterior.n_nodes())
        } else {
            Smooth::new(posterior.beta(), base)
        };
        let unknown = |s: f64| if base == f64::NEG_INFINITY { 0.0 } else { Kernel::Logistic.at(s + base) };
        let own = posterior.beta().iter().map(|&b| T::of(-unknown(2.0 * b))).collect();
        let n_nodes = posterior.n_nodes();
        let corrections = Corrections::new(n_nodes, || {
            posterior.evidence().pairs().map(|(i, j, known)| {
                let s = posterior.beta()[i as usize] + posterior.beta()[j as usize];
                (i, j, T::of(Kernel::Logistic.at(s + posterior.evidence_logit(known)) - unknown(s)))
            })
        });
        Self { n_nodes, rank, piece, factor, core, own, corrections }
    }

    /// Products summed per column of a right-hand side.
    pub(super) fn n_terms(&self) -> usize {
        2 * self.factor.len() + self.core.len() + self.corrections.n_entries()
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    pub(super) fn apply(&self, x: &[T], width: usize) -> Vec<T> {
        let spread = self.moments(x, width);
        let mut product = vec![T::default(); x.len()];
        product.par_chunks_exact_mut(width.max(1)).enumerate().for_each(|(node, out)| {
            let mut sums = vec![0.0_f64; width];
            let first = self.piece[node] as usize * self.rank;
            for (k, &weight) in (first..).zip(&self.factor[node * self.rank..(node + 1) * self.rank]) {
                add_scaled(out, weight, &spread[k * width..(k + 1) * width]);
            }
            add_scaled(out, self.own[node], &x[node * width..(node + 1) * width]);
            sums.iter_mut().zip(&*out).for_each(|(sum, &smooth)| *sum += smooth.wide());
            self.corrections.add_row(node, x, &mut sums, out);
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out = T::of(sum));
        });
        product
    }

    /// `G Lᵀ D x`: what the smooth part needs to know of `x`, one row for each Chebyshev node.
    fn moments(&self, x: &[T], width: usize) -> Vec<T> {
        let total = self.core.len().isqrt();
        // Double precision: thousands of rows add up here.
        let mut gathered = vec![0.0_f64; total * width];
        for (node, row) in x.chunks_exact(width.max(1)).enumerate() {
            let first = self.piece[node] as usize * self.rank;
            for (k, &weight) in (first..).zip(&self.factor[node * self.rank..(node + 1) * self.rank]) {
                for (sum, &term) in gathered[k * width..(k + 1) * width].iter_mut().zip(row) {
                    *sum += (weight * term).wide();
                }
            }
        }
        let mut spread = vec![T::default(); total * width];
        for k in 0..total {
            for l in 0..total {
                let weight = self.core[k * total + l];
                for (sum, &term) in spread[k * width..(k + 1) * width].iter_mut().zip(&gathered[l * width..]) {
                    *sum += weight * T::of(term);
                }
            }
        }
        spread
    }
}

/// The part of unknown pairs, interpolated piece by piece.
struct Smooth<T> {
    rank: usize,
    piece: Vec<u32>,
    factor: Vec<T>,
    core: Vec<T>,
}

impl<T: Real> Smooth<T> {
    /// A link that nobody claimed is impossible.
    fn none(n_nodes: usize) -> Self {
        Self { rank: 0, piece: vec![0; n_nodes], factor: Vec::new(), core: Vec::new() }
    }

    fn new(beta: &[f64], base: f64) -> Self {
        // Poles of the smooth part lie π beside the real line: twenty nodes give 1e-8 over this width.
        const WIDEST: f64 = 6.0;
        let (low, high) = range(beta);
        let pieces = (((high - low) / WIDEST).ceil() as usize).max(1);
        let half_width = ((high - low) / (2.0 * pieces as f64)).max(1e-9);
        let centres: Vec<f64> = (0..pieces).map(|k| low + half_width * (2 * k + 1) as f64).collect();
        let smooth = |x: f64, y: f64| 1.0 / (1.0 + libm::exp(x + y + base));
        let mut rank = 4;
        let basis = loop {
            let basis = Basis::new(half_width, rank);
            // The hardest slice is the one nearest to the poles of `smooth`: the largest partner.
            let error = |centre: f64, step: i32| {
                let x = half_width * (f64::from(step) / 32.0 - 1.0);
                let at_nodes = basis.nodes.iter().map(|&node| smooth(centre + node, high));
                let between: f64 = basis.at(x).zip(at_nodes).map(|(l, value)| l * value).sum();
                (between / smooth(centre + x, high) - 1.0).abs()
            };
            let steps = centres.iter().flat_map(|&centre| (0..=64).map(move |step| (centre, step)));
            if rank >= 64 || steps.map(|(centre, step)| error(centre, step)).all(|error| error < T::INTERPOLATION_ERROR)
            {
                break basis;
            }
            rank += rank / 2;
        };
        let piece: Vec<u32> =
            beta.iter().map(|&b| (((b - low) / (2.0 * half_width)) as u32).min(pieces as u32 - 1)).collect();
        // Parameters are measured from the centre of their piece, so that no exponential overflows.
        let from_centre = |(&b, &piece): (&f64, &u32)| b - centres[piece as usize];
        let factor = beta.iter().zip(&piece).map(from_centre);
        let factor =
            factor.flat_map(|x| basis.at(x).map(move |l| T::of(libm::exp(x) * l)).collect::<Vec<_>>()).collect();
        let points = || centres.iter().flat_map(|&centre| basis.nodes.iter().map(move |&node| (centre, centre + node)));
        let entry = |(c, x): (f64, f64), (d, y): (f64, f64)| {
            // e^{c + d + base} / (1 + e^{x + y + base}), where either exponential may overflow alone.
            let (outer, inner) = (c + d + base, x + y + base);
            T::of(if inner > 0.0 {
                libm::exp(outer - inner) / (1.0 + libm::exp(-inner))
            } else {
                libm::exp(outer) / (1.0 + libm::exp(inner))
            })
        };
        let core = points().flat_map(|row| points().map(move |column| entry(row, column))).collect();
        Self { rank, piece, factor, core }
    }
}

/// Lagrange polynomials at Chebyshev nodes of the first kind on `[-half_width, half_width]`.
struct Basis {
    nodes: Vec<f64>,
    weights: Vec<f64>,
}

impl Basis {
    fn new(half_width: f64, rank: usize) -> Self {
        let angle = |k: usize| std::f64::consts::PI * (k as f64 + 0.5) / rank as f64;
        let nodes = (0..rank).map(|k| half_width * libm::cos(angle(k))).collect();
        let sign = |k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        Self { nodes, weights: (0..rank).map(|k| sign(k) * libm::sin(angle(k))).collect() }
    }

    /// Values of all polynomials at `x`, by the barycentric formula.
    fn at(&self, x: f64) -> impl Iterator<Item = f64> + '_ {
        let hit = self.nodes.iter().position(|&node| (node - x).abs() < 1e-14);
        let term = move |(&node, &weight): (&f64, &f64)| weight / (x - node);
        let total: f64 = self.nodes.iter().zip(&self.weights).map(term).sum();
        self.nodes.iter().zip(&self.weights).enumerate().map(move |(k, pair)| match hit {
            Some(hit) => f64::from(u8::from(k == hit)),
            None => term(pair) / total,
        })
    }
}
