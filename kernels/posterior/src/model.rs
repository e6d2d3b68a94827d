//! The posterior: parameters of the nodes, and what is known of the pairs.

use rayon::prelude::*;
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use crate::evidence::{Known, LinkEvidence};
use crate::kernel_sum::{Atoms, Kernel, range};

/// The parameters of every node and bin of similarity, and the budget that made the bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkModel {
    /// Degree as the prior used it, in links; 0 without a prior.
    pub degrees: Vec<f64>,
    /// Parameter of the beta model; 0 without a prior.
    pub beta: Vec<f64>,
    /// Budget of each bit in nats; 0 when no bits were sent.
    pub epsilon_links: f64,
    /// Log odds of a link in each bin of similarity, from bin 1 on, beyond those of pairs in none.
    pub bin_logits: Vec<f64>,
    /// Largest relative difference between expected and given degree.
    pub residual: f64,
    /// Iterations of the solver.
    pub iterations: u32,
}

/// Probability of a link for every pair of nodes, held implicitly.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    beta: Vec<f64>,
    /// What a pair's bin and claims add to its log odds.
    evidence_logits: Vec<[f64; 3]>,
    evidence: LinkEvidence,
}

/// `1 / (1 + e^{-x})`.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    Kernel::Logistic.at(x)
}

impl Posterior {
    /// The posterior of these parameters and this evidence.
    ///
    /// # Errors
    /// When they speak of different numbers of nodes or bins.
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

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.beta.len()
    }

    /// Parameter of each node.
    #[must_use]
    pub fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// What is known of the pairs.
    #[must_use]
    pub fn evidence(&self) -> &LinkEvidence {
        &self.evidence
    }

    /// What was known of the pairs.
    #[must_use]
    pub fn into_evidence(self) -> LinkEvidence {
        self.evidence
    }

    /// What is known of a pair, in log odds: `2 (claims − 1) ε_links`, and the log odds of its bin.
    #[must_use]
    pub fn evidence_logit(&self, known: Known) -> f64 {
        self.evidence_logits[usize::from(known.bin)][usize::from(known.claims)]
    }

    /// Least and largest finite [`Self::evidence_logit`].
    #[must_use]
    pub fn evidence_logit_bounds(&self) -> (f64, f64) {
        let finite: Vec<f64> =
            self.evidence_logits.as_flattened().iter().copied().filter(|logit| logit.is_finite()).collect();
        range(&finite)
    }

    /// Log odds of a link between `i` and `j`, given what is known of the pair.
    #[must_use]
    pub fn logit(&self, i: u32, j: u32, known: Known) -> f64 {
        self.beta[i as usize] + self.beta[j as usize] + self.evidence_logit(known)
    }

    /// Probability of a link between two different nodes.
    #[must_use]
    pub fn probability(&self, i: u32, j: u32) -> f64 {
        sigmoid(self.logit(i, j, self.evidence.known(i, j)))
    }

    /// `Σ_{i<j} f_ij` for a kernel of the logits, exact up to rounding.
    ///
    /// # Complexity
    /// `O(n · rank + known pairs)`.
    #[must_use]
    pub fn pair_sum(&self, kernel: Kernel) -> f64 {
        let base = self.evidence_logit(Known::default());
        let unknown = Atoms::new(&self.beta).pair_sum(kernel, base);
        // e^{-s} of a pair is a product of two numbers: no exponential per pair.
        let exp_minus_beta: Vec<f64> = self.beta.iter().map(|&b| libm::exp(-b)).collect();
        let exp_minus = |logits: &[f64; 3]| logits.map(|logit| libm::exp(-logit));
        let exp_minus_evidence: Vec<[f64; 3]> = self.evidence_logits.iter().map(exp_minus).collect();
        let row = |i: usize| -> f64 {
            let corrections = self.evidence.row(i).map(|(j, Known { claims, bin })| {
                let product = exp_minus_beta[i] * exp_minus_beta[j as usize];
                let after = kernel.from_exp_minus(product * exp_minus_evidence[usize::from(bin)][usize::from(claims)]);
                after - kernel.from_exp_minus(product * exp_minus_evidence[0][0])
            });
            corrections.sum()
        };
        // Rows in parallel, their sums in order: the result does not depend on the number of threads.
        let rows: Vec<f64> = (0..self.n_nodes()).into_par_iter().map(row).collect();
        unknown + rows.into_iter().sum::<f64>()
    }
}

/// What claims add to the log odds of a pair in no bin, and in each bin.
#[must_use]
pub fn evidence_logits(epsilon_links: f64, bin_logits: &[f64]) -> Vec<[f64; 3]> {
    let claims = [-2.0 * epsilon_links, 0.0, 2.0 * epsilon_links];
    std::iter::once(&0.0).chain(bin_logits).map(|bin| claims.map(|claims| claims + bin)).collect()
}

// Post-processing of the noisy reports.
impl Public for LinkModel {}

impl Artifact for LinkModel {
    const NAME: &'static str = "link_model";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("node", ColumnType::U32), ("degree", ColumnType::F64), ("beta", ColumnType::F64)];

    fn facts(&self) -> Facts {
        let bin_logits: Vec<String> = self.bin_logits.iter().map(ToString::to_string).collect();
        Facts::default()
            .with("epsilon_links", self.epsilon_links)
            .with("bin_logits", bin_logits.join(" "))
            .with("residual", self.residual)
            .with("iterations", self.iterations)
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
        let (epsilon_links, residual, iterations) =
            (facts.get("epsilon_links")?, facts.get("residual")?, facts.get("iterations")?);
        Ok(Self { degrees, beta, epsilon_links, bin_logits, residual, iterations })
    }
}
