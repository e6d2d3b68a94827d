//! This module holds a list of pairs of nodes with a small number for each.

use veilgraph_contract::Invalid;

/// Lists pairs `(i, j)` with `i < j`, each with a code that is not 0: its number of claims, or its bin.
///
/// # Shapes
/// `offsets`: `[n_rows + 1]`; `partners` and `codes`: `[n_pairs]`, where row `i` takes `offsets[i]..offsets[i + 1]` and
/// its partners `j` ascend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PairTable {
    offsets: Vec<usize>,
    partners: Vec<u32>,
    codes: Vec<u8>,
    /// No code is larger than this.
    largest_code: u8,
}

/// Iterates over the partners and the codes of a row.
pub(crate) type ListedRow<'a> = std::iter::Zip<std::slice::Iter<'a, u32>, std::slice::Iter<'a, u8>>;

impl PairTable {
    /// Returns a table without rows.
    pub(crate) fn new(largest_code: u8) -> Self {
        Self { offsets: vec![0], partners: Vec::new(), codes: Vec::new(), largest_code }
    }

    /// Builds the table from the row `(partner, code)` of each node.
    ///
    /// # Errors
    /// Fails when a partner or a code is out of order or range; the message names the pair.
    pub(crate) fn from_rows(largest_code: u8, rows: impl IntoIterator<Item = Vec<(u32, u8)>>) -> Result<Self, Invalid> {
        let mut table = Self::new(largest_code);
        for (i, row) in rows.into_iter().enumerate() {
            row.into_iter().try_for_each(|(j, code)| table.push(i as u32, j, code))?;
            table.complete_rows(i + 1);
        }
        table.checked()
    }

    /// Adds the pair `(i, j)`, which must come after all earlier ones.
    ///
    /// # Errors
    /// Fails when the pair or its code is out of order or range.
    pub(crate) fn push(&mut self, i: u32, j: u32, code: u8) -> Result<(), Invalid> {
        let problem = || Err(Invalid(format!("pair ({i}, {j}) with {code} is out of order or range")));
        let is_row_complete = (i as usize) < self.offsets.len() - 1;
        // Before rows are added: a damaged artifact may have any number as `i`, but a `j` beyond its nodes is refused earlier.
        if is_row_complete || i >= j || !(1..=self.largest_code).contains(&code) {
            return problem();
        }
        self.complete_rows(i as usize);
        let previous = self.partners[self.offsets[i as usize]..].last();
        if previous.is_some_and(|&previous| previous >= j) {
            return problem();
        }
        self.partners.push(j);
        self.codes.push(code);
        Ok(())
    }

    /// Declares that the rows of the first `n_rows` nodes will get no more pairs.
    pub(crate) fn complete_rows(&mut self, n_rows: usize) {
        let n_rows = n_rows.max(self.offsets.len() - 1);
        self.offsets.resize(n_rows + 1, self.partners.len());
    }

    /// Returns the table if every partner is a node with a row.
    ///
    /// # Errors
    /// Fails when a partner has no row; the message names it.
    pub(crate) fn checked(self) -> Result<Self, Invalid> {
        match self.partners.iter().find(|&&j| j as usize >= self.offsets.len() - 1) {
            Some(j) => Err(Invalid(format!("node {j} does not exist"))),
            None => Ok(self),
        }
    }

    /// Returns the number of nodes.
    pub(crate) fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the number of listed pairs.
    pub(crate) fn n_pairs(&self) -> usize {
        self.partners.len()
    }

    /// Iterates over the partners above `i` and their codes, in ascending order of the partner.
    pub(crate) fn row(&self, i: usize) -> ListedRow<'_> {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.partners[range.clone()].iter().zip(self.codes[range].iter())
    }

    /// Returns the code of the pair `i < j`, or 0 if it is not listed.
    pub(crate) fn code(&self, i: usize, j: u32) -> u8 {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.partners[range.clone()].binary_search(&j).map_or(0, |at| self.codes[range.start + at])
    }
}

/// Returns how many nodes share one block, the row group of an artifact of pairs: it then has some 262,144 pairs, which
/// is small enough for fast memory.
pub(crate) fn nodes_per_block(n_nodes: usize, n_pairs: usize) -> usize {
    ((1 << 18) * n_nodes / n_pairs.max(1)).clamp(1, 65_536)
}

#[cfg(test)]
mod tests;
