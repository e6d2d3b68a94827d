//! Every model of a batch at its best epoch so far.

use burn::tensor::ops::FloatTensor;
use burn::tensor::{Bool, Tensor, TensorData, TensorPrimitive};

use crate::layer::Layer;
use crate::ops::DeviceOps;

/// Parameters of every model at its own best epoch.
pub(crate) struct Best<B: DeviceOps> {
    /// Logits `[models, n, classes]`. They are kept where links are learned and probabilities are asked for, because with the
    /// links of a later epoch the same parameters have other logits. Elsewhere they follow from the parameters, and are
    /// absent.
    pub logits: Option<FloatTensor<B>>,
    pub layers: Vec<Layer<FloatTensor<B>>>,
}

impl<B: DeviceOps> Best<B> {
    /// Takes the present parameters, and their logits if they are kept, of the models that are better now, `is_better` by model.
    pub(crate) fn update(
        &mut self,
        is_better: Vec<bool>,
        logits: Option<FloatTensor<B>>,
        layers: &[Layer<FloatTensor<B>>],
        device: &B::Device,
    ) {
        if is_better.iter().all(|&better| better) {
            // Sharing the tensors costs nothing, unlike choosing among their entries.
            *self = Self { logits, layers: layers.to_vec() };
        } else if is_better.contains(&true) {
            let models = is_better.len();
            let mask = Tensor::from_data(TensorData::new(is_better, [models, 1, 1]), device);
            self.logits = self.logits.as_ref().zip(logits).map(|(best, present)| choose::<B>(&mask, best, present));
            for (best, present) in self.layers.iter_mut().zip(layers) {
                *best = best
                    .as_ref()
                    .zip(present.as_ref())
                    .map(|(best, present)| choose::<B>(&mask, best, present.clone()));
            }
        }
    }
}

/// `new` for the models where the mask holds, `old` for the others.
///
/// # Shapes
/// `mask`: `[models, 1, 1]`. `old`, `new` and the result: `[models, rows, columns]`.
fn choose<B: DeviceOps>(mask: &Tensor<B, 3, Bool>, old: &FloatTensor<B>, new: FloatTensor<B>) -> FloatTensor<B> {
    let [old, new] = [old.clone(), new].map(|tensor| Tensor::<B, 3>::from_primitive(TensorPrimitive::Float(tensor)));
    let mask = mask.clone().expand(old.dims());
    old.mask_where(mask, new).into_primitive().tensor()
}
