//! This module makes columns orthogonal, for the methods that find leading directions by repeated products.

use rayon::prelude::*;

use crate::known_pairs::{STRIPES, sum_in_order};

/// Makes the columns orthogonal and of length 1, each without what the earlier ones hold (by a Cholesky factor of their
/// products). A column that the earlier ones hold wholly becomes 0.
///
/// # Shapes
/// `vectors`: `[n, width]`, row-major.
pub(crate) fn orthonormalize(vectors: &mut [f64], width: usize) {
    /// What is left of a squared length after the earlier columns are taken out is rounding below this share of it. Columns may
    /// come from products in single precision.
    const LEAST_REST: f64 = 1e-10;
    let n = vectors.len() / width;
    let of_stripe = |stripe: usize| {
        let mut sums = vec![0.0; width * width];
        for node in (stripe..n).step_by(STRIPES) {
            let row = &vectors[node * width..][..width];
            for (sums, a) in sums.chunks_exact_mut(width).zip(row) {
                sums.iter_mut().zip(row).for_each(|(sum, b)| *sum += a * b);
            }
        }
        sums
    };
    let products = sum_in_order((0..STRIPES).into_par_iter().map(of_stripe).collect());
    let mut factor = vec![0.0; width * width];
    for a in 0..width {
        for b in 0..=a {
            let earlier: f64 = (0..b).map(|k| factor[a * width + k] * factor[b * width + k]).sum();
            let rest = products[a * width + b] - earlier;
            factor[a * width + b] = if a > b {
                if factor[b * width + b] > 0.0 { rest / factor[b * width + b] } else { 0.0 }
            } else if rest > LEAST_REST * products[a * width + a] {
                rest.sqrt()
            } else {
                0.0
            };
        }
    }
    vectors.par_chunks_exact_mut(width).for_each(|row| {
        for a in 0..width {
            let earlier: f64 = (0..a).map(|k| factor[a * width + k] * row[k]).sum();
            let diagonal = factor[a * width + a];
            row[a] = if diagonal > 0.0 { (row[a] - earlier) / diagonal } else { 0.0 };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seven columns of 400 rows hold three directions, in single precision.
    #[test]
    fn columns_that_earlier_ones_hold_become_0_and_the_others_are_orthonormal() {
        const WIDTH: usize = 7;
        let direction = |row: usize, k: usize| libm::sin((row * (3 * k + 2) + k) as f64);
        let of_row = |row: usize| (0..WIDTH).map(move |column| (row, column));
        let mut columns: Vec<f64> = (0..400)
            .flat_map(of_row)
            .map(|(row, column)| match column {
                3 => 0.0,
                column if column < 3 => direction(row, column),
                _ => (0..3).map(|k| direction(row, k) * libm::cos((column * (k + 1)) as f64)).sum(),
            })
            .map(|value: f64| f64::from(value as f32))
            .collect();
        orthonormalize(&mut columns, WIDTH);
        for a in 0..WIDTH {
            for b in 0..=a {
                let product: f64 = columns.chunks_exact(WIDTH).map(|row| row[a] * row[b]).sum();
                let expected = f64::from(u8::from(a == b && a < 3));
                assert!((product - expected).abs() < 1e-9, "columns {a} and {b}: {product}");
            }
        }
    }
}
