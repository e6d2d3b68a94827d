//! One network from samples to parameters, as all learners train it.

use veilgraph_dp_sgd::{Conduct, Inputs, Network, Samples, Schedule, Shape, softmax, train};

use crate::data::SQUARED_FEATURE_NORM;
use crate::{Data, Error, Level, Params, Training};

/// What one network is trained on.
pub(crate) struct Fit<'a> {
    /// Name of the network: of its random streams.
    pub name: &'a str,
    /// Rows that it reads.
    pub inputs: &'a Inputs<'a>,
    /// Squared norm of a row, which must not depend on the data: the released weights start from it.
    pub squared_norm: f32,
    /// Training nodes.
    pub samples: &'a Samples,
    /// Validation nodes that choose the best pass; none where their labels are protected.
    pub validation: Option<&'a Samples>,
    /// Number of classes.
    pub n_classes: usize,
    /// Noise on the gradients; 0 for none.
    pub noise_multiplier: f64,
}

/// Training nodes, and those validation nodes that may choose the best pass: where nothing is noisy, and where labels are
/// not protected.
pub(crate) struct Labelled {
    training: Samples,
    validation: Option<Samples>,
    n_classes: usize,
}

impl Labelled {
    pub(crate) fn new(data: &Data, params: &Params) -> Self {
        let may_choose = params.is_without_noise() || params.level == Some(Level::Edge);
        Self {
            training: Samples::of_rows(data.training.iter().copied()),
            validation: may_choose.then(|| Samples::of_rows(data.validation.iter().copied())),
            n_classes: data.n_classes,
        }
    }

    /// A network over the features of each node.
    pub(crate) fn fit<'a>(&'a self, name: &'a str, features: &'a Inputs<'a>, noise_multiplier: f64) -> Fit<'a> {
        Fit {
            name,
            inputs: features,
            squared_norm: SQUARED_FEATURE_NORM,
            samples: &self.training,
            validation: self.validation.as_ref(),
            n_classes: self.n_classes,
            noise_multiplier,
        }
    }
}

impl Fit<'_> {
    /// Trains the network.
    pub(crate) fn network(&self, training: &Training) -> Result<Network, Error> {
        let Training { params, rng, progress, .. } = *training;
        let shape = Shape { inputs: self.inputs.width(), hidden: params.hidden, classes: self.n_classes };
        let mut network =
            Network::new(shape, self.squared_norm, &mut rng.fast_stream(&format!("{}: weights", self.name), 0));
        let schedule = Schedule {
            sampling_rate: params.sampling_rate,
            steps: params.steps() as u32,
            learning_rate: params.learning_rate as f32,
            weight_decay: params.weight_decay as f32,
            dropout: params.dropout as f32,
            clip: params.clip as f32,
            noise_multiplier: self.noise_multiplier,
        };
        let validation = self.validation.filter(|validation| !validation.is_empty());
        train(
            &mut network,
            self.inputs,
            self.samples,
            &schedule,
            &Conduct { rng, purpose: self.name, validation, progress },
        )?;
        Ok(network)
    }
}

/// Class probabilities of every row, `[n_rows, n_classes]`.
pub(crate) fn probabilities(network: &Network, inputs: &Inputs) -> Vec<f32> {
    let mut hidden = Vec::new();
    let mut all = Vec::with_capacity(inputs.n_rows() * network.shape.classes);
    for row in 0..inputs.n_rows() {
        let mut classes = network.logits(inputs, row, &mut hidden);
        softmax(&mut classes);
        all.extend(classes);
    }
    all
}

/// Hidden values of every row, each of Euclidean norm 1 (or 0), `[n_rows, hidden]`.
pub(crate) fn embeddings(network: &Network, inputs: &Inputs) -> Vec<f32> {
    let mut all = Vec::with_capacity(inputs.n_rows() * network.shape.hidden);
    let mut row = Vec::new();
    for node in 0..inputs.n_rows() {
        network.hidden(inputs, node, &mut row);
        crate::aggregation::normalize(&mut row);
        all.extend_from_slice(&row);
    }
    all
}
