//! The claims of a row block, from the reports where they are stored: what belongs to others is read and forgotten.

use std::ops::Range;

use veilgraph_contract::{Draws, Invalid, NoParams, Progress, Server, Stage, StageRng, Stored, Streamed, take};
use veilgraph_graph::{RowPlaces, row_offsets};
use veilgraph_posterior::{LinkEvidence, RowBlock};
use veilgraph_privacy::{NoisyDegrees, NoisyLinks, ReportFacts};

use super::{check_match, merge};
use crate::Error;

/// Turns the lists that the nodes sent into claims about the pairs of a row block. The reports stay where they are stored.
pub struct PairRows;

/// Makes of the claims of all row blocks the evidence that [`PairReports`](super::PairReports) would have made, to the last byte.
pub struct MergeEvidence;

impl Stage for PairRows {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "pair-rows";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = RowBlock;
    type Inputs = (Stored<NoisyLinks>, NoisyDegrees);
    type Outputs = (Streamed<LinkEvidence>,);
    type Error = Error;

    fn run(
        (links, degrees): Self::Inputs,
        block: &RowBlock,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let n_nodes = links.facts().get("n_nodes")?;
        check_match((&ReportFacts::from_facts(links.facts())?, n_nodes), &degrees)?;
        Ok((pair_rows(&links, &degrees, block.rows(n_nodes))?,))
    }
}

impl Stage for MergeEvidence {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "merge-rows";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = NoParams;
    type Inputs = (Vec<Stored<LinkEvidence>>,);
    type Outputs = (Streamed<LinkEvidence>,);
    type Error = Error;

    fn run((parts,): Self::Inputs, _: &NoParams, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        Ok((LinkEvidence::joined(parts)?,))
    }
}

/// Pairs `(i, j)` with `i` in `rows` that one or both of their nodes reported.
///
/// # Complexity
/// Reads the reports of the first of these rows and of all later nodes. Holds 4 bytes for each one that a node of these
/// rows reported about a higher node, and up to 12 for each one that a higher node reported about them.
///
/// # Errors
/// When reports cannot be read or break an invariant, or a node reported links and no degree.
fn pair_rows(
    links: &Stored<NoisyLinks>,
    degrees: &NoisyDegrees,
    rows: Range<usize>,
) -> Result<Streamed<LinkEvidence>, Error> {
    let n_nodes: usize = links.facts().get("n_nodes")?;
    if rows.is_empty() {
        return Ok(LinkEvidence::streamed(n_nodes, rows, |_| Vec::new()));
    }
    let (first, mut own, mut reported) = (rows.start, Lists::new(rows.len()), Vec::new());
    let (missing, mut previous) = (degrees.missing(), None);
    // Both nodes of a pair of this row block are at least the first of the rows, and no other node reports it.
    for block in links.rows(first as u32..n_nodes as u32) {
        let mut columns = block?.into_iter();
        let (sources, targets): (Vec<u32>, Vec<u32>) = (take(&mut columns)?, take(&mut columns)?);
        for (source, target) in sources.into_iter().zip(targets) {
            let is_known = source != target && source.max(target) < n_nodes as u32;
            if !is_known || previous.is_some_and(|previous| previous >= (source, target)) {
                return Err(
                    Invalid(format!("node {source}: its report of node {target} is out of order or range")).into()
                );
            }
            if missing.binary_search(&source).is_ok() {
                return Err(Error::Mismatch(format!("node {source} reported links and no degree")));
            }
            previous = Some((source, target));
            if rows.contains(&(source as usize)) && target > source {
                own.push(source as usize - first, target);
            } else if rows.contains(&(target as usize)) && source > target {
                reported.push((target, source));
            }
        }
    }
    own.finish();
    let reporters = Lists::by_first(rows.len(), first, &reported);
    drop(reported);
    let row = move |i: usize| merge(own.of(i - first), reporters.of(i - first));
    Ok(LinkEvidence::streamed(n_nodes, rows, row))
}

/// One ascending list of nodes for each row.
struct Lists {
    /// `[rows + 1]`.
    offsets: Vec<usize>,
    nodes: Vec<u32>,
    n_rows: usize,
}

impl Lists {
    /// No list yet.
    fn new(n_rows: usize) -> Self {
        Self { offsets: vec![0], nodes: Vec::new(), n_rows }
    }

    /// Adds a node to the list of a row; rows ascend.
    fn push(&mut self, row: usize, node: u32) {
        self.offsets.resize(row + 1, self.nodes.len());
        self.nodes.push(node);
    }

    /// Says that no further node comes.
    fn finish(&mut self) {
        self.offsets.resize(self.n_rows + 1, self.nodes.len());
    }

    /// The second nodes of these pairs, listed by the first one; the rows begin at the node `first`.
    fn by_first(n_rows: usize, first: usize, pairs: &[(u32, u32)]) -> Self {
        let offsets = row_offsets(n_rows, pairs.iter().map(|pair| pair.0 as usize - first));
        let (mut places, mut nodes) = (RowPlaces::new(&offsets), vec![0; pairs.len()]);
        for &(row, node) in pairs {
            nodes[places.take(row as usize - first)] = node;
        }
        Self { offsets, nodes, n_rows }
    }

    fn of(&self, row: usize) -> &[u32] {
        &self.nodes[self.offsets[row]..self.offsets[row + 1]]
    }
}
