//! `ProGAP`: as GAP, in stages, each of which learns from the noisy sums of what the stage before has learned.

use veilgraph_dp_sgd::Inputs;

use crate::aggregation::side_by_side;
use crate::fitting::{Fit, Labelled, embeddings, probabilities};
use crate::gap::{Sums, guarantee_of_sums, most_inputs_of_sums, with_hops};
use crate::guarantee::Guarantee;
use crate::{Data, Error, Learned, Learner, Params, ReleasedModel, Training};

/// One network for each hop. The hidden values of a stage are summed over neighbours with noise, and the next stage reads
/// them beside those of the stages before.
///
/// # Privacy
/// As for GAP, with one more private training for each hop at level `node`.
///
/// # Source
/// Sajadmanesh, Gatica-Perez (2024), `ProGAP`, algorithm 1, with the stages before kept as they are (its layerwise training).
pub struct ProGap;

impl Learner for ProGap {
    const NAME: &'static str = "progap";

    fn complete(params: Params) -> Params {
        with_hops(params)
    }

    fn guarantee(params: &Params) -> Result<Guarantee, Error> {
        guarantee_of_sums(params, params.hops.unwrap_or(1) + 1)
    }

    fn most_inputs(params: &Params, n_features: usize) -> usize {
        most_inputs_of_sums(params, n_features)
    }

    fn learn(data: &Data, training: &Training) -> Result<Learned, Error> {
        let Training { params, noise, rng, .. } = *training;
        let sums = Sums::new(data, params, noise[0], rng);
        let features = Inputs::Sparse(&data.features);
        let labelled = Labelled::new(data, params);
        let fit = labelled.fit("stage 0", &features, sums.noise_on_gradients);
        let mut network = fit.network(training)?;
        let mut model = ReleasedModel::default().with("stage 0", &network);
        let mut learned = embeddings(&network, &features);
        let mut blocks = vec![(learned.clone(), params.hidden)];
        let mut answers = Vec::new();
        for hop in 0..params.hops.unwrap_or(1) {
            blocks.push((sums.of(&learned, params.hidden, hop), params.hidden));
            let (values, width) = side_by_side(&blocks);
            let inputs = Inputs::Dense { width, values: &values };
            let name = format!("stage {}", hop + 1);
            let next = Fit { name: &name, inputs: &inputs, squared_norm: blocks.len() as f32, ..fit };
            network = next.network(training)?;
            model = model.with(&name, &network);
            learned = embeddings(&network, &inputs);
            answers = probabilities(&network, &inputs);
        }
        Ok(Learned { model, probabilities: answers })
    }
}
