use super::*;

fn values(size: usize, seed: usize) -> Vec<f32> {
    (0..size).map(|k| ((k * 37 + seed * 11) % 23) as f32 / 10.0 - 1.1).collect()
}

/// A row of two whole blocks and a part of one is stepped as the formulas say, in double precision.
#[test]
fn a_row_is_stepped_as_the_formulas_say() {
    let (n, n_lanes, node) = (2 * BLOCK + 21, 5, 70);
    let step = Step { learning_rate: 0.03, to_second: 1.7, deviation: 0.2, sparsity: 0.1 };
    let (left, by_sum) = (0.7, -0.3);
    let [weights, first, right] = [values(n, 1), values(n, 2), values(n, 3)];
    let second: Vec<f32> = values(n, 4).iter().map(|value| value * value).collect();
    let inputs = values(n * n_lanes, 5);
    // One lane has no gradient, as those of nodes whose logits nobody reads.
    let gradient = [0.5, -1.0, 0.0, 2.0, 0.25];
    let (columns, reports) = ([0, 3, 63, 64, 130, 148], [1.0; 6]);
    let [mut new_weights, mut new_first, mut new_second] = [weights.clone(), first.clone(), second.clone()];
    let row = LinkRow {
        node,
        weights: &mut new_weights,
        first: &mut new_first,
        second: &mut new_second,
        reported: (&columns, &reports),
        gradient: &gradient,
        inputs: &in_blocks(&inputs, n_lanes),
        left,
        right: &in_blocks(&right, 1),
        by_sum,
    };
    let SteppedRow { sum, squared_distance } = step_row(row, step);
    let [mut true_sum, mut true_distance] = [0.0; 2];
    for at in 0..n {
        let [weight, first, second, right] = [weights[at], first[at], second[at], right[at]].map(f64::from);
        let reported = if columns.contains(&(at as u32)) { 1.0 } else { 0.0 };
        let lanes = inputs[at * n_lanes..].iter().zip(gradient);
        let by_map: f64 = lanes.map(|(&input, gradient)| f64::from(input) * f64::from(gradient)).sum();
        let sign = if weight == 0.0 { 0.0 } else { weight.signum() };
        let slope = f64::from(left) * right * by_map + f64::from(by_sum) + 0.2 * (weight - reported) + 0.1 * sign;
        let [first, second] = [0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope * slope];
        let stepped = weight - 0.03 * first / (second.sqrt() * 1.7 + 1e-8);
        let stepped = if at == node { 0.0 } else { stepped };
        for (new, wanted) in [(new_weights[at], stepped), (new_first[at], first), (new_second[at], second)] {
            assert!((f64::from(new) - wanted).abs() < 1e-5 * wanted.abs().max(1.0), "{at}: {new} for {wanted}");
        }
        true_sum += stepped;
        true_distance += (stepped - reported).powi(2);
    }
    assert!((f64::from(sum) - true_sum).abs() < 1e-4, "{sum} for {true_sum}");
    assert!((squared_distance - true_distance).abs() < 1e-4 * true_distance, "{squared_distance} for {true_distance}");
}
