//! Before the first charge of a deployment: whether anything else in its plan has failed or would be refused.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{anyhow, bail, ensure};

use super::recipe::handles;
use super::release::Fate;
use super::{Ends, Engine};
use crate::ledger::{Charge, statement};
use crate::output::causes;
use crate::task::{Handle, Status, Task};

/// A release of the plan, as it was found.
struct Found {
    /// Keyed digests of the private data that it is about.
    private_data: Vec<String>,
    /// Whether it was never charged.
    is_new: bool,
}

impl Engine<'_> {
    /// Refuses the first charge about a population where something failed that needs no release, and where another release of the plan
    /// about it would be refused: what is paid for a part of a plan is lost where the rest cannot be had. What reads from a release is
    /// looked at when that is there.
    ///
    /// Returns keyed digests of all private data that the plan releases about the population.
    pub(super) fn look_ahead(&self, charge: &Charge, ends: &Ends) -> anyhow::Result<BTreeSet<String>> {
        self.refuse_after_a_failure(ends)?;
        let charged = statement(charge.function, charge.releases.iter().map(|(release, _)| release));
        let (mut digests, mut new) = (BTreeSet::new(), BTreeMap::new());
        for task in self.tasks.iter().filter(|task| task.population == charge.population && !task.releases.is_empty()) {
            let Some(slots) = handles(task, |source| ends[source].get()?.entry.clone()) else { continue };
            let said = statement(task.function, &task.releases);
            // What is charged was rehearsed just before.
            let found = self.look_at(task, &slots, said != charged).map_err(|error| {
                let causes = causes(&error).join(": ");
                anyhow!(
                    "nothing was charged, because another release of this config would be refused: {}: {causes}",
                    task.called()
                )
            })?;
            digests.extend(found.private_data.iter().cloned());
            if found.is_new && !self.allowance.spend {
                let data = new.entry(said).or_insert_with(|| found.private_data.clone());
                ensure!(
                    *data == found.private_data,
                    "{}: nothing was charged, because this config asks for the same release about two versions of the data, and the \
                     second would be a second release about `{}`; ask for one of them",
                    task.called(),
                    charge.population
                );
            }
        }
        Ok(digests)
    }

    /// Refuses to pay where owner or server failed in something that reads from no release; a run that keeps going gets so far.
    fn refuse_after_a_failure(&self, ends: &Ends) -> anyhow::Result<()> {
        for (task, end) in self.tasks.iter().zip(ends) {
            let has_failed = end.get().is_some_and(|done| matches!(done.status, Status::Failed { .. }));
            if has_failed && task.releases.is_empty() && task.side != "auditor" {
                bail!("nothing was charged, because {} failed, which needs no release; mend that first", task.called());
            }
        }
        Ok(())
    }

    /// Looks a release of the plan up, and rehearses it if it `is_unrehearsed`.
    fn look_at(&self, task: &Task, slots: &[Vec<Handle>], is_unrehearsed: bool) -> anyhow::Result<Found> {
        let wanted = self.wanted(task, slots)?;
        let fate = self.judge(task, &wanted)?;
        if let (Fate::Second { why, .. }, false) = (&fate, self.allowance.spend) {
            // Its turn publishes what a killed process has left complete.
            let mut may_be_made = false;
            for release in self.drawn_and_absent(task, &wanted)? {
                may_be_made |= self.store.is_whole_draft(task.stage, &release.entry)?;
            }
            // Another process may have published it since.
            may_be_made |= matches!(self.judge(task, &wanted)?, Fate::Made(_));
            ensure!(may_be_made, "{why}");
        } else if is_unrehearsed && !matches!(fate, Fate::Made(_)) {
            self.rehearse(task, slots)?;
        }
        Ok(Found { private_data: wanted.private_data, is_new: matches!(fate, Fate::New) })
    }
}
