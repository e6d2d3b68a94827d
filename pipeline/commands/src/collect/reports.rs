//! The reports that nodes have sent, one file each, of which nobody vouches for any.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use veilgraph_client::{PublicParameters, Report, decode};

/// Sound reports by node.
pub(super) struct Reports {
    /// Noisy list of each node; empty for a missing one.
    pub lists: Vec<Vec<u32>>,
    /// Noisy degree of each node that sent one.
    pub degrees: Vec<Option<i64>>,
    /// Files that were left out, and why.
    pub left_out: Vec<(PathBuf, String)>,
    pub are_simulated: bool,
    has_reported: Vec<bool>,
}

/// No report of a node is larger: four bytes for every node, and the rest. In a Golomb code with parameter m, `ones` gaps
/// that add up to n take at most n / m + ones (1 + log2 m) bits, and both m and n are below 2^30.
fn most_bytes(parameters: &PublicParameters) -> u64 {
    4 * u64::from(parameters.n_nodes()) + 4096
}

impl Reports {
    /// Reads all files of `folder` that end in `.vgr`, in the order of their names.
    pub(super) fn read(folder: &Path, parameters: &PublicParameters, are_simulated: bool) -> anyhow::Result<Self> {
        let n_nodes = parameters.n_nodes() as usize;
        let mut reports = Self {
            lists: vec![Vec::new(); n_nodes],
            degrees: vec![None; n_nodes],
            left_out: Vec::new(),
            are_simulated,
            has_reported: vec![false; n_nodes],
        };
        let mut by_node: BTreeMap<u32, (PathBuf, Vec<u8>, Report)> = BTreeMap::new();
        let mut disputed: BTreeMap<u32, PathBuf> = BTreeMap::new();
        for path in files(folder)? {
            let (bytes, report) = match reports.sound(&path, parameters) {
                Ok(sound) => sound,
                Err(why) => {
                    reports.left_out.push((path, why));
                    continue;
                }
            };
            let node = report.node();
            if let Some((first, before, _)) = by_node.get(&node) {
                let why = if *before == bytes {
                    format!("the same report of node {node} as {}", in_one_line(first))
                } else {
                    disputed.insert(node, first.clone());
                    format!("another report of node {node} than {}; both are left out", in_one_line(first))
                };
                reports.left_out.push((path, why));
            } else {
                by_node.insert(node, (path, bytes, report));
            }
        }
        for (node, first) in disputed {
            by_node.remove(&node);
            reports.left_out.push((first, format!("another report of node {node} was sent too; both are left out")));
        }
        for (node, (_, _, report)) in by_node {
            reports.lists[node as usize] = report.ones().to_vec();
            reports.degrees[node as usize] = report.degree();
            reports.has_reported[node as usize] = true;
        }
        reports.left_out.sort();
        Ok(reports)
    }

    /// Number of nodes of which there is no sound report.
    pub(super) fn n_missing(&self) -> usize {
        self.has_reported.iter().filter(|has_reported| !**has_reported).count()
    }

    /// One file, if it is a report for these parameters; else why not.
    fn sound(&self, path: &Path, parameters: &PublicParameters) -> Result<(Vec<u8>, Report), String> {
        let most = most_bytes(parameters);
        let mut bytes = Vec::new();
        // Whoever may send files may send a pipe or a link too.
        let read = veilgraph_store::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
        read.map_err(|error| error.to_string())?;
        if bytes.len() as u64 > most {
            return Err(format!("more than {most} bytes are more than a report can have"));
        }
        let report = decode(&bytes, parameters).map_err(|error| error.to_string())?;
        match (report.is_simulated(), self.are_simulated) {
            (true, false) => {
                Err("its noise comes from a seed, so it protects nobody; --simulated accepts it".to_owned())
            }
            (false, true) => {
                Err("its noise does not come from a seed, and --simulated collects a simulation".to_owned())
            }
            _ => Ok((bytes, report)),
        }
    }
}

/// The name of a file, which whoever sent it has chosen: it must not look like a line of its own.
pub(super) fn in_one_line(file: &Path) -> String {
    file.display().to_string().replace('\n', "\\n")
}

fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let wrong = || format!("{}: cannot read the folder of reports", folder.display());
    let mut files = Vec::new();
    for item in fs::read_dir(folder).with_context(wrong)? {
        let path = item.with_context(wrong)?.path();
        if path.extension().is_some_and(|ending| ending == "vgr") {
            files.push(path);
        }
    }
    ensure!(!files.is_empty(), "{}: no file there ends in .vgr", folder.display());
    files.sort();
    Ok(files)
}
