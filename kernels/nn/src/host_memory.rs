//! Whether models fit into the memory that a run may use on the CPU.

use veilgraph_contract::Progress;

use crate::failure::Failure;

/// Bytes of a number of a parameter.
const NUMBER: u64 = 4;

/// Refuses models that take more memory than one thing of a run may take, before the first of them is trained.
///
/// Counted are the parameters of every model, and of those that train at a time also a gradient, two moments and the best value
/// of each parameter. What a layer gives for every node comes on top.
pub(crate) fn check(
    n_parameters: usize,
    n_models: usize,
    at_a_time: usize,
    progress: &Progress,
) -> Result<(), Failure> {
    let kept = (n_models as u64).saturating_add(4 * at_a_time.min(n_models) as u64);
    let needed = (n_parameters as u64).saturating_mul(NUMBER).saturating_mul(kept);
    let limit = progress.memory_limit();
    if needed > limit { Err(Failure::TooLarge { n_models, n_parameters, needed, limit }) } else { Ok(()) }
}
