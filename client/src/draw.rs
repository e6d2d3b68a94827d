//! One node draws its report.

use alloc::vec::Vec;

use rand_core::Rng;
use veilgraph_noise::discrete_laplace::{Rate, discrete_laplace};
use veilgraph_noise::randomized_response::RandomizedResponse;

use crate::report::check_list;
use crate::{PublicParameters, Report, ReportError};

/// The report of `node`, whose `neighbours` ascend and do not hold the node itself. Every word of noise comes from the
/// two generators, which must serve no other report.
///
/// # Privacy
/// With generators that nobody else can predict, the report is `epsilon_links + epsilon_degree`-differentially private
/// for any one bit of the list, by sequential composition of its parts. Each bit is flipped by
/// [`RandomizedResponse::noisy_list`]. The degree, which a bit moves by one, gets noise with the law
/// `P(x) ∝ exp(-|x| rate)`, and the rate is `epsilon_degree` rounded down to a fraction of `2^20`. Both samplers are
/// exact. A link stands in the lists of both its ends, of which symmetric randomized response reports one, so it costs
/// [`PublicParameters::edge_cost`]. A part without budget is not sent. The number of the node is public.
///
/// # Errors
/// When the node or a neighbour has no number below `n_nodes`, or the neighbours do not ascend or hold the node.
///
/// # Complexity
/// As of [`RandomizedResponse::noisy_list`].
///
/// # Source
/// Zhu, Tan, Xiao (2023), Blink, algorithm 1, and section 5.1 for the two mechanisms without a degree.
pub fn draw(
    parameters: &PublicParameters,
    node: u32,
    neighbours: &[u32],
    links_rng: &mut impl Rng,
    degree_rng: &mut impl Rng,
) -> Result<Report, ReportError> {
    check_list(neighbours, node, parameters.n_nodes(), parameters.n_nodes())?;
    let mut list = Vec::new();
    if parameters.epsilon_links() > 0.0 {
        let response = RandomizedResponse::new(parameters.epsilon_links(), parameters.n_nodes() as usize);
        list = response.noisy_list(node, neighbours, links_rng);
        list.truncate(list.partition_point(|&other| other < parameters.list_length(node)));
    }
    let rate = Some(parameters.epsilon_degree()).filter(|&epsilon| epsilon > 0.0).and_then(Rate::at_most);
    let degree = rate.map(|rate| neighbours.len() as i64 + discrete_laplace(rate, degree_rng));
    Report::new(parameters, node, list, degree)
}

#[cfg(test)]
mod tests;
