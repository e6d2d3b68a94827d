//! Which number a node has that a person or another program writes: the number itself, or a name of the list of numbers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail, ensure};
use serde::Deserialize;
use veilgraph_client::PublicParameters;

use crate::arguments::ReportArguments;
use crate::files;

/// A row of the list of numbers.
#[derive(Deserialize)]
struct Numbered {
    node: u32,
    name: String,
}

/// The nodes that may be named.
pub(crate) struct Nodes {
    n_nodes: u32,
    /// The list of numbers and what it says, where nodes are called by their names.
    names: Option<(PathBuf, BTreeMap<String, u32>)>,
}

impl Nodes {
    /// The nodes that the parameters speak of.
    ///
    /// # Errors
    /// When the list of numbers is not the one of the parameters.
    pub(crate) fn of(arguments: &ReportArguments, parameters: &PublicParameters) -> anyhow::Result<Self> {
        let n_nodes = parameters.n_nodes();
        let Some(path) = &arguments.numbers else { return Ok(Self { n_nodes, names: None }) };
        let bytes = files::read_numbers(path, parameters)?;
        if !arguments.names {
            return Ok(Self { n_nodes, names: None });
        }
        let list = path.display();
        let mut numbers = BTreeMap::new();
        for row in csv::Reader::from_reader(bytes.as_slice()).into_deserialize() {
            let Numbered { node, name } = row.with_context(|| format!("{list} has no rows of `node` and `name`"))?;
            ensure!(node < n_nodes, "{list} has the number {node}, and the parameters speak of {n_nodes} nodes");
            let before = numbers.insert(name.clone(), node);
            ensure!(before.is_none(), "{list} has the name `{name}` twice, so nobody can tell whom it means");
        }
        Ok(Self { n_nodes, names: Some((path.clone(), numbers)) })
    }

    /// Whether a node is called so.
    pub(crate) fn has_name(&self, written: &[u8]) -> bool {
        let name = str::from_utf8(written).ok();
        self.names.as_ref().zip(name).is_some_and(|((_, numbers), name)| numbers.contains_key(name))
    }

    /// The number of the node that is written so.
    ///
    /// # Errors
    /// When there is none; the error ends with the `remedy`.
    pub(crate) fn number(&self, written: &[u8], remedy: &str) -> anyhow::Result<u32> {
        let shown: String = String::from_utf8_lossy(written).chars().take(40).collect();
        let text = str::from_utf8(written).ok();
        if let Some((list, numbers)) = &self.names {
            let number = text.and_then(|name| numbers.get(name)).copied();
            return number.ok_or_else(|| anyhow!("no node is called `{shown}` in {}; {remedy}", list.display()));
        }
        let Some(digits) = text.filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
        else {
            bail!(
                "`{shown}` is no number of a node; {remedy}, or add --names where nodes are written by the names of --numbers FILE"
            );
        };
        let number = digits.parse().ok().filter(|&number: &u32| number < self.n_nodes);
        number.ok_or_else(|| {
            anyhow!("there is no node {shown}: the numbers of {} nodes begin with 0; {remedy}", self.n_nodes)
        })
    }
}
