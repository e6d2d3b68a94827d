//! The list of this node, as a person or another program writes it.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use crate::nodes::Nodes;
use crate::print::warn;
use crate::state::is_open_to_others;

/// The neighbours of `node` that a file names, ascending, and how many of its lines repeat another.
pub(crate) fn read(path: &Path, node: u32, nodes: &Nodes) -> anyhow::Result<(Vec<u32>, usize)> {
    let wrong = || format!("cannot read the links in {}", path.display());
    if is_open_to_others(&fs::metadata(path).with_context(wrong)?) {
        warn(&format!("warning: other users of this device may read {}; close it with `chmod 600`", path.display()));
    }
    let bytes = fs::read(path).with_context(wrong)?;
    let (mut neighbours, allow_remarks) = (Vec::new(), nodes.allow_remarks());
    for (line, at) in bytes.split(|&byte| byte == b'\n').zip(1..) {
        let line = line.trim_ascii();
        if line.is_empty() || (allow_remarks && line.starts_with(b"#")) {
            continue;
        }
        let number = neighbour(line, node, nodes).with_context(|| format!("{}, line {at}", path.display()))?;
        neighbours.push(number);
    }
    let n_lines = neighbours.len();
    neighbours.sort_unstable();
    neighbours.dedup();
    let n_repeated = n_lines - neighbours.len();
    Ok((neighbours, n_repeated))
}

fn neighbour(line: &[u8], node: u32, nodes: &Nodes) -> anyhow::Result<u32> {
    let number = nodes.number(line, "correct or remove the line")?;
    ensure!(number != node, "node {node} is this node, which is no neighbour of its own; remove the line");
    Ok(number)
}
