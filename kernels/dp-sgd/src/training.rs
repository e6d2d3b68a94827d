//! Steps of Adam along clipped, sampled, noisy gradients.

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use rayon::prelude::*;
use veilgraph_contract::StageRng;

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

/// Trains `network` on `samples`. Random words are streams of `rng` for `purpose`.
///
/// After each pass of `1 / sampling_rate` steps, `after_pass` sees the network. Where it reads protected data, what it does
/// with them is not part of the guarantee.
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
    rng: &StageRng,
    purpose: &str,
    mut after_pass: impl FnMut(&Network),
) -> Result<(), Diverged> {
    let n_parameters = network.parameters.len();
    let mut gradient = vec![0.0_f32; n_parameters];
    let mut moments = vec![[0.0_f32; 2]; n_parameters];
    let mut room = Workspace::default();
    let mut mask = Vec::new();
    let steps_per_pass = (1.0 / schedule.sampling_rate).round().max(1.0) as u32;
    let mut coins = rng.stream(&format!("{purpose}: sample"), 0);
    let bound = if schedule.noise_multiplier > 0.0 { schedule.clip } else { f32::INFINITY };
    let expected = (schedule.sampling_rate * samples.len() as f64).max(1.0);
    let (share, noise) = (1.0 / expected as f32, schedule.noise_multiplier as f32 * schedule.clip);
    for step in 0..schedule.steps {
        gradient.fill(0.0);
        for sample in 0..samples.len() {
            if schedule.sampling_rate < 1.0 && coins.random::<f64>() >= schedule.sampling_rate {
                continue;
            }
            draw_mask(&mut mask, network.shape.hidden, schedule.dropout, &mut coins);
            network.add_clipped_gradient(inputs, (samples, sample), &mask, bound, &mut room, &mut gradient);
        }
        let parts = network.parameters.par_chunks_mut(PART).zip(gradient.par_chunks(PART));
        let corrections = BETAS.map(|beta| 1.0 / (1.0 - libm::powf(beta, (step + 1) as f32)));
        let is_finite =
            parts.zip(moments.par_chunks_mut(PART)).enumerate().map(|(part, ((parameters, gradient), moments))| {
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
            });
        if !is_finite.reduce(|| true, |a, b| a && b) {
            return Err(Diverged { step });
        }
        if (step + 1) % steps_per_pass == 0 {
            after_pass(network);
        }
    }
    Ok(())
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
