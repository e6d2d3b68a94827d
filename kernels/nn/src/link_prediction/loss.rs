//! The loss of a variational graph auto-encoder.

use burn::backend::Flex;

use crate::differentiable::{Tracked, host_loss};
use crate::ops::shape;

/// Pairs of nodes that are linked, and pairs that are not.
#[derive(Clone, Copy)]
pub(super) struct Pairs<'a> {
    pub links: &'a [(u32, u32)],
    pub others: &'a [(u32, u32)],
}

/// Largest logarithm of a standard deviation; above, it is held there and has no gradient.
///
/// # Source
/// PyTorch Geometric, `torch_geometric.nn.models.autoencoder`, `MAX_LOGSTD`.
const MOST_SPREAD: f32 = 10.0;

/// Loss of vectors `mean + e^spread · noise`: cross-entropy of links and of other pairs, plus the divergence from a
/// standard normal distribution; see [`super::train_links`].
///
/// # Shapes
/// `encoded`: `[1, n, 2 width]`, means before spreads; `noise`: row-major `[n, width]`. Returns `[1, 1, 1]`.
pub(super) fn variational_loss(encoded: Tracked<Flex>, noise: &[f32], pairs: Pairs) -> Tracked<Flex> {
    let both = shape::<Flex>(&encoded.clone().inner().into_primitive().tensor())[2];
    host_loss::<Flex>(encoded, |encoded| loss(encoded, both / 2, noise, pairs))
}

/// The loss in nats, and its gradient by `encoded`, row-major `[n, 2 width]`.
fn loss(encoded: &[f32], width: usize, noise: &[f32], pairs: Pairs) -> (f64, Vec<f32>) {
    let n_nodes = noise.len() / width;
    let mut vectors = vec![0.0_f32; noise.len()];
    let mut deviations = vec![0.0_f32; noise.len()];
    let rows = vectors.chunks_exact_mut(width).zip(deviations.chunks_exact_mut(width));
    for (((vectors, deviations), noise), encoded) in
        rows.zip(noise.chunks_exact(width)).zip(encoded.chunks_exact(2 * width))
    {
        let (means, spreads) = encoded.split_at(width);
        for k in 0..width {
            deviations[k] = libm::expf(spreads[k].min(MOST_SPREAD));
            vectors[k] = means[k] + deviations[k] * noise[k];
        }
    }
    let mut by_vectors = vec![0.0_f32; noise.len()];
    let mut total = 0.0;
    for (pairs, is_link) in [(pairs.links, true), (pairs.others, false)] {
        total += pair_loss(&vectors, width, pairs, is_link, &mut by_vectors);
    }
    // The divergence is a mean over nodes, and is divided by their number once more.
    let share = 1.0 / (n_nodes as f64 * n_nodes as f64);
    let mut divergence = 0.0;
    let mut gradient = vec![0.0; encoded.len()];
    for (node, (gradient, encoded)) in
        gradient.chunks_exact_mut(2 * width).zip(encoded.chunks_exact(2 * width)).enumerate()
    {
        for k in 0..width {
            let at = node * width + k;
            let (mean, spread) = (encoded[k], encoded[width + k].min(MOST_SPREAD));
            let (mean64, variance) = (f64::from(mean), f64::from(deviations[at]).powi(2));
            divergence -= 0.5 * (1.0 + 2.0 * f64::from(spread) - mean64 * mean64 - variance);
            gradient[k] = by_vectors[at] + (share * mean64) as f32;
            if encoded[width + k] < MOST_SPREAD {
                let by_noise = by_vectors[at] * noise[at] * deviations[at];
                gradient[width + k] = by_noise + (share * (variance - 1.0)) as f32;
            }
        }
    }
    (total + share * divergence, gradient)
}

/// Mean cross-entropy of pairs that are all linked, or all not; its gradient is added to `by_vectors`.
fn pair_loss(vectors: &[f32], width: usize, pairs: &[(u32, u32)], is_link: bool, by_vectors: &mut [f32]) -> f64 {
    let share = 1.0 / pairs.len().max(1) as f64;
    let mut total = 0.0;
    for &(i, j) in pairs {
        let [i, j] = [i, j].map(|node| node as usize * width..(node as usize + 1) * width);
        let product: f32 = vectors[i.clone()].iter().zip(&vectors[j.clone()]).map(|(a, b)| a * b).sum();
        // The logit of what is true of the pair.
        let logit = if is_link { f64::from(product) } else { -f64::from(product) };
        let small = libm::exp(-logit.abs());
        total += (-logit).max(0.0) + libm::log1p(small);
        let miss = if logit > 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) };
        let slope = (if is_link { -share * miss } else { share * miss }) as f32;
        for k in 0..width {
            by_vectors[i.start + k] += slope * vectors[j.start + k];
            by_vectors[j.start + k] += slope * vectors[i.start + k];
        }
    }
    total * share
}
