//! This module merges the claims and the similar pairs of a node.

use super::Known;
use crate::claims::Claims;
use crate::pair_table::ListedRow;

/// Iterates over the partners of a node of which anything is known, in ascending order.
///
/// There may be hundreds of millions of them at small budgets, so [`Iterator::fold`], by which `for_each`, `sum` and
/// adapters go through all of them, is written out.
pub(super) struct KnownRow<'a> {
    claims: Claims<'a>,
    similar: ListedRow<'a>,
    /// The next partner that somebody claimed, with the number of claims; [`END`] stands after the last one.
    claim: (u32, u8),
    /// The next similar partner, with its bin; [`END`] likewise.
    bin: (u32, u8),
}

/// No partner has this number, and it exceeds all.
const END: u32 = u32::MAX;

impl<'a> KnownRow<'a> {
    /// Merges the rows of claims and of similar pairs of one node.
    pub(super) fn new(mut claims: Claims<'a>, mut similar: ListedRow<'a>) -> Self {
        Self { claim: next_claim(&mut claims), bin: next_bin(&mut similar), claims, similar }
    }
}

fn next_claim(claims: &mut Claims) -> (u32, u8) {
    claims.next().unwrap_or((END, 0))
}

fn next_bin(similar: &mut ListedRow) -> (u32, u8) {
    similar.next().map_or((END, 0), |(&partner, &bin)| (partner, bin))
}

impl Iterator for KnownRow<'_> {
    type Item = (u32, Known);

    #[inline]
    fn next(&mut self) -> Option<(u32, Known)> {
        let partner = self.claim.0.min(self.bin.0);
        if partner == END {
            return None;
        }
        let mut known = Known::default();
        if self.claim.0 == partner {
            known.claims = self.claim.1;
            self.claim = next_claim(&mut self.claims);
        }
        if self.bin.0 == partner {
            known.bin = self.bin.1;
            self.bin = next_bin(&mut self.similar);
        }
        Some((partner, known))
    }

    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut add: F) -> B {
        let Self { claims, mut similar, claim, mut bin } = self;
        let first = (claim.0 != END).then_some(claim);
        let mut folded = first.into_iter().chain(claims).fold(init, |mut folded, (partner, claims)| {
            while bin.0 < partner {
                folded = add(folded, (bin.0, Known { claims: 0, bin: bin.1 }));
                bin = next_bin(&mut similar);
            }
            let mut known = Known { claims, bin: 0 };
            if bin.0 == partner {
                known.bin = bin.1;
                bin = next_bin(&mut similar);
            }
            add(folded, (partner, known))
        });
        while bin.0 != END {
            folded = add(folded, (bin.0, Known { claims: 0, bin: bin.1 }));
            bin = next_bin(&mut similar);
        }
        folded
    }
}

#[cfg(test)]
mod tests;
