//! This module factors the probabilities of unknown pairs into matrices of low rank.

use super::real::Real;
use crate::kernel_sum::least_and_largest;

/// Represents the matrix `B_ij = 1 / (1 + e^{-(β_i + β_j + base)})` as `D L G Lᵀ D`.
///
/// `B_ij e^{-β_i} e^{-β_j}` is a smooth function of both parameters. The range of the parameters is cut into pieces,
/// which are equal intervals, and each piece has Chebyshev nodes: `L` holds the Lagrange polynomials of a node's piece
/// at its parameter, and `G` the smooth function at all pairs of Chebyshev nodes. `D` is diagonal and holds
/// `e^{β_i − c}` with the centre `c` of the piece, and the entries of `G` have the factors `e^c`, so that no
/// exponential overflows.
///
/// # Source
/// Trefethen (2013), Approximation Theory and Approximation Practice, chapters 5 and 8, for interpolation at Chebyshev
/// nodes.
pub(super) struct SmoothPart<T> {
    /// Each piece has this many Chebyshev nodes.
    rank: usize,
    /// Each node's parameter lies in this piece, `[n_nodes]`.
    piece: Vec<u32>,
    /// `D L`, row-major `[n_nodes, rank]`: only the Chebyshev nodes of a node's own piece have weights other than 0.
    pub factor: Vec<T>,
    /// `G`, symmetric, `[chebyshev nodes, chebyshev nodes]` over all pieces.
    pub core: Vec<T>,
}

/// This is a Chebyshev node of one of the pieces.
#[derive(Clone, Copy)]
struct ChebyshevNode {
    /// The piece has this centre.
    centre: f64,
    /// The parameter has this value at the node.
    position: f64,
}

impl<T: Real> SmoothPart<T> {
    /// Returns the zero matrix: without noise, a link that nobody claimed is impossible.
    pub(super) fn zero(n_nodes: usize) -> Self {
        Self { rank: 0, piece: vec![0; n_nodes], factor: Vec::new(), core: Vec::new() }
    }

    /// Factors the matrix; the rank grows until the interpolation error is below [`Real::INTERPOLATION_ERROR`].
    pub(super) fn new(beta: &[f64], base: f64) -> Self {
        /// No piece is wider. `1 / (1 + e^x)` has poles at `±iπ`, so interpolation on an interval of this width
        /// converges fast: 20 Chebyshev nodes reach 1e-8.
        const WIDEST_PIECE: f64 = 6.0;
        let (low, high) = least_and_largest(beta);
        let n_pieces = (((high - low) / WIDEST_PIECE).ceil() as usize).max(1);
        let half_width = ((high - low) / (2.0 * n_pieces as f64)).max(1e-9);
        let centres: Vec<f64> = (0..n_pieces).map(|k| low + half_width * (2 * k + 1) as f64).collect();
        let basis = Self::sufficient_basis(&centres, half_width, high, base);
        let piece: Vec<u32> =
            beta.iter().map(|&b| (((b - low) / (2.0 * half_width)) as u32).min(n_pieces as u32 - 1)).collect();
        let from_centre = |(&b, &piece): (&f64, &u32)| b - centres[piece as usize];
        let factor_row = |x: f64| -> Vec<T> { basis.values_at(x).map(|l| T::from_f64(libm::exp(x) * l)).collect() };
        let factor = beta.iter().zip(&piece).map(from_centre).flat_map(factor_row).collect();
        let chebyshev_nodes: Vec<ChebyshevNode> = centres
            .iter()
            .flat_map(|&centre| basis.nodes.iter().map(move |&node| ChebyshevNode { centre, position: centre + node }))
            .collect();
        let core_row = |&row: &ChebyshevNode| chebyshev_nodes.iter().map(move |&column| core_entry(row, column, base));
        let core = chebyshev_nodes.iter().flat_map(core_row).collect();
        Self { rank: basis.nodes.len(), piece, factor, core }
    }

    /// Returns the Lagrange polynomials of the first tried number of Chebyshev nodes with which the smooth function is
    /// interpolated well in every piece.
    fn sufficient_basis(centres: &[f64], half_width: f64, largest_beta: f64, base: f64) -> Basis {
        const LARGEST_RANK: usize = 64;
        let smooth = |x: f64, y: f64| 1.0 / (1.0 + libm::exp(x + y + base));
        let mut rank = 4;
        loop {
            let basis = Basis::new(half_width, rank);
            // The function comes nearest to its poles, and is hardest to interpolate, for the partner with the largest
            // parameter.
            let error = |centre: f64, step: i32| {
                let x = half_width * (f64::from(step) / 32.0 - 1.0);
                let at_nodes = basis.nodes.iter().map(|&node| smooth(centre + node, largest_beta));
                let between: f64 = basis.values_at(x).zip(at_nodes).map(|(l, value)| l * value).sum();
                (between / smooth(centre + x, largest_beta) - 1.0).abs()
            };
            let is_good = |centre: f64| (0..=64).all(|step| error(centre, step) < T::INTERPOLATION_ERROR);
            if rank >= LARGEST_RANK || centres.iter().all(|&centre| is_good(centre)) {
                return basis;
            }
            rank += rank / 2;
        }
    }

    /// Iterates over row `node` of `D L`: the Chebyshev nodes of its piece, as rows of `G`, with their weights.
    pub(super) fn factor_row(&self, node: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        let first = self.piece[node] as usize * self.rank;
        (first..).zip(self.factor[node * self.rank..(node + 1) * self.rank].iter().copied())
    }
}

/// Returns the entry `e^{c + d + base} / (1 + e^{x + y + base})` of `G`, where `c` and `d` are the centres and `x` and
/// `y` the positions of two Chebyshev nodes; either exponential may overflow alone.
fn core_entry<T: Real>(row: ChebyshevNode, column: ChebyshevNode, base: f64) -> T {
    let (outer, inner) = (row.centre + column.centre + base, row.position + column.position + base);
    T::from_f64(if inner > 0.0 {
        libm::exp(outer - inner) / (1.0 + libm::exp(-inner))
    } else {
        libm::exp(outer) / (1.0 + libm::exp(inner))
    })
}

/// Evaluates the Lagrange polynomials at the Chebyshev nodes of the first kind on `[-half_width, half_width]`.
///
/// # Shapes
/// `nodes` and `weights`: `[rank]`.
struct Basis {
    nodes: Vec<f64>,
    /// These are the weights of the barycentric formula.
    weights: Vec<f64>,
}

impl Basis {
    /// Returns the polynomials of `rank` nodes.
    fn new(half_width: f64, rank: usize) -> Self {
        let angle = |k: usize| std::f64::consts::PI * (k as f64 + 0.5) / rank as f64;
        let nodes = (0..rank).map(|k| half_width * libm::cos(angle(k))).collect();
        let sign = |k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        Self { nodes, weights: (0..rank).map(|k| sign(k) * libm::sin(angle(k))).collect() }
    }

    /// Iterates over the values of all polynomials at `x`, by the barycentric formula; at a node they are 1 and 0.
    ///
    /// # Source
    /// Berrut, Trefethen (2004), Barycentric Lagrange interpolation.
    fn values_at(&self, x: f64) -> impl Iterator<Item = f64> + '_ {
        let hit = self.nodes.iter().position(|&node| (node - x).abs() < 1e-14);
        let term = move |(&node, &weight): (&f64, &f64)| weight / (x - node);
        let total: f64 = self.nodes.iter().zip(&self.weights).map(term).sum();
        self.nodes.iter().zip(&self.weights).enumerate().map(move |(k, pair)| match hit {
            Some(hit) => f64::from(u8::from(k == hit)),
            None => term(pair) / total,
        })
    }
}
