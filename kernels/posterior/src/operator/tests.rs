use super::*;
use crate::pairs::tests::posterior;

#[test]
fn the_operator_equals_the_dense_product() {
    for epsilon in [0.0, 0.1, 0.9, 3.6, 7.2, f64::INFINITY] {
        let posterior = posterior(epsilon);
        let (n, width) = (posterior.n_nodes(), 3);
        let x: Vec<f32> = (0..n * width).map(|k| (k as f32 * 0.37).sin()).collect();
        let product = SoftOperator::new(&posterior).apply(&x, width);
        for i in 0..n {
            for column in 0..width {
                let (mut direct, mut size) = (0.0, 1e-30);
                for j in (0..n).filter(|&j| j != i) {
                    let term = posterior.probability(i as u32, j as u32) * f64::from(x[j * width + column]);
                    direct += term;
                    size += term.abs();
                }
                let error = (f64::from(product[i * width + column]) - direct).abs() / size;
                assert!(error < 1e-6, "ε {epsilon}, row {i}: relative error {error}");
            }
        }
    }
}
