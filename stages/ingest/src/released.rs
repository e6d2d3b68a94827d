//! A noisy graph that another program has drawn from the links of the same nodes.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Draws, Owner, Private, Progress, RawFile, Stage, StageRng};
use veilgraph_graph::{BitMatrix, Construction, Links, NodeMap, WeightedGraph};

use crate::edges::arrays;
use crate::edges::weighted::{self, WeightedRow};
use crate::error::Error;
use crate::raw::Files;

/// Reads a graph that another program has drawn. It stays with the owners until it is released at the cost that a config states.
pub struct ReadReleased;

/// Where the graph is, and how it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedParams {
    /// The file of its links.
    pub graph: String,
    /// Whether a text begins with a row of column names; the file tells for itself when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// The column with the first end (default: by its name, else the first column).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_column: Option<String>,
    /// The column with the second end (default: by its name, else the second column).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_column: Option<String>,
    /// The column with the weight (default: by its name, or the third of three columns without names).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight_column: Option<String>,
    /// Whether a row is what its first node reports of the second one. Without this field, a link holds in both directions, and the
    /// file has to name all of them once, or all of them in both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directed: Option<bool>,
}

impl ReleasedParams {
    /// Refuses columns that cannot be found, and what an array has not.
    fn check(&self) -> Result<(), Error> {
        let wrong = |problem: String, remedy: &str| Err(Error::new("[privatize.links]", "", problem, remedy));
        let columns = [
            ("source_column", &self.source_column),
            ("target_column", &self.target_column),
            ("weight_column", &self.weight_column),
        ];
        let given: Vec<(&str, &str)> =
            columns.iter().filter_map(|(field, name)| Some((*field, name.as_deref()?))).collect();
        if let (true, Some((field, _))) = (arrays::is_array(&self.graph), given.first()) {
            return wrong(format!("`{field}` names a column, and {} is an array", self.graph), "remove the field");
        }
        if let (Some(false), Some((field, _))) = (self.header, given.first()) {
            return wrong(
                format!("`{field}` names a column, but `header = false` says that there are no names"),
                "remove one of them",
            );
        }
        if self.source_column.is_some() != self.target_column.is_some() {
            return wrong("one of `source_column` and `target_column` is given".to_owned(), "name both columns");
        }
        for (at, (field, name)) in given.iter().enumerate() {
            if let Some((other, _)) = given[..at].iter().find(|(_, before)| before == name) {
                return wrong(format!("`{other}` and `{field}` are both `{name}`"), "name different columns");
            }
        }
        Ok(())
    }
}

impl Stage for ReadReleased {
    const STAGE: &'static str = "ingest";
    const TASK: &'static str = "released-graph";
    const DRAWS: Draws = Draws::Never;
    type Side = Owner;
    type Params = ReleasedParams;
    type Inputs = (Vec<RawFile>, NodeMap);
    type Outputs = (Private<WeightedGraph>,);
    type Error = Error;

    fn check_params(params: &ReleasedParams) -> Result<(), Error> {
        params.check()
    }

    fn run(
        (raw, nodes): Self::Inputs,
        params: &ReleasedParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let mut rows = weighted::read(&Files(&raw), params, &nodes.names)?;
        rows.sort_unstable_by_key(|row| (row.source, row.target, row.at));
        let rows = without_repetitions(params, rows)?;
        if params.directed.is_none() {
            refuse_a_mixture(&params.graph, &rows)?;
        }
        let (n_nodes, directed) = (nodes.names.len(), params.directed == Some(true));
        let rows = if directed { rows } else { undirected(params, rows)? };
        // A weight of 0 is no link, but it contradicts another weight of the same link.
        let links =
            rows.iter().filter(|row| row.weight > 0.0).map(|row| (row.source, row.target, row.weight)).collect();
        let links = stored(links, n_nodes, directed);
        Ok((Private(WeightedGraph { construction: Construction::Given, n_nodes, directed, links }),))
    }
}

/// The same rows in ascending order, each once.
///
/// # Errors
/// When a row comes twice with different weights.
fn without_repetitions(params: &ReleasedParams, rows: Vec<WeightedRow>) -> Result<Vec<WeightedRow>, Error> {
    let mut kept: Vec<WeightedRow> = Vec::with_capacity(rows.len());
    for row in rows {
        match kept.last() {
            Some(last) if (last.source, last.target) == (row.source, row.target) => {
                if last.weight != row.weight {
                    return Err(weighted::two_weights(params, last, &row));
                }
            }
            _ => kept.push(row),
        }
    }
    Ok(kept)
}

/// Refuses a file that could be meant either way: some of its links stand there in both directions, and some in one.
fn refuse_a_mixture(file: &str, rows: &[WeightedRow]) -> Result<(), Error> {
    let has_reverse = |row: &&WeightedRow| {
        rows.binary_search_by_key(&(row.target, row.source), |other| (other.source, other.target)).is_ok()
    };
    // A weight of 0 is no link.
    let links = || rows.iter().filter(|row| row.weight > 0.0);
    let (n_links, n_mutual) = (links().count(), links().filter(has_reverse).count());
    if n_mutual == 0 || n_mutual == n_links {
        return Ok(());
    }
    let problem =
        format!("{n_mutual} of its {n_links} links stand there in the other direction too, and the rest do not");
    let remedy = "write directed = true below [privatize.links] where a row is what its first node reports of the second one, and \
                  directed = false where a row is a link in both directions";
    Err(Error::new(file, "", problem, remedy))
}

/// The links with their smaller node first, each once.
fn undirected(params: &ReleasedParams, mut rows: Vec<WeightedRow>) -> Result<Vec<WeightedRow>, Error> {
    for row in &mut rows {
        (row.source, row.target) = (row.source.min(row.target), row.source.max(row.target));
    }
    rows.sort_unstable_by_key(|row| (row.source, row.target, row.at));
    without_repetitions(params, rows)
}

/// The links in the form that takes less memory: a list, or, where all weights are 1, perhaps bits.
fn stored(links: Vec<(u32, u32, f32)>, n_nodes: usize, directed: bool) -> Links {
    const BITS_OF_A_LINK: usize = 8 * size_of::<(u32, u32, f32)>();
    let is_dense = links.len().saturating_mul(BITS_OF_A_LINK) > n_nodes.saturating_mul(n_nodes);
    if !is_dense || links.iter().any(|(.., weight)| *weight != 1.0) {
        return Links::Listed(links);
    }
    let mut bits = BitMatrix::from_rows(n_nodes, |_, _| {});
    links.iter().for_each(|&(source, target, _)| bits.set(source as usize, target));
    if !directed {
        bits.symmetrize();
    }
    Links::Bits(bits)
}

#[cfg(test)]
mod tests;
