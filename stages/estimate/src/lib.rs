//! The server turns noisy reports into a probability for every pair, and into features that a network can read.

mod belief;
mod beta_model;
mod bin_odds;
mod blocks;
mod degrees;
mod error;
pub mod features;
mod k_means;
mod known_pairs;
mod ldpgen;
mod learned_score;
mod matching;
mod newton;
mod orthonormal;
mod pairing;
mod params;
mod partner_ranges;
mod similar_claims;
mod triangles;

use veilgraph_contract::{Draws, Invalid, Progress, Server, Stage, StageRng, Stored};
use veilgraph_graph::{ClassBeliefs, Features, Labels, Nodes, Split};
use veilgraph_posterior::{LinkEvidence, LinkModel, SimilarPairs};
use veilgraph_privacy::{NoisyDegrees, NoisyLinks};

use belief::Bins;
use blocks::{KnownClasses, fit_blocks, fit_latent_blocks};
use learned_score::Coordinates;

pub use beta_model::{FitError, Solver, fit};
pub use degrees::Degrees;
pub use error::Error;
pub use ldpgen::{GroupAtRandom, GroupByCounts};
pub use pairing::{MergeEvidence, PairReports, PairRows, pair_claims};
pub use params::{LatentBlocks, Method, MissingNodes, Params, Prior};

/// Fits the prior to the noisy degrees and adds the evidence of the noisy bits.
pub struct Estimate;

/// The same, where pairs are told apart by bins: by how similar their nodes are, or how many likely neighbours they
/// have in common.
pub struct EstimateWithBins;

/// The same, where links and classes are believed together.
pub struct EstimateWithClasses;

impl Stage for Estimate {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "posterior";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = Params;
    /// Claims are read only where the method asks for them.
    type Inputs = (Stored<LinkEvidence>, NoisyDegrees);
    type Outputs = (LinkModel,);
    type Error = Error;

    fn check_params(params: &Params) -> Result<(), Error> {
        params.check()
    }

    fn run(
        (evidence, degrees): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let evidence = if params.reads_claims() {
            evidence.load()?
        } else {
            LinkEvidence::nothing(evidence.facts().get("n_nodes")?, 0)
        };
        let (model, _) = EstimateWithBins::run((evidence, degrees, None), params, rng, progress)?;
        Ok((model,))
    }
}

impl Stage for EstimateWithBins {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "posterior-with-bins";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = Params;
    /// Similar pairs are given where the prior uses them and the server holds features.
    type Inputs = (LinkEvidence, NoisyDegrees, Option<SimilarPairs>);
    /// The evidence says into which bin each pair falls.
    type Outputs = (LinkModel, LinkEvidence);
    type Error = Error;

    fn check_params(params: &Params) -> Result<(), Error> {
        params.check()
    }

    fn run(
        (evidence, degrees, similar): Self::Inputs,
        params: &Params,
        _: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let (model, evidence, _) = read(Reports { evidence, degrees }, similar, None, params, progress)?;
        Ok((model, evidence))
    }
}

impl Stage for EstimateWithClasses {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "posterior-with-classes";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = Params;
    /// The beliefs are those before any report is read. Similar pairs are given where the server holds features. Public
    /// features are read where the score is learned.
    type Inputs = (Nodes, Labels, LinkEvidence, NoisyDegrees, Option<SimilarPairs>, ClassBeliefs, Option<Features>);
    /// The beliefs are those after all reports were read.
    type Outputs = (LinkModel, LinkEvidence, ClassBeliefs);
    type Error = Error;

    fn check_params(params: &Params) -> Result<(), Error> {
        params.check()
    }

    fn run(
        (nodes, labels, evidence, degrees, similar, prior, features): Self::Inputs,
        params: &Params,
        _: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        if nodes.splits.len() != prior.n_nodes() || evidence.n_nodes() != prior.n_nodes() {
            return Err(Error::OtherNodes(format!(
                "{} nodes, {} in the reports and {} with beliefs about classes",
                nodes.splits.len(),
                evidence.n_nodes(),
                prior.n_nodes()
            )));
        }
        let mut known = vec![None; nodes.splits.len()];
        nodes.members(Split::Train).into_iter().for_each(|node| known[node as usize] = labels.class(node));
        let validation = labels.of_nodes(&nodes.members(Split::Validation));
        let features = features.filter(|_| params.learns_score());
        if let Some(features) = features.as_ref().filter(|features| features.0.n_rows() != nodes.splits.len()) {
            let counts = format!("{} nodes, {} with features", nodes.splits.len(), features.0.n_rows());
            return Err(Error::OtherNodes(counts));
        }
        let coordinates = features.as_ref().map(Coordinates::new).transpose()?;
        let classes = KnownClasses { prior, known, validation, coordinates };
        let (model, evidence, classes) = read(Reports { evidence, degrees }, similar, Some(classes), params, progress)?;
        let classes = classes.ok_or_else(|| Invalid("no class was believed".to_owned()))?;
        Ok((model, evidence, classes))
    }
}

/// Budget of a bit beyond which it is certain, in nats.
const CERTAIN: f64 = 20.0;

/// Holds what the nodes sent, with their lists paired.
struct Reports {
    evidence: LinkEvidence,
    degrees: NoisyDegrees,
}

/// Reads the reports; believes classes too where something is known of them.
fn read(
    Reports { evidence, degrees }: Reports,
    similar: Option<SimilarPairs>,
    classes: Option<KnownClasses>,
    params: &Params,
    progress: &Progress,
) -> Result<(LinkModel, LinkEvidence, Option<ClassBeliefs>), Error> {
    params.check()?;
    params.check_nodes(evidence.n_nodes())?;
    if evidence.n_nodes() != degrees.n_nodes {
        return Err(Error::Mismatch(format!("{} and {} nodes", evidence.n_nodes(), degrees.n_nodes)));
    }
    let (budget, epsilon_links) = (degrees.facts.budget, degrees.facts.budget.links);
    // In the form in which the reports were paired, so that sums come out the same to the last bit.
    let in_planes = NoisyLinks::are_dense(epsilon_links) && params.reads_claims();
    let evidence = if in_planes { evidence.into_planes() } else { evidence };
    let missing = missing(&degrees, params.missing_nodes)?;
    let knows_degrees = degrees.were_sent() || params.degrees == Degrees::EmpiricalBayesBits;
    if params.match_degrees && !knows_degrees {
        return Err(Error::NothingToMatch);
    }
    if !knows_degrees {
        // Nothing is known of the degrees: every pair is a fair coin before its bits are seen.
        let none = vec![0.0; evidence.n_nodes()];
        let model = LinkModel { degrees: none.clone(), beta: none, epsilon_links, ..LinkModel::default() };
        return Ok((model, evidence, classes.map(|classes| classes.prior)));
    }
    let degrees = degrees::used(&degrees, &evidence, params.degrees);
    // Without noise the evidence alone decides, and without bits there is nothing to learn from.
    let is_noisy = epsilon_links.is_finite() && epsilon_links > 0.0;
    let evidence = match similar.filter(|_| is_noisy && params.uses_features()) {
        Some(similar) => evidence.with_similar(similar)?,
        None => evidence,
    };
    let (bins, classes) = match classes {
        Some(classes) if epsilon_links > 0.0 => {
            // Without noise links still tell classes; a bit that is wrong once in a billion times is as good as certain.
            let epsilon = epsilon_links.min(CERTAIN);
            let blocks = fit_blocks(&evidence, &degrees.degrees, &missing, epsilon, &classes, progress);
            (if is_noisy { Bins::Scored(blocks.scores) } else { Bins::Learned }, Some(blocks.classes))
        }
        Some(classes) => (Bins::Learned, Some(classes.prior)),
        None if is_noisy && params.finds_latent_blocks() => {
            let wanted = params.latent_blocks;
            let scores = fit_latent_blocks(&evidence, &degrees.degrees, &missing, epsilon_links, wanted, progress);
            (scores.map_or(Bins::Learned, Bins::Scored), None)
        }
        None => (Bins::Learned, None),
    };
    let (model, evidence) = belief::believe(&degrees, evidence, bins, budget, &missing, params, progress)?;
    Ok((model, evidence, classes))
}

/// Nodes that sent nothing, if they are allowed.
fn missing(degrees: &NoisyDegrees, allowed: MissingNodes) -> Result<Vec<u32>, Error> {
    let missing = degrees.missing();
    match (missing.first(), allowed) {
        (Some(&node), MissingNodes::Refuse) => {
            Err(Error::MissingNode { node, count: missing.len(), n_nodes: degrees.n_nodes })
        }
        (Some(_), MissingNodes::OneSided) if degrees.facts.budget.links.is_infinite() => {
            Err(Error::MissingWithoutNoise)
        }
        _ => Ok(missing),
    }
}

#[cfg(test)]
mod tests;
