//! The parameters of one layer, each under the name of its role.

use serde::{Deserialize, Serialize};

/// What is kept of every parameter of one layer: its shape, its values, or a tensor on a device.
///
/// Parts are always visited in one order: weight, bias, then what is beside them. Initial values are drawn in this
/// order and tables list parameters in it, so a change of the order would change every trained model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Layer<T> {
    /// Transforms the features that are sent over links, `[inputs, outputs]`.
    pub weight: T,
    /// Is added to the output of every node, `[1, outputs]`.
    pub bias: T,
    /// What only layers of this kind have.
    pub beside: Beside<T>,
}

/// Parameters that a layer has beside weight and bias.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Beside<T> {
    /// None: GCN and MLP.
    Nothing,
    /// GraphSAGE: transforms a node's own features, `[inputs, outputs]`.
    OwnWeight(T),
    /// GAT: the two halves of the attention vector of every head, `[outputs of a head, heads]` each.
    Attention {
        /// Scores who sends.
        source: T,
        /// Scores who receives.
        target: T,
    },
}

impl<T> Layer<T> {
    /// The same parts by reference.
    pub(crate) fn as_ref(&self) -> Layer<&T> {
        let beside = match &self.beside {
            Beside::Nothing => Beside::Nothing,
            Beside::OwnWeight(own) => Beside::OwnWeight(own),
            Beside::Attention { source, target } => Beside::Attention { source, target },
        };
        Layer { weight: &self.weight, bias: &self.bias, beside }
    }

    /// The same parts by mutable reference.
    pub(crate) fn as_mut(&mut self) -> Layer<&mut T> {
        let beside = match &mut self.beside {
            Beside::Nothing => Beside::Nothing,
            Beside::OwnWeight(own) => Beside::OwnWeight(own),
            Beside::Attention { source, target } => Beside::Attention { source, target },
        };
        Layer { weight: &mut self.weight, bias: &mut self.bias, beside }
    }

    /// A function of every part, called in the order of the parts.
    pub(crate) fn map<U>(self, mut of: impl FnMut(T) -> U) -> Layer<U> {
        Layer {
            weight: of(self.weight),
            bias: of(self.bias),
            beside: match self.beside {
                Beside::Nothing => Beside::Nothing,
                Beside::OwnWeight(own) => Beside::OwnWeight(of(own)),
                Beside::Attention { source, target } => Beside::Attention { source: of(source), target: of(target) },
            },
        }
    }

    /// Every part with the part of the same role in `other`, which must be a layer of the same kind.
    pub(crate) fn zip<U>(self, other: Layer<U>) -> Layer<(T, U)> {
        let beside = match (self.beside, other.beside) {
            (Beside::Nothing, Beside::Nothing) => Beside::Nothing,
            (Beside::OwnWeight(own), Beside::OwnWeight(other)) => Beside::OwnWeight((own, other)),
            (Beside::Attention { source, target }, Beside::Attention { source: source2, target: target2 }) => {
                Beside::Attention { source: (source, source2), target: (target, target2) }
            }
            _ => unreachable!("layers of one network have the same parts"),
        };
        Layer { weight: (self.weight, other.weight), bias: (self.bias, other.bias), beside }
    }

    /// The parts, in order, with the names under which they are saved.
    pub(crate) fn named(self) -> Vec<(&'static str, T)> {
        let Self { weight, bias, beside } = self;
        match beside {
            Beside::Nothing => vec![("weight", weight), ("bias", bias)],
            Beside::OwnWeight(own) => vec![("weight_neighbours", weight), ("bias", bias), ("weight_self", own)],
            Beside::Attention { source, target } => {
                vec![("weight", weight), ("bias", bias), ("attention_source", source), ("attention_target", target)]
            }
        }
    }
}

impl<T, U> Layer<(T, U)> {
    /// Undoes [`Layer::zip`].
    pub(crate) fn unzip(self) -> (Layer<T>, Layer<U>) {
        let (first, second) = match self.beside {
            Beside::Nothing => (Beside::Nothing, Beside::Nothing),
            Beside::OwnWeight((first, second)) => (Beside::OwnWeight(first), Beside::OwnWeight(second)),
            Beside::Attention { source: (source, source2), target: (target, target2) } => {
                (Beside::Attention { source, target }, Beside::Attention { source: source2, target: target2 })
            }
        };
        let first = Layer { weight: self.weight.0, bias: self.bias.0, beside: first };
        (first, Layer { weight: self.weight.1, bias: self.bias.1, beside: second })
    }
}

/// The layers of a network with `parts` in place of those of `layers`, in the same order.
///
/// There must be as many as `layers` has parts.
pub(crate) fn arrange<T, U>(layers: &[Layer<T>], parts: impl IntoIterator<Item = U>) -> Vec<Layer<U>> {
    let mut parts = parts.into_iter();
    let mut next = || parts.next().unwrap_or_else(|| unreachable!("a network has as many parts as its shapes"));
    layers.iter().map(|layer| layer.as_ref().map(|_| next())).collect()
}
