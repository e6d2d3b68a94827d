//! Before the first charge of a deployment: whether anything else in its plan has failed or would be refused.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{anyhow, bail, ensure};
use veilgraph_contract::Release;

use super::recipe::handles;
use super::release::Fate;
use super::{Ends, Engine};
use crate::ledger::{Charge, statement};
use crate::output::causes;
use crate::task::{Handle, Status, Task};

/// What a plan releases about a population.
pub(super) struct Ahead<'a> {
    /// Keyed digests of all private data that its releases are about.
    pub private_data: BTreeSet<String>,
    /// What is still to be charged and drawn.
    pub to_be_drawn: Vec<&'a Release>,
}

/// A release of the plan, as it was found.
struct Found {
    /// Keyed digests of the private data that it is about.
    private_data: Vec<String>,
    state: State,
}

/// What was found about a release.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It was charged, and nothing is charged for it again.
    Charged,
    /// Nothing like it was charged.
    New,
    /// A second one about the same people was accepted.
    Second,
}

impl Engine<'_> {
    /// Refuses the first charge about a population where something failed that needs no release, and where another release of the plan
    /// about it would be refused: what is paid for a part of a plan is lost where the rest cannot be had. What reads from a release is
    /// looked at when that is there.
    ///
    pub(super) fn look_ahead(&self, charge: &Charge, ends: &Ends) -> anyhow::Result<Ahead<'_>> {
        self.refuse_after_a_failure(ends)?;
        let charged = statement(charge.function, charge.releases.iter().map(|(release, _)| release));
        let mut ahead = Ahead { private_data: BTreeSet::new(), to_be_drawn: Vec::new() };
        let (mut seen, mut data_of) = (BTreeSet::new(), BTreeMap::new());
        for task in self.tasks.iter().filter(|task| task.population == charge.population && !task.releases.is_empty()) {
            let said = statement(task.function, &task.releases);
            let Some(slots) = handles(task, |source| ends[source].get()?.entry.clone()) else {
                let is_known = !self.ledger.earlier(charge.population, &[], task.function, &task.releases)?.is_empty();
                if (!is_known || self.allowance.spend) && seen.insert((said, Vec::new())) {
                    ahead.to_be_drawn.extend(&task.releases);
                }
                continue;
            };
            let is_charged_now = |data: &[String]| said == charged && charge.private_inputs() == data;
            let Found { private_data, state } = self.look_at(task, &slots, is_charged_now).map_err(|error| {
                let causes = causes(&error).join(": ");
                anyhow!(
                    "nothing was charged, because another release of this config would be refused: {}: {causes}",
                    task.called()
                )
            })?;
            ahead.private_data.extend(private_data.iter().cloned());
            if state == State::New && !self.allowance.spend {
                let data = data_of.entry(said.clone()).or_insert_with(|| private_data.clone());
                ensure!(
                    *data == private_data,
                    "{}: nothing was charged, because this config asks for the same release about two versions of the data, and the \
                     second would be a second release about `{}`; ask for one of them",
                    task.called(),
                    charge.population
                );
            }
            if state != State::Charged && seen.insert((said, private_data)) {
                ahead.to_be_drawn.extend(&task.releases);
            }
        }
        Ok(ahead)
    }

    /// Refuses to pay where owner or server failed in something that reads from no release; a run that keeps going gets so far.
    fn refuse_after_a_failure(&self, ends: &Ends) -> anyhow::Result<()> {
        for (task, end) in self.tasks.iter().zip(ends) {
            let has_failed = end.get().is_some_and(|done| matches!(done.status, Status::Failed { .. }));
            if has_failed && task.releases.is_empty() && task.side != "auditor" {
                bail!("nothing was charged, because {} failed before; mend that first", task.called());
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
    ) -> anyhow::Result<Found> {
        let wanted = self.wanted(task, slots)?;
        let fate = self.judge(task, &wanted)?;
        let state = match &fate {
            Fate::Made(_) | Fate::ToBeDrawn(_) => State::Charged,
            Fate::New => State::New,
            Fate::Second { .. } if self.allowance.spend => State::Second,
            Fate::Second { why, .. } => {
                // Its turn publishes what a killed process has left complete.
                let mut may_be_made = false;
                for release in self.drawn_and_absent(task, &wanted)? {
                    may_be_made |= self.store.is_whole_draft(task.stage, &release.entry)?;
                }
                // Another process may have published it since.
                may_be_made |= matches!(self.judge(task, &wanted)?, Fate::Made(_));
                ensure!(may_be_made, "{why}; leave it out, or accept it with --spend");
                State::Charged
            }
        };
        let is_made = state == State::Charged && !matches!(fate, Fate::ToBeDrawn(_));
        if !is_made && !is_charged_now(&wanted.private_data) {
            self.rehearse(task, slots)?;
            self.check_stated_nodes(slots)?;
        }
        Ok(Found { private_data: wanted.private_data, state })
    }
}
