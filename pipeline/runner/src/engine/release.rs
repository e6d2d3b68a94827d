//! A release of a deployment: found by what it says, or drawn once.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, ensure};
use veilgraph_contract::{Artifact, Release, StageRng, Zone};
use veilgraph_graph::NodeMap;
use veilgraph_store::{Found, MemoryLimit, ReleaseRecord};

use super::recipe::absent;
use super::{Ends, Engine, recipe_of_release};
use crate::host::host;
use crate::ledger::{Charge, Deployment, EarlierRelease, Program, statement, was_drawn};
use crate::peak_memory::PeakMemory;
use crate::registry;
use crate::task::{Done, Handle, Status, Task};

/// What decides whether an earlier release is the one that is asked for.
pub(super) struct Wanted {
    /// Keyed digests of the private data, one for each release of the task.
    pub private_data: Vec<String>,
    /// Digest of what the server asked; empty where it asked nothing.
    question: String,
}

/// What becomes of a release that is asked for.
pub(super) enum Fate {
    /// It was made before.
    Made(Done),
    /// It was charged before, and its process was killed before it drew.
    ToBeDrawn(EarlierRelease),
    /// Nothing like it was made.
    New,
    /// It would be a second release about the same people, which somebody has to accept.
    Second { number: u32, why: String },
}

impl Engine<'_> {
    /// Brings a release of a deployment to its end: an earlier one with this statement is used again, and a second one
    /// is drawn only where that was accepted.
    pub(super) fn bring_release(&self, task: &Task, slots: &[Vec<Handle>], ends: &Ends) -> anyhow::Result<Done> {
        let wanted = self.wanted(task, slots)?;
        match self.judge(task, &wanted)? {
            Fate::Made(done) => return Ok(done),
            fate if self.is_plan => return Ok(planned(fate, self.allowance.spend)),
            _ => {}
        }
        // Only now is it settled that something is drawn; another process may be about to draw the same, perhaps about the same data
        // under the name of another population.
        let statement = blake3::hash(statement(task.function, &task.releases).as_bytes()).to_hex();
        let lock = self.store.lock_name(&format!("release-{statement}"), || self.tell_of_waiting(task))?;
        self.recover(task, &wanted)?;
        let (number, is_charged, why) = match self.judge(task, &wanted)? {
            Fate::Made(done) => return Ok(done),
            Fate::ToBeDrawn(earlier) => {
                self.ledger.complete_charge()?;
                (earlier.number, true, "it was charged before, and its run was killed".into())
            }
            Fate::New => (1, false, "it was never released".to_owned()),
            Fate::Second { number, why } => {
                ensure!(self.allowance.spend, "{why}. It was not released; accept a second release with --spend");
                (number, false, format!("a second release was accepted: {why}"))
            }
        };
        let (start, memory) = (Instant::now(), PeakMemory::watch());
        let recipe = recipe_of_release(task, number);
        let key = recipe.key();
        self.rehearse(task, slots)?;
        if !is_charged {
            let names = names_of_nodes(slots, self.memory)?;
            self.check_stated_nodes(slots)?;
            let releases = task.releases.iter().cloned().zip(wanted.private_data).collect();
            let charge = Charge {
                experiment: &self.config.name,
                population: &task.population,
                trial: 0,
                entry: &key,
                function: task.function,
                question: &wanted.question,
                number,
                randomness: self.config.privacy.randomness,
                deployment: Some(Deployment {
                    nodes: names.as_deref().map(digest_of_names),
                    program: Program::of(task.stage, task.function)?,
                }),
                releases,
            };
            self.refuse_after_a_failure(ends)?;
            // A part of a plan must not be spent when the whole of it cannot be.
            let judged = self.check_whole_plan(&charge, ends)?;
            self.ledger.charge(&charge, |spent| self.check_charge(&charge, spent, judged))?;
        }
        let mut entropy = [0; 32];
        getrandom::fill(&mut entropy).context("the operating system gives no random numbers; nothing was released")?;
        let rng = StageRng::from_os(&entropy);
        let release = release_record(task, number, &key);
        let entry = self.make(task, recipe, slots, &rng, release, lock)?;
        let (took, memory) = (start.elapsed(), memory.end());
        let status = Status::Ran { why: vec![why], took, host: host().to_owned(), memory };
        Ok(Done { status, entry: Some(Arc::new(entry)) })
    }

    /// Refuses what cannot be released, while it still costs nothing.
    pub(super) fn rehearse(&self, task: &Task, slots: &[Vec<Handle>]) -> anyhow::Result<()> {
        let function = registry::find(task.stage, task.function)?;
        function.rehearse(&task.params, slots, self.memory, &self.store.root().join(task.stage))
    }

    /// Refuses a statement about another number of nodes: every sentence about beliefs rests on it.
    pub(super) fn check_stated_nodes(&self, slots: &[Vec<Handle>]) -> anyhow::Result<()> {
        let Some(stated) = &self.config.privacy.public_knowledge else { return Ok(()) };
        let Some(names) = names_of_nodes(slots, self.memory)? else { return Ok(()) };
        if stated.nodes == names.len() as u64 {
            return Ok(());
        }
        let problem = format!(
            "it states {} nodes, and the data have {}; nothing was released. State what is known about this graph",
            stated.nodes,
            names.len()
        );
        Err(self.config.error("privacy.public_knowledge", &problem).into())
    }

    /// Looks the release up in the ledger.
    pub(super) fn judge(&self, task: &Task, wanted: &Wanted) -> anyhow::Result<Fate> {
        let earlier = self.ledger.earlier(&task.population, &wanted.private_data, task.function, &task.releases)?;
        let mut lost = None;
        for release in &earlier {
            if difference(release, task, wanted).is_some() {
                continue;
            }
            match self.store.sound(task.stage, &release.entry)? {
                Found::Whole(entry) => {
                    return Ok(Fate::Made(Done { status: Status::Fresh, entry: Some(Arc::from(entry)) }));
                }
                Found::Absent
                    if release.private_data.is_some() && !was_drawn(self.store, task.stage, &release.entry)? =>
                {
                    return Ok(Fate::ToBeDrawn(release.clone()));
                }
                Found::Absent | Found::Damaged(_) => lost = lost.or(Some(release)),
            }
        }
        let of_population = earlier.iter().filter(|release| release.population == task.population);
        let number = 1 + of_population.map(|release| release.number).max().unwrap_or(0);
        let Some(last) = earlier.first() else {
            let first = recipe_of_release(task, 1).key();
            if was_drawn(self.store, task.stage, &first)? {
                let why = "noise was drawn for the same before, and the privacy ledger does not know of it; restore the ledger \
                           from a copy";
                return Ok(Fate::Second { number: 2, why: why.to_owned() });
            }
            return Ok(Fate::New);
        };
        let why = match (lost, difference(last, task, wanted)) {
            (Some(lost), _) => format!(
                "this release was drawn before and its entry {} is damaged or gone; restore it from a copy",
                lost.entry
            ),
            (None, Some(difference)) => format!(
                "`{}` was asked for the same before, and {difference}; a further release would cost as much again",
                last.population
            ),
            (None, None) => unreachable!("a release without a difference is made, to be drawn, or lost"),
        };
        Ok(Fate::Second { number, why })
    }

    /// Publishes a release that was drawn, and whose process was killed before it could.
    fn recover(&self, task: &Task, wanted: &Wanted) -> anyhow::Result<()> {
        for release in self.drawn_and_absent(task, wanted)? {
            self.store.recover(task.stage, &release.entry)?;
        }
        Ok(())
    }

    /// Releases that were drawn for the same, and that the store does not have.
    pub(super) fn drawn_and_absent(&self, task: &Task, wanted: &Wanted) -> anyhow::Result<Vec<EarlierRelease>> {
        let mut earlier = self.ledger.earlier(&task.population, &wanted.private_data, task.function, &task.releases)?;
        earlier.retain(|release| difference(release, task, wanted).is_none());
        let mut absent = Vec::new();
        for release in earlier {
            let is_absent = matches!(self.store.find(task.stage, &release.entry), Ok(None));
            if is_absent && was_drawn(self.store, task.stage, &release.entry)? {
                absent.push(release);
            }
        }
        Ok(absent)
    }

    /// Digests of what a task would release, and of what the server asked for.
    pub(super) fn wanted(&self, task: &Task, slots: &[Vec<Handle>]) -> anyhow::Result<Wanted> {
        let bound = || task.slots.iter().zip(slots);
        let private_data = |release: &Release| -> anyhow::Result<String> {
            let mut found = bound().filter(|(slot, _)| release.subject.artifacts().contains(&slot.slot.artifact));
            match found.next().map(|(_, handles)| handles.as_slice()) {
                Some([Handle::Artifact { entry, name }]) => {
                    let output = entry.manifest.outputs.get(name).with_context(|| absent(entry, name))?;
                    Ok(output.content.clone().unwrap_or_else(|| output.digest.clone()))
                }
                _ => {
                    anyhow::bail!("{} {}: it releases what it does not read; this is a bug", task.stage, task.function)
                }
            }
        };
        let mut question = blake3::Hasher::new();
        let mut asks = false;
        for (slot, handles) in bound().filter(|(slot, _)| slot.slot.zone != Zone::Owner) {
            for handle in handles {
                asks = true;
                question.update(format!("{}:{}\n", slot.slot.artifact, self.digest(handle)?).as_bytes());
            }
        }
        Ok(Wanted {
            private_data: task.releases.iter().map(private_data).collect::<anyhow::Result<_>>()?,
            question: if asks { question.finalize().to_hex().to_string() } else { String::new() },
        })
    }
}

/// The names of the nodes that a task reads about.
fn names_of_nodes(slots: &[Vec<Handle>], memory: MemoryLimit) -> anyhow::Result<Option<Vec<String>>> {
    let entry = slots.iter().flatten().find_map(|handle| match handle {
        Handle::Artifact { entry, .. } => entry.manifest.outputs.contains_key(NodeMap::NAME).then_some(entry),
        Handle::Raw(_) => None,
    });
    Ok(entry.map(|entry| entry.read::<NodeMap>(NodeMap::NAME, memory)).transpose()?.map(|map| map.names))
}

/// Digest of a list of names. Files may be written otherwise one day, so it is of the names.
fn digest_of_names(names: &[String]) -> String {
    let mut digest = blake3::Hasher::new();
    for name in names {
        digest.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
    }
    digest.finalize().to_hex().to_string()
}

/// What tells an earlier release from the one that is asked for, although both say the same; none if it is that one.
///
/// Rows of earlier layouts say nothing about the data or the question, and count as equal in both.
fn difference(earlier: &EarlierRelease, task: &Task, wanted: &Wanted) -> Option<&'static str> {
    if earlier.population != task.population {
        return Some("the data are those that were released under that name; write the same `population`");
    }
    if earlier.private_data.as_ref().is_some_and(|data| *data != wanted.private_data) {
        return Some("the private data have changed since; give the data as they were to use that release");
    }
    if earlier.question.as_ref().is_some_and(|question| *question != wanted.question) {
        return Some(
            "the server asks something else than it asked then; give it the config and the program of that time",
        );
    }
    None
}

/// What a plan says about a release that is not there.
fn planned(fate: Fate, is_accepted: bool) -> Done {
    let why = match fate {
        Fate::Second { why, .. } if is_accepted => format!("a second release is accepted: {why}"),
        Fate::Second { why, .. } => format!("but it would be refused without --spend: {why}"),
        Fate::ToBeDrawn(_) => "it was charged before, and its run was killed".to_owned(),
        Fate::New | Fate::Made(_) => "it was never released".to_owned(),
    };
    Done { status: Status::WouldRun { why: vec![why] }, entry: None }
}

/// What the manifest of a release says about it; none where nothing is released.
pub(super) fn release_record(task: &Task, number: u32, entry: &str) -> Option<ReleaseRecord> {
    (!task.releases.is_empty()).then(|| ReleaseRecord {
        population: task.population.clone(),
        statement: statement(task.function, &task.releases),
        number,
        charged_as: entry.to_owned(),
        collected: false,
    })
}
