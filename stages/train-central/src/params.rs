//! The `[train]` table of a curator.

use serde::{Deserialize, Serialize};
use veilgraph_accountant::Budget;
use veilgraph_privacy::Epsilon;

use crate::Error;

/// What central learners read of `[train]`. Each reads a part; the others are absent once the table is completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Budget of the model, in nats under the relation of `level`; `inf` for no noise.
    pub epsilon: Epsilon,
    /// The delta of `(epsilon, dp_delta)`-differential privacy. Absent: the largest power of ten that is at most
    /// `1 / (10 n)` for a graph of n nodes, where n is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dp_delta: Option<f64>,
    /// Whether a `dp_delta` above `1 / (10 n)` is accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_weak_delta: bool,
    /// What is protected: all data of a node, or a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// By which arithmetic the noise is chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<Accounting>,
    /// Hidden units.
    #[serde(default = "hidden")]
    pub hidden: usize,
    /// Passes over the training nodes; a step is a share `sampling_rate` of one.
    #[serde(default = "epochs")]
    pub epochs: f64,
    /// Probability with which a training node enters a step.
    #[serde(default = "sampling_rate")]
    pub sampling_rate: f64,
    /// Step size of Adam.
    #[serde(default = "learning_rate")]
    pub learning_rate: f64,
    /// L2 penalty.
    #[serde(default)]
    pub weight_decay: f64,
    /// Share of hidden units that a step leaves out.
    #[serde(default)]
    pub dropout: f64,
    /// Largest norm of one node's gradient.
    #[serde(default = "clip")]
    pub clip: f64,
    /// Aggregations over neighbours (GAP, `ProGAP`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// Most neighbours to which one node contributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_degree: Option<u32>,
    /// How page-rank vectors are released (DPAR).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<VectorRelease>,
    /// Number of page-rank vectors (DPAR).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<u32>,
    /// Entries that are kept of a vector (DPAR).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_entries: Option<u32>,
    /// Most rows in which one node appears (DPAR).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column_cap: Option<u32>,
    /// Share of the training nodes that is kept for everything (DPAR).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subgraph: Option<f64>,
    /// Share of the budget for the vectors (DPAR).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector_share: Option<f64>,
    /// Probability with which a walk returns to its source (DPAR).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teleport: Option<f64>,
}

/// What a budget protects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// All data of a node: the relation `node`.
    #[default]
    Node,
    /// A link: the relation `edge`. Features and labels are not protected.
    Edge,
}

/// By which arithmetic the noise is chosen. Both costs of the chosen noise are stated in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accounting {
    /// The guarantee holds: the cost is at most `epsilon`.
    #[default]
    Sound,
    /// What the source of the method states comes to `epsilon`, whatever the cost is.
    Paper,
}

/// How DPAR releases a page-rank vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VectorRelease {
    /// Its largest entries are chosen by the exponential mechanism, and weigh the same (DP-APPR-EM, option I).
    #[default]
    Choice,
    /// Chosen alike, and weighed by their values with Laplace noise (option II).
    NoisyChoice,
    /// Gaussian noise on every entry; the largest are kept (DP-APPR-GM).
    Gaussian,
}

/// Largest probability with which nothing may be left to train on, after the model was charged.
const MOST_RISK: f64 = 0.001;

/// Largest number of neighbours, vectors, entries or rows that may be asked for.
const MOST: u32 = 10_000;

fn hidden() -> usize {
    32
}
fn epochs() -> f64 {
    60.0
}
fn sampling_rate() -> f64 {
    1.0
}
fn learning_rate() -> f64 {
    0.03
}
fn clip() -> f64 {
    1.0
}

impl Params {
    /// The parameters without what only some learners read.
    #[must_use]
    pub(crate) fn of_all_learners(self) -> Self {
        Self {
            level: None,
            accounting: None,
            hops: None,
            max_degree: None,
            release: None,
            vectors: None,
            kept_entries: None,
            column_cap: None,
            subgraph: None,
            vector_share: None,
            teleport: None,
            ..self
        }
    }

    /// Writes down the `dp_delta` for a graph of so many nodes and links, where it is absent: it counts what is protected one by
    /// one, and nodes where the number of links is not known.
    pub fn complete_delta(&mut self, n_nodes: Option<usize>, n_links: Option<usize>) {
        let n = if self.level == Some(Level::Edge) { n_links.or(n_nodes) } else { n_nodes };
        if let (None, Some(n)) = (self.dp_delta, n) {
            // As many digits as 10 n - 1 has: the power of ten is then at least 10 n.
            let digits = (10 * n.max(1) - 1).to_string().len();
            // Parsed, because a power of a float may be off by its last digit.
            self.dp_delta = format!("1e-{digits}").parse().ok();
        }
    }

    /// The budget of the model.
    ///
    /// # Errors
    /// When `dp_delta` is absent or out of its range.
    pub(crate) fn budget(&self) -> Result<Budget, Error> {
        let epsilon = self.epsilon.nats();
        let dp_delta = match self.dp_delta {
            None if epsilon.is_infinite() => 1e-5,
            None => {
                let text = "dp_delta is absent, and the number of nodes is not known before data are read; write \
                            dp_delta = NUMBER, at most a tenth of one over the number of nodes whose data are read";
                return Err(Error::Params(text.into()));
            }
            Some(dp_delta) => dp_delta,
        };
        if !(dp_delta > 0.0 && dp_delta < 1.0) {
            return Err(Error::Params(format!("dp_delta = {dp_delta} is not between 0 and 1")));
        }
        Ok(Budget { epsilon, dp_delta })
    }

    /// Whether the fields that every learner reads make sense.
    ///
    /// # Errors
    /// Names the field, its value and its range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse = |text: String| Err(Error::Params(text));
        if !(self.sampling_rate > 0.0 && self.sampling_rate <= 1.0) {
            return refuse(format!("sampling_rate = {} is not above 0 and at most 1", self.sampling_rate));
        }
        if !(self.epochs > 0.0 && self.steps() >= 1.0 && self.steps() < 1e7) {
            return refuse(format!(
                "epochs = {} at sampling_rate = {} make no number of steps from 1 to 10,000,000",
                self.epochs, self.sampling_rate
            ));
        }
        // Beyond this range, gradients in single precision are rounded by more than the noise on them.
        if !(1e-6..=1e6).contains(&self.clip) {
            return refuse(format!("clip = {} is not from 0.000001 to 1,000,000", self.clip));
        }
        if !(self.dropout >= 0.0 && self.dropout < 1.0) {
            return refuse(format!("dropout = {} is not at least 0 and below 1", self.dropout));
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite() && (0.0..1e6).contains(&self.weight_decay)) {
            return refuse("learning_rate has to be positive, and weight_decay at least 0 and below a million".into());
        }
        if !(1..=65_536).contains(&self.hidden) {
            return refuse(format!("hidden = {} is not from 1 to 65,536", self.hidden));
        }
        if self.hops.is_some_and(|hops| !(1..=16).contains(&hops)) {
            return refuse(format!("hops = {} is not from 1 to 16", self.hops.unwrap_or(0)));
        }
        let bounded = [
            ("max_degree", self.max_degree),
            ("vectors", self.vectors),
            ("kept_entries", self.kept_entries),
            ("column_cap", self.column_cap),
        ];
        for (name, value) in bounded {
            if let Some(value) = value.filter(|value| !(1..=MOST).contains(value)) {
                return refuse(format!("{name} = {value} is not from 1 to {MOST}"));
            }
        }
        let budget = self.budget()?;
        let sample = self.subgraph.unwrap_or(1.0);
        if budget.dp_delta >= sample {
            return refuse(format!(
                "dp_delta = {} on a subgraph of a share of {sample} leaves nothing to keep; lower dp_delta",
                budget.dp_delta
            ));
        }
        Ok(())
    }

    /// Number of steps.
    pub(crate) fn steps(&self) -> f64 {
        (self.epochs / self.sampling_rate).round()
    }

    /// Whether nothing is noisy.
    pub(crate) fn is_without_noise(&self) -> bool {
        self.epsilon.nats().is_infinite()
    }

    /// Refuses to ask more of the training nodes than there are, or to keep too few of them.
    pub(crate) fn check_sizes(&self, n_training: usize) -> Result<(), Error> {
        for (name, value) in [("vectors", self.vectors), ("kept_entries", self.kept_entries)] {
            if let Some(value) = value.filter(|&value| value as usize > n_training) {
                return Err(Error::Params(format!(
                    "{name} = {value} exceeds the {n_training} nodes that are trained on; lower it"
                )));
            }
        }
        let share = self.subgraph.unwrap_or(1.0);
        let keeps_none = (1.0 - share).powf(n_training as f64);
        if keeps_none > MOST_RISK {
            return Err(Error::Params(format!(
                "subgraph = {share} of {n_training} training nodes keeps none with a probability of {keeps_none:.1e}, and at most \
                 {MOST_RISK} is accepted; raise it"
            )));
        }
        Ok(())
    }

    /// Refuses a `dp_delta` that protects nobody. The number of nodes is public. The learners that have a level read all nodes, and
    /// the others the training nodes alone.
    pub(crate) fn check_delta(&self, n_training: usize, n_nodes: usize) -> Result<(), Error> {
        let (count, what) = if self.level.is_some() { (n_nodes, "nodes") } else { (n_training, "training nodes") };
        let most = 1.0 / (10 * count.max(1)) as f64;
        let dp_delta = self.budget()?.dp_delta;
        if dp_delta <= most || self.allow_weak_delta || self.is_without_noise() {
            return Ok(());
        }
        Err(Error::WeakDelta { dp_delta, count, what, most })
    }
}

#[cfg(test)]
mod tests;
