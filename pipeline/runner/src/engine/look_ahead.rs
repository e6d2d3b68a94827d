//! Before the first charge of a deployment: whether anything else in its plan has failed or would be refused.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{anyhow, bail, ensure};
use veilgraph_contract::Release;

use super::recipe::handles;
use super::release::Fate;
use super::{Ends, Engine};
use crate::ledger::{Charge, EarlierRelease, statement};
use crate::output::causes;
use crate::task::{Handle, Status, Task};

/// What a plan releases about a population.
pub(super) struct Ahead<'a> {
    /// Keyed digests of all private data that its releases are about.
    pub private_data: BTreeSet<String>,
    /// What is still to be charged.
    pub to_be_charged: Vec<&'a Release>,
}

/// How a refusal begins. It is kept, and told to releases that come later in a run that keeps going.
const NOT_CHARGED: &str = "this was not charged, because";

/// A task that releases something, as it was found.
struct Expected {
    /// Keyed digests of the private data that it is about.
    private_data: BTreeSet<String>,
    /// Whether it is still to be charged.
    is_to_be_charged: bool,
}

impl Engine<'_> {
    /// Refuses the first charge about a population where something failed before it, and where another release of the plan about the
    /// population would be refused: what is paid for a part of a plan is lost where the rest cannot be had. Of a release that reads from
    /// another one, the data alone are known before that is there; what it asks is looked at in its turn.
    pub(super) fn look_ahead(&self, charge: &Charge, ends: &Ends) -> anyhow::Result<Ahead<'_>> {
        let charged = statement(charge.function, charge.releases.iter().map(|(release, _)| release));
        let mut ahead = Ahead { private_data: BTreeSet::new(), to_be_charged: Vec::new() };
        let mut found: BTreeMap<usize, Expected> = BTreeMap::new();
        let (mut seen, mut data_of) = (BTreeSet::new(), BTreeMap::new());
        for (index, task) in self.tasks.iter().enumerate() {
            if task.population != charge.population || task.releases.is_empty() {
                continue;
            }
            let said = statement(task.function, &task.releases);
            let of_task = match handles(task, |source| ends[source].get()?.entry.clone()) {
                Some(slots) => {
                    let is_charged_now = |data: &[String]| said == charged && charge.private_inputs() == data;
                    self.look_at(task, &slots, is_charged_now).map_err(|error| {
                        let causes = causes(&error).join(": ");
                        anyhow!(
                            "{NOT_CHARGED} another release of this config would be refused: {}: {causes}",
                            task.called()
                        )
                    })?
                }
                None => self.expected_behind(index, &found)?,
            };
            let data = &of_task.private_data;
            if of_task.is_to_be_charged && !self.allowance.spend {
                ensure!(
                    data_of.entry(said.clone()).or_insert_with(|| data.clone()) == data,
                    "{NOT_CHARGED} {} asks for the same release as another task of this config, about another version of the data, \
                     and would be a second release about `{}`; ask for one of them",
                    task.called(),
                    charge.population
                );
            }
            ahead.private_data.extend(data.iter().cloned());
            // What is asked for twice about the same data is drawn once.
            if of_task.is_to_be_charged && seen.insert((said, data.clone())) {
                ahead.to_be_charged.extend(&task.releases);
            }
            found.insert(index, of_task);
        }
        Ok(ahead)
    }

    /// What is known of a release that reads from others, before these are there: it is drawn if one of these is, or if nothing like it
    /// was charged about the data that these are about.
    fn expected_behind(&self, index: usize, found: &BTreeMap<usize, Expected>) -> anyhow::Result<Expected> {
        let task = &self.tasks[index];
        let (mut open, mut before) = (vec![index], BTreeSet::new());
        while let Some(reader) = open.pop() {
            open.extend(self.tasks[reader].sources().filter(|source| before.insert(*source)));
        }
        let releases: Vec<&Expected> = before.iter().filter_map(|source| found.get(source)).collect();
        let private_data: BTreeSet<String> =
            releases.iter().flat_map(|release| &release.private_data).cloned().collect();
        let earlier = self.ledger.earlier(&task.population, &[], task.function, &task.releases)?;
        // Rows of earlier layouts do not say what they are about.
        let is_of_these = |release: &EarlierRelease| {
            release.private_data.as_ref().is_none_or(|data| private_data.iter().eq(BTreeSet::from_iter(data)))
        };
        if earlier.is_empty() || releases.iter().any(|release| release.is_to_be_charged) {
            return Ok(Expected { private_data, is_to_be_charged: true });
        }
        let is_to_be_charged = !earlier.iter().any(is_of_these);
        ensure!(
            !is_to_be_charged || self.allowance.spend,
            "{NOT_CHARGED} another release of this config would be refused: {}: `{}` was asked for the same before, and the private \
             data have changed since; give the data as they were to use that release, leave it out, or accept it with --spend",
            task.called(),
            task.population
        );
        Ok(Expected { private_data, is_to_be_charged })
    }

    /// Refuses to pay where owner or server failed in something; only a run that keeps going gets so far.
    pub(super) fn refuse_after_a_failure(&self, ends: &Ends) -> anyhow::Result<()> {
        for (task, end) in self.tasks.iter().zip(ends) {
            let has_failed = end.get().is_some_and(|done| matches!(done.status, Status::Failed { .. }));
            if has_failed && task.releases.is_empty() && task.side != "auditor" {
                bail!("{NOT_CHARGED} {} failed before; mend that first", task.called());
            }
        }
        Ok(())
    }

    /// Looks a release of the plan up, and rehearses it unless its charge, just before which it was rehearsed, `is_charged_now`.
    fn look_at(
        &self,
        task: &Task,
        slots: &[Vec<Handle>],
        is_charged_now: impl Fn(&[String]) -> bool,
    ) -> anyhow::Result<Expected> {
        let wanted = self.wanted(task, slots)?;
        let fate = self.judge(task, &wanted)?;
        // Its turn publishes what a killed process has left complete.
        let mut is_left = false;
        for release in self.drawn_and_absent(task, &wanted)? {
            is_left |= self.store.is_whole_draft(task.stage, &release.entry)?;
        }
        let is_to_be_charged = match &fate {
            Fate::Made(_) | Fate::ToBeDrawn(_) => false,
            Fate::New => true,
            // Another process may have published it since.
            Fate::Second { .. } if is_left || matches!(self.judge(task, &wanted)?, Fate::Made(_)) => false,
            Fate::Second { .. } if self.allowance.spend => true,
            Fate::Second { why, .. } => bail!("{why}; leave it out, or accept it with --spend"),
        };
        if (is_to_be_charged || matches!(fate, Fate::ToBeDrawn(_))) && !is_charged_now(&wanted.private_data) {
            self.rehearse(task, slots)?;
            self.check_stated_nodes(slots)?;
        }
        Ok(Expected { private_data: wanted.private_data.into_iter().collect(), is_to_be_charged })
    }
}
