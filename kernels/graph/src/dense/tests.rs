use super::*;

fn matrix(n_rows: usize, n_columns: usize) -> DenseMatrix {
    let values = (0..n_rows * n_columns).map(|k| ((k * 37) % 101) as f32 - 50.0).collect();
    DenseMatrix::new(n_rows, n_columns, values).expect("finite")
}

/// Whole numbers this small are summed without rounding, so the order of the sums does not matter here.
#[test]
fn both_products_are_the_textbook_ones() {
    for (n_rows, n_columns, width) in
        [(1, 1, 1), (4, 3, 4), (7, 300, 5), (9, 11, 16), (6, 1025, 35), (1030, 5, 3), (3, 0, 2), (0, 3, 2)]
    {
        let matrix = matrix(n_rows, n_columns);
        let numbers = |n: usize| -> Vec<f32> { (0..n * width).map(|k| ((k * 13) % 7) as f32 - 3.0).collect() };
        let (x, y) = (numbers(n_columns), numbers(n_rows));
        let (product, adjoint) = (matrix.multiply(&x, width), matrix.multiply_adjoint(&y, width));
        for lane in 0..width {
            for row in 0..n_rows {
                let expected: f32 = (0..n_columns).map(|k| matrix.row(row)[k] * x[k * width + lane]).sum();
                assert_eq!(product[row * width + lane], expected, "{n_rows} x {n_columns}, row {row}");
            }
            for column in 0..n_columns {
                let expected: f32 = (0..n_rows).map(|row| matrix.row(row)[column] * y[row * width + lane]).sum();
                assert_eq!(adjoint[column * width + lane], expected, "{n_rows} x {n_columns}, column {column}");
            }
        }
    }
}

/// Every sum adds its terms one after another, whatever the width: a column alone has the same bits as among others.
#[test]
fn a_column_has_the_same_bits_in_every_company() {
    let matrix = DenseMatrix::new(9, 21, (0..189).map(|k| (k as f32 * 0.7).sin()).collect()).expect("finite");
    let x: Vec<f32> = (0..21 * 19).map(|k| (k as f32 * 0.3).cos()).collect();
    let together = matrix.multiply(&x, 19);
    let back = matrix.multiply_adjoint(&together, 19);
    for lane in 0..19 {
        let of = |values: &[f32]| -> Vec<f32> { values.iter().skip(lane).step_by(19).copied().collect() };
        assert_eq!(matrix.multiply(&of(&x), 1), of(&together), "column {lane}");
        assert_eq!(matrix.multiply_adjoint(&of(&together), 1), of(&back), "column {lane}");
    }
}
