use pulp::Simd;

use super::*;
use ProductRows::All;

/// Whole numbers this small are summed without rounding.
#[test]
fn products_are_those_of_the_matrix() {
    for (n_rows, n_columns, width) in
        [(1, 1, 1), (9, 9, 4), (70, 130, 16), (301, 67, 7), (3, 200, 40), (130, 5, 23), (37, 90, 32), (66, 70, 48)]
    {
        let matrix: Vec<f32> = (0..n_rows * n_columns).map(|k| ((k * 7) % 5) as f32 - 2.0).collect();
        let x: Vec<f32> = (0..n_columns * width).map(|k| ((k * 3) % 7) as f32 - 3.0).collect();
        let y: Vec<f32> = (0..n_rows * width).map(|k| ((k * 5) % 9) as f32 - 4.0).collect();
        for sums in [Sums::Single, Sums::ByWord] {
            let product = dense_product(&matrix, &x, width, sums, All);
            let adjoint = dense_adjoint_product(&matrix, &y, width, All);
            for (row, lane) in (0..n_rows).flat_map(|row| (0..width).map(move |lane| (row, lane))) {
                let term = |column: usize| matrix[row * n_columns + column] * x[column * width + lane];
                assert_eq!(product[row * width + lane], (0..n_columns).map(term).sum::<f32>(), "{n_rows} x {width}");
            }
            for (column, lane) in (0..n_columns).flat_map(|column| (0..width).map(move |lane| (column, lane))) {
                let term = |row: usize| matrix[row * n_columns + column] * y[row * width + lane];
                assert_eq!(adjoint[column * width + lane], (0..n_rows).map(term).sum::<f32>(), "{n_rows} x {width}");
            }
        }
    }
}

/// Every sum adds its products in the order of the terms, each with one rounding.
#[test]
fn products_are_added_without_a_rounding_between() {
    let fraction = |k: usize| ((k * 37) % 101) as f32 / 97.0 - 0.5;
    for (n_rows, n_columns, width) in [(5, 70, 1), (130, 33, 7), (9, 300, 16), (70, 130, 32), (11, 65, 48)] {
        let matrix: Vec<f32> = (0..n_rows * n_columns).map(fraction).collect();
        let x: Vec<f32> = (0..n_columns * width).map(|k| fraction(5 * k + 3)).collect();
        let product = dense_product(&matrix, &x, width, Sums::Single, All);
        for (row, lane) in (0..n_rows).flat_map(|row| (0..width).map(move |lane| (row, lane))) {
            let mut sum = 0.0_f32;
            for column in 0..n_columns {
                sum = matrix[row * n_columns + column].mul_add(x[column * width + lane], sum);
            }
            assert_eq!(product[row * width + lane].to_bits(), sum.to_bits(), "{n_rows} x {width}");
        }
    }
}

/// Rows of sixteen columns and more take long vectors where the processor has them, and other processors must not differ.
#[test]
fn every_width_of_vectors_gives_the_same_bits() {
    let fraction = |k: usize| ((k * 37) % 101) as f32 / 97.0 - 0.5;
    let (n_rows, n_columns) = (70, 130);
    let matrix: Vec<f32> = (0..n_rows * n_columns).map(fraction).collect();
    let terms: Vec<u32> = (0..n_columns as u32).collect();
    for (width, sums) in
        [16, 32, 48].into_iter().flat_map(|width| [Sums::Single, Sums::ByWord].map(|sums| (width, sums)))
    {
        let x: Vec<f32> = (0..n_columns * width).map(|k| fraction(5 * k + 3)).collect();
        let factor = Factor { matrix: &matrix, n_columns, is_adjoint: false, listed_rows: None };
        let blocks = factor.blocks(&terms);
        let with = |run: &dyn Fn(RowsOfTask)| {
            let mut out = vec![0.0; n_rows * width];
            run(RowsOfTask { factor, blocks: &blocks, x: &x, width, sums, first_row: 0, out: &mut out });
            bits(&out)
        };
        let scalar = with(&|rows| pulp::Scalar::new().vectorize(rows));
        assert_eq!(with(&|rows| dispatch(rows)), scalar, "{width} columns");
        assert_eq!(with(&|rows| dispatch_long(rows)), scalar, "{width} columns");
    }
}

/// A million terms of one half, beside a large one: single sums stop growing, and sums by words do not.
#[test]
fn sums_by_words_lose_nothing_in_long_rows() {
    let n = 1 << 20;
    let mut row = vec![0.5; n];
    row[0] = 1.6e7;
    let x = vec![1.0; n];
    let exact = 1.6e7 + 0.5 * (n as f64 - 1.0);
    let by_word = f64::from(dense_product(&row, &x, 1, Sums::ByWord, All)[0]);
    let single = f64::from(dense_product(&row, &x, 1, Sums::Single, All)[0]);
    assert!((by_word - exact).abs() < 2e-6 * exact && (single - exact).abs() > 1e-3 * exact, "{by_word} {single}");
}

/// Parts of columns of either length, with a last one that is shorter, give the same bits on any number of threads.
#[test]
fn adjoint_products_do_not_depend_on_threads() {
    for (n_rows, n_columns) in [(20, 1_001), (3, 9_001)] {
        let matrix: Vec<f32> = (0..n_rows * n_columns).map(|k| (k % 97) as f32 / 97.0 - 0.3).collect();
        let y: Vec<f32> = (0..n_rows * 9).map(|k| (k % 31) as f32 / 31.0 - 0.4).collect();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| dense_adjoint_product(&matrix, &y, 9, All))
        };
        let one = on(1);
        for threads in [2, 3, 8] {
            assert_eq!(on(threads), one, "{n_columns} columns, {threads} threads");
        }
        for column in (0..n_columns).step_by(211).chain([n_columns - 1]) {
            let exact: f64 =
                (0..n_rows).map(|row| f64::from(matrix[row * n_columns + column]) * f64::from(y[row * 9 + 4])).sum();
            assert!((f64::from(one[column * 9 + 4]) - exact).abs() < 1e-5, "column {column}");
        }
    }
}

/// Rows that are not asked for stay zero, and rows of zeros need not be read: the other bits are those of the whole product.
#[test]
fn products_of_some_rows_are_rows_of_the_product() {
    let fraction = |k: usize| ((k * 37) % 101) as f32 / 97.0 - 0.5;
    let (n_rows, n_columns) = (310, 150);
    let matrix: Vec<f32> = (0..n_rows * n_columns).map(fraction).collect();
    let lists: [Vec<u32>; 4] =
        [vec![], vec![309], (0..310).filter(|row| row % 3 == 0).collect(), (64..128).chain([200, 201]).collect()];
    for (rows, width) in lists.iter().flat_map(|rows| [1, 7, 16, 21, 32].map(|width| (rows, width))) {
        let is_listed = |row: usize| rows.contains(&(row as u32));
        let x: Vec<f32> = (0..n_columns * width).map(|k| fraction(5 * k + 3)).collect();
        let y: Vec<f32> =
            (0..n_rows * width).map(|k| if is_listed(k / width) { fraction(3 * k + 1) } else { 0.0 }).collect();
        let case = format!("{} rows, {width} columns", rows.len());
        let adjoint = dense_adjoint_product(&matrix, &y, width, ProductRows::Nonzero(rows));
        assert_eq!(bits(&adjoint), bits(&dense_adjoint_product(&matrix, &y, width, All)), "{case}");
        for sums in [Sums::Single, Sums::ByWord] {
            let mut expected = dense_product(&matrix, &x, width, sums, All);
            (0..n_rows).filter(|&row| !is_listed(row)).for_each(|row| expected[row * width..][..width].fill(0.0));
            let read = dense_product(&matrix, &x, width, sums, ProductRows::Read(rows));
            assert_eq!(bits(&read), bits(&expected), "{case}, {sums:?}");
            let turned = turned(&matrix, n_columns);
            let product = dense_product(&turned, &y, width, sums, ProductRows::Nonzero(rows));
            assert_eq!(bits(&product), bits(&dense_product(&turned, &y, width, sums, All)), "{case}, {sums:?}");
        }
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The transposed matrix, with every entry in its place.
fn turned(matrix: &[f32], n_columns: usize) -> Vec<f32> {
    let n_rows = matrix.len() / n_columns;
    (0..n_columns).flat_map(|column| (0..n_rows).map(move |row| matrix[row * n_columns + column])).collect()
}
