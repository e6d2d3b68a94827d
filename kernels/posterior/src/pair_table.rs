//! Pairs of nodes with a small number each.

use veilgraph_contract::Invalid;

/// Rows of the lower node: partners above it, ascending, each with a code that is not 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PairTable {
    offsets: Vec<usize>,
    partners: Vec<u32>,
    codes: Vec<u8>,
    /// Largest allowed code.
    most: u8,
}

impl PairTable {
    /// No rows yet.
    pub(crate) fn new(most: u8) -> Self {
        Self { offsets: vec![0], partners: Vec::new(), codes: Vec::new(), most }
    }

    pub(crate) fn from_rows(most: u8, rows: impl IntoIterator<Item = Vec<(u32, u8)>>) -> Result<Self, Invalid> {
        let mut table = Self::new(most);
        for (i, row) in rows.into_iter().enumerate() {
            row.into_iter().try_for_each(|(j, code)| table.push(i as u32, j, code))?;
            table.fill(i + 1);
        }
        table.checked()
    }

    /// Adds a pair; pairs come in order.
    pub(crate) fn push(&mut self, i: u32, j: u32, code: u8) -> Result<(), Invalid> {
        let is_early = (i as usize) < self.offsets.len() - 1;
        self.fill(i as usize);
        let previous = self.partners[self.offsets[i as usize]..].last();
        if is_early || j <= i || previous.is_some_and(|&previous| j <= previous) || !(1..=self.most).contains(&code) {
            return Err(Invalid(format!("pair ({i}, {j}) with {code} is out of order or range")));
        }
        self.partners.push(j);
        self.codes.push(code);
        Ok(())
    }

    /// The rows of the first `n_rows` nodes are complete.
    pub(crate) fn fill(&mut self, n_rows: usize) {
        let n_rows = n_rows.max(self.offsets.len() - 1);
        self.offsets.resize(n_rows + 1, self.partners.len());
    }

    /// The table, if every partner has a row.
    pub(crate) fn checked(self) -> Result<Self, Invalid> {
        match self.partners.iter().find(|&&j| j as usize >= self.offsets.len() - 1) {
            Some(j) => Err(Invalid(format!("node {j} does not exist"))),
            None => Ok(self),
        }
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn n_pairs(&self) -> usize {
        self.partners.len()
    }

    /// Partners and codes of `i`.
    pub(crate) fn row(&self, i: usize) -> Listed<'_> {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.partners[range.clone()].iter().zip(self.codes[range].iter())
    }

    /// Code of the pair `i < j`; 0 if it is not here.
    pub(crate) fn code(&self, i: usize, j: u32) -> u8 {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.partners[range.clone()].binary_search(&j).map_or(0, |at| self.codes[range.start + at])
    }
}

/// Partners and codes.
pub(crate) type Listed<'a> = std::iter::Zip<std::slice::Iter<'a, u32>, std::slice::Iter<'a, u8>>;
