//! Whether models fit into the memory that a run may use on the host.

use veilgraph_contract::Progress;

use crate::failure::Failure;

/// Bytes of a number of a parameter.
const NUMBER: u64 = 4;

/// Refuses models that take more memory than the run may use, before the first of them is trained.
///
/// Counted are the parameters of every model, and whichever is more: while training, also a gradient, two moments and the best value
/// of each parameter of the models that train at a time; or, when all are trained, the parameters once more, as they are written. What
/// a layer gives for every node comes on top.
pub(crate) fn check(
    n_parameters: usize,
    n_models: usize,
    at_a_time: usize,
    progress: &Progress,
) -> Result<(), Failure> {
    let (models, at_a_time) = (n_models as u64, at_a_time.min(n_models) as u64);
    let numbers = models.saturating_add(models.max(4 * at_a_time));
    let needed = (n_parameters as u64).saturating_mul(NUMBER).saturating_mul(numbers);
    let limit = progress.memory_limit();
    if needed > limit { Err(Failure::TooLarge { n_models, at_a_time, n_parameters, needed, limit }) } else { Ok(()) }
}
