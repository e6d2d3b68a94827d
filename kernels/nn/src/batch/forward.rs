//! The part of a pass that training and evaluation share.

use burn::backend::Autodiff;
use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, TensorPrimitive};

use crate::differentiable::Tracked;
use crate::layer::Layer;
use crate::map::ReadRows;
use crate::network::Network;
use crate::ops::DeviceOps;

/// The first layer at some parameters.
pub(super) struct Forward<B: DeviceOps> {
    /// Output of the first layer, before its activation.
    pub first: Tracked<B>,
    /// The parameters, with their gradients tracked.
    pub layers: Vec<Layer<Tracked<B>>>,
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
