//! A perceptron that reads no links: the floor of what private features and labels give.

use veilgraph_accountant::{Composition, Step};
use veilgraph_contract::Relation;
use veilgraph_dp_sgd::Inputs;

use crate::fitting::{Labelled, probabilities};
use crate::guarantee::Guarantee;
use crate::{Data, Error, Learned, Learner, Params, ReleasedModel, Training};

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
        let steps = |noise_multiplier: f64| {
            Composition::of(Step::SampledGaussian { rate: params.sampling_rate, noise_multiplier }, params.steps())
        };
        Guarantee::of_training(params, Relation::Node, steps)
    }

    fn learn(data: &Data, training: &Training) -> Result<Learned, Error> {
        let Training { params, noise, .. } = *training;
        let inputs = Inputs::Sparse(&data.features);
        let labelled = Labelled::new(data, params);
        let fit = labelled.fit("mlp", &inputs, noise[0]);
        let network = fit.network(training)?;
        let probabilities = probabilities(&network, &inputs);
        Ok(Learned { model: ReleasedModel::default().with("mlp", &network), probabilities })
    }
}
