//! One way through an experiment so far: what is made, by which tasks, under which choices.

use std::collections::BTreeMap;
use std::sync::Arc;

use veilgraph_contract::{Artifact, Relation, Release, Slot, Zone};
use veilgraph_estimate::features::SubstituteParams;
use veilgraph_evaluate::RelationCost;
use veilgraph_graph::Propagation;
use veilgraph_privacy::composition::totals;

use crate::config::sweep::{SweptCell, SweptField};
use crate::task::{Wire, position};

/// One way through an experiment so far.
#[derive(Clone, Default)]
pub(crate) struct Branch {
    made: BTreeMap<(&'static str, Zone), Made>,
    /// Swept fields with their values.
    pub choices: Vec<SweptField>,
    /// Repetition, once trials are told apart.
    pub trial: Option<u32>,
    /// Further trials that choose the setting of a grid.
    pub search_trials: u32,
    /// Everything that was released on this way.
    pub releases: Vec<Release>,
    /// Whose data are released.
    pub population: String,
    /// Number of nodes, where it is known before any file is read.
    pub n_nodes: Option<usize>,
    /// The number of undirected links, where it is known before any file is read.
    pub n_links: Option<usize>,
    /// Number of features, where it is known before any file is read.
    pub n_features: Option<usize>,
    /// What a network does to features over its graph before it reads them.
    pub propagation: Propagation,
    /// Features that are still to be read off the graph.
    pub degree_features: Option<SweptCell<SubstituteParams>>,
    /// The same way with the link probabilities from which its graph was built, where there are any: an audit compares
    /// what follows from the graph with them.
    pub beliefs: Option<Arc<Branch>>,
    /// What scores are about.
    pub dataset: String,
    pub alternative: String,
    pub mechanism: String,
    pub variant: String,
    pub model: String,
    /// Share of the budget spent on degrees.
    pub degree_fraction: f64,
}

/// Whether an artifact is made, and by whom.
#[derive(Clone, Debug)]
pub(super) enum Made {
    /// By a task, which this way needs under these choices. Another way may share the task under other ones.
    By(Wire, Arc<[SweptField]>),
    Not(Absence),
}

/// Why an artifact is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// The data have none.
    NotInTheData,
    /// Its owners keep it.
    Withheld,
    /// This way through the experiment does without it.
    NotAskedFor,
}

impl Branch {
    /// The same way with further choices.
    pub(crate) fn with(&self, choices: &[SweptField]) -> Self {
        let mut branch = self.clone();
        branch.choices.extend(choices.iter().cloned());
        let mut all = std::mem::take(&mut branch.choices);
        branch.in_order(&mut all);
        branch.choices = all;
        branch
    }

    /// The same way in one of the trials.
    pub(super) fn in_trial(&self, trial: u32) -> Self {
        Self { trial: Some(trial), ..self.clone() }
    }

    /// The same way with features that are averaged over graphs like this.
    pub(crate) fn averaged(self, propagation: Propagation) -> Self {
        Self { propagation, ..self }
    }

    /// The same way without these artifacts.
    pub(crate) fn without(mut self, artifacts: &[&str]) -> Self {
        self.made.retain(|(name, _), _| !artifacts.contains(name));
        self
    }

    /// Says that the data have no such artifact, or that it is withheld.
    pub(crate) fn absent(&mut self, artifact: &str, zone: Zone, why: Absence) {
        let made = self.made.iter_mut().find(|((name, of), _)| (*name, *of) == (artifact, zone));
        if let Some((_, made)) = made {
            *made = Made::Not(why);
        }
    }

    /// Says that what follows must not read the artifact `A`, although a slot for it may be filled.
    pub(crate) fn mark_absent<A: Artifact>(&mut self) {
        self.made.insert((A::NAME, A::ZONE), Made::Not(Absence::NotAskedFor));
    }

    /// Whether the artifact `A` is there or will be made.
    pub(crate) fn has<A: Artifact>(&self) -> bool {
        self.has_named(A::NAME, A::ZONE)
    }

    /// Whether the artifact of this name and zone is there or will be made.
    pub(crate) fn has_named(&self, artifact: &str, zone: Zone) -> bool {
        self.made.iter().any(|((name, of), made)| *name == artifact && *of == zone && matches!(made, Made::By(..)))
    }

    /// Takes an artifact over from another way.
    pub(crate) fn take(&mut self, artifact: &str, from: &Self) {
        for (key, made) in from.made.iter().filter(|(key, _)| key.0 == artifact) {
            self.made.insert(*key, made.clone());
        }
    }

    pub(super) fn get(&self, slot: Slot) -> Option<&Made> {
        self.made.get(&(slot.artifact, slot.zone))
    }

    pub(super) fn set(&mut self, slot: Slot, made: Made) {
        self.made.insert((slot.artifact, slot.zone), made);
    }

    pub(super) fn is_made(&self, slot: Slot) -> bool {
        matches!(self.get(slot), Some(Made::By(..)))
    }

    /// Whether the trial of this way is scored; the other trials choose the setting of a grid.
    pub(crate) fn is_scored(&self, trials: u32) -> bool {
        self.trial.is_none_or(|trial| trial < trials)
    }

    /// Sorts choices by stage, keeps the order of the config within a stage, and drops repetitions.
    pub(super) fn in_order(&self, choices: &mut Vec<SweptField>) {
        let mut sorted: Vec<SweptField> = Vec::new();
        for choice in choices.drain(..) {
            if sorted.iter().all(|known| known.field != choice.field) {
                sorted.push(choice);
            }
        }
        // Choices of one table keep the order in which this way made them.
        let rank = |choice: &SweptField| {
            let at = self.choices.iter().position(|known| known.field == choice.field);
            (position(choice.stage()), at.unwrap_or(usize::MAX))
        };
        sorted.sort_by_key(rank);
        *choices = sorted;
    }

    /// What a score of this way is about.
    pub(super) fn cell(&self, experiment: &str) -> veilgraph_evaluate::Cell {
        let costs = totals(&self.releases);
        let epsilon = |relation| costs.get(&relation).map_or(0.0, |cost| rounded(cost.epsilon()));
        let is_sound = |relation| self.releases.iter().filter(|row| row.relation == relation).all(|row| row.sound);
        // What others state adds up as they would add it up: by its epsilons.
        let claimed = |relation| {
            let rows = || self.releases.iter().filter(|row| row.relation == relation);
            let is_claimed = rows().any(|row| row.claimed_epsilon.is_some());
            is_claimed.then(|| rounded(rows().map(|row| row.claimed_epsilon.unwrap_or(row.cost.epsilon())).sum()))
        };
        let choice = |choice: &SweptField| veilgraph_evaluate::Choice {
            field: choice.field.clone(),
            name: choice.short.clone(),
            value: choice.text(),
        };
        veilgraph_evaluate::Cell {
            experiment: experiment.to_owned(),
            dataset: self.dataset.clone(),
            alternative: self.alternative.clone(),
            mechanism: self.mechanism.clone(),
            variant: self.variant.clone(),
            model: self.model.clone(),
            epsilon: epsilon(Relation::ListBit),
            epsilon_edge: epsilon(Relation::Edge),
            degree_fraction: self.degree_fraction,
            choices: self.choices.iter().map(choice).collect(),
            costs: costs
                .iter()
                .map(|(&relation, cost)| RelationCost {
                    relation,
                    epsilon: rounded(cost.epsilon()),
                    dp_delta: cost.dp_delta(),
                    sound: is_sound(relation),
                    claimed_epsilon: claimed(relation),
                })
                .collect(),
        }
    }
}

/// Twelve digits: a budget that was split and added up again is the budget.
#[must_use]
pub fn rounded(nats: f64) -> f64 {
    format!("{nats:.11e}").parse().unwrap_or(nats)
}
