//! The `[ingest]` table.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::normalize::Normalize;

/// The `[ingest]` table, after a dataset's name was looked up in `configs/datasets.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Name of the dataset; `synthetic` needs no file.
    #[serde(default)]
    pub dataset: Option<String>,
    /// Layout of the files.
    #[serde(default)]
    pub format: Option<Format>,
    /// Folder of the files, inside the data folder.
    #[serde(default)]
    pub folder: Option<String>,
    /// Planetoid: the name inside `ind.<name>.x`.
    #[serde(default)]
    pub name: Option<String>,
    /// npz: the archive.
    #[serde(default)]
    pub archive: Option<String>,
    /// edges: one link per line, two columns of node names.
    #[serde(default)]
    pub edges: Option<String>,
    /// edges: features as JSON (node to list of feature numbers), as `node,feature,value` rows or as a dense table.
    #[serde(default)]
    pub features: Option<String>,
    /// edges: class of each node.
    #[serde(default)]
    pub labels: Option<String>,
    /// edges: whether files begin with a line of column names; found out when absent.
    #[serde(default)]
    pub header: Option<bool>,
    /// edges: column of the labels file that names the node (default: the first).
    #[serde(default)]
    pub node_column: Option<String>,
    /// edges: column of the labels file that gives the class (default: the last).
    #[serde(default)]
    pub label_column: Option<String>,
    /// edges: keep only nodes that have features, and the links among them.
    #[serde(default)]
    pub induced: bool,
    /// Set every non-zero feature to 1 before normalizing.
    #[serde(default)]
    pub binarize: bool,
    /// Scale of the features.
    #[serde(default)]
    pub normalize: Normalize,
    /// What each node is used for.
    #[serde(default)]
    pub split: SplitParams,
    /// The synthetic model.
    #[serde(default)]
    pub synthetic: SyntheticParams,
}

/// Layout of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// No file: a degree-corrected block model.
    Synthetic,
    /// The eight `ind.<name>.*` files of Planetoid.
    Planetoid,
    /// A NumPy archive with adjacency, attributes and labels in compressed rows.
    Npz,
    /// Text files: links, and optionally features and labels.
    Edges,
}

/// What each node is used for: drawn by ratios, or read from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SplitParams {
    /// Drawn at random among the nodes with a label.
    Random(Ratios),
    /// A file with one letter per node (T, V, E, or N for none), or rows `node,split`.
    File(String),
}

/// Shares of the labelled nodes; what is left is unused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratios {
    /// Share that trains.
    pub train: f64,
    /// Share that chooses the model.
    pub validation: f64,
    /// Share that scores.
    pub test: f64,
    /// Seed of the draw.
    #[serde(default = "default_split_seed")]
    pub seed: u64,
}

/// Degree-corrected block model with power-law degrees, homophilous classes and words as features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticParams {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of classes.
    pub classes: usize,
    /// Mean number of links of a node.
    pub mean_degree: f64,
    /// Exponent of the power law of degrees, above 2.
    pub exponent: f64,
    /// Share of links inside a class.
    pub homophily: f64,
    /// Number of different words; 0 gives no features.
    pub features: usize,
    /// Mean number of words of a node.
    pub words: f64,
    /// Share of a node's words that come from the topic of its class.
    pub topic_share: f64,
    /// Seed of the graph.
    pub seed: u64,
}

fn default_split_seed() -> u64 {
    42
}

impl Default for SplitParams {
    fn default() -> Self {
        Self::Random(Ratios { train: 0.5, validation: 0.25, test: 0.25, seed: default_split_seed() })
    }
}

impl Default for SyntheticParams {
    /// The size and shape of Cora.
    fn default() -> Self {
        Self {
            nodes: 2708,
            classes: 7,
            mean_degree: 3.9,
            exponent: 2.6,
            homophily: 0.81,
            features: 1433,
            words: 18.0,
            topic_share: 0.52,
            seed: 0,
        }
    }
}

impl Params {
    /// Layout of the files; a run without any is synthetic.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format.unwrap_or(match (&self.archive, &self.edges) {
            (Some(_), _) => Format::Npz,
            (None, Some(_)) => Format::Edges,
            (None, None) => Format::Synthetic,
        })
    }

    /// Name of the dataset in tables and plots.
    #[must_use]
    pub fn dataset_name(&self) -> String {
        self.dataset
            .clone()
            .unwrap_or_else(|| if self.format() == Format::Synthetic { "synthetic" } else { "own" }.to_owned())
    }

    /// Whether nodes will have features; known before any file is read.
    #[must_use]
    pub fn has_features(&self) -> bool {
        match self.format() {
            Format::Synthetic => self.synthetic.features > 0,
            Format::Planetoid | Format::Npz => true,
            Format::Edges => self.features.is_some(),
        }
    }

    /// Whether nodes will have labels; known before any file is read.
    #[must_use]
    pub fn has_labels(&self) -> bool {
        self.format() != Format::Edges || self.labels.is_some()
    }

    /// Files to read, relative to `folder`.
    ///
    /// # Errors
    /// When a field that the format needs is absent.
    pub fn files(&self) -> Result<Vec<String>, Error> {
        let need = |value: &Option<String>, field: &str| {
            let problem = format!("`{field}` is absent");
            value
                .clone()
                .ok_or_else(|| Error::new("[ingest]", "", problem, format!("the {:?} format needs it", self.format())))
        };
        let mut files = match self.format() {
            Format::Synthetic => Vec::new(),
            Format::Planetoid => {
                let name = need(&self.name, "name")?;
                crate::planetoid::PARTS.iter().map(|part| format!("ind.{name}.{part}")).collect()
            }
            Format::Npz => vec![need(&self.archive, "archive")?],
            Format::Edges => {
                let mut files = vec![need(&self.edges, "edges")?];
                files.extend([&self.features, &self.labels].into_iter().flatten().cloned());
                files
            }
        };
        if let SplitParams::File(path) = &self.split {
            files.push(path.clone());
        }
        Ok(files)
    }

    /// What to call the data in messages that concern no single file.
    pub(crate) fn origin(&self) -> String {
        match self.format() {
            Format::Edges => self.edges.clone().unwrap_or_default(),
            Format::Npz => self.archive.clone().unwrap_or_default(),
            Format::Planetoid => format!("ind.{}.*", self.name.clone().unwrap_or_default()),
            Format::Synthetic => "[ingest.synthetic]".to_owned(),
        }
    }
}
