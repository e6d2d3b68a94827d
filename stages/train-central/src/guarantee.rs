//! What a trained model costs, as the ledger states it.

use veilgraph_accountant::{Budget, Composition, least_noise};
use veilgraph_contract::{Cost, Relation, Release, Subject, Trust};

use crate::{Error, Params};

/// What a trained model costs, and with which noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarantee {
    /// What the cost protects.
    pub relation: Relation,
    /// The noise in words.
    pub noise: &'static str,
    /// Noise multipliers of the steps, in the learner's own order; 0 where nothing is noisy.
    pub multipliers: Vec<f64>,
    /// What it costs.
    pub cost: Cost,
    /// What the source of the method states for the same noise, where that is something else.
    pub claimed_epsilon: Option<f64>,
    /// Whether the noise is drawn as stated, to the last bit.
    pub is_exact: bool,
    /// Why the cost is what it is.
    pub why: String,
}

/// Why the noise of a gradient is not exact.
pub(crate) const FLOATING: &str = "noise on gradients is drawn in single precision";

impl Guarantee {
    /// What these steps of one private training cost, with the least noise that keeps the budget.
    pub(crate) fn of_training(
        params: &Params,
        relation: Relation,
        steps: impl Fn(f64) -> Composition,
    ) -> Result<Self, Error> {
        params.check()?;
        let budget = params.budget()?;
        let noise = least_noise(budget, &steps)?;
        let cost = cost_of(&steps(noise), budget, 1.0);
        Ok(Self {
            relation,
            noise: "Gaussian on sampled gradients",
            multipliers: vec![noise],
            cost,
            claimed_epsilon: None,
            is_exact: false,
            why: FLOATING.to_owned(),
        })
    }

    /// What the ledger states. Where links alone are protected, features and labels are not, and the ledger says so.
    #[must_use]
    pub fn releases(&self) -> Vec<Release> {
        let model = Release {
            noise: if self.cost == Cost::Pure(f64::INFINITY) { "none" } else { self.noise }.to_owned(),
            subject: Subject::Model,
            trust: Trust::Central,
            relation: self.relation,
            cost: self.cost.clone(),
            claimed_epsilon: self.claimed_epsilon,
            sound: self.is_exact,
            why: self.why.clone(),
        };
        if self.relation != Relation::Edge {
            return vec![model];
        }
        let open = |subject: Subject, relation: Relation| Release {
            noise: "none".to_owned(),
            subject,
            trust: Trust::Central,
            relation,
            cost: Cost::Pure(f64::INFINITY),
            claimed_epsilon: None,
            sound: true,
            why: "the model protects links alone".to_owned(),
        };
        vec![
            model,
            open(Subject::Features, Relation::NodeFeatures),
            open(Subject::Features, Relation::NodeAttrs),
            open(Subject::Labels, Relation::Label),
        ]
    }
}

/// The cost of steps at a budget's `dp_delta`, where a share `sample` of the nodes was drawn once for the whole release and
/// nothing else is read.
///
/// # Privacy
/// A node that is not drawn loses nothing, so that the delta of the release is `sample` times that of the steps, at the same
/// epsilon. The epsilon stays: what is released tells how many nodes were drawn, so that no node hides behind the draw.
pub(crate) fn cost_of(steps: &Composition, budget: Budget, sample: f64) -> Cost {
    if budget.epsilon.is_infinite() {
        return Cost::Pure(f64::INFINITY);
    }
    let cost = if sample >= 1.0 {
        steps.cost(budget.dp_delta)
    } else {
        let epsilon = steps.epsilon(budget.dp_delta / sample);
        Cost::Approximate { epsilon, dp_delta: budget.dp_delta, rdp: Vec::new() }
    };
    match cost {
        // Noise that was found for a budget keeps it by a hair; the budget is the number that people know.
        Cost::Approximate { epsilon, dp_delta, rdp } if is_nearly(epsilon, budget.epsilon) => {
            Cost::Approximate { epsilon: budget.epsilon, dp_delta, rdp }
        }
        cost => cost,
    }
}

/// The budget, where this is nearly it.
pub(crate) fn stated(epsilon: f64, budget: Budget) -> f64 {
    if is_nearly(epsilon, budget.epsilon) { budget.epsilon } else { epsilon }
}

/// Whether a cost is at most the budget, and within a thousandth of it.
fn is_nearly(epsilon: f64, budget: f64) -> bool {
    epsilon <= budget && epsilon > 0.999 * budget
}

/// Parameters that no run accepts: nothing is made under them, and nothing cheap is stated.
pub(crate) fn refused(error: &Error) -> Release {
    Release {
        noise: "none: the parameters are refused".to_owned(),
        subject: Subject::Model,
        trust: Trust::Central,
        relation: Relation::Node,
        cost: Cost::Pure(f64::INFINITY),
        claimed_epsilon: None,
        sound: false,
        why: error.to_string(),
    }
}
