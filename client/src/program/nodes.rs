//! Which number a node has that a person or another program writes: the number itself, or a name of the list of numbers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
        // A list that is not the one of the parameters is refused also where nodes are written by their numbers.
        let Some(list) = &arguments.numbers else { return Ok(Self { n_nodes, names: None }) };
        let bytes = files::read_numbers(list, parameters)?;
        let by_name = |list: &PathBuf| anyhow::Ok((list.clone(), numbers_by_name(list, &bytes, n_nodes)?));
        Ok(Self { n_nodes, names: arguments.names.then(|| by_name(list)).transpose()? })
    }

    /// Whether a line that begins with `#` is a remark, because no node is called so.
    pub(crate) fn allow_remarks(&self) -> bool {
        self.names.as_ref().is_none_or(|(_, numbers)| !numbers.keys().any(|name| name.starts_with('#')))
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

/// The number of each name of a list of numbers.
fn numbers_by_name(list: &Path, bytes: &[u8], n_nodes: u32) -> anyhow::Result<BTreeMap<String, u32>> {
    let list = list.display();
    let mut numbers = BTreeMap::new();
    for row in csv::Reader::from_reader(bytes).into_deserialize() {
        let Numbered { node, name } = row.with_context(|| format!("{list} has no rows of `node` and `name`"))?;
        ensure!(node < n_nodes, "{list} has the number {node}, and the parameters speak of {n_nodes} nodes");
        let before = numbers.insert(name.clone(), node);
        ensure!(before.is_none(), "{list} has the name `{name}` twice, so nobody can tell whom it means");
    }
    Ok(numbers)
}
