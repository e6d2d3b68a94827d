use super::*;

fn matrix() -> SparseMatrix {
    SparseMatrix::from_rows(3, [vec![(0, 1.0), (2, 2.0)], vec![], vec![(1, -1.0)]]).expect("valid")
}

#[test]
fn the_product_is_the_textbook_one() {
    let x = [1.0, 10.0, 2.0, 20.0, 3.0, 30.0];
    assert_eq!(matrix().multiply(&x, 2), [7.0, 70.0, 0.0, 0.0, -2.0, -20.0]);
}

#[test]
fn the_transposed_product_is_the_adjoint() {
    let (x, y) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let left = dot(&matrix().multiply(&x, 1), &y);
    let right = dot(&x, &matrix().transposed().multiply(&y, 1));
    assert!((left - right).abs() < 1e-6, "{left} is not {right}");
}

#[test]
fn every_row_is_scaled_by_its_own_factor() {
    let scaled = matrix().with_scaled_rows(|values| values.len() as f32 + 1.0).expect("finite");
    assert_eq!([0, 1, 2].map(|row| scaled.row(row).1), [&[3.0, 6.0][..], &[], &[-2.0]]);
    let error = matrix().with_scaled_rows(|values| if values[..] == [-1.0] { f32::INFINITY } else { 1.0 });
    assert!(error.as_ref().is_err_and(|invalid| invalid.0.contains("row 2")), "{error:?}");
}

#[test]
fn bad_entries_are_refused_with_their_row() {
    for (rows, word) in [
        (vec![vec![], vec![(3, 1.0)]], "width"),
        (vec![vec![], vec![(1, 1.0), (1, 1.0)]], "twice"),
        (vec![vec![], vec![(0, f32::NAN)]], "finite"),
    ] {
        let error = SparseMatrix::from_rows(3, rows).expect_err(word);
        assert!(error.0.contains("row 1") && error.0.contains(word), "{error}");
    }
}

/// Rows of several tasks, of which some have no row that is read.
#[test]
fn rows_that_are_read_are_those_of_the_product() {
    let (n_rows, n_columns, width) = (50_000, 40, 19);
    let row = |row: usize| vec![((row % n_columns) as u32, (row % 7) as f32 - 2.5)];
    let matrix = SparseMatrix::from_rows(n_columns, (0..n_rows).map(row)).expect("valid");
    let x: Vec<f32> = (0..n_columns * width).map(|k| (k % 31) as f32 / 31.0 - 0.4).collect();
    let whole = matrix.multiply(&x, width);
    for read in [vec![], vec![0, 5, 16_383, 16_384, 49_999], (40_000..40_100).collect::<Vec<u32>>()] {
        let product = matrix.multiply_rows(&x, width, ProductRows::Read(&read));
        for row in 0..n_rows {
            let at = row * width..(row + 1) * width;
            let expected = if read.contains(&(row as u32)) { &whole[at.clone()] } else { &[0.0; 19][..] };
            assert_eq!(&product[at], expected, "row {row}");
        }
    }
}

#[test]
fn long_products_are_divided() {
    assert_eq!(rows_per_task(0, 0), 0);
    assert_eq!(rows_per_task(2_708, 1_900_000), 2_708, "left to the thread that asks");
    assert_eq!(rows_per_task(40_000, 500_000), 16_384);
    assert_eq!(rows_per_task(8_415, 33_000_000), 1_052, "few rows with many entries");
    // Every row has a product, whoever makes it: 3 rows of 2^21 entries make two tasks.
    let row = || (0..1_u32 << 21).map(|column| (column, 1.0)).collect::<Vec<_>>();
    let matrix = SparseMatrix::from_rows(1 << 21, [row(), Vec::new(), row()]).expect("valid");
    assert_eq!(matrix.multiply(&vec![0.5; 1 << 21], 1), [1_048_576.0, 0.0, 1_048_576.0]);
}
