//! Numbers that describe a pair of nodes to a classifier.

use crate::similarity::Distance;

/// Numbers about the answers of a network about two nodes, whatever their order: the eight distances, and the mean,
/// product, absolute and squared difference of both entropies.
///
/// # Shapes
/// `a`, `b`: `[n_classes]`, probabilities. Returns `[12]`.
///
/// # Source
/// He, Jia, Backes, Gong, Zhang (2021), Stealing links from graph neural networks, section 4.4 and table 3.
#[must_use]
pub fn of_answers(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut described = of_rows(a, b);
    let entropy = |row: &[f64]| -row.iter().filter(|p| **p > 0.0).map(|p| p * libm::log(*p)).sum::<f64>();
    let (of_a, of_b) = (entropy(a), entropy(b));
    let apart = (of_a - of_b).abs();
    described.extend([f64::midpoint(of_a, of_b), of_a * of_b, apart, apart * apart]);
    described
}

/// The eight distances of two rows of numbers.
///
/// # Shapes
/// `a`, `b`: of equal length. Returns `[8]`.
#[must_use]
pub fn of_rows(a: &[f64], b: &[f64]) -> Vec<f64> {
    Distance::ALL.iter().map(|distance| distance.between(a, b)).collect()
}

/// Mean and spread of every column, by which columns of different size become comparable.
#[derive(Clone, Debug, PartialEq)]
pub struct Standard {
    columns: Vec<(f64, f64)>,
}

impl Standard {
    /// The mean and the standard deviation of each column; 1 for a column that never differs.
    #[must_use]
    pub fn of(rows: &[Vec<f64>]) -> Self {
        let n = rows.len().max(1) as f64;
        let width = rows.first().map_or(0, Vec::len);
        let column = |k: usize| {
            let mean = rows.iter().map(|row| row[k]).sum::<f64>() / n;
            let variance = rows.iter().map(|row| (row[k] - mean) * (row[k] - mean)).sum::<f64>() / n;
            (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
        };
        Self { columns: (0..width).map(column).collect() }
    }

    /// A row with every column less its mean, in units of its spread.
    #[must_use]
    pub fn applied(&self, row: &[f64]) -> Vec<f32> {
        row.iter().zip(&self.columns).map(|(value, (mean, spread))| ((value - mean) / spread) as f32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_do_not_depend_on_the_order_of_the_nodes() {
        let (a, b) = ([0.7, 0.2, 0.1], [0.1, 0.1, 0.8]);
        let described = of_answers(&a, &b);
        assert_eq!((described.len(), &described), (12, &of_answers(&b, &a)));
        let same = of_answers(&a, &a);
        assert!(same[..8].iter().all(|distance| distance.abs() < 1e-12) && same[10] == 0.0 && same[11] == 0.0);
        assert!(
            (same[9] - same[8] * same[8]).abs() < 1e-12,
            "the product of equal entropies is the square of their mean"
        );
        // A sure answer has no entropy.
        assert_eq!(of_answers(&[1.0, 0.0], &[1.0, 0.0])[8], 0.0);
    }

    #[test]
    fn columns_get_mean_zero_and_spread_one() {
        let rows = vec![vec![1.0, 5.0], vec![3.0, 5.0]];
        let standard = Standard::of(&rows);
        assert_eq!((standard.applied(&rows[0]), standard.applied(&rows[1])), (vec![-1.0, 0.0], vec![1.0, 0.0]));
    }
}
