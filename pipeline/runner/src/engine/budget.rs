//! The cost of a whole plan is compared with the budget before the first of its releases is drawn.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::ensure;
use veilgraph_contract::Relation;
use veilgraph_privacy::composition::total_epsilon;
use veilgraph_store::Found;

use super::{Ends, Engine, handles};
use crate::ledger::{Charge, identity};
use crate::task::{Done, Status, Task};

impl Engine<'_> {
    /// Refuses the first charge of a population if all releases that are still to be made about it exceed its budget.
    ///
    /// Once a plan was found to fit, its later releases are checked one by one by the ledger alone.
    pub(super) fn check_whole_plan(&self, charge: &Charge, ends: &Ends) -> anyhow::Result<()> {
        let Some(budget) = self.allowance.budget.filter(|_| !self.allowance.spend) else { return Ok(()) };
        if !self.ledger.is_first_charge_about(charge.population) {
            return Ok(());
        }
        let spent = self.ledger.spent(charge.population, &charge.private_inputs(), charge.randomness)?;
        let outstanding = self.outstanding(charge.population, ends)?;
        let left = budget.nats() - spent;
        ensure!(
            // Sums of decimals are off by some 1e-16.
            outstanding <= left + 1e-12 * budget.nats(),
            "all releases of this plan together cost {outstanding} nats per list bit and exceed the budget: {spent} of \
             {budget} nats are spent on `{}`, {left} remain; nothing was released. Lower epsilon, release less, or \
             accept the overspend with --spend",
            charge.population,
            budget = budget.nats(),
        );
        Ok(())
    }

    /// What the releases about a population cost that this plan has not made yet, in nats per list bit.
    fn outstanding(&self, population: &str, ends: &Ends) -> anyhow::Result<f64> {
        let mut known: Vec<Option<Done>> = ends.iter().map(|end| end.get().cloned()).collect();
        // In a deployment the ledger tells which releases were made: an equal one is found again, or refused.
        let mut made = if self.config.is_deployment() { self.ledger.made_about(population) } else { BTreeMap::new() };
        let mut cost = 0.0;
        for (index, task) in self.tasks.iter().enumerate() {
            if known[index].is_none() {
                known[index] = self.fresh(task, &known)?;
            }
            if task.population != population {
                continue;
            }
            let was_made = match made.get_mut(&identity(&task.releases)) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    true
                }
                _ => false,
            };
            let was_recorded = !self.config.is_deployment() && self.was_charged_in_last_run(task);
            if known[index].is_none() && !was_made && !was_recorded {
                cost += total_epsilon(&task.releases, Relation::ListBit);
            }
        }
        Ok(cost)
    }

    /// Whether the last run charged this release, although what stands before the release may be gone.
    fn was_charged_in_last_run(&self, task: &Task) -> bool {
        let key = task.labels.iter().find_map(|label| self.record.key(task, label));
        let entry =
            key.filter(|key| self.ledger.has(key)).and_then(|key| self.store.find(task.stage, key).ok().flatten());
        entry.is_some_and(|entry| entry.manifest.recipe.params == task.canonical)
    }

    /// The end of a task that need not run, or whose release was charged before.
    fn fresh(&self, task: &Task, known: &[Option<Done>]) -> anyhow::Result<Option<Done>> {
        let Some(slots) = handles(task, |source| known[source].as_ref()?.entry.clone()) else { return Ok(None) };
        let recipe = self.recipe(task, &slots)?;
        let entry = match self.store.sound(task.stage, &recipe.key())? {
            Found::Whole(entry) => Some(Arc::from(entry)),
            _ => self.earlier_release(task, &recipe)?.map(Arc::new),
        };
        let is_charged = !task.releases.is_empty() && self.ledger.has(&recipe.key());
        Ok((entry.is_some() || is_charged).then_some(Done { status: Status::Fresh, entry }))
    }
}
