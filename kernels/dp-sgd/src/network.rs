//! A network of two layers, and the clipped gradient of one sample.

use rand::{Rng, RngExt};

use crate::{Inputs, Samples};

/// Sizes of the layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Columns of the rows that are read.
    pub inputs: usize,
    /// Hidden units.
    pub hidden: usize,
    /// Classes.
    pub classes: usize,
}

/// `f(x) = W2 selu(W1 x + b1) + b2`. A sample's log odds are the weighted sum of `f` over its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Sizes.
    pub shape: Shape,
    /// All parameters in one piece: `W1` by `[inputs, hidden]`, `b1`, `W2` by `[hidden, classes]`, `b2`.
    pub parameters: Vec<f32>,
}

/// Scale and slope of SELU.
///
/// # Source
/// Klambauer et al. (2017), Self-normalizing neural networks, equation (2).
const SELU: [f32; 2] = [1.050_701, 1.673_263_2];

/// Room for one sample, used again for the next.
#[derive(Default)]
pub(crate) struct Workspace {
    /// Values of the hidden units, one row after the other.
    hidden: Vec<f32>,
    /// Slopes of the hidden units, then the loss's derivatives by what enters them.
    slopes: Vec<f32>,
    /// Weighted sum of hidden values, and its derivative.
    sum: Vec<f32>,
    back: Vec<f32>,
    /// Log odds, then probabilities, then the loss's derivatives by the log odds.
    classes: Vec<f32>,
}

impl Shape {
    fn first(self) -> usize {
        self.inputs * self.hidden
    }

    fn second(self) -> usize {
        self.first() + self.hidden
    }

    fn last(self) -> usize {
        self.second() + self.hidden * self.classes
    }

    /// Number of parameters.
    #[must_use]
    pub fn n_parameters(self) -> usize {
        self.last() + self.classes
    }
}

impl Network {
    /// A network with weights drawn uniformly, so that units have a variance of one where rows have a squared norm of
    /// `squared_norm`, and without biases.
    ///
    /// # Source
    /// `LeCun` et al. (1998), Efficient backprop, equation (16), as SELU asks for.
    pub fn new(shape: Shape, squared_norm: f32, rng: &mut impl Rng) -> Self {
        let mut parameters = vec![0.0; shape.n_parameters()];
        let mut draw = |weights: &mut [f32], square: f32| {
            let bound = (3.0 / square.max(1e-6)).sqrt();
            weights.iter_mut().for_each(|weight| *weight = bound * (2.0 * rng.random::<f32>() - 1.0));
        };
        draw(&mut parameters[..shape.first()], squared_norm);
        draw(&mut parameters[shape.second()..shape.last()], shape.hidden as f32);
        Self { shape, parameters }
    }

    /// The hidden values of a row.
    pub fn hidden(&self, inputs: &Inputs, row: usize, values: &mut Vec<f32>) {
        values.clear();
        self.extend_hidden(inputs, row, values);
        values.iter_mut().for_each(|value| *value = selu(*value).0);
    }

    /// Log odds of the classes of a row.
    pub fn logits(&self, inputs: &Inputs, row: usize, hidden: &mut Vec<f32>) -> Vec<f32> {
        self.hidden(inputs, row, hidden);
        let mut classes = vec![0.0; self.shape.classes];
        self.second_layer(hidden, 1.0, &mut classes);
        classes
    }

    /// Mean cross-entropy of samples, in nats.
    #[must_use]
    pub fn loss(&self, inputs: &Inputs, samples: &Samples) -> f64 {
        let mut room = Workspace::default();
        let losses = (0..samples.len()).map(|sample| {
            self.forward(inputs, samples.terms(sample), &[], &mut room);
            -libm::log(f64::from(room.classes[usize::from(samples.class(sample))].max(f32::MIN_POSITIVE)))
        });
        losses.sum::<f64>() / samples.len().max(1) as f64
    }

    /// What enters the hidden units for a row, appended.
    fn extend_hidden(&self, inputs: &Inputs, row: usize, values: &mut Vec<f32>) {
        let (shape, start) = (self.shape, values.len());
        values.extend_from_slice(&self.parameters[shape.first()..shape.second()]);
        let units = &mut values[start..];
        inputs.visit(row, |column, entry| {
            let weights = &self.parameters[column * shape.hidden..(column + 1) * shape.hidden];
            units.iter_mut().zip(weights).for_each(|(unit, weight)| *unit += entry * weight);
        });
    }

    fn second_layer(&self, hidden: &[f32], total: f32, classes: &mut [f32]) {
        let shape = self.shape;
        let (weights, biases) = self.parameters[shape.second()..].split_at(shape.hidden * shape.classes);
        classes.iter_mut().zip(biases).for_each(|(class, bias)| *class = total * bias);
        for (value, weights) in hidden.iter().zip(weights.chunks_exact(shape.classes)) {
            classes.iter_mut().zip(weights).for_each(|(class, weight)| *class += value * weight);
        }
    }

    /// Probabilities of the classes, in `room.classes`. A `mask` multiplies the hidden units.
    fn forward(&self, inputs: &Inputs, terms: &[(u32, f32)], mask: &[f32], room: &mut Workspace) {
        let shape = self.shape;
        room.hidden.clear();
        terms.iter().for_each(|&(row, _)| self.extend_hidden(inputs, row as usize, &mut room.hidden));
        room.slopes.clear();
        room.sum.clear();
        room.sum.resize(shape.hidden, 0.0);
        let mut total = 0.0;
        for (units, &(_, weight)) in room.hidden.chunks_exact_mut(shape.hidden).zip(terms) {
            total += weight;
            for (at, (unit, sum)) in units.iter_mut().zip(&mut room.sum).enumerate() {
                let (value, slope) = selu(*unit);
                let kept = mask.get(at).copied().unwrap_or(1.0);
                *unit = value * kept;
                room.slopes.push(slope * kept);
                *sum += weight * *unit;
            }
        }
        room.classes.resize(shape.classes, 0.0);
        self.second_layer(&room.sum, total, &mut room.classes);
        softmax(&mut room.classes);
    }

    /// Adds to `gradient` that of one sample's cross-entropy, scaled down to a norm of at most `bound`. One whose norm overflows
    /// is left out.
    ///
    /// # Privacy
    /// The norm is computed in single precision from products, without laying the gradient out.
    pub(crate) fn add_clipped_gradient(
        &self,
        inputs: &Inputs,
        (samples, sample): (&Samples, usize),
        mask: &[f32],
        bound: f32,
        room: &mut Workspace,
        gradient: &mut [f32],
    ) {
        let (shape, terms) = (self.shape, samples.terms(sample));
        self.forward(inputs, terms, mask, room);
        room.classes[usize::from(samples.class(sample))] -= 1.0;
        let total: f32 = terms.iter().map(|term| term.1).sum();
        let weights = &self.parameters[shape.second()..shape.last()];
        room.back.clear();
        room.back.extend(weights.chunks_exact(shape.classes).map(|weights| dot(weights, &room.classes)));
        for (slopes, &(_, weight)) in room.slopes.chunks_exact_mut(shape.hidden).zip(terms) {
            slopes.iter_mut().zip(&room.back).for_each(|(slope, back)| *slope *= weight * back);
        }
        let scale = if bound.is_finite() {
            let norm = self.squared_norm(inputs, terms, total, room).sqrt();
            // A gradient whose norm is no finite number cannot be scaled down to the bound, so it must not count.
            if !norm.is_finite() {
                return;
            }
            if norm > bound { bound / norm } else { 1.0 }
        } else {
            1.0
        };
        let (first, rest) = gradient.split_at_mut(shape.first());
        let (first_bias, rest) = rest.split_at_mut(shape.hidden);
        let (second, second_bias) = rest.split_at_mut(shape.hidden * shape.classes);
        for (slopes, &(row, _)) in room.slopes.chunks_exact(shape.hidden).zip(terms) {
            inputs.visit(row as usize, |column, entry| {
                let target = &mut first[column * shape.hidden..(column + 1) * shape.hidden];
                let entry = scale * entry;
                target.iter_mut().zip(slopes).for_each(|(target, slope)| *target += entry * slope);
            });
            first_bias.iter_mut().zip(slopes).for_each(|(target, slope)| *target += scale * slope);
        }
        for (value, target) in room.sum.iter().zip(second.chunks_exact_mut(shape.classes)) {
            let value = scale * value;
            target.iter_mut().zip(&room.classes).for_each(|(target, class)| *target += value * class);
        }
        second_bias.iter_mut().zip(&room.classes).for_each(|(target, class)| *target += scale * total * class);
    }

    /// The sum of all samples' gradients, each scaled down to a norm of at most `bound`: what a step adds noise to.
    #[must_use]
    pub fn summed_gradient(&self, inputs: &Inputs, samples: &Samples, bound: f32) -> Vec<f32> {
        let mut gradient = vec![0.0; self.parameters.len()];
        let mut room = Workspace::default();
        for sample in 0..samples.len() {
            self.add_clipped_gradient(inputs, (samples, sample), &[], bound, &mut room, &mut gradient);
        }
        gradient
    }

    /// Squared Euclidean norm of a sample's gradient: all its parts are sums of outer products, one for each row.
    fn squared_norm(&self, inputs: &Inputs, terms: &[(u32, f32)], total: f32, room: &Workspace) -> f32 {
        let second = dot(&room.classes, &room.classes) * (dot(&room.sum, &room.sum) + total * total);
        let slopes = |term: usize| &room.slopes[term * self.shape.hidden..(term + 1) * self.shape.hidden];
        let mut first = 0.0;
        for (a, &(row, _)) in terms.iter().enumerate() {
            // The bias of the first layer is a column of ones.
            first += (inputs.product(row as usize, row as usize) + 1.0) * dot(slopes(a), slopes(a));
            for (b, &(other, _)) in terms.iter().enumerate().skip(a + 1) {
                let product = inputs.product(row as usize, other as usize) + 1.0;
                first += 2.0 * product * dot(slopes(a), slopes(b));
            }
        }
        if !first.is_finite() {
            return f32::INFINITY;
        }
        // Rounding may leave less than nothing.
        first.max(0.0) + second
    }
}

/// The function of the hidden units, and its slope.
fn selu(x: f32) -> (f32, f32) {
    let [scale, slope] = SELU;
    if x > 0.0 {
        (scale * x, scale)
    } else {
        let power = libm::expf(x);
        (scale * slope * (power - 1.0), scale * slope * power)
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Log odds to probabilities.
pub fn softmax(values: &mut [f32]) {
    let top = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    values.iter_mut().for_each(|value| *value = libm::expf(*value - top));
    let sum: f32 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= sum);
}

#[cfg(test)]
mod tests;
