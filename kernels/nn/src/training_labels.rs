//! Labels as a dataset is given them: true ones, or ones that every node has randomized.

use veilgraph_graph::Labels;

/// Labels of training and validation nodes, and what is known of their noise.
#[derive(Clone, Copy, Debug)]
pub struct TrainingLabels<'a> {
    /// The classes.
    pub labels: &'a Labels,
    /// How the classes were randomized; absent if they were not.
    pub noise: Option<LabelNoise>,
}

/// How classes were randomized, and what training makes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelNoise {
    /// Probability that a node sent its true class; every other class has an equal share of the rest.
    pub truth_probability: f64,
    /// What training does about the noise.
    pub correction: Correction,
}

/// What training does about noisy classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Correction {
    /// Nothing: noisy classes are taken for true ones.
    #[default]
    Plain,
    /// The loss compares the noisy class with what the model says about *noisy* classes (Patrini et al. 2017,
    /// "Making deep neural networks robust to label noise", theorem 2).
    Forward,
    /// As [`Self::Forward`], with both sides propagated over the graph (Sajadmanesh, Gatica-Perez 2021, LPGNN,
    /// algorithm 3).
    Drop {
        /// Steps of propagation; none makes this [`Self::Forward`].
        hops: u32,
    },
}

impl<'a> From<&'a Labels> for TrainingLabels<'a> {
    fn from(labels: &'a Labels) -> Self {
        Self { labels, noise: None }
    }
}
