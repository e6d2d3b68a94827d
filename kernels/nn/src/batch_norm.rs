//! Normalization of columns over all nodes, on the host.

/// Keeps the divisor from zero: `ε` of the algorithm, with PyTorch's value.
///
/// # Source
/// Ioffe, Szegedy (2015), algorithm 1.
const LEAST_VARIANCE: f64 = 1e-5;

/// Columns with mean zero and variance one, and what each was divided by.
pub(crate) struct Normed {
    /// Row-major `[models, n, width]`.
    values: Vec<f32>,
    /// `[models, width]`.
    deviations: Vec<f32>,
}

/// Normalizes the columns of every model, then multiplies by the gain and adds the shift.
///
/// # Shapes
/// `x` and the result: row-major `[models, rows, width]`; gain and shift: `[models, width]`.
pub(crate) fn normalize(x: &[f32], [gain, shift]: [&[f32]; 2], [rows, width]: [usize; 2]) -> (Vec<f32>, Normed) {
    let mut normed = Normed { values: Vec::with_capacity(x.len()), deviations: Vec::with_capacity(gain.len()) };
    let mut output = Vec::with_capacity(x.len());
    for (model, x) in x.chunks_exact(rows * width).enumerate() {
        let means: Vec<f64> = column_sums(x, width, |x, _| x).iter().map(|sum| sum / rows as f64).collect();
        let squares = column_sums(x, width, |x, k| (x - means[k]) * (x - means[k]));
        let deviations: Vec<f64> = squares.iter().map(|sum| (sum / rows as f64 + LEAST_VARIANCE).sqrt()).collect();
        let own = model * width..(model + 1) * width;
        let (gain, shift) = (&gain[own.clone()], &shift[own]);
        for row in x.chunks_exact(width) {
            for k in 0..width {
                let value = ((f64::from(row[k]) - means[k]) / deviations[k]) as f32;
                normed.values.push(value);
                output.push(gain[k] * value + shift[k]);
            }
        }
        normed.deviations.extend(deviations.iter().map(|&deviation| deviation as f32));
    }
    (output, normed)
}

/// Gradients by `x`, gain and shift of [`normalize`], from the gradient of its output.
///
/// # Shapes
/// As there.
pub(crate) fn normalize_gradient(
    normed: &Normed,
    gain: &[f32],
    gradient: &[f32],
    [rows, width]: [usize; 2],
) -> [Vec<f32>; 3] {
    let [mut by_x, mut by_gain, mut by_shift] = [const { Vec::new() }; 3];
    let models = gradient.chunks_exact(rows * width).zip(normed.values.chunks_exact(rows * width));
    for (model, (gradient, values)) in models.enumerate() {
        let own = model * width..(model + 1) * width;
        let (gain, deviations) = (&gain[own.clone()], &normed.deviations[own]);
        let on_shift = column_sums(gradient, width, |g, _| g);
        let mut on_gain = vec![0.0_f64; width];
        for (gradient, values) in gradient.chunks_exact(width).zip(values.chunks_exact(width)) {
            for k in 0..width {
                on_gain[k] += f64::from(gradient[k]) * f64::from(values[k]);
            }
        }
        for (gradient, values) in gradient.chunks_exact(width).zip(values.chunks_exact(width)) {
            for k in 0..width {
                // Mean and deviation move with every entry: what the column has in common has no gradient.
                let common = (on_shift[k] + f64::from(values[k]) * on_gain[k]) / rows as f64;
                by_x.push(gain[k] / deviations[k] * (f64::from(gradient[k]) - common) as f32);
            }
        }
        by_gain.extend(on_gain.iter().map(|&sum| sum as f32));
        by_shift.extend(on_shift.iter().map(|&sum| sum as f32));
    }
    [by_x, by_gain, by_shift]
}

/// Sum of a function of every entry and its column, over the rows, `[width]`.
fn column_sums(x: &[f32], width: usize, of: impl Fn(f64, usize) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; width];
    for row in x.chunks_exact(width) {
        for (k, (sum, &value)) in sums.iter_mut().zip(row).enumerate() {
            *sum += of(f64::from(value), k);
        }
    }
    sums
}
