//! A perceptron that reads no links: the floor of what private features and labels give.

use veilgraph_accountant::{least_noise, sampled_gaussians};
use veilgraph_contract::{Relation, StageRng};
use veilgraph_dp_sgd::{Inputs, Samples};

use crate::data::SQUARED_FEATURE_NORM;
use crate::fitting::{Fit, probabilities};
use crate::guarantee::{Guarantee, cost_of};
use crate::{Data, Error, Learned, Learner, Level, Params, ReleasedModel};

/// DP-SGD on a perceptron over each node's own features. In the DPAR paper it is called Features.
///
/// # Privacy
/// A node is one sample of each step, or none: the sampled Gaussian mechanism over all steps.
///
/// # Source
/// Abadi et al. (2016), Deep learning with differential privacy.
pub struct DpMlp;

/// Why the noise of a gradient is not exact.
pub(crate) const FLOATING: &str = "noise on gradients is drawn in single precision";

impl Learner for DpMlp {
    const NAME: &'static str = "dp-mlp";

    fn complete(params: Params) -> Params {
        params.of_all_learners()
    }

    fn guarantee(params: &Params) -> Result<Guarantee, Error> {
        params.check()?;
        let budget = params.budget()?;
        let curve = |noise: f64| sampled_gaussians(params.sampling_rate, noise, params.steps());
        let noise = least_noise(budget, curve)?;
        Ok(Guarantee {
            relation: Relation::Node,
            noise: "Gaussian on sampled gradients",
            multipliers: vec![noise],
            cost: cost_of(&curve(noise), budget, 1.0),
            claimed_epsilon: None,
            is_exact: false,
            why: FLOATING.to_owned(),
        })
    }

    fn learn(data: &Data, params: &Params, rng: &StageRng) -> Result<Learned, Error> {
        let noise = Self::guarantee(params)?.multipliers[0];
        let inputs = Inputs::Sparse(&data.features);
        let validation = Samples::of_rows(data.validation.iter().copied());
        let fit = Fit {
            name: "mlp",
            inputs: &inputs,
            squared_norm: SQUARED_FEATURE_NORM,
            samples: &Samples::of_rows(data.training.iter().copied()),
            validation: chosen_by_validation(params).then_some(&validation),
            n_classes: data.n_classes,
            noise_multiplier: noise,
        };
        let network = fit.network(params, rng)?;
        let probabilities = probabilities(&network, &inputs);
        Ok(Learned { model: ReleasedModel::default().with("mlp", &network), probabilities })
    }
}

/// Whether labels of validation nodes may choose the best pass: where nothing is noisy, and where labels are not protected.
pub(crate) fn chosen_by_validation(params: &Params) -> bool {
    params.is_without_noise() || params.level == Some(Level::Edge)
}
