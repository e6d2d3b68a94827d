//! Steps of Adam along clipped, sampled, noisy gradients.

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Progress, StageRng};

use crate::network::Workspace;
use crate::{Inputs, Network, Samples};

/// How a network is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Probability with which a sample enters a step, by a coin of its own.
    pub sampling_rate: f64,
    /// Number of steps.
    pub steps: u32,
    /// Step size of Adam.
    pub learning_rate: f32,
    /// L2 penalty: this share of a parameter is added to its gradient. It reads no data.
    pub weight_decay: f32,
    /// Share of hidden units that a step leaves out.
    pub dropout: f32,
    /// Largest norm of one sample's gradient; infinite where nothing is clipped.
    pub clip: f32,
    /// Standard deviation of the noise on the summed gradient, in units of `clip`; 0 for none.
    pub noise_multiplier: f64,
}

/// Training came to numbers that are not finite.
#[derive(Debug, thiserror::Error)]
#[error("training came to parameters that are not finite numbers in step {step}; lower the learning rate")]
pub struct Diverged {
    step: u32,
}

/// Parameters that one thread steps at a time. Each such part has noise of its own, so that threads change nothing.
const PART: usize = 1 << 14;

/// Decay of Adam's running means, and what keeps its divisor from zero.
///
/// # Source
/// Kingma, Ba (2015), algorithm 1.
const BETAS: [f32; 2] = [0.9, 0.999];
const ADAM_EPSILON: f32 = 1e-8;

/// What decides which pass is kept, and where an interrupted training goes on.
pub struct Conduct<'a> {
    /// Source of all random words, which serve this training alone.
    pub rng: &'a StageRng,
    /// Name of the network: of its random streams and its checkpoint.
    pub purpose: &'a str,
    /// Samples whose loss chooses the pass of `1 / sampling_rate` steps that is kept; none for the last step. What they tell
    /// is not part of the guarantee.
    pub validation: Option<&'a Samples>,
    /// Keeps checkpoints. Those of a noisy training hold what its steps release.
    pub progress: &'a Progress<'a>,
}

/// A training after some of its steps.
#[derive(Serialize, Deserialize)]
struct State {
    steps: u32,
    parameters: Vec<f32>,
    moments: Vec<[f32; 2]>,
    /// The pass with the least validation loss.
    best: Option<(f64, Vec<f32>)>,
}

/// Trains `network` on `samples`. An interrupted training goes on from its checkpoint and ends with the same parameters.
///
/// # Privacy
/// One step releases a sum over a Poisson sample in which one sample moves at most `clip`, with Gaussian noise of standard
/// deviation `noise_multiplier · clip`: see `veilgraph_accountant::sampled_gaussian`. The sum is divided by the *expected*
/// number of samples, which is public where their number is. The noise is drawn in single precision, so that the guarantee
/// is that of real numbers and does not hold to the last bit (Mironov 2012, On significance of the least significant
/// bits).
///
/// # Source
/// Abadi et al. (2016), Deep learning with differential privacy, algorithm 1, with Adam in place of gradient descent.
///
/// # Errors
/// When a parameter is no finite number.
pub fn train(
    network: &mut Network,
    inputs: &Inputs,
    samples: &Samples,
    schedule: &Schedule,
    conduct: &Conduct,
) -> Result<(), Diverged> {
    let Conduct { rng, purpose, validation, progress } = *conduct;
    let n_parameters = network.parameters.len();
    let mut gradient = vec![0.0_f32; n_parameters];
    let fresh = || State { steps: 0, parameters: Vec::new(), moments: vec![[0.0; 2]; n_parameters], best: None };
    let mut state = State::kept(progress, purpose, n_parameters).unwrap_or_else(fresh);
    if state.steps > 0 {
        network.parameters.clone_from(&state.parameters);
    }
    let mut room = Workspace::default();
    let mut mask = Vec::new();
    let steps_per_pass = (1.0 / schedule.sampling_rate).round().max(1.0) as u32;
    let bound = if schedule.noise_multiplier > 0.0 { schedule.clip } else { f32::INFINITY };
    let expected = (schedule.sampling_rate * samples.len() as f64).max(1.0);
    let (share, noise) = (1.0 / expected as f32, schedule.noise_multiplier as f32 * schedule.clip);
    for step in state.steps..schedule.steps {
        gradient.fill(0.0);
        let mut coins = rng.stream(&format!("{purpose}: sample"), u64::from(step));
        for sample in 0..samples.len() {
            if schedule.sampling_rate < 1.0 && coins.random::<f64>() >= schedule.sampling_rate {
                continue;
            }
            draw_mask(&mut mask, network.shape.hidden, schedule.dropout, &mut coins);
            network.add_clipped_gradient(inputs, (samples, sample), &mask, bound, &mut room, &mut gradient);
        }
        let parts = network.parameters.par_chunks_mut(PART).zip(gradient.par_chunks(PART));
        let corrections = BETAS.map(|beta| 1.0 / (1.0 - libm::powf(beta, (step + 1) as f32)));
        let is_finite = parts.zip(state.moments.par_chunks_mut(PART)).enumerate().map(
            |(part, ((parameters, gradient), moments))| {
                let mut noises = rng.stream(&format!("{purpose}: noise of part {part}"), u64::from(step));
                let mut sum = 0.0;
                for ((parameter, gradient), [first, second]) in parameters.iter_mut().zip(gradient).zip(moments) {
                    let drawn = if noise > 0.0 { noise * noises.sample::<f32, _>(StandardNormal) } else { 0.0 };
                    let slope = (gradient + drawn) * share + schedule.weight_decay * *parameter;
                    *first += (1.0 - BETAS[0]) * (slope - *first);
                    *second += (1.0 - BETAS[1]) * (slope * slope - *second);
                    let divisor = (*second * corrections[1]).sqrt() + ADAM_EPSILON;
                    *parameter -= schedule.learning_rate * *first * corrections[0] / divisor;
                    sum += *parameter;
                }
                sum.is_finite()
            },
        );
        if !is_finite.reduce(|| true, |a, b| a && b) {
            return Err(Diverged { step });
        }
        if let Some(validation) = validation.filter(|_| (step + 1) % steps_per_pass == 0) {
            let loss = network.loss(inputs, validation);
            if state.best.as_ref().is_none_or(|(least, _)| loss < *least) {
                state.best = Some((loss, network.parameters.clone()));
            }
        }
        progress.report(u64::from(step + 1), u64::from(schedule.steps));
        if progress.checkpoint_is_due(purpose) {
            state.steps = step + 1;
            state.parameters.clone_from(&network.parameters);
            state.keep(progress, purpose);
        }
    }
    if let Some((_, best)) = state.best {
        network.parameters = best;
    }
    Ok(())
}

impl State {
    /// What an interrupted training left; none where it is not of a network of this size.
    fn kept(progress: &Progress, purpose: &str, n_parameters: usize) -> Option<Self> {
        let state: Self = postcard::from_bytes(&progress.checkpoint(purpose)?).ok()?;
        (state.parameters.len() == n_parameters && state.moments.len() == n_parameters).then_some(state)
    }

    fn keep(&self, progress: &Progress, purpose: &str) {
        if let Ok(bytes) = postcard::to_allocvec(self) {
            progress.save_checkpoint(purpose, &bytes);
        }
    }
}

/// A mask that leaves out a share of the hidden units and makes up for it; empty where none is left out.
fn draw_mask(mask: &mut Vec<f32>, hidden: usize, dropout: f32, rng: &mut impl Rng) {
    mask.clear();
    if dropout > 0.0 {
        mask.extend((0..hidden).map(|_| if rng.random::<f32>() < dropout { 0.0 } else { 1.0 / (1.0 - dropout) }));
    }
}

#[cfg(test)]
mod tests;
