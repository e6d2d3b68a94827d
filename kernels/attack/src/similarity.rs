//! How alike a network's answers about two nodes are.
//!
//! Linked nodes tend to be classified alike, so that likeness betrays links. It also betrays nothing but equal classes:
//! the same attack on a network that never saw a link says how much of it that is.

use std::str::FromStr;

/// A distance between two rows of numbers of equal length.
///
/// # Source
/// He, Jia, Backes, Gong, Zhang (2021), Stealing links from graph neural networks, table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// `1 − cosine`.
    Cosine,
    /// `√Σ (a − b)²`.
    Euclidean,
    /// `1 −` Pearson's correlation.
    Correlation,
    /// `max |a − b|`.
    Chebyshev,
    /// `Σ |a − b| / Σ |a + b|`.
    BrayCurtis,
    /// `Σ |a − b|`.
    Manhattan,
    /// `Σ |a − b| / (|a| + |b|)`.
    Canberra,
    /// `Σ (a − b)²`.
    SquaredEuclidean,
}

impl Distance {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Cosine,
        Self::Euclidean,
        Self::Correlation,
        Self::Chebyshev,
        Self::BrayCurtis,
        Self::Manhattan,
        Self::Canberra,
        Self::SquaredEuclidean,
    ];

    /// Name as in a config.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cosine => "cosine",
            Self::Euclidean => "euclidean",
            Self::Correlation => "correlation",
            Self::Chebyshev => "chebyshev",
            Self::BrayCurtis => "bray-curtis",
            Self::Manhattan => "manhattan",
            Self::Canberra => "canberra",
            Self::SquaredEuclidean => "squared-euclidean",
        }
    }

    /// The distance of two rows; rows without direction (constant ones for the correlation, zeros for the cosine) are as
    /// far from every other row as unrelated ones, at 1.
    #[must_use]
    pub fn between(self, a: &[f64], b: &[f64]) -> f64 {
        let sum = |of: fn(f64, f64) -> f64| a.iter().zip(b).map(|(&a, &b)| of(a, b)).sum::<f64>();
        let or_zero = |above: f64, below: f64| if below == 0.0 { 0.0 } else { above / below };
        match self {
            Self::Cosine => 1.0 - cosine(a, b, [0.0; 2]),
            Self::Correlation => 1.0 - cosine(a, b, [a, b].map(|row| row.iter().sum::<f64>() / row.len() as f64)),
            Self::Euclidean => sum(|a, b| (a - b) * (a - b)).sqrt(),
            Self::SquaredEuclidean => sum(|a, b| (a - b) * (a - b)),
            Self::Chebyshev => a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max),
            Self::Manhattan => sum(|a, b| (a - b).abs()),
            Self::BrayCurtis => or_zero(sum(|a, b| (a - b).abs()), sum(|a, b| (a + b).abs())),
            Self::Canberra => a.iter().zip(b).map(|(a, b)| or_zero((a - b).abs(), a.abs() + b.abs())).sum(),
        }
    }
}

/// The cosine of two rows after their means are taken off; 0 where one of them has no direction.
fn cosine(a: &[f64], b: &[f64], [mean_a, mean_b]: [f64; 2]) -> f64 {
    let (mut product, mut squares) = (0.0, [0.0; 2]);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a - mean_a, b - mean_b);
        product += a * b;
        squares[0] += a * a;
        squares[1] += b * b;
    }
    let size = (squares[0] * squares[1]).sqrt();
    if size == 0.0 { 0.0 } else { product / size }
}

/// A name that is no distance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no distance; choose one of cosine, euclidean, correlation, chebyshev, bray-curtis, manhattan, canberra, squared-euclidean"
)]
pub struct UnknownDistance(String);

impl FromStr for Distance {
    type Err = UnknownDistance;

    fn from_str(name: &str) -> Result<Self, UnknownDistance> {
        Self::ALL.into_iter().find(|distance| distance.name() == name).ok_or_else(|| UnknownDistance(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by hand, from the definitions of the table.
    #[test]
    fn distances_are_their_definitions() {
        let (a, b) = ([0.5, 0.25, 0.25], [0.25, 0.75, 0.0]);
        let cosine = 1.0 - (0.125 + 0.1875) / ((0.375_f64).sqrt() * (0.625_f64).sqrt());
        // Deviations from 1/3: (1/6, −1/12, −1/12) and (−1/12, 5/12, −1/3).
        let covariance = -1.0 / 72.0 - 5.0 / 144.0 + 1.0 / 36.0;
        let squares: [f64; 2] = [1.0 / 36.0 + 2.0 / 144.0, 1.0 / 144.0 + 25.0 / 144.0 + 1.0 / 9.0];
        let correlation = 1.0 - covariance / (squares[0] * squares[1]).sqrt();
        let expected = [cosine, 0.375_f64.sqrt(), correlation, 0.5, 1.0 / 2.0, 1.0, 0.25 / 0.75 + 0.5 + 1.0, 0.375];
        for (distance, expected) in Distance::ALL.into_iter().zip(expected) {
            let found = distance.between(&a, &b);
            assert!((found - expected).abs() < 1e-12, "{}: {found} {expected}", distance.name());
            assert_eq!(found, distance.between(&b, &a), "{}", distance.name());
            assert!(distance.between(&a, &a).abs() < 1e-12, "{}", distance.name());
            assert_eq!(distance.name().parse(), Ok(distance));
        }
        assert_eq!(Distance::Correlation.between(&[0.5, 0.5], &[1.0, 0.0]), 1.0, "a constant row has no direction");
        assert!("cosin".parse::<Distance>().expect_err("unknown").to_string().contains("cosine"));
    }
}
