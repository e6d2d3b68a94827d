//! The random streams of a report: those of the stage `privatize`.

use alloc::format;

use veilgraph_contract::{Randomness, StageRng};

use crate::{PublicParameters, Report, ReportError, draw};

/// The report of `node` with noise from `source`, bit by bit what the stage `privatize` draws from an equal source. It
/// is marked as simulated when the source comes from a seed.
///
/// # Privacy
/// As of [`draw`], with a source from 32 bytes of the operating system that serves this report and no other. Noise from
/// a seed protects nothing, for whoever knows the seed can remove it.
///
/// # Errors
/// As of [`draw`].
pub fn draw_from(
    source: &StageRng,
    parameters: &PublicParameters,
    node: u32,
    neighbours: &[u32],
) -> Result<Report, ReportError> {
    // The purpose of a stream holds the budget, so that no random word serves at two budgets.
    let links = &mut source.stream(&format!("links {:?}", parameters.epsilon_links()), u64::from(node));
    let degree = &mut source.stream(&format!("degree {:?}", parameters.epsilon_degree()), u64::from(node));
    let report = draw(parameters, node, neighbours, links, degree)?;
    Ok(match source.randomness() {
        Randomness::Seeded => report.simulated(),
        Randomness::Os => report,
    })
}
