//! The `[ingest]` table.

mod check;
mod classes;
mod split;
mod synthetic;

use serde::{Deserialize, Serialize};

use crate::edges::arrays;
use crate::error::Error;
use crate::normalize::Normalize;
pub use classes::Classes;
pub(crate) use classes::names_beside_numbers;
pub use split::{DatasetSplit, Parts, PerClass, Ratios, Scheme, SplitParams};
pub use synthetic::{SyntheticParams, WrongField};

/// The `[ingest]` table, after a dataset's name was looked up in `configs/datasets.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the table that answers a question of its own")]
pub struct Params {
    /// The name of the dataset in tables and plots; `synthetic` needs no file.
    #[serde(default)]
    pub dataset: Option<String>,
    /// The layout of the files; it is found out from the other fields when absent.
    #[serde(default)]
    pub format: Option<Format>,
    /// The folder of the files, inside the data folder.
    #[serde(default)]
    pub folder: Option<String>,
    /// The name inside `ind.<name>.x`, for the planetoid format.
    #[serde(default)]
    pub name: Option<String>,
    /// The archive, for the npz format.
    #[serde(default)]
    pub archive: Option<String>,
    /// The file of links: each row holds the names of two nodes. It selects the edges format.
    #[serde(default)]
    pub edges: Option<String>,
    /// The file that names every node of the graph, one in each row. Without it, features and labels name the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// The features beside `edges`: JSON (node to list of feature numbers), `node,feature,value` rows or a dense table.
    #[serde(default)]
    pub features: Option<String>,
    /// The file beside `edges` with the class of each node.
    #[serde(default)]
    pub labels: Option<String>,
    /// Whether text files begin with a row of column names; each file tells for itself when absent.
    #[serde(default)]
    pub header: Option<bool>,
    /// The column of the links file with the first end (default: by its name, else the first column).
    #[serde(default)]
    pub source_column: Option<String>,
    /// The column of the links file with the second end (default: by its name, else the second column).
    #[serde(default)]
    pub target_column: Option<String>,
    /// The column that names the node (default: by its name, else the first column). The labels file must have it; a
    /// features file and a nodes file may.
    #[serde(default)]
    pub node_column: Option<String>,
    /// The column of the labels file that gives the class (default: by its name, else the last column).
    #[serde(default)]
    pub label_column: Option<String>,
    /// All classes that a label may be, in the order of their numbers. Without them, the classes are those that nodes have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Classes>,
    /// Whether only the nodes of the features file are kept, and the links among them.
    #[serde(default)]
    pub induced: bool,
    /// Whether every non-zero feature becomes 1 before normalizing.
    #[serde(default)]
    pub binarize: bool,
    /// How features are scaled.
    #[serde(default)]
    pub normalize: Normalize,
    /// What each node is used for.
    #[serde(default)]
    pub split: SplitParams,
    /// The model of the synthetic graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<SyntheticParams>,
    /// Whether features are written where only their owners read them. The runner fills it in from
    /// `[privacy] features` and `[privatize.features]`; no user writes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withhold_features: bool,
    /// Whether the labels of training and validation nodes are written where only their owners read them. The runner
    /// fills it in from `[privatize.labels]`; no user writes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withhold_labels: bool,
    /// Whether the number of features becomes public while features are private and nodes are real. It must then not follow from
    /// what nodes have. The runner fills it in; no user writes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declared_features: bool,
    /// Whether nodes are real and the dataset is no known one. The classes, which become public, must then not follow from labels
    /// that only their owners know. The runner fills it in; no user writes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declared_classes: bool,
}

/// The layout of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// There is no file: the graph is drawn from a degree-corrected block model.
    Synthetic,
    /// The graph is the eight `ind.<name>.*` files of Planetoid.
    Planetoid,
    /// The graph is a NumPy archive with adjacency, attributes and labels in compressed rows.
    Npz,
    /// The graph is the unpacked archive of a node dataset of the Open Graph Benchmark.
    Ogb,
    /// The graph is tables or arrays: one of links, and optionally one each of nodes, features and labels.
    Edges,
}

impl Params {
    /// The layout of the files. Only a table that says nothing about files, or says so, is synthetic.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format.unwrap_or_else(|| {
            if self.dataset.as_deref() == Some("synthetic") {
                Format::Synthetic
            } else if self.archive.is_some() {
                Format::Npz
            } else if self.fields_of_text_files().next().is_some() {
                Format::Edges
            } else {
                Format::Synthetic
            }
        })
    }

    /// The same parameters with only what the format reads: the synthetic model where the graph is synthetic, and there
    /// alone.
    #[must_use]
    pub fn with_what_is_read(mut self) -> Self {
        let is_synthetic = self.format() == Format::Synthetic;
        self.synthetic = is_synthetic.then(|| self.synthetic.take().unwrap_or_default());
        self
    }

    /// The name of the dataset in tables and plots.
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
            Format::Synthetic => {
                self.synthetic.as_ref().map_or(SyntheticParams::default().features, |model| model.features) > 0
            }
            Format::Planetoid | Format::Npz | Format::Ogb => true,
            Format::Edges => self.features.is_some(),
        }
    }

    /// Whether nodes will have labels; known before any file is read.
    #[must_use]
    pub fn has_labels(&self) -> bool {
        self.format() != Format::Edges || self.labels.is_some()
    }

    /// Whether labels come from a file that may be one's own, so that its classes can be declared. Planetoid's files have a column for
    /// each class.
    #[must_use]
    pub fn has_own_labels(&self) -> bool {
        match self.format() {
            Format::Edges => self.labels.is_some(),
            Format::Npz | Format::Ogb => true,
            Format::Planetoid | Format::Synthetic => false,
        }
    }

    /// Whether there will be links; known before any file is read. A server that only collects reports holds none.
    #[must_use]
    pub fn has_links(&self) -> bool {
        self.format() != Format::Edges || self.edges.is_some()
    }

    /// Whether the set of nodes will be taken from the links, because no other file names nodes; known before any file is
    /// read. A link can then show in the public set of nodes.
    #[must_use]
    pub fn takes_nodes_from_links(&self) -> bool {
        let names_nodes = self.file_of_nodes().is_some() || self.features.is_some() || self.labels.is_some();
        self.format() == Format::Edges && self.edges.is_some() && !names_nodes
    }

    /// Whether a file lists all nodes, so that features and labels add none.
    #[must_use]
    pub fn lists_nodes(&self) -> bool {
        self.format() != Format::Edges || (self.file_of_nodes().is_some() && !self.induced)
    }

    /// The file that lists all nodes: `nodes`, or a file of links that names the nodes without links as well.
    pub(crate) fn file_of_nodes(&self) -> Option<&String> {
        let lists_nodes = |file: &&String| arrays::is_sparse(file) || arrays::ends_in(file, ".graphml");
        self.nodes.as_ref().or_else(|| self.edges.as_ref().filter(lists_nodes))
    }

    /// The files to read, relative to `folder`, each once.
    ///
    /// # Errors
    /// When a field that the format needs is absent, or fields contradict each other.
    pub fn files(&self) -> Result<Vec<String>, Error> {
        self.check()?;
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
            Format::Ogb => {
                need(&self.folder, "folder")?;
                crate::ogb::PARTS.iter().map(|&part| part.to_owned()).collect()
            }
            Format::Edges => {
                if self.nodes.is_none() {
                    need(&self.edges, "edges")?;
                }
                let mut files: Vec<String> = Vec::new();
                for file in [&self.edges, &self.nodes, &self.features, &self.labels].into_iter().flatten() {
                    // A table may describe nodes in several ways.
                    if !files.contains(file) {
                        files.push(file.clone());
                    }
                }
                files
            }
        };
        match &self.split {
            SplitParams::File(path) => files.push(path.clone()),
            SplitParams::Scheme(Scheme { scheme }) if self.format() == Format::Ogb => {
                files.extend(crate::ogb::SPLITS.iter().map(|(part, _)| crate::ogb::split_file(scheme, part)));
            }
            _ => {}
        }
        Ok(files)
    }

    /// The file that says which nodes there are.
    pub(crate) fn origin_of_nodes(&self) -> String {
        let given = [&self.nodes, &self.features, &self.labels].into_iter().flatten().next();
        given.filter(|_| self.format() == Format::Edges).cloned().unwrap_or_else(|| self.origin())
    }

    /// The file that gives the class of each node.
    pub(crate) fn origin_of_labels(&self) -> String {
        match self.format() {
            Format::Edges => self.labels.clone().unwrap_or_default(),
            Format::Ogb => crate::ogb::PARTS[3].to_owned(),
            Format::Planetoid | Format::Npz | Format::Synthetic => self.origin(),
        }
    }

    /// The file that gives the features of each node, or else what the data are called.
    pub(crate) fn origin_of_features(&self) -> String {
        self.features.clone().filter(|_| self.format() == Format::Edges).unwrap_or_else(|| self.origin())
    }

    /// What the data are called in messages that concern no single file.
    pub(crate) fn origin(&self) -> String {
        match self.format() {
            Format::Edges => self.edges.as_ref().or(self.nodes.as_ref()).cloned().unwrap_or_default(),
            Format::Npz => self.archive.clone().unwrap_or_default(),
            Format::Ogb => crate::ogb::PARTS[1].to_owned(),
            Format::Planetoid => format!("ind.{}.*", self.name.clone().unwrap_or_default()),
            Format::Synthetic => "[ingest.synthetic]".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
