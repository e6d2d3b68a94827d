use veilgraph_graph::vectors::dispatch;

use super::*;

const STEP: Step = Step { learning_rate: 0.03, to_second: 1.7, deviation: 0.2, sparsity: 0.1 };
const LEFT: f32 = 0.7;
const BY_SUM: f32 = -0.3;
/// One lane has no gradient, as those of nodes whose logits nobody reads.
const GRADIENT: [f32; 5] = [0.5, -1.0, 0.0, 2.0, 0.25];
const LANE_LEFT_OUT: usize = 2;

/// A row and what its gradient is made of.
struct Case {
    node: usize,
    weights: Vec<f32>,
    first: Vec<f32>,
    second: Vec<f32>,
    right: Vec<f32>,
    inputs: Vec<f32>,
    columns: Vec<u32>,
}

fn values(size: usize, seed: usize) -> Vec<f32> {
    (0..size).map(|k| ((k * 37 + seed * 11) % 23) as f32 / 10.0 - 1.1).collect()
}

impl Case {
    fn new(n: usize, node: usize) -> Self {
        let mut inputs = values(n * GRADIENT.len(), 5);
        // If the lane without a gradient were read, sums would not be numbers.
        inputs.iter_mut().skip(LANE_LEFT_OUT).step_by(GRADIENT.len()).for_each(|input| *input = f32::INFINITY);
        Self {
            node,
            weights: values(n, 1),
            first: values(n, 2),
            second: values(n, 4).iter().map(|value| value * value).collect(),
            right: values(n, 3),
            inputs,
            columns: [0, 3, 63, 64, 127, 128, 130, 148, 255]
                .into_iter()
                .filter(|&column| (column as usize) < n)
                .collect(),
        }
    }

    /// Weights and moments after a step, with the sums over the row.
    fn stepped(&self, step: impl FnOnce(LinkRow) -> SteppedRow) -> ([Vec<f32>; 3], SteppedRow) {
        let [mut weights, mut first, mut second] = [&self.weights, &self.first, &self.second].map(Clone::clone);
        let reports = vec![1.0; self.columns.len()];
        let totals = step(LinkRow {
            node: self.node,
            weights: &mut weights,
            first: &mut first,
            second: &mut second,
            reported: (&self.columns, &reports),
            gradient: &GRADIENT,
            inputs: &in_blocks(&self.inputs, GRADIENT.len()),
            left: LEFT,
            right: &in_blocks(&self.right, 1),
            by_sum: BY_SUM,
        });
        ([weights, first, second], totals)
    }
}

/// Rows shorter than a block, of whole blocks, and with a part of one at the end.
fn cases() -> Vec<Case> {
    [(5, 4), (64, 63), (128, 0), (149, 148), (149, 70), (256, 128), (300, 299)]
        .map(|(n, node)| Case::new(n, node))
        .into()
}

#[test]
fn a_row_is_stepped_as_the_formulas_say() {
    for case in cases() {
        let (entries, totals) = case.stepped(|row| step_row(row, STEP));
        let [mut sum, mut distance] = [0.0; 2];
        for at in 0..case.weights.len() {
            let given = [&case.weights, &case.first, &case.second, &case.right].map(|values| f64::from(values[at]));
            let [weight, first, second, right] = given;
            let reported = if case.columns.contains(&(at as u32)) { 1.0 } else { 0.0 };
            let lanes = case.inputs[at * GRADIENT.len()..].iter().zip(GRADIENT).enumerate();
            let read = lanes.filter(|&(lane, _)| lane != LANE_LEFT_OUT);
            let by_map: f64 = read.map(|(_, (&input, gradient))| f64::from(input) * f64::from(gradient)).sum();
            let sign = if weight == 0.0 { 0.0 } else { weight.signum() };
            let penalties = 0.2 * (weight - reported) + 0.1 * sign;
            let slope = f64::from(LEFT) * right * by_map + f64::from(BY_SUM) + penalties;
            let [first, second] = [0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope * slope];
            let weight = weight - 0.03 * first / (second.sqrt() * 1.7 + 1e-8);
            let weight = if at == case.node { 0.0 } else { weight };
            for (values, wanted) in entries.iter().zip([weight, first, second]) {
                let off = (f64::from(values[at]) - wanted).abs();
                assert!(off < 1e-5 * wanted.abs().max(1.0), "{at}: {} for {wanted}", values[at]);
            }
            sum += weight;
            distance += (weight - reported).powi(2);
        }
        let SteppedRow { sum: found, squared_distance } = totals;
        assert!((f64::from(found) - sum).abs() < 1e-4, "{found} for {sum}");
        assert!((squared_distance - distance).abs() < 1e-4 * distance, "{squared_distance} for {distance}");
    }
}

#[test]
fn every_width_of_vectors_gives_the_same_bits() {
    for case in cases() {
        let bits = |(entries, totals): ([Vec<f32>; 3], SteppedRow)| {
            let entries = entries.map(|values| values.into_iter().map(f32::to_bits).collect::<Vec<u32>>());
            (entries, totals.sum.to_bits(), totals.squared_distance.to_bits())
        };
        let scalar = bits(case.stepped(|row| pulp::Scalar::new().vectorize(StepRow(row, STEP))));
        assert_eq!(bits(case.stepped(|row| dispatch(StepRow(row, STEP)))), scalar, "{} nodes", case.weights.len());
        assert_eq!(bits(case.stepped(|row| step_row(row, STEP))), scalar, "{} nodes", case.weights.len());
    }
}
