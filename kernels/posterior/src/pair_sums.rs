//! This module sums several functions of the log odds over all pairs in one pass over the known ones.

use rayon::prelude::*;

use crate::evidence::Known;
use crate::kernel_sum::DistinctParameters;
use crate::logistic_kernel::LogisticKernel;
use crate::model::Posterior;

/// Holds sums over all pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairSums {
    /// `Σ P`: this many links are expected.
    pub links: f64,
    /// `Σ P (1 − P)`.
    pub doubt: f64,
    /// `Σ ln(1 + e^logit)`, in nats.
    pub softplus: f64,
}

impl Posterior {
    /// Returns the three sums of [`Self::pair_sum`], up to rounding, at about the cost of one of them.
    ///
    /// # Complexity
    /// `O(n · rank + known pairs)`.
    #[must_use]
    pub fn pair_sums(&self) -> PairSums {
        /// Within these log odds, products of odds neither overflow nor vanish.
        const WIDEST: f64 = 300.0;
        let kernels = [LogisticKernel::Logistic, LogisticKernel::LogisticSlope, LogisticKernel::Softplus];
        let (least, most) = self.logit_bounds();
        let is_finite = self.evidence_logits().as_flattened().iter().all(|logit| logit.is_finite());
        let [links, doubt, softplus] = if is_finite && least > -WIDEST && most < WIDEST {
            let nodes = DistinctParameters::new(self.beta());
            let as_if_unknown = kernels.map(|kernel| nodes.pair_sum(kernel, self.unknown_logit()));
            let corrections = self.corrections();
            std::array::from_fn(|at| as_if_unknown[at] + corrections[at])
        } else {
            kernels.map(|kernel| self.pair_sum(kernel))
        };
        // All terms are positive, and what rounding leaves of very small sums may not be. What is no number stays so.
        let at_least_nothing = |sum: f64| if sum < 0.0 { 0.0 } else { sum };
        PairSums {
            links: at_least_nothing(links),
            doubt: at_least_nothing(doubt),
            softplus: at_least_nothing(softplus),
        }
    }

    /// Returns by how much the known pairs change the three sums over all pairs as if nothing were known.
    fn corrections(&self) -> [f64; 3] {
        // The odds of a pair are a product of three numbers that are computed once, so no pair needs an exponential.
        let exp_beta: Vec<f64> = self.beta().iter().map(|&b| libm::exp(b)).collect();
        let exp_evidence: Vec<[f64; 3]> = self.evidence_logits().iter().map(|logits| logits.map(libm::exp)).collect();
        let exp_unknown = exp_evidence[0][0];
        let row = |i: usize| {
            let (mut links, mut doubt, mut softplus) = (0.0, 0.0, 0.0);
            // Logarithms are added as the logarithm of a product, which is taken before the product overflows.
            let mut ratio = 1.0;
            self.evidence().row(i).for_each(|(j, Known { claims, bin })| {
                let product = exp_beta[i] * exp_beta[j as usize];
                let after = 1.0 + product * exp_evidence[usize::from(bin)][usize::from(claims)];
                let before = 1.0 + product * exp_unknown;
                let (not_after, not_before) = (1.0 / after, 1.0 / before);
                links += not_before - not_after;
                doubt += not_after * (1.0 - not_after) - not_before * (1.0 - not_before);
                ratio *= after * not_before;
                if !(1e-100..1e100).contains(&ratio) {
                    softplus += libm::log(ratio);
                    ratio = 1.0;
                }
            });
            [links, doubt, softplus + libm::log(ratio)]
        };
        let rows: Vec<[f64; 3]> = (0..self.n_nodes()).into_par_iter().map(row).collect();
        rows.into_iter().fold([0.0; 3], |sums, row| std::array::from_fn(|at| sums[at] + row[at]))
    }
}
