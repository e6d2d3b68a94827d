//! This module holds the classes of nodes, as far as they are known.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

/// Says which class each of some nodes has; the entries are sorted by node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    n_classes: usize,
    classes: Vec<(u32, u16)>,
}

impl Labels {
    /// Builds the labels from `(node, class)` entries in ascending order of the node.
    ///
    /// # Errors
    /// Fails when a class is not below `n_classes`, or when a node comes twice or out of order; the message names the
    /// node.
    pub fn new(n_classes: usize, classes: Vec<(u32, u16)>) -> Result<Self, Invalid> {
        if let Some(&(node, class)) = classes.iter().find(|&&(_, class)| usize::from(class) >= n_classes) {
            return Err(Invalid(format!("node {node}: class {class} is not below the number of classes, {n_classes}")));
        }
        if let Some(pair) = classes.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(Invalid(format!("node {}: its label comes twice or out of order", pair[1].0)));
        }
        Ok(Self { n_classes, classes })
    }

    /// Returns the number of classes of the dataset.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Returns the entries `(node, class)`, sorted by node.
    #[must_use]
    pub fn classes(&self) -> &[(u32, u16)] {
        &self.classes
    }

    /// Returns those of `nodes` whose class these labels say, each with its class.
    #[must_use]
    pub fn of_nodes(&self, nodes: &[u32]) -> Vec<(u32, u16)> {
        nodes.iter().filter_map(|&node| Some((node, self.class(node)?))).collect()
    }

    /// Returns the class of `node`, or `None` if these labels do not say it.
    #[must_use]
    pub fn class(&self, node: u32) -> Option<u16> {
        self.classes.binary_search_by_key(&node, |&(node, _)| node).ok().map(|at| self.classes[at].1)
    }
}

// The server holds the labels of training and validation nodes; the test labels are a `HeldOut<Labels>`, which it
// cannot read.
impl Public for Labels {}

impl Artifact for Labels {
    const NAME: &'static str = "labels";
    const HELD_OUT_NAME: &'static str = "held_out_labels";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("node", ColumnType::U32), ("class", ColumnType::U16)];

    fn facts(&self) -> Facts {
        Facts::default().with("n_classes", self.n_classes)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let (nodes, classes) = self.classes.iter().copied().unzip();
        Box::new(std::iter::once(vec![Column::U32(nodes), Column::U16(classes)]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut rows = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let nodes: Vec<u32> = take(&mut columns)?;
            let classes: Vec<u16> = take(&mut columns)?;
            rows.extend(nodes.into_iter().zip(classes));
        }
        Self::new(facts.get("n_classes")?, rows)
    }
}
