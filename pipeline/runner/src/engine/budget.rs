//! The budget of a whole plan, held against before the first of its releases is drawn.

use std::sync::Arc;

use anyhow::ensure;
use veilgraph_contract::Relation;
use veilgraph_privacy::composition::total_epsilon;
use veilgraph_store::Found;

use super::{Ends, Engine, handles};
use crate::ledger::Charge;
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
        let graph = charge.releases.first().map(|(_, graph)| graph.as_str());
        let spent = self.ledger.spent(charge.population, graph, charge.randomness)?;
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
        let mut cost = 0.0;
        for (index, task) in self.tasks.iter().enumerate() {
            if known[index].is_none() {
                known[index] = self.fresh(task, &known)?;
            }
            if known[index].is_none() && task.population == population {
                cost += total_epsilon(&task.releases, Relation::ListBit);
            }
        }
        Ok(cost)
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
