//! The cost of a whole plan is compared with the budget before the first of its releases is drawn.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use veilgraph_contract::{Relation, Release};
use veilgraph_privacy::composition::{total_epsilon, totals};
use veilgraph_store::Found;

use super::look_ahead::Ahead;
use super::recipe::handles;
use super::{Ends, Engine};
use crate::belief::{check_belief, crossed_line, sentences};
use crate::costs::in_words;
use crate::ledger::{Charge, Judged, Ledger, Spent};
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
    /// Once a plan was found to fit, its later releases are checked one by one by [`Self::check_charge`] alone.
    pub(super) fn check_whole_plan(&self, charge: &Charge, ends: &Ends) -> anyhow::Result<Judged> {
        // One task at a time, and what was refused once is refused for all.
        let mut judged = self.ledger.judged_plans();
        if let Some(verdict) = judged.get(charge.population) {
            return verdict.clone().map_err(|refusal| anyhow!(refusal));
        }
        let verdict = self.judge_whole_plan(charge, ends);
        judged.insert(charge.population.to_owned(), verdict.as_ref().copied().map_err(ToString::to_string));
        verdict
    }

    /// Refuses a charge that would exceed the budget, and one after which a link would have cost more than the plan was `judged` to
    /// cost it, since another process has released about the same nodes meanwhile, if the server could then believe too much.
    pub(super) fn check_charge(
        &self,
        charge: &Charge,
        spent: &dyn Fn() -> Spent,
        judged: Judged,
    ) -> anyhow::Result<()> {
        // A simulation of thousands of releases must not add up all of them for each.
        if !self.allowance.is_limited() && matches!(judged, Judged::Simulation) {
            return Ok(());
        }
        let spent = spent();
        let releases: Vec<&Release> = charge.releases.iter().map(|(release, _)| release).collect();
        self.allowance.check("the parts of a release together cost", &releases, &spent)?;
        let Judged::Deployment { nats_per_link: judged } = judged else { return Ok(()) };
        let nats_per_link = total_epsilon(spent.releases.iter().chain(releases.iter().copied()), Relation::Edge);
        let adds_nothing = total_epsilon(releases.iter().copied(), Relation::Edge) <= 0.0;
        // Costs are added in another order than when the plan was judged.
        if self.allowance.accept_belief || adds_nothing || nats_per_link <= (1.0 + 1e-12) * judged {
            return Ok(());
        }
        match crossed_line(self.config, charge.population, nats_per_link)? {
            Some(crossed) => bail!(
                "{crossed}: another run has released about the same nodes since this one began. This release was not charged; run \
                 again to see what all of it comes to, or accept it with --accept-belief"
            ),
            None => Ok(()),
        }
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

    fn judge_whole_plan(&self, charge: &Charge, ends: &Ends) -> anyhow::Result<Judged> {
        if self.config.is_deployment() {
            return self.judge_deployment(charge, ends);
        }
        if !self.allowance.is_limited() {
            return Ok(Judged::Simulation);
        }
        let spent = self.ledger.spent(charge.population, &charge.private_inputs(), charge.randomness)?;
        let outstanding = self.outstanding(charge.population, ends)?;
        self.allowance.check(WHOLE_PLAN, &outstanding, &spent).map(|()| Judged::Simulation)
    }

    fn judge_deployment(&self, charge: &Charge, ends: &Ends) -> anyhow::Result<Judged> {
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
        let nats_per_link = self.check_beliefs(charge, &to_be_charged, &spent)?;
        self.allowance.check(WHOLE_PLAN, &to_be_charged, &spent).map(|()| Judged::Deployment { nats_per_link })
    }

    /// Stops where the server could come to believe more about a pair than the config accepts, after everything that was
    /// released about these people. Returns what all of that costs a link, in nats.
    fn check_beliefs(&self, charge: &Charge, to_be_charged: &[&Release], spent: &Spent) -> anyhow::Result<f64> {
        let all = spent.releases.iter().chain(to_be_charged.iter().copied());
        let nats_per_link = total_epsilon(all, Relation::Edge);
        if total_epsilon(to_be_charged.iter().copied(), Relation::Edge) <= 0.0 {
            // What says nothing of a link changes no belief in one.
            return Ok(nats_per_link);
        }
        for sentence in sentences(self.config, self.tasks)? {
            self.display.say(&format!("privatize  {sentence}"));
        }
        check_belief(self.config, charge.population, nats_per_link, self.allowance.accept_belief)?;
        Ok(nats_per_link)
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
