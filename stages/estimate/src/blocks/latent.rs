//! This module finds blocks of nodes from the reports alone, where no class is known.
//!
//! Blocks are classes without names, so all formulas of classes hold. They begin at groups of nodes that lie near each other
//! in the leading eigenvectors of the expected links, and are believed by the same propagation. The homophily follows from
//! the beliefs about all pairs instead of training nodes. How many blocks there are is decided by pairs that no block was
//! learned from.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use veilgraph_contract::Progress;
use veilgraph_graph::ClassBeliefs;
use veilgraph_posterior::LinkEvidence;

use super::double_claims::DoubleClaimPairs;
use super::learned::Learned;
use super::messages::Messages;
use super::spectral::ExpectedLinks;
use super::unclaimed::Unclaimed;
use super::{ClaimRatios, KnownClasses, MOST_LIKELY, MOST_STORED, PairScores};
use crate::k_means::k_means;
use crate::learned_score::mixed;
use crate::params::LatentBlocks;
use crate::similar_claims::SimilarClaims;

/// So many blocks are tried; one block, which is none, is what they are compared with.
const TRIED: [u16; 8] = [2, 3, 4, 6, 8, 12, 16, 24];
/// One in so many pairs is held out.
const ONE_IN: u64 = 8;

/// Believes links and latent blocks together; returns nothing where the reports tell of no blocks.
///
/// `one_sided` are the nodes that sent nothing.
///
/// # Shapes
/// `degrees`: `[n]`, links.
///
/// # Complexity
/// That of classes, for every number of blocks that is tried.
pub(crate) fn fit_latent_blocks(
    evidence: &LinkEvidence,
    degrees: &[f64],
    one_sided: &[u32],
    epsilon_links: f64,
    wanted: LatentBlocks,
    progress: &Progress,
) -> Option<PairScores> {
    let mut degrees = degrees.to_vec();
    one_sided.iter().for_each(|&node| degrees[node as usize] = 0.0);
    let is_told = match wanted {
        LatentBlocks::Number(number) => number > 1,
        LatentBlocks::Auto => evidence.similar().n_pairs() > 0 || are_tellable(&degrees, epsilon_links),
    };
    // Nobody who has no link at all is in a block.
    let is_told = is_told && degrees.iter().sum::<f64>() > 0.0;
    if !is_told {
        return None;
    }
    let (ratios, similar) = (ClaimRatios::new(epsilon_links), SimilarClaims::new(evidence));
    let fit = LatentFit { evidence, degrees: &degrees, similar: &similar, progress };
    let start = match wanted {
        LatentBlocks::Auto => fit.chosen(ratios)?,
        LatentBlocks::Number(number) => {
            let pairs = DoubleClaimPairs::new(evidence);
            let start = Start::new(&fit, &pairs, ratios, usize::from(number) - 1);
            fit.settled(&pairs, ratios, start.grouped(u16::from(number)))
        }
    };
    let (pairs, n_blocks) = (DoubleClaimPairs::new(evidence), start.n_blocks);
    let (learned, messages) = fit.propagated(&pairs, ratios, start, &[6, 25]);
    tracing::debug!(n_blocks, homophily = learned.homophily, "links and latent blocks believed together");
    let scores = PairScores::new(&learned, &similar, &pairs, &messages);
    Some(PairScores { n_latent: Some(n_blocks), ..scores })
}

/// Returns whether blocks of these degrees could be told at this budget, whatever they are.
///
/// The claims of a pair tell an unlinked one from a linked one with the divergence `χ² = (e^ε − 1)² + (1 − e^{−ε})²`. What they
/// say about blocks grows from neighbour to neighbour only if `h² χ² Σ_i w_i⁴ > 1`, and `h` is at most 1.
///
/// # Source
/// Decelle, Krzakala, Moore, Zdeborová (2011), the threshold of Kesten and Stigum; here for noisy bits and given degrees.
pub(crate) fn are_tellable(degrees: &[f64], epsilon_links: f64) -> bool {
    let total: f64 = degrees.iter().sum();
    let divergence = libm::expm1(epsilon_links).powi(2) + libm::expm1(-epsilon_links).powi(2);
    let fourth_powers: f64 = degrees.iter().map(|degree| (degree * degree / total).powi(2)).sum();
    // It is NaN where nobody has a link.
    divergence * fourth_powers > 1.0
}

/// Holds blocks as they are believed.
struct Believed {
    learned: Learned,
    /// `[n, n_blocks]`, row-major.
    beliefs: Vec<f32>,
    n_blocks: u16,
}

/// Holds what all numbers of blocks have in common.
struct LatentFit<'a> {
    evidence: &'a LinkEvidence,
    degrees: &'a [f64],
    similar: &'a SimilarClaims<'a>,
    progress: &'a Progress<'a>,
}

impl LatentFit<'_> {
    /// Finds the blocks that make the reports about held-out pairs likeliest; returns nothing where none makes them likelier
    /// than the nodes' degrees and the bins alone, by more than chance.
    fn chosen(&self, ratios: ClaimRatios) -> Option<Believed> {
        /// A gain of fewer nats is none. Without blocks, the likelihood ratio of held-out reports has a mean of about 1, so by
        /// Markov's inequality a number of blocks gains 7 nats with a chance of at most `e^{-7}`, and one of eight with 0.73 %.
        const LEAST: f64 = 7.0;
        /// A gain that a few pairs make is none: it must exceed its standard deviation by this factor.
        const DEVIATIONS: f64 = 2.0;
        /// So many larger numbers of blocks in a row have to be no better before the search ends.
        const MOST_WORSE: u32 = 2;
        let pairs = DoubleClaimPairs::of_pairs(self.evidence, |i, j| !is_held_out(i, j));
        let kept = ClaimRatios { unclaimed: ratios.unclaimed * (1.0 - 1.0 / ONE_IN as f64), ..ratios };
        // A block of fewer than four nodes is none.
        let tried: Vec<u16> = TRIED.into_iter().filter(|&n| 4 * usize::from(n) <= self.degrees.len()).collect();
        let similar = self.similar.without_reports_of(is_held_out);
        let kept_fit = LatentFit { similar: &similar, ..*self };
        let start = Start::new(&kept_fit, &pairs, kept, usize::from(*tried.last()?) - 1);
        let mut best: Option<(f64, Believed)> = None;
        let mut n_worse = 0;
        for (at, &n_blocks) in tried.iter().enumerate() {
            self.progress.report(at as u64, tried.len() as u64);
            let believed = kept_fit.settled(&pairs, kept, start.grouped(n_blocks));
            let Gain { sum, deviation } = self.gain(&start.alone, &believed, ratios);
            let homophily = believed.learned.homophily;
            tracing::debug!(n_blocks, homophily, sum, deviation, "held-out pairs judge latent blocks");
            let is_better =
                sum > LEAST.max(DEVIATIONS * deviation) && best.as_ref().is_none_or(|(most, _)| sum > *most);
            n_worse = if is_better { 0 } else { n_worse + 1 };
            if is_better {
                best = Some((sum, believed));
            } else if best.is_some() && n_worse >= MOST_WORSE {
                break;
            }
        }
        best.map(|(_, believed)| believed)
    }

    /// Propagates from this start until blocks, weights, bins and homophily have about settled.
    fn settled(&self, pairs: &DoubleClaimPairs, ratios: ClaimRatios, start: Believed) -> Believed {
        let n_blocks = start.n_blocks;
        let (learned, messages) = self.propagated(pairs, ratios, start, &[5, 5, 5]);
        Believed { learned, beliefs: messages.beliefs().to_vec(), n_blocks }
    }

    /// Propagates in rounds of at most so many passes; the homophily is learned after each but the last.
    fn propagated<'p>(
        &self,
        pairs: &'p DoubleClaimPairs,
        ratios: ClaimRatios,
        start: Believed,
        rounds: &[usize],
    ) -> (Learned, Messages<'p>) {
        let Believed { mut learned, beliefs, n_blocks } = start;
        let mut classes = frequencies(&beliefs, usize::from(n_blocks));
        let unclaimed = Unclaimed::new(self.similar);
        let mut messages = Messages::new(pairs, &classes).starting_with(beliefs);
        for (round, &most_passes) in rounds.iter().enumerate() {
            learned.learn(self.degrees, self.similar, messages.beliefs(), ratios);
            messages.propagate(&learned, &unclaimed, &classes, ratios, MOST_STORED, most_passes);
            if round + 1 < rounds.len() {
                classes = frequencies(messages.beliefs(), usize::from(n_blocks));
                learned.learn_homophily_of_beliefs(self.similar, pairs, &messages, ratios);
            }
        }
        (learned, messages)
    }

    /// Says by how much the blocks make the reports about held-out pairs likelier than they are without blocks, in nats.
    fn gain(&self, alone: &Learned, blocks: &Believed, ratios: ClaimRatios) -> Gain {
        let n_blocks = usize::from(blocks.n_blocks);
        let belief = |node: usize| &blocks.beliefs[node * n_blocks..][..n_blocks];
        let affinity = |i: usize, j: u32| blocks.learned.affinity(belief(i), belief(j as usize));
        let (mut sum, mut squares) = (0.0, 0.0);
        let mut add = |i: usize, j: u32, bin: u8, claims: u8| {
            let factor = |learned: &Learned, affinity: f64| {
                1.0 + (learned.base(i, j, bin) * affinity).min(MOST_LIKELY) * ratios.less_one[usize::from(claims)]
            };
            let gain = libm::log(factor(&blocks.learned, affinity(i, j)) / factor(alone, 1.0));
            sum += gain;
            squares += gain * gain;
        };
        // The sum of `θ` over the pairs that are neither similar nor claimed, as expected without links.
        let learned = &blocks.learned;
        let mut others = (1.0 - learned.homophily) * learned.weight_of_all()
            + learned.homophily * learned.same_of_all(&blocks.beliefs)
            - alone.weight_of_all();
        for i in 0..self.degrees.len() {
            for (j, known) in self.evidence.row(i) {
                if known.bin > 0 {
                    let weight = |learned: &Learned| learned.weights[i] * learned.weights[j as usize];
                    others -= weight(learned) * affinity(i, j) - weight(alone);
                }
                // One claim says nothing.
                if is_held_out(i as u32, j) && known.claims != 1 {
                    add(i, j, known.bin, known.claims);
                }
            }
        }
        sum += ratios.less_one[0] * ratios.unclaimed / ONE_IN as f64 * others;
        Gain { sum, deviation: squares.sqrt() }
    }
}

/// Says by how much reports are likelier, in nats.
struct Gain {
    sum: f64,
    /// The standard deviation of the sum, if the true gain of every pair were 0.
    deviation: f64,
}

/// Holds where blocks begin.
struct Start {
    /// What is learned without blocks.
    alone: Learned,
    /// The places of the nodes, `[n, width]`, row-major.
    places: Vec<f64>,
    width: usize,
}

impl Start {
    /// Places the nodes by as many eigenvectors as `width` says.
    fn new(fit: &LatentFit, pairs: &DoubleClaimPairs, ratios: ClaimRatios, width: usize) -> Self {
        const ROUNDS: usize = 3;
        let mut alone = Learned::new(fit.degrees, fit.similar, 1);
        let one = vec![1.0; fit.degrees.len()];
        for _ in 0..ROUNDS {
            alone.learn(fit.degrees, fit.similar, &one, ratios);
        }
        let places = ExpectedLinks::new(fit.degrees, &alone, fit.similar, pairs, ratios).leading(width);
        Self { alone, places, width }
    }

    /// Groups the nodes by the directions of their places. The eigenvectors hold one dimension less than there are groups,
    /// because what degrees alone expect was taken out.
    ///
    /// # Source
    /// Ng, Jordan, Weiss (2001), On spectral clustering, for directions in the place of places.
    fn grouped(&self, n_blocks: u16) -> Believed {
        /// A node is believed to be of its group to this degree.
        const SURE: f32 = 0.8;
        let (n_blocks, width) = (usize::from(n_blocks), usize::from(n_blocks) - 1);
        let direction = |place: &[f64]| -> Vec<f64> {
            let length = place[..width].iter().map(|x| x * x).sum::<f64>().sqrt();
            place[..width].iter().map(|x| if length > 0.0 { x / length } else { 0.0 }).collect()
        };
        let directions: Vec<f64> = self.places.chunks_exact(self.width).flat_map(direction).collect();
        // The start is a part of the method and not of the experiment's noise, so its seed is always the same.
        let groups = k_means(&directions, width, n_blocks, &mut ChaCha8Rng::seed_from_u64(n_blocks as u64));
        let mut beliefs = vec![(1.0 - SURE) / n_blocks as f32; groups.len() * n_blocks];
        for (row, group) in beliefs.chunks_exact_mut(n_blocks).zip(groups) {
            row[group as usize] += SURE;
        }
        let mut learned = self.alone.clone();
        learned.shares = vec![1.0 / n_blocks as f64; n_blocks];
        Believed { learned, beliefs, n_blocks: n_blocks as u16 }
    }
}

/// Believes of every node, before any report is read, what is believed of all on average.
fn frequencies(beliefs: &[f32], n_blocks: usize) -> KnownClasses {
    /// No block is rarer than this share of an equal part.
    const LEAST: f64 = 1e-2;
    let n_nodes = beliefs.len() / n_blocks;
    let mut means = vec![0.0_f64; n_blocks];
    for row in beliefs.chunks_exact(n_blocks) {
        means.iter_mut().zip(row).for_each(|(sum, &belief)| *sum += f64::from(belief) / n_nodes as f64);
    }
    means.iter_mut().for_each(|mean| *mean = mean.max(LEAST / n_blocks as f64));
    let total: f64 = means.iter().sum();
    let row: Vec<f32> = means.iter().map(|mean| (mean / total) as f32).collect();
    let prior = ClassBeliefs::new(n_blocks, std::iter::repeat_n(row, n_nodes).flatten().collect())
        .unwrap_or_else(|invalid| unreachable!("rows are normalized: {invalid}"));
    KnownClasses { prior, known: vec![None; n_nodes], validation: Vec::new(), coordinates: None }
}

/// Returns whether the pair `i < j` is held out: one in [`ONE_IN`] is, by a hash of the pair, so the same ones in every run.
fn is_held_out(i: u32, j: u32) -> bool {
    mixed(u64::from(i) << 32 | u64::from(j)).is_multiple_of(ONE_IN)
}
