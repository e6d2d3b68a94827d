//! The operations on the CPU, on slices.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::borrow::Cow;
use std::sync::Arc;

use burn::backend::Flex;
use burn::tensor::TensorMetadata;
use burn::tensor::ops::FloatTensor;
use pulp::{Simd, WithSimd};
use veilgraph_graph::ProductRows;
use veilgraph_graph::vectors::dispatch;

use super::{Activation, AttentionInputs, DeviceOps, from_host, shape};
use crate::activation::{Unit, selu, selu_slope};
use crate::adam::{ADAM_EPSILON, BETAS, Corrections, Moments, Rates};
use crate::attention::AttentionGraph;
use crate::dropout::Dropout;
use crate::map::SparseMap;
use crate::score::{Score, cross_entropy, score};

type HostTensor = FloatTensor<Flex>;

impl DeviceOps for Flex {
    type Sparse = Arc<SparseMap>;
    type Links = Arc<AttentionGraph>;
    /// Shares are worked out again: to keep them takes longer, because every link of a dense graph has one.
    type Shares = ();
    type Labelled = Arc<[(u32, u16)]>;
    type Dropouts = Arc<[Dropout]>;
    type AllRates = Arc<[Rates]>;

    fn memory(_: &Self::Device) -> Option<u64> {
        None
    }
    fn sparse(map: &Arc<SparseMap>, _: &Self::Device) -> Self::Sparse {
        map.clone()
    }
    fn links(graph: &Arc<AttentionGraph>, _: &Self::Device) -> Self::Links {
        graph.clone()
    }
    fn labelled(labelled: &[(u32, u16)], _: &Self::Device) -> Self::Labelled {
        labelled.into()
    }
    fn dropouts(dropouts: &[Dropout], _: &Self::Device) -> Self::Dropouts {
        dropouts.into()
    }
    fn all_rates(rates: &[Rates], _: &Self::Device) -> Self::AllRates {
        rates.into()
    }

    fn multiply(map: &Self::Sparse, adjoint: bool, x: HostTensor, rows: ProductRows) -> HostTensor {
        let [_, n_rows, width] = shape::<Self>(&x);
        let matrix = if adjoint { &map.transposed } else { &map.matrix };
        each(&[&x], |[x]| matrix.multiply_rows(x, width, rows), [n_rows * width], [matrix.n_rows(), width])
    }

    fn attend(graph: &Self::Links, inputs: &AttentionInputs<Self>, read: Option<&[u32]>) -> (HostTensor, ()) {
        let [models, rows, width] = shape::<Self>(&inputs[0]);
        let values = inputs.each_ref().map(slice);
        let mut outputs = Vec::new();
        for model in 0..models {
            let inputs = part(&values, model, [rows * width, rows, rows]);
            outputs.extend(graph.attend(inputs, width, read));
        }
        (tensor(outputs, [models, rows, width]), ())
    }

    fn attend_gradient(
        graph: &Self::Links,
        inputs: &AttentionInputs<Self>,
        (): (),
        gradient: HostTensor,
    ) -> [HostTensor; 3] {
        let [models, rows, width] = shape::<Self>(&inputs[0]);
        let values = [&inputs[0], &inputs[1], &inputs[2], &gradient].map(slice);
        let mut found: [Vec<f32>; 3] = Default::default();
        for model in 0..models {
            let [x, sources, targets, gradient] = part(&values, model, [rows * width, rows, rows, rows * width]);
            let gradients = graph.gradient([x, sources, targets], gradient, width);
            for (found, gradient) in found.iter_mut().zip(gradients) {
                found.extend(gradient);
            }
        }
        let [x, sources, targets] = found;
        [tensor(x, [models, rows, width]), tensor(sources, [models, rows, 1]), tensor(targets, [models, rows, 1])]
    }

    fn activate(x: HostTensor, activation: &Activation<Self>) -> HostTensor {
        let [models, rows, width] = shape::<Self>(&x);
        let values = slice(&x);
        let mut y = vec![0.0; values.len()];
        for (model, (x, y)) in values.chunks(rows * width).zip(y.chunks_mut(rows * width)).enumerate() {
            match &activation.dropouts {
                Some(dropouts) => dropouts[model].activate(activation.unit, x, y, activation.step, activation.layer),
                None => dispatch(Units { unit: activation.unit, x, y }),
            }
        }
        tensor(y, [models, rows, width])
    }

    fn activate_gradient(y: HostTensor, gradient: HostTensor, activation: &Activation<Self>) -> HostTensor {
        let [models, rows, width] = shape::<Self>(&y);
        let (values, upstream) = (slice(&y), slice(&gradient));
        let mut found = vec![0.0; values.len()];
        let batches = values.chunks(rows * width).zip(upstream.chunks(rows * width));
        for (model, ((y, upstream), found)) in batches.zip(found.chunks_mut(rows * width)).enumerate() {
            let scale = activation.dropouts.as_ref().map_or(1.0, |dropouts| dropouts[model].scale());
            dispatch(UnitsGradient { unit: activation.unit, y, upstream, scale, found });
        }
        tensor(found, [models, rows, width])
    }

    fn cross_entropy(logits: HostTensor, labelled: &Self::Labelled) -> (HostTensor, HostTensor) {
        let [models, rows, n_classes] = shape::<Self>(&logits);
        let mut gradients = vec![0.0; models * rows * n_classes];
        let values = slice(&logits);
        let batches = values.chunks(rows * n_classes).zip(gradients.chunks_mut(rows * n_classes));
        let losses: Vec<f32> =
            batches.map(|(logits, gradient)| cross_entropy(logits, n_classes, labelled, gradient) as f32).collect();
        (tensor(losses, [models, 1, 1]), tensor(gradients, [models, rows, n_classes]))
    }

    fn scores(logits: HostTensor, labelled: &Self::Labelled) -> Vec<Score> {
        let [_, rows, n_classes] = shape::<Self>(&logits);
        slice(&logits).chunks(rows * n_classes).map(|logits| score(logits, n_classes, labelled)).collect()
    }

    fn adam(
        mut parameter: HostTensor,
        gradient: HostTensor,
        moments: &mut Moments<Self>,
        rates: &Self::AllRates,
        Corrections { to_rate, to_second }: Corrections,
    ) -> HostTensor {
        let [_, rows, width] = shape::<Self>(&parameter);
        let gradient = slice(&gradient);
        let parameters: &mut [f32] = parameter.storage_mut();
        let (first, second): (&mut [f32], &mut [f32]) = (moments.first.storage_mut(), moments.second.storage_mut());
        for (model, &Rates { learning_rate, weight_decay }) in rates.iter().enumerate() {
            let range = model * rows * width..(model + 1) * rows * width;
            let [p, m, v] = [&mut *parameters, &mut *first, &mut *second].map(|values| &mut values[range.clone()]);
            let learning_rate = learning_rate * to_rate;
            let gradient = &gradient[range];
            dispatch(AdamStep { p, m, v, gradient, learning_rate, weight_decay, to_second });
        }
        parameter
    }
}

/// The function of hidden units, of `x`.
struct Units<'a> {
    unit: Unit,
    x: &'a [f32],
    y: &'a mut [f32],
}

impl WithSimd for Units<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let both = self.y.iter_mut().zip(self.x);
        match self.unit {
            Unit::Relu => both.for_each(|(y, &x)| *y = x.max(0.0)),
            Unit::Selu => both.for_each(|(y, &x)| *y = selu(x)),
        }
    }
}

/// Gradient by the input of a unit: that by its output, times `scale` and the slope, where the unit was not dropped.
struct UnitsGradient<'a> {
    unit: Unit,
    y: &'a [f32],
    upstream: &'a [f32],
    scale: f32,
    found: &'a mut [f32],
}

impl WithSimd for UnitsGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let all = self.found.iter_mut().zip(self.y).zip(self.upstream);
        match self.unit {
            Unit::Relu => {
                all.for_each(|((found, &y), &upstream)| *found = if y > 0.0 { upstream * self.scale } else { 0.0 });
            }
            Unit::Selu => all.for_each(|((found, &y), &upstream)| *found = upstream * selu_slope(y, self.scale)),
        }
    }
}

/// One step of one model's parameter, in the symbols of Kingma, Ba (2015), algorithm 1. Slices are of one length.
struct AdamStep<'a> {
    /// The parameter: `θ`.
    p: &'a mut [f32],
    /// Its first and second moment.
    m: &'a mut [f32],
    v: &'a mut [f32],
    gradient: &'a [f32],
    /// Corrected for the start of the moments at zero.
    learning_rate: f32,
    weight_decay: f32,
    /// Corrects the root of the second moment for its start at zero.
    to_second: f32,
}

impl WithSimd for AdamStep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { p, m, v, gradient, learning_rate, weight_decay, to_second } = self;
        // The zip is deep because the compiler makes vectors of it; with an index it would check each of four slices.
        for (((p, m), v), &g) in p.iter_mut().zip(m).zip(v).zip(gradient) {
            let g = g + weight_decay * *p;
            *m = BETAS[0] * *m + (1.0 - BETAS[0]) * g;
            *v = BETAS[1] * *v + (1.0 - BETAS[1]) * g * g;
            *p -= learning_rate * *m / (v.sqrt() * to_second + ADAM_EPSILON);
        }
    }
}

/// A function of one model's matrices, applied to those of every model.
///
/// # Shapes
/// `sizes`: number of values of each matrix. Returns `[models, rows, width]`.
fn each<const N: usize>(
    inputs: &[&HostTensor; N],
    apply: impl Fn([&[f32]; N]) -> Vec<f32>,
    sizes: [usize; N],
    [rows, width]: [usize; 2],
) -> HostTensor {
    let values = inputs.map(slice);
    let models = inputs[0].shape()[0];
    if models == 1 {
        // The result is taken as it is; joining the results of several models copies them.
        return tensor(apply(part(&values, 0, sizes)), [1, rows, width]);
    }
    tensor((0..models).flat_map(|model| apply(part(&values, model, sizes))).collect(), [models, rows, width])
}

/// The matrices of one model, with `sizes` values each.
fn part<'a, const N: usize>(values: &'a [Cow<[f32]>; N], model: usize, sizes: [usize; N]) -> [&'a [f32]; N] {
    std::array::from_fn(|at| &values[at][model * sizes[at]..(model + 1) * sizes[at]])
}

/// The values of a tensor, row-major; copied if they do not lie so.
fn slice(tensor: &HostTensor) -> Cow<'_, [f32]> {
    match tensor.as_slice() {
        Some(values) => Cow::Borrowed(values),
        None => Cow::Owned(tensor.to_contiguous().storage().to_vec()),
    }
}

/// A tensor of row-major values.
fn tensor(values: Vec<f32>, shape: [usize; 3]) -> HostTensor {
    from_host::<Flex>(values, shape, &Default::default())
}
