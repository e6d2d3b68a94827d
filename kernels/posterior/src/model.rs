//! This module holds the posterior: the parameters of the nodes and bins, and what is known of the pairs.

use rayon::prelude::*;
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use crate::evidence::{Known, LinkEvidence};
use crate::kernel_sum::{DistinctParameters, least_and_largest};
use crate::logistic_kernel::LogisticKernel;

/// Holds the parameters of every node and of every bin of similarity, and the budget that the reports were sent with.
///
/// # Shapes
/// `degrees` and `beta`: `[n]`; `bin_logits`: `[n_bins]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkModel {
    /// The prior used these degrees, in links; they are 0 without a prior.
    pub degrees: Vec<f64>,
    /// These are the parameters of the beta model; they are 0 without a prior.
    pub beta: Vec<f64>,
    /// Each bit was sent with this budget in nats; it is 0 when no bits were sent.
    pub epsilon_links: f64,
    /// Each degree was sent with this budget in nats; it is 0 when no degrees were sent.
    pub epsilon_degree: f64,
    /// A pair's bin adds these log odds to those of a pair in bin 0; the first entry is that of bin 1.
    pub bin_logits: Vec<f64>,
    /// The fit misses its condition at no node by more than this share of the node's degree. Without a penalty the
    /// condition is that the expected degree is the given one.
    pub residual: f64,
    /// The solver took this many iterations.
    pub iterations: u32,
    /// The penalty on the parameters that was asked for; 0 where none was.
    pub ridge: f64,
    /// The penalty on the parameters that was needed because no beta model has these degrees; 0 where none was.
    pub fallback_ridge: f64,
    /// Where the expected degrees of the posterior were matched to the given ones, this penalty drew the parameters
    /// towards their mean; it is absent where only the prior has the degrees.
    pub centred_ridge: Option<f64>,
    /// No log odds of a bin changed by more than this in the last pass of their learning; 0 without bins.
    pub bin_change: f64,
    /// How much likelier than others the links within a class are, from 0 (not at all) to 1 (there are no others); absent
    /// where neither classes nor latent blocks were believed together with links.
    pub homophily: Option<f64>,
    /// So many latent blocks took the place of classes; absent where none did.
    pub latent_blocks: Option<u16>,
}

/// Gives the probability of a link for every pair of nodes without holding them.
///
/// # Shapes
/// `beta`: `[n]`; `evidence_logits`: `[1 + n_bins][3]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    beta: Vec<f64>,
    /// A pair's bin and number of claims add these log odds.
    evidence_logits: Vec<[f64; 3]>,
    evidence: LinkEvidence,
}

/// Returns the probability with the log odds `x`: `1 / (1 + e^{-x})`.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    LogisticKernel::Logistic.at(x)
}

impl Posterior {
    /// Joins these parameters and this evidence.
    ///
    /// # Errors
    /// Fails when the parameters and the evidence have different numbers of nodes or bins.
    pub fn new(model: &LinkModel, evidence: LinkEvidence) -> Result<Self, Invalid> {
        let (n, m) = (model.beta.len(), evidence.n_nodes());
        if n != m {
            return Err(Invalid(format!("the link model has {n} nodes, the evidence {m}")));
        }
        let (n, m) = (model.bin_logits.len(), usize::from(evidence.similar().n_bins()));
        if n != m {
            return Err(Invalid(format!("the link model has {n} bins, the evidence {m}")));
        }
        let evidence_logits = evidence_logits(model.epsilon_links, &model.bin_logits);
        Ok(Self { beta: model.beta.clone(), evidence_logits, evidence })
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.beta.len()
    }

    /// Returns the parameter `β_i` of each node.
    #[must_use]
    pub fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// Returns what is known of the pairs.
    #[must_use]
    pub fn evidence(&self) -> &LinkEvidence {
        &self.evidence
    }

    /// Gives up the posterior and returns what was known of the pairs.
    #[must_use]
    pub fn into_evidence(self) -> LinkEvidence {
        self.evidence
    }

    /// Returns what a pair's bin and number of claims add to its log odds.
    ///
    /// # Shapes
    /// Returns `[1 + n_bins][3]`.
    pub(crate) fn evidence_logits(&self) -> &[[f64; 3]] {
        &self.evidence_logits
    }

    /// Returns the log odds that evidence adds to a pair: `2 (claims − 1) ε_links` plus the log odds of its bin.
    #[must_use]
    pub fn evidence_logit(&self, known: Known) -> f64 {
        self.evidence_logits[usize::from(known.bin)][usize::from(known.claims)]
    }

    /// Returns the least and the largest finite [`Self::evidence_logit`].
    #[must_use]
    pub fn evidence_logit_bounds(&self) -> (f64, f64) {
        let finite: Vec<f64> =
            self.evidence_logits.as_flattened().iter().copied().filter(|logit| logit.is_finite()).collect();
        least_and_largest(&finite)
    }

    /// Returns the log odds of a link between `i` and `j`, given what is known of the pair.
    #[must_use]
    pub fn logit(&self, i: u32, j: u32, known: Known) -> f64 {
        self.beta[i as usize] + self.beta[j as usize] + self.evidence_logit(known)
    }

    /// Returns the probability of a link between two different nodes.
    ///
    /// # Source
    /// Zhu, Tan, Xiao (2023), Blink, section 4: their quotient for the posterior is this logistic function.
    #[must_use]
    pub fn probability(&self, i: u32, j: u32) -> f64 {
        sigmoid(self.logit(i, j, self.evidence.known(i, j)))
    }

    /// Returns `Σ_{i<j} k(logit_ij)`, exact up to rounding.
    ///
    /// The sum over all pairs as if nothing were known of any is a kernel sum; the known pairs then correct it.
    ///
    /// # Complexity
    /// `O(n · rank + known pairs)`.
    #[must_use]
    pub fn pair_sum(&self, kernel: LogisticKernel) -> f64 {
        let as_if_unknown = DistinctParameters::new(&self.beta).pair_sum(kernel, self.unknown_logit());
        as_if_unknown + self.row_corrections(kernel).into_iter().sum::<f64>()
    }

    /// Returns the log odds that are added to a pair of which nothing is known.
    pub(crate) fn unknown_logit(&self) -> f64 {
        self.evidence_logit(Known::default())
    }

    /// Returns, for each row, by how much its known pairs change the sum over its pairs as if nothing were known.
    ///
    /// Rows are computed in parallel, each in the order of its pairs, so that the sums do not depend on the number of
    /// threads.
    ///
    /// # Shapes
    /// Returns `[n]`.
    pub(crate) fn row_corrections(&self, kernel: LogisticKernel) -> Vec<f64> {
        // e^{-logit} of a pair is a product of three numbers that are computed once, so no pair needs an exponential.
        let exp_minus_beta: Vec<f64> = self.beta.iter().map(|&b| libm::exp(-b)).collect();
        let exp_minus = |logits: &[f64; 3]| logits.map(|logit| libm::exp(-logit));
        let exp_minus_evidence: Vec<[f64; 3]> = self.evidence_logits.iter().map(exp_minus).collect();
        let row = |i: usize| -> f64 {
            let corrections = self.evidence.row(i).map(|(j, Known { claims, bin })| {
                let product = exp_minus_beta[i] * exp_minus_beta[j as usize];
                let value = |bin: usize, claims: usize| {
                    let exp_minus = product * exp_minus_evidence[bin][claims];
                    // The integral grows with the logit, also where `e^{-logit}` is too small for a number.
                    if kernel == LogisticKernel::Softplus && exp_minus < f64::MIN_POSITIVE {
                        return self.beta[i] + self.beta[j as usize] + self.evidence_logits[bin][claims];
                    }
                    kernel.from_exp_minus(exp_minus)
                };
                value(usize::from(bin), usize::from(claims)) - value(0, 0)
            });
            corrections.sum()
        };
        (0..self.n_nodes()).into_par_iter().map(row).collect()
    }
}

/// Returns what 0, 1 and 2 claims add to the log odds of a pair, for bin 0 and then for each further bin.
///
/// A node tells the truth about a pair with probability `1 / (1 + e^{-ε_links})`, so each of its two bits moves the log
/// odds by `ε_links` up or down, and one claim of two says nothing.
///
/// # Shapes
/// `bin_logits`: `[n_bins]`. Returns `[1 + n_bins][3]`.
///
/// # Source
/// Zhu, Tan, Xiao (2023), Blink, section 4.
#[must_use]
pub fn evidence_logits(epsilon_links: f64, bin_logits: &[f64]) -> Vec<[f64; 3]> {
    let claims = [-2.0 * epsilon_links, 0.0, 2.0 * epsilon_links];
    std::iter::once(&0.0).chain(bin_logits).map(|bin| claims.map(|claims| claims + bin)).collect()
}

// The model is a function of the noisy reports alone, so it is post-processing.
impl Public for LinkModel {}

/// Name of the fact that a penalty was asked for.
const RIDGE: &str = "ridge";
/// Name of the fact that a penalty was needed.
const FALLBACK_RIDGE: &str = "fallback_ridge";
/// Name of the fact that degrees were matched.
const CENTRED_RIDGE: &str = "centred_ridge";
/// Name of the fact how much classes decide about links.
const HOMOPHILY: &str = "homophily";
/// Name of the fact how many latent blocks there are.
const LATENT_BLOCKS: &str = "latent_blocks";
/// Name of the fact how well the log odds of bins have settled.
const BIN_CHANGE: &str = "bin_change";

impl Artifact for LinkModel {
    const NAME: &'static str = "link_model";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("node", ColumnType::U32), ("degree", ColumnType::F64), ("beta", ColumnType::F64)];

    fn facts(&self) -> Facts {
        let bin_logits: Vec<String> = self.bin_logits.iter().map(ToString::to_string).collect();
        let facts = Facts::default()
            .with("epsilon_links", self.epsilon_links)
            .with("epsilon_degree", self.epsilon_degree)
            .with("bin_logits", bin_logits.join(" "))
            .with("residual", self.residual)
            .with("iterations", self.iterations);
        // A fact is there only where it says something, so that all other models keep their bytes.
        let centred_ridge = self.centred_ridge.map(|ridge| (CENTRED_RIDGE, ridge));
        let ridge = (self.ridge > 0.0).then_some((RIDGE, self.ridge));
        let fallback_ridge = (self.fallback_ridge > 0.0).then_some((FALLBACK_RIDGE, self.fallback_ridge));
        let bin_change = (!self.bin_logits.is_empty()).then_some((BIN_CHANGE, self.bin_change));
        let homophily = self.homophily.map(|homophily| (HOMOPHILY, homophily));
        let told = [ridge, fallback_ridge, centred_ridge, bin_change, homophily].into_iter().flatten();
        let facts = told.fold(facts, |facts, (name, value)| facts.with(name, value));
        self.latent_blocks.into_iter().fold(facts, |facts, blocks| facts.with(LATENT_BLOCKS, blocks))
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let nodes = (0..self.beta.len() as u32).collect();
        Box::new(std::iter::once(vec![
            Column::U32(nodes),
            Column::F64(self.degrees.clone()),
            Column::F64(self.beta.clone()),
        ]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let (mut degrees, mut beta) = (Vec::new(), Vec::new());
        for block in blocks {
            let mut columns = block.into_iter().skip(1);
            degrees.extend(take::<f64>(&mut columns)?);
            beta.extend(take::<f64>(&mut columns)?);
        }
        if let Some(node) = beta.iter().position(|value| !value.is_finite()) {
            return Err(Invalid(format!("node {node}: its parameter {} is not finite", beta[node])));
        }
        let bin_logits: String = facts.get("bin_logits")?;
        let bin_logits = bin_logits.split_whitespace().map(|logit| match logit.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(Invalid(format!("the log odds {logit} of a bin are not a finite number"))),
        });
        let bin_logits = bin_logits.collect::<Result<_, _>>()?;
        let (epsilon_links, epsilon_degree) = (facts.get("epsilon_links")?, facts.get("epsilon_degree")?);
        let (residual, iterations) = (facts.get("residual")?, facts.get("iterations")?);
        let told = |name: &str| if facts.0.contains_key(name) { facts.get::<f64>(name).map(Some) } else { Ok(None) };
        let [ridge, fallback_ridge, centred_ridge, bin_change, homophily] =
            [told(RIDGE)?, told(FALLBACK_RIDGE)?, told(CENTRED_RIDGE)?, told(BIN_CHANGE)?, told(HOMOPHILY)?];
        let latent_blocks = if facts.0.contains_key(LATENT_BLOCKS) { Some(facts.get(LATENT_BLOCKS)?) } else { None };
        Ok(Self {
            degrees,
            beta,
            epsilon_links,
            epsilon_degree,
            bin_logits,
            residual,
            iterations,
            ridge: ridge.unwrap_or(0.0),
            fallback_ridge: fallback_ridge.unwrap_or(0.0),
            centred_ridge,
            bin_change: bin_change.unwrap_or(0.0),
            homophily,
            latent_blocks,
        })
    }
}
