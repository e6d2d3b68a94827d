//! This module lists the pairs of nodes that are similar, each with its claims.

use std::sync::OnceLock;

use rayon::prelude::*;
use veilgraph_posterior::LinkEvidence;

use crate::partner_ranges::PartnerRanges;

/// Lists the pairs in bins with their claims, which are so looked up only once.
///
/// # Shapes
/// `offsets`: `[n + 1]`; `pairs`: `[similar pairs]`, where the row of node `i` takes `offsets[i]..offsets[i + 1]`.
pub(crate) struct SimilarClaims<'a> {
    evidence: &'a LinkEvidence,
    offsets: Vec<usize>,
    pairs: Vec<SimilarClaim>,
    /// The same pairs by ranges of partners, without and with the claimed ones, once somebody has asked for them.
    ranges: [OnceLock<Option<PartnerRanges>>; 2],
}

/// Describes a pair of the row's node and a later one.
#[derive(Clone, Copy)]
pub(crate) struct SimilarClaim {
    pub partner: u32,
    pub bin: u8,
    pub claims: u8,
}

impl<'a> SimilarClaims<'a> {
    /// Looks up the claims of all pairs in bins.
    pub(crate) fn new(evidence: &'a LinkEvidence) -> Self {
        let mut offsets = vec![0];
        for i in 0..evidence.n_nodes() {
            offsets.push(offsets[i] + evidence.similar().row(i).count());
        }
        let mut pairs = vec![SimilarClaim { partner: 0, bin: 0, claims: 0 }; evidence.similar().n_pairs()];
        let (mut rest, mut rows) = (pairs.as_mut_slice(), Vec::with_capacity(evidence.n_nodes()));
        for ends in offsets.windows(2) {
            let (row, others) = rest.split_at_mut(ends[1] - ends[0]);
            rows.push(row);
            rest = others;
        }
        rows.into_par_iter().enumerate().for_each(|(i, row)| look_up(evidence, i, row));
        Self { evidence, offsets, pairs, ranges: Default::default() }
    }

    /// Adds the pairs in no bin that are claimed twice, unless there are more than `most_listed`: then nothing is copied.
    /// Returns also the shares of all other pairs that have 0, 1 and 2 claims.
    pub(crate) fn with_double_claims(&self, most_listed: usize) -> (Option<Self>, [f64; 3]) {
        let (evidence, n) = (self.evidence, self.evidence.n_nodes());
        let n_double: usize = (0..n).into_par_iter().map(|i| evidence.double_claims(i).count()).sum();
        let lists_double = n_double <= most_listed;
        let list = || {
            let n_listed = self.pairs.len() + n_double;
            let (offsets, pairs) = (vec![0], Vec::with_capacity(n_listed));
            let mut listed = Self { evidence, offsets, pairs, ranges: Default::default() };
            for i in 0..n {
                let row = self.row(i);
                listed.pairs.extend_from_slice(row);
                let is_other = |j: &u32| row.binary_search_by_key(j, |pair| pair.partner).is_err();
                let double = evidence.double_claims(i).filter(is_other);
                listed.pairs.extend(double.map(|partner| SimilarClaim { partner, bin: 0, claims: 2 }));
                listed.offsets.push(listed.pairs.len());
            }
            listed
        };
        let n_pairs = n as f64 * (n as f64 - 1.0) / 2.0;
        let (claimed, double) = (evidence.n_claimed() as f64, n_double as f64);
        let counts = [n_pairs - claimed, claimed - double, if lists_double { 0.0 } else { double }];
        let total: f64 = counts.iter().sum();
        (lists_double.then(list), counts.map(|count| count / total))
    }

    /// Returns the same pairs, where those that are left out have one claim, which says nothing.
    pub(crate) fn without_reports_of(&self, is_left_out: impl Fn(u32, u32) -> bool) -> Self {
        let mut pairs = self.pairs.clone();
        for i in 0..self.n_nodes() {
            for pair in &mut pairs[self.numbers(i)] {
                if is_left_out(i as u32, pair.partner) {
                    pair.claims = 1;
                }
            }
        }
        Self { evidence: self.evidence, offsets: self.offsets.clone(), pairs, ranges: Default::default() }
    }

    /// Returns the similar pairs by ranges of partners, and the claimed ones `with_claims`; `None` where they are visited row by row.
    /// They are sorted by ranges at the first call.
    ///
    /// No task of rayon may call this: while it waits for the ranges, its thread could take up another task that waits for the same
    /// ranges.
    pub(crate) fn ranges(&self, with_claims: bool) -> Option<&PartnerRanges> {
        let ranges = &self.ranges[usize::from(with_claims)];
        ranges.get_or_init(|| PartnerRanges::of_large_graph(self, with_claims)).as_ref()
    }

    /// Returns the evidence whose pairs are listed.
    pub(crate) fn evidence(&self) -> &'a LinkEvidence {
        self.evidence
    }

    /// Returns the number of pairs.
    pub(crate) fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Returns the number of nodes.
    pub(crate) fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the pairs of `i` and a later node.
    pub(crate) fn row(&self, i: usize) -> &[SimilarClaim] {
        &self.pairs[self.numbers(i)]
    }

    /// Returns the numbers of the pairs of `i` and a later node among all pairs.
    pub(crate) fn numbers(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i]..self.offsets[i + 1]
    }

    /// Returns the number of bins, without bin 0.
    pub(crate) fn n_bins(&self) -> u8 {
        self.evidence.similar().n_bins()
    }
}

/// Returns one number for a bin and a number of claims, 0 to 2.
pub(crate) fn code_of(bin: u8, claims: u8) -> u16 {
    3 * u16::from(bin) + u16::from(claims)
}

/// Writes the similar pairs of `i` and later nodes with their claims.
fn look_up(evidence: &LinkEvidence, i: usize, row: &mut [SimilarClaim]) {
    // Where claims are listed, a look at all of a node's is quicker than a search for each of its pairs.
    let mut listed = evidence.planes().is_none().then(|| evidence.claims(i).peekable());
    for (entry, (partner, bin)) in row.iter_mut().zip(evidence.similar().row(i)) {
        let claims = match &mut listed {
            Some(listed) => {
                while listed.next_if(|&(j, _)| j < partner).is_some() {}
                listed.next_if(|&(j, _)| j == partner).map_or(0, |(_, claims)| claims)
            }
            None => evidence.n_claims(i, partner),
        };
        *entry = SimilarClaim { partner, bin, claims };
    }
}

#[cfg(test)]
mod tests;
