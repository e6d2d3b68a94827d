//! What DPAR costs, and what its paper states.

use veilgraph_accountant::{Budget, Composition, Curve, Occurrences, Step, least_noise, sampled_gaussians};
use veilgraph_contract::Cost;
use veilgraph_noise::exponential_choice::Range;

use super::Settings;
use crate::guarantee::{cost_of, stated};
use crate::{Accounting, Error, Params, VectorRelease};

/// Noise of both parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noise {
    /// Range of a choice in nats, or multiplier of the Gaussian noise on a vector; 0 for none.
    pub vectors: f64,
    /// Noise multiplier of a gradient; 0 for none.
    pub gradients: f64,
}

/// The noise that keeps the budget by the accounting that is asked for: the vectors keep their share of it, and the
/// gradients what is left.
pub(crate) fn noise(params: &Params, settings: &Settings) -> Result<Noise, Error> {
    if params.is_without_noise() {
        return Ok(Noise { vectors: 0.0, gradients: 0.0 });
    }
    match params.accounting {
        Some(Accounting::Paper) => as_published(params, settings),
        _ => that_holds(params, settings),
    }
}

fn that_holds(params: &Params, settings: &Settings) -> Result<Noise, Error> {
    // A node that is not drawn loses nothing: the delta may be as much larger as it is seldom drawn.
    let budget = params.budget()?;
    let budget = Budget { dp_delta: budget.dp_delta / settings.subgraph, ..budget };
    let part = Budget { epsilon: settings.vector_share * budget.epsilon, dp_delta: budget.dp_delta };
    let vectors = match settings.release {
        VectorRelease::Gaussian => least_noise(part, |noise| vectors_curve(settings, noise))?,
        // The more is chosen at random, the smaller the range.
        _ => (1.0 / least_noise(part, |noise| vectors_curve(settings, 1.0 / noise))?).min(Range::MOST),
    };
    let of_vectors = vectors_curve(settings, vectors);
    let both = |noise: f64| together(params, settings, of_vectors.clone(), noise);
    Ok(Noise { vectors, gradients: least_noise(budget, both)? })
}

/// What all vectors cost. Blanking a node may move every entry of every vector, within its clipping.
///
/// Each choice has a bounded range of twice the range of its scores. Noisy weights cost as much in pure differential privacy
/// as the range. Two vectors of non-negative entries and norm at most one are `√2` apart.
fn vectors_curve(settings: &Settings, noise: f64) -> Curve {
    let one = match settings.release {
        VectorRelease::Gaussian => Curve::gaussian(noise / std::f64::consts::SQRT_2),
        VectorRelease::Choice => Curve::bounded_range(2.0 * noise).repeated(settings.kept_entries),
        VectorRelease::NoisyChoice => {
            Curve::bounded_range(2.0 * noise).repeated(settings.kept_entries).and(&Curve::pure(noise))
        }
    };
    one.repeated(settings.vectors)
}

/// What vectors and steps cost together. The clipped gradient of a node's own row is gone where the node is blanked; those of
/// up to `column_cap - 1` other rows move by up to twice the bound.
fn together(params: &Params, settings: &Settings, vectors: Curve, noise_multiplier: f64) -> Composition {
    let rate = params.sampling_rate;
    let step = match settings.column_cap - 1 {
        0 => Step::SampledGaussian { rate, noise_multiplier },
        rows_of_others => {
            Step::OccurrenceBounded { occurrences: Occurrences::Poisson { rate, rows_of_others }, noise_multiplier }
        }
    };
    Composition::of(Step::Divergences(vectors), 1.0).and(Composition::of(step, params.steps()))
}

/// The cost that holds.
pub(crate) fn cost(params: &Params, settings: &Settings, noise: Noise) -> Result<Cost, Error> {
    if params.is_without_noise() {
        return Ok(Cost::Pure(f64::INFINITY));
    }
    let steps = together(params, settings, vectors_curve(settings, noise.vectors), noise.gradients);
    Ok(cost_of(&steps, params.budget()?, settings.subgraph))
}

/// What the paper states for this noise: half of `dp_delta` and of the budget for each part, both multiplied by the share of
/// nodes that are sampled.
///
/// # Source
/// Zhang et al. (2024), DPAR, theorems 1 to 3. Three steps do not hold: a sample takes `ln(1 / share)` off an epsilon at
/// most and does not multiply it; the composition of the vectors is that of a theorem for small epsilons; and a row's clipped
/// gradient moves by up to twice the bound however small a node's weight in it, in every row in which the node appears.
pub(crate) fn claimed(params: &Params, settings: &Settings, noise: Noise) -> Result<f64, Error> {
    if params.is_without_noise() {
        return Ok(f64::INFINITY);
    }
    let dp_delta = params.budget()?.dp_delta / 2.0 / settings.subgraph;
    let of_vectors = claimed_for_all(settings, noise.vectors, dp_delta);
    let of_gradients = sampled_gaussians(params.sampling_rate, noise.gradients, params.steps()).epsilon(dp_delta);
    Ok(stated(settings.subgraph * (of_vectors + of_gradients), params.budget()?))
}

/// The noise for which the paper states the budget.
fn as_published(params: &Params, settings: &Settings) -> Result<Noise, Error> {
    let budget = params.budget()?;
    let whole =
        Budget { epsilon: budget.epsilon / settings.subgraph, dp_delta: budget.dp_delta / 2.0 / settings.subgraph };
    let for_vectors = settings.vector_share * whole.epsilon;
    // The stated epsilon of one vector grows with the range, and falls with Gaussian noise.
    let states = |noise: f64| claimed_for_all(settings, noise, whole.dp_delta);
    let (mut low, mut high) = (libm::log(1e-6), libm::log(1e6));
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        let is_gaussian = settings.release == VectorRelease::Gaussian;
        if (states(libm::exp(middle)) > for_vectors) == is_gaussian {
            low = middle;
        } else {
            high = middle;
        }
    }
    let rest = Budget { epsilon: whole.epsilon - for_vectors, ..whole };
    let curve = |noise: f64| sampled_gaussians(params.sampling_rate, noise, params.steps());
    let vectors = libm::exp(if settings.release == VectorRelease::Gaussian { high } else { low });
    let is_choice = settings.release != VectorRelease::Gaussian;
    Ok(Noise {
        vectors: if is_choice { vectors.min(Range::MOST) } else { vectors },
        gradients: least_noise(rest, curve)?,
    })
}

/// What the paper states for all vectors with this delta for all of them: each has its part, once for its own statement and once
/// for their composition.
fn claimed_for_all(settings: &Settings, noise: f64, dp_delta: f64) -> f64 {
    let of_one = dp_delta / (2.0 * settings.vectors);
    claimed_for_vectors(claimed_for_one(settings, noise, of_one), settings.vectors, of_one)
}

/// What the paper states for one vector: of `k` choices with range `e`,
/// `2 min(k e, k e (e^2e - 1) / (e^2e + 1) + e √(2 k ln(1 / dp_delta)))`.
pub(crate) fn claimed_for_one(settings: &Settings, noise: f64, dp_delta: f64) -> f64 {
    if settings.release == VectorRelease::Gaussian {
        // The classic calibration, whatever the epsilon.
        return libm::sqrt(2.0 * libm::log(1.25 / dp_delta)) / noise;
    }
    let k = settings.kept_entries;
    let of_choices =
        2.0 * (k * noise).min(k * noise * libm::tanh(noise) + noise * libm::sqrt(2.0 * k * libm::log(1.0 / dp_delta)));
    if settings.release == VectorRelease::NoisyChoice { of_choices + noise } else { of_choices }
}

/// What the paper states for `vectors` of them: the `eps_g` with
/// `eps_0 = eps_g / (2 √(M ln(e + eps_g / (2 M dp_delta))))`, by bisection, for its right side grows with `eps_g`.
pub(crate) fn claimed_for_vectors(one: f64, vectors: f64, dp_delta: f64) -> f64 {
    let of = |whole: f64| {
        let log = libm::log(std::f64::consts::E + whole / (2.0 * vectors * dp_delta));
        whole / (2.0 * libm::sqrt(vectors * log))
    };
    let (mut low, mut high) = (libm::log(1e-9), libm::log(1e7));
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if of(libm::exp(middle)) < one {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp(high)
}
