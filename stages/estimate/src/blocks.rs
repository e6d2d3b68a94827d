//! This module believes links and classes together: nodes of one class are likelier linked, and linked nodes are likelier
//! of one class.
//!
//! Before any report is read, a pair is linked with probability about `θ_ij = w_i w_j g_ij E_ij`: the weights `w` give the
//! nodes their degrees, `g` depends on the bin of similarity that the pair stands in, and `E_ij = (1 − h) + h [c_i = c_j] /
//! π_c` on the classes of both nodes, where the homophily `h` lies between 0 and 1 and `π_c` is the share of all link ends
//! at nodes of class `c`. A node's class has the probabilities `φ_i` before any report is read; those of training nodes
//! are known. The claims `k` about a pair multiply the likelihood by `1 + θ_ij (e^{2 ε (k − 1)} − 1)`.
//!
//! [`Messages`] propagates beliefs about classes along the double claims, which carry nearly all that reports say. What
//! pairs without a claim say is a mean field: the expected sum over all pairs, corrected at the similar ones. The bins and
//! the homophily maximize the marginal likelihood of the reports, which are all that is read beside public data, so all of
//! this is post-processing.
//!
//! Where the server knows no class, [`latent`] lets blocks that are found from the reports take the place of classes.
//!
//! # Source
//! Karrer, Newman (2011), degree-corrected block models; Decelle, Krzakala, Moore, Zdeborová (2011), belief propagation
//! with a mean field for pairs that are not linked. Bins, homophily from training labels and reports in the place of links
//! are additions of this project; docs/link-model.md derives the formulas.

mod double_claims;
mod homophily;
mod latent;
mod learned;
mod messages;
mod report_weight;
mod scores;
mod spectral;
mod stored;
mod unclaimed;

use rayon::prelude::*;
use veilgraph_contract::Progress;
use veilgraph_graph::ClassBeliefs;
use veilgraph_posterior::LinkEvidence;

use crate::learned_score::{Coordinates, LearnedScore, ListedPair};
use crate::similar_claims::{SimilarClaim, SimilarClaims};
use double_claims::DoubleClaimPairs;
pub(crate) use latent::fit_latent_blocks;
use learned::Learned;
use messages::Messages;
use report_weight::weighed;
pub(crate) use scores::{Intervals, PairScores};
use unclaimed::Unclaimed;

/// Holds what is known of the nodes before the reports are read.
///
/// # Shapes
/// `known`: `[n_nodes]`; `validation`: one entry for each validation node with a label.
#[derive(Clone)]
pub(crate) struct KnownClasses {
    /// The probabilities `φ` of all classes at all nodes.
    pub prior: ClassBeliefs,
    /// The class of each training node.
    pub known: Vec<Option<u16>>,
    /// The classes of validation nodes, which decide how far the reports are trusted.
    pub validation: Vec<(u32, u16)>,
    /// Where the score is learned, what the features of the nodes are.
    pub coordinates: Option<Coordinates>,
}

/// Holds what was believed of links and classes.
pub(crate) struct Blocks {
    /// How much likelier than others the pairs are that are similar or claimed twice.
    pub scores: PairScores,
    /// The classes of all nodes; those of training nodes without the direct say of their own labels.
    pub classes: ClassBeliefs,
}

/// Is the noise of the reports, as the likelihood ratios that claims are worth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClaimRatios {
    /// `e^{2 ε (k − 1)} − 1` for `k` = 0, 1, 2 claims.
    pub less_one: [f64; 3],
    /// The probability that nobody claims an unlinked pair.
    pub unclaimed: f64,
}

impl ClaimRatios {
    fn new(epsilon_links: f64) -> Self {
        /// Nothing is lost where a double claim is as good as certain.
        const LARGEST: f64 = 1e26;
        let flip = 1.0 / (1.0 + libm::exp(epsilon_links));
        let less_one = [-1.0, 0.0, 1.0].map(|claims| libm::expm1(2.0 * epsilon_links * claims).min(LARGEST));
        Self { less_one, unclaimed: (1.0 - flip) * (1.0 - flip) }
    }
}

/// No probability of a link exceeds this before reports are read: the model is made for sparse graphs, and products of
/// weights may exceed 1 between hubs.
pub(crate) const MOST_LIKELY: f64 = 0.95;
/// So many numbers are kept as messages, which take 128 MiB, and twice as much during a pass.
const MOST_STORED: usize = 1 << 25;

/// Believes links and classes together.
///
/// `one_sided` are the nodes that sent nothing.
///
/// # Shapes
/// `degrees`: `[n]`, links.
///
/// # Complexity
/// Time and memory are linear in the double claims and the similar pairs, times the number of classes.
pub(crate) fn fit_blocks(
    evidence: &LinkEvidence,
    degrees: &[f64],
    one_sided: &[u32],
    epsilon_links: f64,
    classes: &KnownClasses,
    progress: &Progress,
) -> Blocks {
    /// The most passes of each round: only the last beliefs have to settle.
    const ROUNDS: [usize; 3] = [6, 6, 25];
    let ratios = ClaimRatios::new(epsilon_links);
    let similar = SimilarClaims::new(evidence);
    let (pairs, unclaimed) = (DoubleClaimPairs::new(evidence), Unclaimed::new(&similar));
    let mut degrees = degrees.to_vec();
    one_sided.iter().for_each(|&node| degrees[node as usize] = 0.0);
    if degrees.iter().sum::<f64>() == 0.0 {
        // Nobody sent anything.
        let scores =
            PairScores { rows: vec![Vec::new(); degrees.len()], of_others: 0.0, homophily: 0.0, n_latent: None };
        return Blocks { scores, classes: classes.prior.clone() };
    }
    let mut learned = Learned::new(&degrees, &similar, classes.prior.n_classes());
    let mut messages = Messages::new(&pairs, classes);
    for (round, most_passes) in ROUNDS.into_iter().enumerate() {
        progress.report(round as u64, ROUNDS.len() as u64);
        learned.learn(&degrees, &similar, messages.beliefs(), ratios);
        learned.learn_homophily(&similar, &pairs, classes, ratios);
        messages.propagate(&learned, &unclaimed, classes, ratios, MOST_STORED, most_passes);
    }
    let mut scores = PairScores::new(&learned, &similar, &pairs, &messages);
    let (believed, report_weight) = weighed(messages.field(), classes);
    // Their memory is needed no more, and a learned score takes some of its own.
    drop(messages);
    drop((pairs, unclaimed));
    if let Some(coordinates) = &classes.coordinates {
        let listed = listed_pairs(&learned, &similar, &scores, ratios);
        if let Some(score) = LearnedScore::learn(&listed, coordinates) {
            scores.add(&similar, &score);
        }
    }
    tracing::debug!(homophily = learned.homophily, report_weight, "links and classes believed together");
    Blocks { scores, classes: believed }
}

/// Lists the pairs from which a score is learned: those that were listed as similar before any report was read. Pairs that
/// are scored because they were claimed twice would all seem linked.
fn listed_pairs(
    learned: &Learned,
    similar: &SimilarClaims,
    scores: &PairScores,
    ratios: ClaimRatios,
) -> Vec<Vec<ListedPair>> {
    let row = |(i, scored): (usize, &Vec<(u32, f32)>)| -> Vec<ListedPair> {
        let mut scored = scored.iter();
        let pair = |claim: &SimilarClaim| {
            // Every similar pair has a score, and both rows ascend.
            let logit = scored.find(|&&(partner, _)| partner == claim.partner).map_or(0.0, |&(_, logit)| logit);
            let weights = learned.weights[i] * learned.weights[claim.partner as usize];
            let theta = weights * libm::exp(f64::from(logit) + scores.of_others);
            let less_one = ratios.less_one[usize::from(claim.claims)] as f32;
            ListedPair { partner: claim.partner, theta: theta as f32, less_one }
        };
        similar.row(i).iter().map(pair).collect()
    };
    scores.rows.par_iter().enumerate().map(row).collect()
}

/// Returns the logarithm of a probability, which is not taken for 0.
fn prior_log(probability: f32) -> f64 {
    libm::log(f64::from(probability).max(1e-12))
}

/// Writes `odds` so that they sum to 1.
fn normalize(odds: impl Iterator<Item = f64> + Clone, out: &mut [f32]) {
    let total: f64 = odds.clone().sum();
    out.iter_mut().zip(odds).for_each(|(out, odds)| *out = (odds / total) as f32);
}

/// While beliefs are propagated, this share of what the reports say is used: reports about similar nodes repeat what their
/// features say already, so all of it would make beliefs too sure.
const TRUST: f64 = 0.75;

/// Returns `x^{3/4}`, with [`TRUST`] as exponent.
fn to_the_trust(x: f32) -> f32 {
    let root = x.sqrt();
    root * root.sqrt()
}

/// Makes a known class certain.
fn fix(row: &mut [f32], known: Option<u16>) {
    if let Some(class) = known {
        row.fill(0.0);
        row[usize::from(class)] = 1.0;
    }
}

#[cfg(test)]
mod tests;
