//! The cost of a whole plan is compared with the budget before the first of its releases is drawn.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use veilgraph_contract::{Relation, Release};
use veilgraph_privacy::composition::{total_epsilon, totals};
use veilgraph_store::Found;

use super::look_ahead::Ahead;
use super::recipe::handles;
use super::{Ends, Engine};
use crate::belief::{check_belief, sentences};
use crate::costs::in_words;
use crate::ledger::{Charge, Ledger, Spent};
use crate::task::{Done, Status, Task};

/// The releases of a deployment about a population that the ledger does not have. That is known before any data are read:
/// an equal release is found again, or refused, and so is one that the plan asks for twice.
pub(crate) fn outstanding_releases<'a>(
    ledger: &Ledger,
    tasks: &'a [Task],
    population: &str,
) -> anyhow::Result<Vec<&'a Release>> {
    let mut outstanding = Vec::new();
    for task in tasks.iter().filter(|task| task.population == population) {
        if ledger.earlier(population, &[], task.function, &task.releases)?.is_empty() {
            outstanding.extend(task.added_releases());
        }
    }
    Ok(outstanding)
}

/// What the budget is compared with.
const WHOLE_PLAN: &str = "all releases of this plan together cost";

impl Engine<'_> {
    /// Refuses the first charge of a population if all releases that are still to be made about it exceed its budget.
    ///
    /// Once a plan was found to fit, its later releases are checked one by one by the ledger alone.
    pub(super) fn check_whole_plan(&self, charge: &Charge, ends: &Ends) -> anyhow::Result<()> {
        // One task at a time, and what was refused once is refused for all.
        let mut judged = self.ledger.judged_plans();
        if !self.ledger.is_first_charge_about(charge.population) {
            return Ok(());
        }
        if let Some(refusal) = judged.get(charge.population) {
            return refusal.clone().map_or(Ok(()), |refusal| Err(anyhow!(refusal)));
        }
        let verdict = self.judge_whole_plan(charge, ends);
        judged.insert(charge.population.to_owned(), verdict.as_ref().err().map(ToString::to_string));
        verdict
    }

    /// Refuses the first charge about a population, before anything is computed, if all releases that are still to be made exceed the
    /// budget of its name.
    pub(super) fn check_budgets(&self) -> anyhow::Result<()> {
        if !self.allowance.is_limited() {
            return Ok(());
        }
        let populations: BTreeSet<&str> = self.tasks.iter().map(|task| task.population.as_str()).collect();
        for population in populations.into_iter().filter(|population| !population.is_empty()) {
            let outstanding = outstanding_releases(self.ledger, self.tasks, population)?;
            if !outstanding.is_empty() {
                let spent = self.ledger.spent(population, &[], self.config.privacy.randomness)?;
                let checked = self.allowance.check(WHOLE_PLAN, &outstanding, &spent);
                checked.with_context(|| self.config.name.clone())?;
            }
        }
        Ok(())
    }

    fn judge_whole_plan(&self, charge: &Charge, ends: &Ends) -> anyhow::Result<()> {
        if self.config.is_deployment() {
            return self.judge_deployment(charge, ends);
        }
        if !self.allowance.is_limited() {
            return Ok(());
        }
        let spent = self.ledger.spent(charge.population, &charge.private_inputs(), charge.randomness)?;
        let outstanding = self.outstanding(charge.population, ends)?;
        self.allowance.check(WHOLE_PLAN, &outstanding, &spent)
    }

    fn judge_deployment(&self, charge: &Charge, ends: &Ends) -> anyhow::Result<()> {
        let Ahead { private_data, to_be_charged } = self.look_ahead(charge, ends)?;
        let private_data: Vec<&str> = private_data.iter().map(String::as_str).collect();
        let spent = self.ledger.spent(charge.population, &private_data, charge.randomness)?;
        self.display.say(&format!(
            "privatize  about to release what costs each node of `{}` {}",
            charge.population,
            in_words(&totals(to_be_charged.iter().copied()))
        ));
        let others = self.ledger.populations_of_the_same_nodes(charge);
        if !others.is_empty() {
            tracing::warn!(
                "the nodes have exactly the names of {}, about which the ledger has releases; if they are the same people, \
                 their costs add up: write one `population` in [privacy] for all of them",
                others.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and of ")
            );
        }
        self.check_beliefs(charge, &to_be_charged, &spent)?;
        self.allowance.check(WHOLE_PLAN, &to_be_charged, &spent)
    }

    /// Stops where the server could come to believe more about a pair than the config accepts, after everything that was
    /// released about these people.
    fn check_beliefs(&self, charge: &Charge, to_be_charged: &[&Release], spent: &Spent) -> anyhow::Result<()> {
        if total_epsilon(to_be_charged.iter().copied(), Relation::Edge) <= 0.0 {
            // What says nothing of a link changes no belief in one.
            return Ok(());
        }
        for sentence in sentences(self.config, self.tasks)? {
            self.display.say(&format!("privatize  {sentence}"));
        }
        let all = spent.releases.iter().chain(to_be_charged.iter().copied());
        let nats_per_link = total_epsilon(all, Relation::Edge);
        check_belief(self.config, charge.population, nats_per_link, self.allowance.accept_belief)
    }

    /// The simulated releases about a population that this plan has not made yet.
    fn outstanding(&self, population: &str, ends: &Ends) -> anyhow::Result<Vec<&Release>> {
        let mut known: Vec<Option<Done>> = ends.iter().map(|end| end.get().cloned()).collect();
        let mut outstanding = Vec::new();
        for (index, task) in self.tasks.iter().enumerate() {
            if known[index].is_none() {
                known[index] = self.fresh(task, &known)?;
            }
            if task.population == population && known[index].is_none() && !self.was_charged_in_last_run(task) {
                outstanding.extend(task.added_releases());
            }
        }
        Ok(outstanding)
    }

    /// Whether the last run charged this release, although what stands before the release may be gone.
    fn was_charged_in_last_run(&self, task: &Task) -> bool {
        let key = task.labels.iter().find_map(|label| self.record.key(task, label));
        let entry = key
            .filter(|key| self.ledger.has(key, task.releases.len()))
            .and_then(|key| self.store.find(task.stage, key).ok().flatten());
        entry.is_some_and(|entry| entry.manifest.recipe.params == task.canonical)
    }

    /// The end of a task that need not run, or whose release was charged before.
    fn fresh(&self, task: &Task, known: &[Option<Done>]) -> anyhow::Result<Option<Done>> {
        let Some(slots) = handles(task, |source| known[source].as_ref()?.entry.clone()) else { return Ok(None) };
        let recipe = self.recipe(task, &slots)?;
        let entry = match self.store.sound(task.stage, &recipe.key())? {
            Found::Whole(entry) => Some(Arc::from(entry)),
            _ => None,
        };
        let is_charged = !task.releases.is_empty() && self.ledger.has(&recipe.key(), task.releases.len());
        Ok((entry.is_some() || is_charged).then_some(Done { status: Status::Fresh, entry }))
    }
}
