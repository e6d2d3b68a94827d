//! What `run` refuses before anything runs: machines that must not see the data. It also warns there of tasks that take much
//! memory.

use std::collections::BTreeMap;

use bytesize::ByteSize;
use veilgraph_runner::config::Config;
use veilgraph_runner::measured::Measurements;
use veilgraph_runner::task::{Done, Task};
use veilgraph_store::{Store, StoreKind};

use crate::cli::{ExecutorChoice, OtherMachinesArguments, RunArguments};

/// Refuses other machines where they would get what they must not see.
pub(super) fn refuse_to_send_away(
    store: &Store,
    config: &Config,
    arguments: &RunArguments,
    others: &OtherMachinesArguments,
) -> anyhow::Result<()> {
    let is_shared = others.cache.cache.is_some() && !others.cache.cache_read_only;
    let is_asked_for = others.executor != ExecutorChoice::Local || others.cache.cache.is_some();
    anyhow::ensure!(
        !is_asked_for || !config.is_deployment() || store.kind() == StoreKind::ServerAlone,
        "`{}` is a deployment, and its private data are here: run it with --until privatize, hand over the server's part \
         with `veilgraph export`, and give --executor and --cache with the server's store and --side server",
        config.name
    );
    anyhow::ensure!(
        !is_shared || config.is_deployment() || arguments.simulation,
        "`{}` simulates, and whoever reads the cache also finds the seed there, with which the noise can be removed: add \
         --simulation if its data need no protection from them, or --cache-read-only",
        config.name
    );
    Ok(())
}

/// Warns of stage functions that would run and are known to take more than what one artifact may take: every task like
/// them did by itself in earlier runs. A task holds several artifacts, so it may still keep to the limit.
pub(crate) fn warn_of_large(measurements: &Measurements, tasks: &[Task], done: &[Done], limit: Option<ByteSize>) {
    let Some(limit) = limit else { return };
    let mut large: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for (task, _) in tasks.iter().zip(done).filter(|(_, done)| done.would_run()) {
        let own = measurements.of_kind(task.kind.name()).and_then(|measured| measured.least_own);
        if let Some(own) = own.filter(|own| *own > limit.as_u64()) {
            let most = large.entry((task.stage, task.function)).or_default();
            *most = own.max(*most);
        }
    }
    for ((stage, function), own) in large {
        let own = ByteSize(own);
        tracing::warn!(
            "{stage} {function} took at least {own} by itself in earlier runs; --memory-limit {limit} bounds one artifact, \
             and a task holds several"
        );
    }
}
