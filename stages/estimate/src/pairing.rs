//! From everyone's list to the claims of every pair.

mod rows;

use veilgraph_contract::{Draws, Invalid, NoParams, Progress, Server, Stage, StageRng};
use veilgraph_graph::{RowPlaces, row_offsets};
use veilgraph_posterior::LinkEvidence;
use veilgraph_privacy::{NoisyDegrees, NoisyLinks, ReportFacts};

use crate::Error;

pub use rows::{MergeEvidence, PairRows};

/// Turns the lists that the nodes sent into claims about pairs. It depends on the release alone, so it is done once for
/// each release, however often the release is read.
pub struct PairReports;

impl Stage for PairReports {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "pair";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = NoParams;
    type Inputs = (NoisyLinks, NoisyDegrees);
    type Outputs = (LinkEvidence,);
    type Error = Error;

    fn run((links, degrees): Self::Inputs, _: &NoParams, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        check_match((&links.facts, links.n_nodes()), &degrees)?;
        let missing = degrees.missing();
        if let Some(node) = missing.iter().find(|&&node| links.ones(node as usize).next().is_some()) {
            return Err(Error::Mismatch(format!("node {node} reported links and no degree")));
        }
        Ok((pair_claims(links)?,))
    }
}

/// Refuses reports that do not belong together.
fn check_match((facts, n_nodes): (&ReportFacts, usize), degrees: &NoisyDegrees) -> Result<(), Error> {
    if *facts != degrees.facts {
        return Err(Error::Mismatch(format!("{facts:?} and {:?}", degrees.facts)));
    }
    if n_nodes != degrees.n_nodes {
        return Err(Error::Mismatch(format!("{n_nodes} and {} nodes", degrees.n_nodes)));
    }
    Ok(())
}

/// Pairs `(i, j)` that one or both of their nodes reported.
///
/// # Complexity
/// Linear in the number of reported ones, or in the number of words of dense reports.
///
/// # Errors
/// When the reports break an invariant.
pub fn pair_claims(links: NoisyLinks) -> Result<LinkEvidence, Invalid> {
    links.into_bits().map_or_else(|lists| pair_lists(&lists), |bits| Ok(LinkEvidence::from_reports(bits)))
}

fn pair_lists(links: &NoisyLinks) -> Result<LinkEvidence, Invalid> {
    let n_nodes = links.n_nodes();
    let below = |reporter: usize| links.ones(reporter).take_while(move |&one| (one as usize) < reporter);
    // Who above reported each node: lists arrive in ascending order of the reporter.
    let offsets = row_offsets(n_nodes, (0..n_nodes).flat_map(below).map(|one| one as usize));
    let mut places = RowPlaces::new(&offsets);
    let mut reporters = vec![0; offsets[n_nodes]];
    for reporter in 0..n_nodes {
        for one in below(reporter) {
            reporters[places.take(one as usize)] = reporter as u32;
        }
    }
    LinkEvidence::from_rows((0..n_nodes).map(|i| {
        let own: Vec<u32> = links.ones(i).skip_while(|&one| one as usize <= i).collect();
        merge(&own, &reporters[offsets[i]..offsets[i + 1]])
    }))
}

/// Merges two ascending lists; what stands in both has two claims.
fn merge(mut a: &[u32], mut b: &[u32]) -> Vec<(u32, u8)> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    loop {
        match (a, b) {
            ([x, rest_a @ ..], [y, rest_b @ ..]) if x == y => {
                merged.push((*x, 2));
                (a, b) = (rest_a, rest_b);
            }
            ([x, rest @ ..], [y, ..]) if x < y => {
                merged.push((*x, 1));
                a = rest;
            }
            (_, [y, rest @ ..]) => {
                merged.push((*y, 1));
                b = rest;
            }
            ([x, rest @ ..], []) => {
                merged.push((*x, 1));
                a = rest;
            }
            ([], []) => return merged,
        }
    }
}
