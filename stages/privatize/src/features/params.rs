//! What all mechanisms of features read of `[privatize.features]`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use veilgraph_privacy::Epsilon;

use super::range::Range;
use crate::Error;

/// Parameters of a mechanism of features.
pub trait FeatureParams: Serialize + DeserializeOwned + Send + Sync {
    /// The fields that every mechanism has.
    fn declared(&self) -> Declared;

    /// Declares that there are `n_features` features, where no number is declared.
    fn complete_dimension(&mut self, n_features: usize);

    /// Whether the cost cannot be stated before `dimension` is known, and it is not.
    fn needs_dimension(&self) -> bool;

    /// Whether the parameters make sense together; nothing that needs data.
    ///
    /// # Errors
    /// When a mechanism could never run with these parameters.
    fn check(&self) -> Result<(), Error>;
}

/// The fields that every mechanism of features has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Declared {
    /// The budget, in nats.
    pub epsilon: Epsilon,
    /// The range of a feature.
    pub range: Range,
    /// Number of features.
    pub dimension: Option<usize>,
    /// What is encoded.
    pub message: Message,
    /// Whether values outside the range are moved to its nearer end.
    pub clip: bool,
}

impl Declared {
    /// Whether nodes send their features as they are.
    pub(super) fn hides_nothing(&self) -> bool {
        self.epsilon.nats().is_infinite()
    }

    /// Refuses data without features.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.dimension == Some(0) { Err(Error::NoFeatures) } else { Ok(()) }
    }
}

/// What is encoded; `message` in a config.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// The features.
    #[default]
    Features,
    /// The middle of the range in place of every feature: a control, in which the noise is the same and says nothing.
    Constant,
}

/// What the budget pays for; `budget` in a config.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetUnit {
    /// One feature of a node; all of its features cost as many times that.
    #[default]
    PerFeature,
    /// All features of a node.
    PerNode,
}

/// The table `[privatize.features]` of a mechanism that reports on each feature by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoordinateParams {
    /// Budget in nats of one feature or of all features of a node: see `budget`.
    pub epsilon: Epsilon,
    /// What the budget pays for.
    #[serde(default)]
    pub budget: BudgetUnit,
    /// Least and largest value of a feature, or `"data"`.
    #[serde(default)]
    pub range: Range,
    /// Number of features. The cost depends on it, so it must be known before any data are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<usize>,
    /// What is encoded.
    #[serde(default)]
    pub message: Message,
    /// Whether values outside the range are moved to its nearer end instead of refused. Each node does so by itself, and
    /// nobody learns how many there were.
    #[serde(default)]
    pub clip: bool,
}

impl CoordinateParams {
    /// Budget of a feature in nats where each of `n_features` gets the same.
    pub(super) fn epsilon_of_feature(&self, n_features: usize) -> f64 {
        match self.budget {
            BudgetUnit::PerFeature => self.epsilon.nats(),
            BudgetUnit::PerNode => self.epsilon.nats() / n_features as f64,
        }
    }
}

impl FeatureParams for CoordinateParams {
    fn declared(&self) -> Declared {
        let Self { epsilon, range, dimension, message, clip, .. } = *self;
        Declared { epsilon, range, dimension, message, clip }
    }

    fn complete_dimension(&mut self, n_features: usize) {
        self.dimension.get_or_insert(n_features);
    }

    fn needs_dimension(&self) -> bool {
        let costs_something = self.message == Message::Features && !self.declared().hides_nothing();
        self.dimension.is_none() && costs_something
    }

    fn check(&self) -> Result<(), Error> {
        self.declared().check()
    }
}
