//! GAP: encoded features are summed over neighbours with noise, and a network reads the sums.

use veilgraph_accountant::{Composition, Curve, Step, least_noise};
use veilgraph_contract::{Relation, StageRng};
use veilgraph_dp_sgd::Inputs;

use crate::aggregation::{Contributions, side_by_side};
use crate::fitting::{Fit, Labelled, embeddings, probabilities};
use crate::guarantee::{FLOATING, Guarantee, cost_of, stated};
use crate::{Accounting, Data, Error, Learned, Learner, Level, Params, ReleasedModel, Training};

/// An encoder of features, noisy sums of its outputs over some hops, and a classifier of all of them.
///
/// # Privacy
/// At level `edge`, a link moves the rows of two nodes by 1 in each sum. The paper counts one row, that of an arc, and
/// states the cost of that; `accounting = "paper"` chooses the noise by it. At level `node`, a node contributes to
/// `max_degree` sums of each hop, and it is a sample of both networks.
///
/// # Source
/// Sajadmanesh, Shamsabadi, Bellet, Gatica-Perez (2023), GAP, sections 4 and 5.
pub struct Gap;

/// Squared sensitivity of the sums of one hop: of what holds, and of what is claimed.
pub(crate) fn squared_sensitivities(params: &Params) -> [f64; 2] {
    match params.level {
        Some(Level::Edge) => [2.0, 1.0],
        _ => [f64::from(params.max_degree.unwrap_or(1)); 2],
    }
}

/// What `hops` noisy sums and `n_networks` private trainings cost together. One multiplier is for all: noise has its
/// standard deviation over the sensitivity of what it is added to.
pub(crate) fn guarantee_of_sums(params: &Params, n_networks: u32) -> Result<Guarantee, Error> {
    params.check()?;
    let budget = params.budget()?;
    let hops = f64::from(params.hops.unwrap_or(1));
    let is_node_level = params.level != Some(Level::Edge);
    let [sound, claimed] = squared_sensitivities(params);
    // The noise on a sum is `multiplier · √sound`. Counted by another sensitivity, it is a larger multiplier.
    let steps = |noise: f64, squared: f64| {
        // Integer noise: of it the divergences alone are known.
        let sums = Composition::of(Step::Divergences(Curve::gaussian(noise * (sound / squared).sqrt())), hops);
        if is_node_level {
            let step = Step::SampledGaussian { rate: params.sampling_rate, noise_multiplier: noise };
            sums.and(Composition::of(step, params.steps() * f64::from(n_networks)))
        } else {
            sums
        }
    };
    let counted = if params.accounting == Some(Accounting::Paper) { claimed } else { sound };
    let noise = least_noise(budget, |noise| steps(noise, counted))?;
    let at = |squared: f64| if noise == 0.0 { f64::INFINITY } else { steps(noise, squared).epsilon(budget.dp_delta) };
    Ok(Guarantee {
        relation: if is_node_level { Relation::OwnData } else { Relation::Edge },
        noise: if is_node_level {
            "discrete Gaussian on sums over neighbours, Gaussian on sampled gradients"
        } else {
            "discrete Gaussian on sums over neighbours"
        },
        multipliers: vec![noise],
        cost: cost_of(&steps(noise, sound), budget, 1.0),
        claimed_epsilon: (claimed != sound).then(|| stated(at(claimed), budget)),
        is_exact: !is_node_level,
        why: if is_node_level { FLOATING.to_owned() } else { "a link moves the rows of both its ends".to_owned() },
    })
}

impl Learner for Gap {
    const NAME: &'static str = "gap";

    fn complete(params: Params) -> Params {
        with_hops(params)
    }

    fn guarantee(params: &Params) -> Result<Guarantee, Error> {
        guarantee_of_sums(params, 2)
    }

    fn most_inputs(params: &Params, n_features: usize) -> usize {
        most_inputs_of_sums(params, n_features)
    }

    fn learn(data: &Data, training: &Training) -> Result<Learned, Error> {
        let Training { params, noise, rng, .. } = *training;
        let sums = Sums::new(data, params, noise[0], rng);
        let features = Inputs::Sparse(&data.features);
        let labelled = Labelled::new(data, params);
        let fit = labelled.fit("encoder", &features, sums.noise_on_gradients);
        let encoder = fit.network(training)?;
        let mut blocks = vec![(embeddings(&encoder, &features), params.hidden)];
        for hop in 0..params.hops.unwrap_or(1) {
            let next = sums.of(&blocks[hop as usize].0, params.hidden, hop);
            blocks.push((next, params.hidden));
        }
        let (values, width) = side_by_side(&blocks);
        let inputs = Inputs::Dense { width, values: &values };
        let fit = Fit { name: "classifier", inputs: &inputs, squared_norm: blocks.len() as f32, ..fit };
        let classifier = fit.network(training)?;
        let probabilities = probabilities(&classifier, &inputs);
        let model = ReleasedModel::default().with("encoder", &encoder).with("classifier", &classifier);
        Ok(Learned { model, probabilities })
    }
}

/// Columns that the widest network of a learner reads that sums hidden values over hops.
pub(crate) fn most_inputs_of_sums(params: &Params, n_features: usize) -> usize {
    n_features.max((params.hops.unwrap_or(1) as usize + 1) * params.hidden)
}

/// Parameters of a learner that sums over hops.
pub(crate) fn with_hops(params: Params) -> Params {
    let level = params.level.unwrap_or_default();
    let max_degree = if level == Level::Node { Some(params.max_degree.unwrap_or(16)) } else { None };
    // Both countings are the same for nodes.
    let accounting = if level == Level::Edge { Some(params.accounting.unwrap_or_default()) } else { None };
    let hops = Some(params.hops.unwrap_or(2));
    Params { level: Some(level), accounting, hops, max_degree, ..params.of_all_learners() }
}

/// Noisy sums over neighbours, with the noise that the budget asks for.
pub(crate) struct Sums<'a> {
    contributions: Contributions,
    sigma: f64,
    /// Noise multiplier of trainings beside the sums.
    pub noise_on_gradients: f64,
    rng: &'a StageRng,
}

impl<'a> Sums<'a> {
    pub(crate) fn new(data: &Data, params: &Params, noise: f64, rng: &'a StageRng) -> Self {
        let is_node_level = params.level != Some(Level::Edge);
        // Without noise, nobody's degree has to be bounded.
        let max_degree = params.max_degree.filter(|_| is_node_level && noise > 0.0);
        Self {
            contributions: Contributions::new(&data.links, max_degree, rng),
            sigma: noise * squared_sensitivities(params)[0].sqrt(),
            noise_on_gradients: if is_node_level { noise } else { 0.0 },
            rng,
        }
    }

    /// The sums of these rows.
    pub(crate) fn of(&self, rows: &[f32], width: usize, hop: u32) -> Vec<f32> {
        self.contributions.noisy_sums(rows, width, self.sigma, self.rng, hop)
    }
}
