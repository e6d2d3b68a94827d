//! The posterior: parameters of the nodes and claims of the pairs.

use rayon::prelude::*;
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use crate::evidence::LinkEvidence;
use crate::kernel_sum::{Atoms, Kernel};

/// The parameters of every node, and the budget that made its bits.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkModel {
    /// Degree as the prior used it, in links; 0 without a prior.
    pub degrees: Vec<f64>,
    /// Parameter of the beta model; 0 without a prior.
    pub beta: Vec<f64>,
    /// Budget of each bit in nats; 0 when no bits were sent.
    pub epsilon_links: f64,
    /// Largest relative difference between expected and given degree.
    pub residual: f64,
    /// Iterations of the solver.
    pub iterations: u32,
}

/// Probability of a link for every pair of nodes, held implicitly.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    beta: Vec<f64>,
    epsilon_links: f64,
    evidence: LinkEvidence,
}

/// `1 / (1 + e^{-x})`.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    Kernel::Logistic.at(x)
}

impl Posterior {
    /// The posterior of these parameters and claims.
    ///
    /// # Errors
    /// When they speak of different numbers of nodes.
    pub fn new(model: &LinkModel, evidence: LinkEvidence) -> Result<Self, Invalid> {
        let (n, m) = (model.beta.len(), evidence.n_nodes());
        if n != m {
            return Err(Invalid(format!("the link model has {n} nodes, the evidence {m}")));
        }
        Ok(Self { beta: model.beta.clone(), epsilon_links: model.epsilon_links, evidence })
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

    /// Claimed pairs.
    #[must_use]
    pub fn evidence(&self) -> &LinkEvidence {
        &self.evidence
    }

    /// Log likelihood ratio of `claims`: `2 (claims − 1) ε_links`.
    #[must_use]
    pub fn evidence_logit(&self, claims: u8) -> f64 {
        match claims {
            0 => -2.0 * self.epsilon_links,
            1 => 0.0,
            _ => 2.0 * self.epsilon_links,
        }
    }

    /// Log odds of a link between `i` and `j`, given the claims of the pair.
    #[must_use]
    pub fn logit(&self, i: u32, j: u32, claims: u8) -> f64 {
        self.beta[i as usize] + self.beta[j as usize] + self.evidence_logit(claims)
    }

    /// Probability of a link between two different nodes.
    #[must_use]
    pub fn probability(&self, i: u32, j: u32) -> f64 {
        sigmoid(self.logit(i, j, self.evidence.claims(i, j)))
    }

    /// `Σ_{i<j} f_ij` for a kernel of the logits, exact up to rounding.
    ///
    /// # Complexity
    /// `O(n · rank + claimed pairs)`.
    #[must_use]
    pub fn pair_sum(&self, kernel: Kernel) -> f64 {
        let base = self.evidence_logit(0);
        let unclaimed = Atoms::new(&self.beta).pair_sum(kernel, base);
        // e^{-s} of a pair is a product of two numbers: no exponential per pair.
        let exp_minus_beta: Vec<f64> = self.beta.iter().map(|&b| libm::exp(-b)).collect();
        let exp_minus_evidence = [0, 1, 2].map(|claims| libm::exp(-self.evidence_logit(claims)));
        let row = |i: usize| -> f64 {
            let corrections = self.evidence.row(i).map(|(j, claims)| {
                let product = exp_minus_beta[i] * exp_minus_beta[j as usize];
                let after = kernel.from_exp_minus(product * exp_minus_evidence[usize::from(claims)]);
                after - kernel.from_exp_minus(product * exp_minus_evidence[0])
            });
            corrections.sum()
        };
        // Rows in parallel, their sums in order: the result does not depend on the number of threads.
        let rows: Vec<f64> = (0..self.n_nodes()).into_par_iter().map(row).collect();
        unclaimed + rows.into_iter().sum::<f64>()
    }
}

// Post-processing of the noisy reports.
impl Public for LinkModel {}

impl Artifact for LinkModel {
    const NAME: &'static str = "link_model";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("node", ColumnType::U32), ("degree", ColumnType::F64), ("beta", ColumnType::F64)];

    fn facts(&self) -> Facts {
        Facts::default()
            .with("epsilon_links", self.epsilon_links)
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
        let (epsilon_links, residual, iterations) =
            (facts.get("epsilon_links")?, facts.get("residual")?, facts.get("iterations")?);
        Ok(Self { degrees, beta, epsilon_links, residual, iterations })
    }
}
