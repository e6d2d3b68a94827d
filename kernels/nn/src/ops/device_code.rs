//! What a GPU runs for products, losses and steps.
//!
//! One unit computes one number. Matrices of all models lie one after the other, row-major: `[models, rows, width]`. In
//! a product, the units of one row of all models stand side by side, so that one pass over the graph serves the whole
//! batch. A sparse matrix is given by `offsets` (`[rows + 1]`), and by `columns` and `values` of its entries.

use cubecl::prelude::*;

use crate::adam::{ADAM_EPSILON, BETAS};

/// `out[m, i, k] = Σ_e values[e] x[m, columns[e], k]` over the entries of row `i`. A unit computes one number of each of
/// `at_once` models, so that it reads an entry once for all of them.
///
/// # Shapes
/// `x`: `[models, n_columns, width]`. `out`: `[models, n_rows, width]`.
#[cube(launch)]
pub(super) fn multiply(
    offsets: &Array<u32>,
    columns: &Array<u32>,
    values: &Array<f32>,
    x: &Array<f32>,
    out: &mut Array<f32>,
    n_columns: usize,
    width: usize,
    #[comptime] at_once: usize,
) {
    let n_rows = offsets.len() - 1;
    let models = out.len() / (n_rows * width);
    let (row, first, lane) = numbers_of_unit(models, width, at_once);
    if row >= n_rows {
        terminate!();
    }
    let mut sums = zeros(at_once);
    for entry in offsets[row] as usize..offsets[row + 1] as usize {
        let column = columns[entry] as usize;
        let value = values[entry];
        #[unroll]
        for k in 0..at_once {
            // Where the last unit has too few models, it computes the last one again.
            let model = min(first + k, models - 1);
            sums[k] += value * x[(model * n_columns + column) * width + lane];
        }
    }
    write_sums(&sums, out, (row, first, lane), (models, n_rows, width), at_once);
}

/// What a unit computes where it works for `at_once` models: row, first model, and column.
#[cube]
pub(super) fn numbers_of_unit(models: usize, width: usize, #[comptime] at_once: usize) -> (usize, usize, usize) {
    let per_row = models.div_ceil(at_once) * width;
    (ABSOLUTE_POS / per_row, ABSOLUTE_POS % per_row / width * at_once, ABSOLUTE_POS % width)
}

/// Zeros in registers.
#[cube]
pub(super) fn zeros(#[comptime] n: usize) -> Array<f32> {
    let mut values = Array::<f32>::new(n);
    #[unroll]
    for k in 0..n {
        values[k] = 0.0f32;
    }
    values
}

/// Writes the sums of a unit to where [`numbers_of_unit`] says. `sizes`: models, rows and width of `out`.
#[cube]
pub(super) fn write_sums(
    sums: &Array<f32>,
    out: &mut Array<f32>,
    numbers: (usize, usize, usize),
    sizes: (usize, usize, usize),
    #[comptime] at_once: usize,
) {
    let (row, first, lane) = numbers;
    let (models, n_rows, width) = sizes;
    #[unroll]
    for k in 0..at_once {
        if first + k < models {
            out[((first + k) * n_rows + row) * width + lane] = sums[k];
        }
    }
}

/// Cross-entropy of every labelled node, and its share of the gradient of the mean; one unit for each model and
/// labelled node.
///
/// # Shapes
/// `logits`, `gradient`: `[models, n_nodes, n_classes]`, the gradient zero at the start. `nodes`, `classes`:
/// `[labelled]`. `losses`: `[models, labelled]`.
#[cube(launch)]
pub(super) fn cross_entropy(
    logits: &Array<f32>,
    nodes: &Array<u32>,
    classes: &Array<u32>,
    losses: &mut Array<f32>,
    gradient: &mut Array<f32>,
    n_nodes: usize,
    n_classes: usize,
) {
    if ABSOLUTE_POS >= losses.len() {
        terminate!();
    }
    let labelled = ABSOLUTE_POS % nodes.len();
    let row = (ABSOLUTE_POS / nodes.len() * n_nodes + nodes[labelled] as usize) * n_classes;
    let mut most = logits[row];
    for class in 1..n_classes {
        most = max(most, logits[row + class]);
    }
    let mut total = 0.0f32;
    for class in 0..n_classes {
        total += (logits[row + class] - most).exp();
    }
    let own = classes[labelled] as usize;
    let share = 1.0f32 / f32::cast_from(nodes.len());
    for class in 0..n_classes {
        let term = (logits[row + class] - most).exp() / total;
        gradient[row + class] = share * (term - select(class == own, 1.0f32, 0.0f32));
    }
    losses[ABSOLUTE_POS] = total.ln() - (logits[row + own] - most);
}

/// One step of Adam with an L2 penalty; `to_rate` and `to_second` correct for the start of the moments at zero.
///
/// # Shapes
/// `parameter`, `gradient`, `first`, `second`, `out`: `[models, size]`. `rates`: learning rate and weight decay of each
/// model, `[models, 2]`.
///
/// # Source
/// Kingma, Ba (2015), algorithm 1.
#[cube(launch)]
pub(super) fn adam(
    parameter: &Array<f32>,
    gradient: &Array<f32>,
    first: &mut Array<f32>,
    second: &mut Array<f32>,
    out: &mut Array<f32>,
    rates: &Array<f32>,
    size: usize,
    to_rate: f32,
    to_second: f32,
) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let model = ABSOLUTE_POS / size * 2;
    let p = parameter[ABSOLUTE_POS];
    let g = gradient[ABSOLUTE_POS] + rates[model + 1] * p;
    let m = BETAS[0] * first[ABSOLUTE_POS] + (1.0f32 - BETAS[0]) * g;
    let v = BETAS[1] * second[ABSOLUTE_POS] + (1.0f32 - BETAS[1]) * g * g;
    first[ABSOLUTE_POS] = m;
    second[ABSOLUTE_POS] = v;
    out[ABSOLUTE_POS] = p - rates[model] * to_rate * m / (v.sqrt() * to_second + ADAM_EPSILON);
}
