//! The passes of training, and the part of them that an evaluation shares.

use burn::backend::Autodiff;
use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, TensorPrimitive};

use super::{Batch, Gradients};
use crate::differentiable::{Tracked, cross_entropy, host_loss};
use crate::layer::Layer;
use crate::map::ReadRows;
use crate::network::Network;
use crate::objective::Objective;
use crate::ops::DeviceOps;

/// The first layer at some parameters.
pub(super) struct Forward<B: DeviceOps> {
    /// Output of the first layer, before its activation.
    pub first: Tracked<B>,
    /// The parameters, with their gradients tracked.
    pub layers: Vec<Layer<Tracked<B>>>,
}

/// What one forward and one backward pass have made.
pub(super) struct Pass<B: DeviceOps> {
    /// The loss of every model, `[models, 1, 1]`.
    pub train_losses: FloatTensor<B>,
    /// The parameters.
    pub layers: Vec<Layer<Tracked<B>>>,
    /// Their gradients.
    pub gradients: Gradients<B>,
}

impl<B: DeviceOps> Batch<'_, B> {
    /// One forward and one backward pass of every model.
    pub(super) fn pass(&mut self, network: &Network<B>) -> Pass<B> {
        let Forward { first, layers } = self.forward.take().unwrap_or_else(|| Forward::new(network, &self.layers));
        let logits = network.logits(first, &layers, self.dropouts.as_ref(), self.epoch as u32, &self.read_in_step);
        let losses = match &self.dataset.objective {
            Objective::CrossEntropy => cross_entropy::<B>(logits, &self.training),
            Objective::Noisy(objective) => host_loss::<B>(logits, |logits| objective.loss(logits)),
        };
        let train_losses = losses.clone().inner().into_primitive().tensor();
        // Models share no parameter, so that the gradient of the sum of losses is that of every model's own loss.
        let gradients = losses.sum().backward();
        Pass { train_losses, layers, gradients }
    }
}

impl<B: DeviceOps> Forward<B> {
    /// The first layer at these parameters, with all that its gradient needs.
    pub(super) fn new(network: &Network<B>, layers: &[Layer<FloatTensor<B>>]) -> Self {
        let track = |parameter: &FloatTensor<B>| {
            let inner = Tensor::<B, 3>::from_primitive(TensorPrimitive::Float(parameter.clone()));
            Tensor::<Autodiff<B>, 3>::from_inner(inner).require_grad()
        };
        let layers: Vec<Layer<Tracked<B>>> = layers.iter().map(|layer| layer.as_ref().map(track)).collect();
        Self { first: network.first_layer(&layers), layers }
    }

    /// Logits of the nodes that are read, without dropout. They have no gradient; the first layer and the parameters keep theirs
    /// for the next step.
    ///
    /// # Shapes
    /// Returns `[models, n, classes]`.
    pub(super) fn evaluate(&self, network: &Network<B>, read: &ReadRows) -> FloatTensor<B> {
        let fixed = |tensor: &Tracked<B>| Tensor::from_inner(tensor.clone().inner());
        let layers: Vec<Layer<Tracked<B>>> = self.layers.iter().map(|layer| layer.as_ref().map(fixed)).collect();
        let logits = network.logits(fixed(&self.first), &layers, None, 0, read);
        logits.inner().into_primitive().tensor()
    }
}
