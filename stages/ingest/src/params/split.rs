//! What each node is used for.

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// How the uses of nodes are decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "serde_json::Value")]
pub enum SplitParams {
    /// Uses are drawn at random among the nodes with a label.
    Random(Ratios),
    /// As many nodes of each class train, and others are drawn at random.
    PerClass(PerClass),
    /// The graph is cut into parts with few links between them: one tests, one validates, the others train.
    OfParts(Parts),
    /// Uses are those that the dataset comes with.
    OfDataset(DatasetSplit),
    /// Uses are those of one of the splits that a dataset comes with.
    Scheme(Scheme),
    /// A file holds one letter (T, V, E, or N for none) or word for each node, or rows `node,split`.
    File(String),
}

impl TryFrom<serde_json::Value> for SplitParams {
    type Error = String;

    /// The form is known by a field that no other one has, so that an error is about the form that was meant.
    fn try_from(value: serde_json::Value) -> Result<Self, String> {
        let has = |field: &str| value.get(field).is_some();
        let read = if has("train_per_class") {
            serde_json::from_value(value).map(Self::PerClass)
        } else if has("parts") {
            serde_json::from_value(value).map(Self::OfParts)
        } else if has("scheme") {
            serde_json::from_value(value).map(Self::Scheme)
        } else if ["train", "validation", "test"].into_iter().any(has) {
            serde_json::from_value(value).map(Self::Random)
        } else if value == "planetoid" {
            Ok(Self::OfDataset(DatasetSplit::Planetoid))
        } else if let serde_json::Value::String(file) = value {
            Ok(Self::File(file))
        } else {
            return Err("a split is a table of shares { train, validation, test }, of numbers { train_per_class, validation, test }, \
                        of { parts } or of a { scheme }, \"planetoid\", or a file"
                .to_owned());
        };
        read.map_err(|error| error.to_string())
    }
}

/// A split that a dataset comes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DatasetSplit {
    /// That of Planetoid (Yang, Cohen, Salakhutdinov 2016): the nodes of `x` train (20 of each class), the 500 after them
    /// validate, and those of `test.index` are tested.
    Planetoid,
}

/// The shares of the labelled nodes; what they leave is unused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratios {
    /// The share that trains.
    pub train: f64,
    /// The share that chooses the model.
    pub validation: f64,
    /// The share that scores.
    pub test: f64,
    /// The seed of the draw.
    #[serde(default = "default_split_seed")]
    pub seed: u64,
    /// Whether these are the shares of every class (default: of all nodes together).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stratified: Option<bool>,
}

impl Ratios {
    /// The shares that train, that choose the model and that score.
    pub(crate) fn shares(&self) -> [f64; 3] {
        [self.train, self.validation, self.test]
    }

    /// Whether nodes can be divided like this.
    ///
    /// # Errors
    /// When a share is none, or all are more than 1 together.
    pub(super) fn check(&self) -> Result<(), Error> {
        let wrong =
            |problem: String| Err(Error::new("[ingest] split", "", problem, "use shares such as 0.5, 0.25, 0.25"));
        let shares = self.shares();
        if let Some(share) = shares.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            return wrong(format!("the share {share} does not lie in [0, 1]"));
        }
        if shares.iter().sum::<f64>() > 1.0 + 1e-9 {
            return wrong(format!("the shares {shares:?} add up to more than 1"));
        }
        Ok(())
    }
}

/// As many training nodes of every class, as is usual for graphs of citations; what is left over is unused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerClass {
    /// The number of nodes of each class that train.
    pub train_per_class: usize,
    /// The number of nodes that choose the model.
    pub validation: usize,
    /// The number of nodes that score.
    pub test: usize,
    /// The seed of the draw.
    #[serde(default = "default_split_seed")]
    pub seed: u64,
}

/// A split by parts of the graph. It depends on the links, so it is for simulations alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// The number of parts, at least 3.
    pub parts: usize,
    /// The seed by which parts grow, and by which one tests and one validates.
    #[serde(default = "default_split_seed")]
    pub seed: u64,
}

impl Parts {
    /// Whether there is a part for each use.
    ///
    /// # Errors
    /// When there are fewer than three parts.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.parts >= 3 {
            return Ok(());
        }
        let problem = format!("{} parts make no split", self.parts);
        Err(Error::new("[ingest] split", "", problem, "write a number of parts from 3 to the number of nodes"))
    }
}

/// One of the splits that a dataset of the Open Graph Benchmark comes with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheme {
    /// The name of its folder in `split/`, such as `time`.
    pub scheme: String,
}

fn default_split_seed() -> u64 {
    42
}

impl Default for SplitParams {
    fn default() -> Self {
        Self::Random(Ratios { train: 0.5, validation: 0.25, test: 0.25, seed: default_split_seed(), stratified: None })
    }
}
