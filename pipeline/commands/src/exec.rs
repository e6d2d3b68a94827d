//! `exec`: runs one task of a plan that another process made, and says on standard output how it went.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};
use veilgraph_cache::{Cache, CacheError};
use veilgraph_contract::StageRng;
use veilgraph_runner::host::host;
use veilgraph_runner::order::Order;
use veilgraph_runner::output;
use veilgraph_runner::perform::Performance;
use veilgraph_runner::task::STAGES;
use veilgraph_store::{Found, Part, Store};

use crate::cli::ExecArguments;
use crate::experiment::memory_limit;

/// How often steps are told.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Runs the task whose entry has this key.
pub(crate) fn exec(store: &Store, arguments: &ExecArguments) -> anyhow::Result<()> {
    if let Some(parent) = arguments.die_with {
        // A worker that is killed must not leave its task running.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
            .context("this system cannot end a process together with the one that started it")?;
        // It may have been killed before that was asked for. In a container, the worker itself may be process 1.
        let is_orphan = parent != 1 && rustix::process::getppid() == Some(rustix::process::Pid::INIT);
        anyhow::ensure!(!is_orphan, "the process that started this one is gone");
    }
    let cache = arguments.cache.open()?;
    let (key, cache) = (arguments.key.as_str(), cache.as_ref());
    anyhow::ensure!(
        cache.is_none() || !store.part(Part::Owner).exists(),
        "{}: this store has private data; with --cache, a worker needs a folder of its own (--worker-store)",
        store.root().display()
    );
    let start = Instant::now();
    let Some(order) = Order::read(store, cache, key)? else {
        // Another run may have had the same task, and have removed the order after it was carried out.
        let is_made = is_made(store, cache, key)?;
        anyhow::ensure!(
            is_made,
            "there is no order for {key} in {}{}; is this the store of the run, and does this machine see it?",
            store.root().display(),
            cache.map_or("", |_| " or in the cache")
        );
        tell(key, "found", start);
        return Ok(());
    };
    order.check()?;
    let stage = order.recipe.stage.clone();
    // `gc` takes nothing away while this goes on.
    let _running = store.lock_for_run()?;
    // Another worker may have made it, and have died before it could say so. What is damaged there is made anew, unless it would
    // stay there nevertheless.
    let taken = match cache.map_or(Ok(None), |cache| cache.take_entry(store, &stage, key)) {
        Err(CacheError::Damaged { is_forgotten: true, .. }) => None,
        taken => taken?,
    };
    if taken.is_some() {
        tell(key, "found", start);
        return Ok(());
    }
    // A worker that was started anew after a kill may still be at it.
    let lock = store.lock(&order.recipe, || {
        output::error_line(&format!(
            "waiting for another process of this store, which makes {key}; end it if it hangs"
        ));
    })?;
    if let Found::Whole(entry) = store.sound(&stage, key)? {
        cache.map_or(Ok(()), |cache| cache.put_entry(&entry))?;
        tell(key, "found", start);
        return Ok(());
    }
    let slots = order.slots(store, cache)?;
    let told = Mutex::new(start);
    let show = |done: u64, total: u64| {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.elapsed() >= TELL_EVERY {
            *told = Instant::now();
            output::data(&json!({"key": key, "done": done, "total": total}).to_string());
        }
    };
    let performance = Performance {
        store,
        recipe: order.recipe.clone(),
        label: &order.label,
        params: &order.params()?,
        slots: &slots,
        rng: &StageRng::new(order.seed, &stage, order.trial),
        release: None,
        memory: memory_limit(arguments.memory_limit),
        tasks_at_a_time: 1,
        checkpoint_interval: Duration::from_secs(order.checkpoint_seconds),
        show: &show,
    };
    let entry = performance.run(lock, |draft| Ok(draft.publish()?))?;
    cache.map_or(Ok(()), |cache| cache.put_entry(&entry))?;
    tell(key, "made", start);
    Ok(())
}

/// Whether the entry is there already, in the store or, where there is one, in the cache.
fn is_made(store: &Store, cache: Option<&Cache>, key: &str) -> anyhow::Result<bool> {
    for stage in STAGES {
        let is_made = match cache {
            None => store.find(stage, key)?.is_some(),
            Some(cache) => cache.has_entry(stage, key)?,
        };
        if is_made {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Says that the entry is there.
fn tell(key: &str, status: &str, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    let told: Value = json!({"key": key, "status": status, "seconds": seconds, "host": host()});
    output::data(&told.to_string());
}
