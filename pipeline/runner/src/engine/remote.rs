//! Tasks that other machines run: ordered, sent, and taken back with their entries checked.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use veilgraph_cache::CacheError;
use veilgraph_store::{Entry, Found, Recipe};

use super::{Engine, Going};
use crate::executor::{Handover, News};
use crate::order::Order;
use crate::output::causes;
use crate::peak_memory::TaskMemory;
use crate::task::{Done, Handle, Status, Task};

/// A task that another machine runs.
pub(super) struct Sent {
    /// Its place in the plan.
    index: usize,
    why: Vec<String>,
}

/// How long to listen before a look at whether everything is done.
const MOMENT: Duration = Duration::from_millis(50);

impl Engine<'_> {
    /// The entry `key` of a task, if the cache has it and it is sound.
    pub(super) fn fetch(&self, task: &Task, key: &str) -> anyhow::Result<Option<Arc<Entry>>> {
        let Some(cache) = &self.others.cache else { return Ok(None) };
        match cache.take_entry(self.store, task.stage, key) {
            // Somebody else's damage must not stop this run.
            Err(error @ CacheError::Damaged { .. }) => {
                self.display.say_of(task, &format!("{error}; it is made anew"));
                Ok(None)
            }
            taken => Ok(taken?.map(Arc::new)),
        }
    }

    /// Writes down what another machine needs for a task, and hands its inputs over.
    pub(super) fn order(&self, task: &Task, recipe: &Recipe, slots: &[Vec<Handle>]) -> anyhow::Result<()> {
        for handle in slots.iter().flatten() {
            if let Handle::Artifact { entry, .. } = handle {
                self.others.share(entry)?;
            }
        }
        let order = Order::of(task, recipe, slots, self.config.seed, self.checkpoint_interval.as_secs())?;
        order.write(self.store, self.others.cache.as_ref())
    }

    /// Sends a task whose order is written, unless the same entry is being made already.
    pub(super) fn send(&self, index: usize, key: &str, why: &[String], going: &Going) {
        let Some(executor) = &self.others.executor else { return };
        let is_first = {
            let mut state = going.lock();
            let same = state.sent.entry(key.to_owned()).or_default();
            same.push(Sent { index, why: why.to_vec() });
            same.len() == 1
        };
        if !is_first {
            return;
        }
        match executor.send(key) {
            Ok(Handover::Running) => {}
            Ok(Handover::Queued) => {
                for sent in Self::take_back(key, going) {
                    let status = Status::Queued { why: sent.why };
                    self.end(sent.index, Ok(Done { status, entry: None }), going);
                }
            }
            Err(error) => self.fail(Self::take_back(key, going), error, going),
        }
    }

    /// Ends all tasks that waited for one entry, which cannot be made.
    fn fail(&self, waiting: Vec<Sent>, error: anyhow::Error, going: &Going) {
        let text = causes(&error).join(": ");
        let mut error = Some(error);
        for sent in waiting {
            let own = error.take().unwrap_or_else(|| anyhow!(text.clone()));
            self.end(sent.index, Err(own), going);
        }
    }

    /// Hears of the tasks that other machines run, until everything is done.
    pub(super) fn listen(&self, going: &Going) {
        let Some(executor) = &self.others.executor else { return };
        while !going.lock().is_over() {
            let Some(news) = executor.next(MOMENT) else { continue };
            // A listener that dies must not leave the run waiting.
            let heard = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.hear(news, going)));
            if heard.is_err() {
                going.fail(anyhow!("news of another machine made this program panic; please report this"));
            }
        }
    }

    fn hear(&self, news: News, going: &Going) {
        match news {
            News::Said(text) => self.display.say(&text),
            News::Step { key, done, total } => {
                let index = going.lock().sent.get(&key).and_then(|same| Some(same.first()?.index));
                index.into_iter().for_each(|index| self.display.step(&self.tasks[index], done, total));
            }
            News::Made { key, seconds, host, log } => {
                let same = Self::take_back(&key, going);
                let Some(first) = same.first() else { return };
                let task = &self.tasks[first.index];
                log.lines().for_each(|line| self.display.say_of(task, line));
                match self.entry_of(task, &key, &host) {
                    Ok(entry) => {
                        for sent in same {
                            let took = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                            // Workers do not say how much memory a task took.
                            let status =
                                Status::Ran { why: sent.why, took, host: host.clone(), memory: TaskMemory::default() };
                            let done = Done { status, entry: Some(Arc::clone(&entry)) };
                            self.end(sent.index, Ok(done), going);
                        }
                    }
                    Err(error) => self.fail(same, error, going),
                }
            }
            News::Failed { key, error } => {
                self.fail(Self::take_back(&key, going), anyhow!(error.trim().to_owned()), going);
            }
            News::Broken(error) => {
                going.fail(anyhow!("{error}\nwhat other machines made is kept; the same command goes on from there"));
            }
        }
    }

    fn take_back(key: &str, going: &Going) -> Vec<Sent> {
        going.lock().sent.remove(key).unwrap_or_default()
    }

    /// The entry that another machine says it made.
    fn entry_of(&self, task: &Task, key: &str, host: &str) -> anyhow::Result<Arc<Entry>> {
        let cache = self.others.cache.as_ref();
        let absent = || {
            format!(
                "{host} says that it made {key}, and {} has no such entry: does {host} see the same folder? Name its path \
                 there with --worker-store, or share entries with --cache",
                self.store.root().display()
            )
        };
        let entry = match cache {
            Some(_) => self.fetch(task, key)?.with_context(absent)?,
            None => match self.store.sound(task.stage, key)? {
                Found::Whole(entry) => Arc::from(entry),
                Found::Damaged(damage) => bail!("the entry that {host} made is damaged: {damage}"),
                Found::Absent => bail!(absent()),
            },
        };
        Order::remove(self.store, cache, key);
        Ok(entry)
    }
}
