//! Whether the files of a graph speak of the same nodes.

use std::collections::{BTreeMap, BTreeSet};

use super::table::place;
use crate::error::Error;

/// How many nodes of a file are also in the file of links.
pub(super) struct Agreement {
    /// The counts in words. They tell of the links, which are private.
    pub counts: String,
    /// What would let every node of the file have links, if not all have some.
    pub hint: Option<String>,
}

/// A file, its number of rows, and the nodes that it names, each with the line that names it first where there are
/// lines.
pub(super) struct Names<'a> {
    pub file: &'a str,
    pub n_rows: usize,
    pub nodes: BTreeMap<&'a str, Option<u64>>,
}

/// Refuses a node of `names` that is not `listed` in the file of all nodes.
pub(super) fn refuse_strangers(names: &Names, listed: &Names) -> Result<(), Error> {
    let strangers = names.nodes.iter().filter(|(node, _)| !listed.nodes.contains_key(*node));
    let Some((stranger, line)) = strangers.min_by_key(|(_, line)| **line) else { return Ok(()) };
    let nodes: Vec<&str> = names.nodes.keys().copied().collect();
    let remedy = hint(&nodes, &listed.nodes.keys().copied().collect())
        .unwrap_or_else(|| format!("add the node to {}, or remove its row", listed.file));
    let place = line.map_or_else(String::new, |line| place(names.file, line));
    Err(Error::new(names.file, place, format!("the node `{stranger}` is not in {}", listed.file), remedy))
}

/// Counts the nodes of `names` that are among `linked`, the nodes of the file `edges`.
///
/// # Errors
/// When none is: then the two files do not name the same nodes.
pub(super) fn agreement(names: &Names, edges: &str, linked: &BTreeSet<&str>) -> Result<Agreement, Error> {
    let Names { file, n_rows, nodes } = names;
    let nodes: Vec<&str> = nodes.keys().copied().collect();
    let strangers: Vec<&str> = nodes.iter().copied().filter(|node| !linked.contains(node)).collect();
    let n_found = nodes.len() - strangers.len();
    let mut counts = format!("{file}: {n_rows} rows name {} nodes, of which {n_found} are in {edges}", nodes.len());
    if n_found < linked.len() {
        counts += &format!("; {} nodes of {edges} are not in {file}", linked.len() - n_found);
    }
    let (Some(stranger), Some(example)) = (strangers.first(), linked.first()) else {
        return Ok(Agreement { counts, hint: None });
    };
    let hint = hint(&nodes, linked);
    if n_found == 0 {
        let problem = format!(
            "none of the {} nodes that its {n_rows} rows name (such as `{stranger}`) is in {edges} (such as \
             `{example}`)",
            nodes.len()
        );
        let remedy = hint.unwrap_or_else(|| {
            "write the same names in both files, or name the columns that hold them (`source_column` and \
             `target_column`, `node_column`)"
                .to_owned()
        });
        return Err(Error::new(file, "", problem, remedy));
    }
    counts += &format!("; {} (such as `{stranger}`) have no links", strangers.len());
    Ok(Agreement { counts, hint })
}

/// Refuses a whole number that is a name in two ways of writing it: with `.0`, as data frames write it where a column has gaps, or
/// with zeros before it. It would be two nodes. Where other names than whole numbers occur, such as sections `1.1` and `1.10`, a
/// name is its letters. `files` gives the files that name nodes.
pub(super) fn refuse_two_spellings<'a>(
    all: &BTreeSet<&str>,
    files: impl FnOnce() -> Vec<Names<'a>>,
) -> Result<(), Error> {
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    let mut twice = None;
    for name in all {
        let Some(number) = whole_number(name) else { return Ok(()) };
        if let Some(before) = known.insert(number, name) {
            twice.get_or_insert((*name, before));
        }
    }
    let Some((name, before)) = twice else { return Ok(()) };
    let files = files();
    let Some(names) = files.iter().find(|names| names.nodes.contains_key(name)) else { return Ok(()) };
    let place = names.nodes[name].map_or_else(String::new, |line| place(names.file, line));
    let problem = format!("the node `{name}` would be another one than `{before}`");
    Err(Error::new(names.file, place, problem, "write numbers alike in all files (pandas: `.astype(\"Int64\")`)"))
}

/// The digits of a whole number that is written with or without zeros behind a point, and before it.
fn whole_number(name: &str) -> Option<&str> {
    let (digits, zeros) = name.split_once('.').unwrap_or((name, "0"));
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let first = digits.find(|digit| digit != '0').unwrap_or(digits.len().saturating_sub(1));
    (is_whole && !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0')).then_some(&digits[first..])
}

/// What would let every node of `nodes` be among the `others`.
pub(super) fn hint(nodes: &[&str], others: &BTreeSet<&str>) -> Option<String> {
    let number = |node: &str| node.parse::<u64>().ok();
    let fits = |change: &dyn Fn(u64) -> Option<u64>| {
        let changed = |node: &&str| Some(change(number(node)?)?.to_string());
        nodes.iter().all(|node| changed(node).is_some_and(|node| others.contains(node.as_str())))
    };
    // One number may be written in several ways, but a name is its letters.
    let plain = |node: &&str| node.parse::<f64>().ok().filter(|number| number.is_finite()).map(|n| n.to_string());
    let numbers: BTreeSet<String> = others.iter().filter_map(plain).collect();
    let fit_as_numbers = nodes.iter().all(|node| plain(node).is_some_and(|number| numbers.contains(&number)));
    if fit_as_numbers {
        return Some("every name would fit as a number: write numbers alike, for `1.0` is not `1`".into());
    }
    if fits(&|node| node.checked_add(1)) {
        return Some(
            "every name would fit if 1 were added to it: count nodes from the same number in both files".into(),
        );
    }
    if fits(&|node| node.checked_sub(1)) {
        return Some(
            "every name would fit if 1 were subtracted from it: count nodes from the same number in both files".into(),
        );
    }
    None
}

#[cfg(test)]
mod tests;
