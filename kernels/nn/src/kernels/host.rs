//! The kernels on the CPU, on slices.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::borrow::Cow;
use std::sync::Arc;

use burn::backend::Flex;
use burn::tensor::TensorMetadata;
use burn::tensor::ops::FloatTensor;
use pulp::{Arch, Simd, WithSimd};

use super::{ADAM_EPSILON, Activation, AttentionInputs, BETAS, Kernels, Moments, corrections, from_host, shape};
use crate::attention::AttentionGraph;
use crate::dropout::Dropout;
use crate::map::SparseMap;
use crate::score::{cross_entropy, score};

type HostTensor = FloatTensor<Flex>;

impl Kernels for Flex {
    type Sparse = Arc<SparseMap>;
    type Links = Arc<AttentionGraph>;
    type Labelled = Arc<[(u32, u16)]>;
    type Dropouts = Arc<[Dropout]>;
    type Rates = Arc<[[f32; 2]]>;

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
    fn rates(rates: &[[f32; 2]], _: &Self::Device) -> Self::Rates {
        rates.into()
    }

    fn multiply(map: &Self::Sparse, adjoint: bool, x: HostTensor) -> HostTensor {
        let [_, rows, width] = shape::<Self>(&x);
        let matrix = if adjoint { &map.transposed } else { &map.matrix };
        each(&[&x], |[x]| matrix.multiply(x, width), [rows * width], [matrix.n_rows(), width])
    }

    fn attend(graph: &Self::Links, inputs: &AttentionInputs<Self>) -> (HostTensor, HostTensor) {
        let [models, rows, width] = shape::<Self>(&inputs[0]);
        let values = inputs.each_ref().map(slice);
        let (mut outputs, mut attentions) = (Vec::new(), Vec::new());
        for model in 0..models {
            let [x, sources, targets] = part(&values, model, [rows * width, rows, rows]);
            let attended = graph.attend(x, sources, targets, width);
            outputs.extend(attended.output);
            attentions.extend(attended.attention);
        }
        let links = attentions.len() / models;
        (tensor(outputs, [models, rows, width]), tensor(attentions, [models, links, 1]))
    }

    fn attend_gradient(
        graph: &Self::Links,
        inputs: &AttentionInputs<Self>,
        attention: HostTensor,
        gradient: HostTensor,
    ) -> [HostTensor; 3] {
        let [models, rows, width] = shape::<Self>(&inputs[0]);
        let links = shape::<Self>(&attention)[1];
        let values = [&inputs[0], &inputs[1], &inputs[2], &attention, &gradient].map(slice);
        let mut found: [Vec<f32>; 3] = Default::default();
        for model in 0..models {
            let sizes = [rows * width, rows, rows, links, rows * width];
            let [x, sources, targets, attention, gradient] = part(&values, model, sizes);
            let gradients = graph.gradient([x, sources, targets], attention, gradient, width);
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
                Some(dropouts) => dropouts[model].activate(x, y, activation.step, activation.layer),
                None => Arch::new().dispatch(Relu { x, y }),
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
            Arch::new().dispatch(ReluGradient { y, upstream, scale, found });
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

    fn scores(logits: HostTensor, labelled: &Self::Labelled) -> Vec<(f64, f64)> {
        let [_, rows, n_classes] = shape::<Self>(&logits);
        slice(&logits).chunks(rows * n_classes).map(|logits| score(logits, n_classes, labelled)).collect()
    }

    fn adam(
        mut parameter: HostTensor,
        gradient: HostTensor,
        moments: &mut Moments<Self>,
        rates: &Self::Rates,
        step: u32,
    ) -> HostTensor {
        let [_, rows, width] = shape::<Self>(&parameter);
        let gradient = slice(&gradient);
        let parameters: &mut [f32] = parameter.storage_mut();
        let (first, second): (&mut [f32], &mut [f32]) = (moments.first.storage_mut(), moments.second.storage_mut());
        for (model, &[learning_rate, weight_decay]) in rates.iter().enumerate() {
            let range = model * rows * width..(model + 1) * rows * width;
            let [p, m, v] = [&mut *parameters, &mut *first, &mut *second].map(|values| &mut values[range.clone()]);
            let [to_rate, to_second] = corrections(step);
            let rates = [learning_rate * to_rate, weight_decay, to_second];
            Arch::new().dispatch(AdamStep { p, m, v, gradient: &gradient[range], rates });
        }
        parameter
    }
}

struct Relu<'a> {
    x: &'a [f32],
    y: &'a mut [f32],
}

impl WithSimd for Relu<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.y.iter_mut().zip(self.x).for_each(|(y, &x)| *y = x.max(0.0));
    }
}

struct ReluGradient<'a> {
    y: &'a [f32],
    upstream: &'a [f32],
    scale: f32,
    found: &'a mut [f32],
}

impl WithSimd for ReluGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for ((found, &y), &upstream) in self.found.iter_mut().zip(self.y).zip(self.upstream) {
            *found = if y > 0.0 { upstream * self.scale } else { 0.0 };
        }
    }
}

struct AdamStep<'a> {
    p: &'a mut [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
    gradient: &'a [f32],
    /// Corrected learning rate, weight decay, correction of the second moment.
    rates: [f32; 3],
}

impl WithSimd for AdamStep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let [learning_rate, weight_decay, to_second] = self.rates;
        for (((p, m), v), &g) in self.p.iter_mut().zip(self.m).zip(self.v).zip(self.gradient) {
            let g = g + weight_decay * *p;
            *m = BETAS[0] * *m + (1.0 - BETAS[0]) * g;
            *v = BETAS[1] * *v + (1.0 - BETAS[1]) * g * g;
            *p -= learning_rate * *m / (v.sqrt() * to_second + ADAM_EPSILON);
        }
    }
}

/// Applies a function to the matrices of each model.
fn each<const N: usize>(
    inputs: &[&HostTensor; N],
    apply: impl Fn([&[f32]; N]) -> Vec<f32>,
    sizes: [usize; N],
    [rows, width]: [usize; 2],
) -> HostTensor {
    let values = inputs.map(slice);
    let models = inputs[0].shape()[0];
    if models == 1 {
        return tensor(apply(part(&values, 0, sizes)), [1, rows, width]);
    }
    tensor((0..models).flat_map(|model| apply(part(&values, model, sizes))).collect(), [models, rows, width])
}

fn part<'a, const N: usize>(values: &'a [Cow<[f32]>; N], model: usize, sizes: [usize; N]) -> [&'a [f32]; N] {
    std::array::from_fn(|at| &values[at][model * sizes[at]..(model + 1) * sizes[at]])
}

fn slice(tensor: &HostTensor) -> Cow<'_, [f32]> {
    match tensor.as_slice() {
        Some(values) => Cow::Borrowed(values),
        None => Cow::Owned(tensor.to_contiguous().storage().to_vec()),
    }
}

fn tensor(values: Vec<f32>, shape: [usize; 3]) -> HostTensor {
    from_host::<Flex>(values, shape, &Default::default())
}
