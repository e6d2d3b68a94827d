//! Which pairs were claimed, and by how many of their two nodes.

use std::sync::Arc;

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};
use veilgraph_graph::{BitMatrix, Ones};

/// Pairs that at least one of their nodes reported as linked.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkEvidence {
    form: Form,
}

/// Rows of the lower node where claims are few, two symmetric planes of bits where they are many.
#[derive(Clone, Debug, PartialEq)]
enum Form {
    Listed { offsets: Vec<usize>, partners: Vec<u32>, claims: Vec<u8> },
    Planes { any: Arc<BitMatrix>, both: Arc<BitMatrix> },
}

/// Partners of a node with their claims, ascending.
pub enum Claims<'a> {
    /// From lists.
    Listed(std::iter::Zip<std::slice::Iter<'a, u32>, std::slice::Iter<'a, u8>>),
    /// From planes: partners, and the words that tell who was claimed twice.
    Planes(Ones<'a>, &'a [u64]),
}

impl LinkEvidence {
    /// Evidence from rows `(partner, claims)` of each node `i`: partners ascend and exceed `i`.
    ///
    /// # Errors
    /// When a partner is out of order or range, or claims are neither 1 nor 2; names the pair.
    pub fn from_rows(rows: impl IntoIterator<Item = Vec<(u32, u8)>>) -> Result<Self, Invalid> {
        let mut builder = Builder::default();
        for (i, row) in rows.into_iter().enumerate() {
            row.into_iter().try_for_each(|(j, claims)| builder.push(i as u32, j, claims))?;
            builder.fill(i + 1);
        }
        builder.finish()
    }

    /// Evidence from everyone's report as bits: row `i` is what node `i` claims.
    #[must_use]
    pub fn from_reports(reports: BitMatrix) -> Self {
        let (mut any, mut both) = (reports.transposed(), reports);
        any.combine(&mut both, |other, own| (own | other, own & other));
        Self::from_planes(any, both)
    }

    fn from_planes(any: BitMatrix, both: BitMatrix) -> Self {
        Self { form: Form::Planes { any: Arc::new(any), both: Arc::new(both) } }
    }

    /// Whether this many claimed pairs are kept as planes: these take n²/4 bytes, a listed pair takes 5.
    fn are_dense(n_nodes: usize, n_pairs: usize) -> bool {
        5 * n_pairs > n_nodes * n_nodes / 4
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        match &self.form {
            Form::Listed { offsets, .. } => offsets.len() - 1,
            Form::Planes { any, .. } => any.n_rows(),
        }
    }

    /// Number of claimed pairs.
    #[must_use]
    pub fn n_pairs(&self) -> usize {
        match &self.form {
            Form::Listed { partners, .. } => partners.len(),
            Form::Planes { any, .. } => any.count_ones() / 2,
        }
    }

    /// The planes of pairs claimed at all and of pairs claimed twice, if kept so; both symmetric.
    #[must_use]
    pub fn planes(&self) -> Option<(&Arc<BitMatrix>, &Arc<BitMatrix>)> {
        match &self.form {
            Form::Listed { .. } => None,
            Form::Planes { any, both } => Some((any, both)),
        }
    }

    /// Partners above `i` with their claims, ascending.
    #[must_use]
    pub fn row(&self, i: usize) -> Claims<'_> {
        match &self.form {
            Form::Listed { offsets, partners, claims } => {
                let range = offsets[i]..offsets[i + 1];
                Claims::Listed(partners[range.clone()].iter().zip(claims[range].iter()))
            }
            Form::Planes { any, both } => Claims::Planes(any.ones_from(i, i + 1), both.row(i)),
        }
    }

    /// All claimed pairs `(i, j, claims)`, sorted.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, u8)> + '_ {
        (0..self.n_nodes()).flat_map(|i| self.row(i).map(move |(j, claims)| (i as u32, j, claims)))
    }

    /// Claims of the pair `(i, j)`: 0, 1 or 2.
    #[must_use]
    pub fn claims(&self, i: u32, j: u32) -> u8 {
        let (low, high) = (i.min(j) as usize, i.max(j));
        match &self.form {
            Form::Listed { offsets, partners, claims } => {
                let range = offsets[low]..offsets[low + 1];
                partners[range.clone()].binary_search(&high).map_or(0, |at| claims[range.start + at])
            }
            Form::Planes { any, both } => u8::from(any.contains(low, high)) + u8::from(both.contains(low, high)),
        }
    }
}

/// Lists while they arrive, ordered by pair.
struct Builder {
    offsets: Vec<usize>,
    partners: Vec<u32>,
    claims: Vec<u8>,
}

impl Default for Builder {
    fn default() -> Self {
        Self { offsets: vec![0], partners: Vec::new(), claims: Vec::new() }
    }
}

impl Builder {
    fn push(&mut self, i: u32, j: u32, claims: u8) -> Result<(), Invalid> {
        let is_early = (i as usize) < self.offsets.len() - 1;
        self.fill(i as usize);
        let previous = self.partners[self.offsets[i as usize]..].last();
        if is_early || j <= i || previous.is_some_and(|&previous| j <= previous) || !(1..=2).contains(&claims) {
            return Err(Invalid(format!("pair ({i}, {j}) with {claims} claims is out of order or range")));
        }
        self.partners.push(j);
        self.claims.push(claims);
        Ok(())
    }

    /// The rows of the first `n_rows` nodes are complete.
    fn fill(&mut self, n_rows: usize) {
        let n_rows = n_rows.max(self.offsets.len() - 1);
        self.offsets.resize(n_rows + 1, self.partners.len());
    }

    fn finish(self) -> Result<LinkEvidence, Invalid> {
        let Self { offsets, partners, claims } = self;
        match partners.iter().find(|&&j| j as usize >= offsets.len() - 1) {
            Some(j) => Err(Invalid(format!("node {j} does not exist"))),
            None => Ok(LinkEvidence { form: Form::Listed { offsets, partners, claims } }),
        }
    }
}

impl Iterator for Claims<'_> {
    type Item = (u32, u8);

    fn next(&mut self) -> Option<(u32, u8)> {
        match self {
            Self::Listed(pairs) => pairs.next().map(|(&j, &claims)| (j, claims)),
            Self::Planes(partners, both) => {
                let j = partners.next()?;
                Some((j, 1 + (both[j as usize / 64] >> (j % 64) & 1) as u8))
            }
        }
    }
}

// Post-processing of the noisy reports.
impl Public for LinkEvidence {}

impl Artifact for LinkEvidence {
    const NAME: &'static str = "link_evidence";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("i", ColumnType::U32), ("j", ColumnType::U32), ("claims", ColumnType::U8)];

    fn facts(&self) -> Facts {
        Facts::default().with("n_nodes", self.n_nodes()).with("n_pairs", self.n_pairs())
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        // Nodes whose pairs make one row group: some 262,144 pairs, small enough for fast memory.
        let nodes = ((1 << 18) * self.n_nodes() / self.n_pairs().max(1)).clamp(1, 65_536);
        Box::new((0..self.n_nodes()).step_by(nodes).map(move |first| {
            let (mut lower, mut upper, mut all_claims) = (Vec::new(), Vec::new(), Vec::new());
            for i in first..(first + nodes).min(self.n_nodes()) {
                for (j, claims) in self.row(i) {
                    lower.push(i as u32);
                    upper.push(j);
                    all_claims.push(claims);
                }
            }
            vec![Column::U32(lower), Column::U32(upper), Column::U8(all_claims)]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_nodes: usize = facts.get("n_nodes")?;
        let dense = Self::are_dense(n_nodes, facts.get("n_pairs")?);
        let empty = || BitMatrix::from_rows(if dense { n_nodes } else { 0 }, |_, _| {});
        let (mut any, mut both) = (empty(), empty());
        let mut builder = Builder::default();
        for block in blocks {
            let mut columns = block.into_iter();
            let lower: Vec<u32> = take(&mut columns)?;
            let upper: Vec<u32> = take(&mut columns)?;
            let claims: Vec<u8> = take(&mut columns)?;
            for ((i, j), claims) in lower.into_iter().zip(upper).zip(claims) {
                if i >= j || j as usize >= n_nodes || !(1..=2).contains(&claims) {
                    return Err(Invalid(format!("pair ({i}, {j}) with {claims} claims is out of order or range")));
                }
                if !dense {
                    builder.push(i, j, claims)?;
                    continue;
                }
                any.set(i as usize, j);
                if claims == 2 {
                    both.set(i as usize, j);
                }
            }
        }
        builder.fill(n_nodes);
        if !dense {
            return builder.finish();
        }
        // Rows hold the partners above; the others follow by symmetry.
        for plane in [&mut any, &mut both] {
            let mut below = plane.transposed();
            plane.combine(&mut below, |above, below| (above | below, below));
        }
        Ok(Self::from_planes(any, both))
    }

    /// Two planes of bits, or lists with their offsets.
    fn footprint(facts: &Facts) -> Result<u64, Invalid> {
        let (n, pairs): (u64, u64) = (facts.get("n_nodes")?, facts.get("n_pairs")?);
        Ok((n.saturating_mul(n) / 4).min(pairs.saturating_mul(5).saturating_add(n.saturating_mul(8))))
    }
}

#[cfg(test)]
mod tests;
