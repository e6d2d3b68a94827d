//! A perceptron that reads no links: the floor of what private features and labels give.

use veilgraph_accountant::sampled_gaussians;
use veilgraph_contract::{Relation, StageRng};
use veilgraph_dp_sgd::Inputs;

use crate::fitting::{Labelled, probabilities};
use crate::guarantee::Guarantee;
use crate::{Data, Error, Learned, Learner, Params, ReleasedModel};

/// DP-SGD on a perceptron over each node's own features. In the DPAR paper it is called Features.
///
/// # Privacy
/// A node is one sample of each step, or none: the sampled Gaussian mechanism over all steps.
///
/// # Source
/// Abadi et al. (2016), Deep learning with differential privacy.
pub struct DpMlp;

impl Learner for DpMlp {
    const NAME: &'static str = "dp-mlp";

    fn complete(params: Params) -> Params {
        params.of_all_learners()
    }

    fn guarantee(params: &Params) -> Result<Guarantee, Error> {
        let curve = |noise: f64| sampled_gaussians(params.sampling_rate, noise, params.steps());
        Guarantee::of_training(params, Relation::Node, curve)
    }

    fn learn(data: &Data, params: &Params, rng: &StageRng) -> Result<Learned, Error> {
        let noise = Self::guarantee(params)?.multipliers[0];
        let inputs = Inputs::Sparse(&data.features);
        let labelled = Labelled::new(data, params);
        let fit = labelled.fit("mlp", &inputs, noise);
        let network = fit.network(params, rng)?;
        let probabilities = probabilities(&network, &inputs);
        Ok(Learned { model: ReleasedModel::default().with("mlp", &network), probabilities })
    }
}
