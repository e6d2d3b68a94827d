//! This module says which nodes there are and what each is used for.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

/// Says what a node is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// The models are trained on the node's label.
    Train = 0,
    /// The node's label helps to choose a model, and to stop its training.
    Validation = 1,
    /// The node's label is held out: only the auditor scores predictions with it.
    Test = 2,
    /// The node's label is unknown or unused.
    None = 3,
}

/// Lists the nodes of a dataset and what each is used for.
#[derive(Clone, Debug, PartialEq)]
pub struct Nodes {
    /// The dataset has this name.
    pub dataset: String,
    /// The dataset has this many classes, or 0 if it has no labels. The number is public, because the server must know
    /// the size of the output layer.
    pub n_classes: usize,
    /// Each node has one entry.
    pub splits: Vec<Split>,
    /// The set of nodes was taken from the links, because the files say nothing else about it. It is then no public
    /// input, and a link can show in it.
    pub nodes_from_links: bool,
    /// What the user's files call the classes, in the order of their numbers. The list is empty where they are called by
    /// these numbers.
    pub class_names: Vec<String>,
}

/// Keeps the name that each node had in the user's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeMap {
    /// Each node has one name.
    pub names: Vec<String>,
}

/// This fact is there only where it is true, so that all other artifacts keep their bytes.
const NODES_FROM_LINKS: &str = "nodes_from_links";

/// This fact too is there only where it says something.
const CLASS_NAMES: &str = "class_names";

/// Returns the facts with a further one where the set of nodes was taken from the links.
#[must_use]
pub fn with_nodes_from_links(facts: Facts, nodes_from_links: bool) -> Facts {
    if nodes_from_links { facts.with(NODES_FROM_LINKS, true) } else { facts }
}

/// Returns whether the facts say that the set of nodes was taken from the links.
///
/// # Errors
/// Fails when the fact is there and is neither `true` nor `false`.
pub fn nodes_from_links(facts: &Facts) -> Result<bool, Invalid> {
    if facts.0.contains_key(NODES_FROM_LINKS) { facts.get(NODES_FROM_LINKS) } else { Ok(false) }
}

impl Nodes {
    /// Returns the nodes that are used for `split`, in ascending order.
    #[must_use]
    pub fn members(&self, split: Split) -> Vec<u32> {
        (0..self.splits.len() as u32).filter(|&node| self.splits[node as usize] == split).collect()
    }
}

// The set of nodes and which labels the server holds are known to everybody.
impl Public for Nodes {}

impl Artifact for Nodes {
    const NAME: &'static str = "nodes";
    const ZONE: Zone = Zone::Public;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("node", ColumnType::U32), ("split", ColumnType::U8)];

    fn facts(&self) -> Facts {
        let facts = Facts::default().with("dataset", &self.dataset).with("n_classes", self.n_classes);
        let facts =
            if self.class_names.is_empty() { facts } else { facts.with(CLASS_NAMES, as_json(&self.class_names)) };
        with_nodes_from_links(facts, self.nodes_from_links)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let nodes = (0..self.splits.len() as u32).collect();
        let splits = self.splits.iter().map(|&split| split as u8).collect();
        Box::new(std::iter::once(vec![Column::U32(nodes), Column::U8(splits)]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut splits = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let _nodes: Vec<u32> = take(&mut columns)?;
            for code in take::<u8>(&mut columns)? {
                splits.push(match code {
                    0 => Split::Train,
                    1 => Split::Validation,
                    2 => Split::Test,
                    3 => Split::None,
                    other => return Err(Invalid(format!("row {}: {other} is no split", splits.len()))),
                });
            }
        }
        let n_classes = facts.get("n_classes")?;
        let class_names: Vec<String> = match facts.0.get(CLASS_NAMES) {
            Some(text) => serde_json::from_str(text).map_err(|error| Invalid(format!("{CLASS_NAMES}: {error}")))?,
            None => Vec::new(),
        };
        if !class_names.is_empty() && class_names.len() != n_classes {
            return Err(Invalid(format!("{} names for {n_classes} classes", class_names.len())));
        }
        let nodes_from_links = nodes_from_links(facts)?;
        Ok(Self { dataset: facts.get("dataset")?, n_classes, splits, nodes_from_links, class_names })
    }
}

fn as_json(names: &[String]) -> String {
    serde_json::to_string(names).unwrap_or_else(|error| unreachable!("a list of texts is plain data: {error}"))
}

// Names of nodes are public in link-local privacy: only who is linked with whom is hidden.
impl Public for NodeMap {}

impl Artifact for NodeMap {
    const NAME: &'static str = "node_map";
    const ZONE: Zone = Zone::Public;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("node", ColumnType::U32), ("name", ColumnType::Utf8)];

    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let nodes = (0..self.names.len() as u32).collect();
        Box::new(std::iter::once(vec![Column::U32(nodes), Column::Utf8(self.names.clone())]))
    }

    fn from_blocks(_: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut names = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter().skip(1);
            names.extend(take::<String>(&mut columns)?);
        }
        Ok(Self { names })
    }
}

#[cfg(test)]
mod tests;
