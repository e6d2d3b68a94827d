//! Which pairs were claimed, by how many of their two nodes, and which are alike.

use std::sync::Arc;

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};
use veilgraph_graph::{BitMatrix, Ones};

use crate::pair_table::{Listed, PairTable};
use crate::similar::SimilarPairs;

/// What is known of each pair: who reported it as linked, and how much alike its nodes are.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkEvidence {
    form: Form,
    similar: SimilarPairs,
}

/// What is known of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// How many of its nodes reported the link: 0, 1 or 2.
    pub claims: u8,
    /// Bin of similarity; 0 for the pairs that no similarity tells from each other.
    pub bin: u8,
}

/// Claims: rows of the lower node where they are few, two symmetric planes of bits where they are many.
#[derive(Clone, Debug, PartialEq)]
enum Form {
    Listed(PairTable),
    Planes { any: Arc<BitMatrix>, both: Arc<BitMatrix> },
}

/// Partners of a node with their claims, ascending.
pub enum Claims<'a> {
    /// From lists.
    Listed(Listed<'a>),
    /// From planes: partners, and the words that tell who was claimed twice.
    Planes(Ones<'a>, &'a [u64]),
}

impl LinkEvidence {
    /// Claims alone, from rows `(partner, claims)` of each node `i`: partners ascend and exceed `i`.
    ///
    /// # Errors
    /// When a partner is out of order or range, or claims are neither 1 nor 2; names the pair.
    pub fn from_rows(rows: impl IntoIterator<Item = Vec<(u32, u8)>>) -> Result<Self, Invalid> {
        Ok(Self::from_form(Form::Listed(PairTable::from_rows(2, rows)?)))
    }

    fn from_form(form: Form) -> Self {
        let n_nodes = match &form {
            Form::Listed(table) => table.n_nodes(),
            Form::Planes { any, .. } => any.n_rows(),
        };
        Self { form, similar: SimilarPairs::none(n_nodes) }
    }

    /// The same claims with these similarities.
    ///
    /// # Errors
    /// When they speak of different numbers of nodes.
    pub fn with_similar(self, similar: SimilarPairs) -> Result<Self, Invalid> {
        let (n, m) = (self.n_nodes(), similar.n_nodes());
        if n != m {
            return Err(Invalid(format!("the reports have {n} nodes, the similar pairs {m}")));
        }
        Ok(Self { similar, ..self })
    }

    /// Evidence from everyone's report as bits: row `i` is what node `i` claims.
    #[must_use]
    pub fn from_reports(reports: BitMatrix) -> Self {
        let (mut any, mut both) = (reports.transposed(), reports);
        any.combine(&mut both, |other, own| (own | other, own & other));
        Self::from_planes(any, both)
    }

    fn from_planes(any: BitMatrix, both: BitMatrix) -> Self {
        Self::from_form(Form::Planes { any: Arc::new(any), both: Arc::new(both) })
    }

    /// Whether this many claimed pairs are kept as planes: these take n²/4 bytes, a listed pair takes 5.
    fn are_dense(n_nodes: usize, n_pairs: usize) -> bool {
        5 * n_pairs > n_nodes * n_nodes / 4
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.similar.n_nodes()
    }

    /// Number of claimed pairs.
    #[must_use]
    pub fn n_claimed(&self) -> usize {
        match &self.form {
            Form::Listed(table) => table.n_pairs(),
            Form::Planes { any, .. } => any.count_ones() / 2,
        }
    }

    /// Most pairs of which anything is known: claimed and similar ones.
    #[must_use]
    pub fn n_known_at_most(&self) -> usize {
        self.n_claimed() + self.similar.n_pairs()
    }

    /// The planes of pairs claimed at all and of pairs claimed twice, if kept so; both symmetric.
    #[must_use]
    pub fn planes(&self) -> Option<(&Arc<BitMatrix>, &Arc<BitMatrix>)> {
        match &self.form {
            Form::Listed(_) => None,
            Form::Planes { any, both } => Some((any, both)),
        }
    }

    /// Similarities of the pairs.
    #[must_use]
    pub fn similar(&self) -> &SimilarPairs {
        &self.similar
    }

    /// Partners above `i` with their claims, ascending.
    #[must_use]
    pub fn claims(&self, i: usize) -> Claims<'_> {
        match &self.form {
            Form::Listed(table) => Claims::Listed(table.row(i)),
            Form::Planes { any, both } => Claims::Planes(any.ones_from(i, i + 1), both.row(i)),
        }
    }

    /// Partners above `i` of which anything is known, ascending.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, Known)> + '_ {
        let (mut claims, mut similar) = (self.claims(i).peekable(), self.similar.row(i).peekable());
        std::iter::from_fn(move || {
            let next = |pair: Option<&(u32, u8)>| pair.map_or(u32::MAX, |pair| pair.0);
            let j = next(claims.peek()).min(next(similar.peek()));
            let claims = claims.next_if(|pair| pair.0 == j).map(|pair| pair.1);
            let bin = similar.next_if(|pair| pair.0 == j).map(|pair| pair.1);
            (claims.is_some() || bin.is_some())
                .then(|| (j, Known { claims: claims.unwrap_or(0), bin: bin.unwrap_or(0) }))
        })
    }

    /// All pairs `(i, j)` of which anything is known, sorted.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, Known)> + '_ {
        (0..self.n_nodes()).flat_map(|i| self.row(i).map(move |(j, known)| (i as u32, j, known)))
    }

    /// What is known of the pair `(i, j)`.
    #[must_use]
    pub fn known(&self, i: u32, j: u32) -> Known {
        let (low, high) = (i.min(j) as usize, i.max(j));
        let claims = match &self.form {
            Form::Listed(table) => table.code(low, high),
            Form::Planes { any, both } => u8::from(any.contains(low, high)) + u8::from(both.contains(low, high)),
        };
        Known { claims, bin: self.similar.bin(low, high) }
    }
}

/// Nodes whose pairs make one row group: some 262,144 pairs, small enough for fast memory.
pub(crate) fn nodes_per_block(n_nodes: usize, n_pairs: usize) -> usize {
    ((1 << 18) * n_nodes / n_pairs.max(1)).clamp(1, 65_536)
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
        &[("i", ColumnType::U32), ("j", ColumnType::U32), ("claims", ColumnType::U8), ("bin", ColumnType::U8)];

    fn facts(&self) -> Facts {
        let facts = Facts::default().with("n_nodes", self.n_nodes()).with("n_claimed", self.n_claimed());
        facts.with("n_similar", self.similar.n_pairs()).with("n_bins", self.similar.n_bins())
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let nodes = nodes_per_block(self.n_nodes(), self.n_known_at_most());
        Box::new((0..self.n_nodes()).step_by(nodes).map(move |first| {
            let (mut lower, mut upper, mut claims, mut bins) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for i in first..(first + nodes).min(self.n_nodes()) {
                for (j, known) in self.row(i) {
                    lower.push(i as u32);
                    upper.push(j);
                    claims.push(known.claims);
                    bins.push(known.bin);
                }
            }
            vec![Column::U32(lower), Column::U32(upper), Column::U8(claims), Column::U8(bins)]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let (n_nodes, n_bins): (usize, u8) = (facts.get("n_nodes")?, facts.get("n_bins")?);
        let dense = Self::are_dense(n_nodes, facts.get("n_claimed")?);
        let empty = || BitMatrix::from_rows(if dense { n_nodes } else { 0 }, |_, _| {});
        let (mut any, mut both) = (empty(), empty());
        let (mut listed, mut similar) = (PairTable::new(2), PairTable::new(n_bins));
        for block in blocks {
            let mut columns = block.into_iter();
            let [lower, upper] = [take::<u32>(&mut columns)?, take::<u32>(&mut columns)?];
            let [claims, bins] = [take::<u8>(&mut columns)?, take::<u8>(&mut columns)?];
            for ((i, j), (claims, bin)) in lower.into_iter().zip(upper).zip(claims.into_iter().zip(bins)) {
                if i >= j || j as usize >= n_nodes || claims > 2 || (claims, bin) == (0, 0) {
                    let problem = format!("pair ({i}, {j}) with {claims} claims in bin {bin} is out of order or range");
                    return Err(Invalid(problem));
                }
                if bin > 0 {
                    similar.push(i, j, bin)?;
                }
                if claims > 0 && !dense {
                    listed.push(i, j, claims)?;
                }
                if claims > 0 && dense {
                    any.set(i as usize, j);
                }
                if claims == 2 && dense {
                    both.set(i as usize, j);
                }
            }
        }
        listed.fill(n_nodes);
        similar.fill(n_nodes);
        let similar = SimilarPairs::from_table(similar, n_bins)?;
        if !dense {
            return Self::from_form(Form::Listed(listed.checked()?)).with_similar(similar);
        }
        // Rows hold the partners above; the others follow by symmetry.
        for plane in [&mut any, &mut both] {
            let mut below = plane.transposed();
            plane.combine(&mut below, |above, below| (above | below, below));
        }
        Self::from_planes(any, both).with_similar(similar)
    }

    /// Two planes of bits, or lists with their offsets, and a list of similar pairs.
    fn footprint(facts: &Facts) -> Result<u64, Invalid> {
        let (n, claimed, similar): (u64, u64, u64) =
            (facts.get("n_nodes")?, facts.get("n_claimed")?, facts.get("n_similar")?);
        let listed = |pairs: u64| pairs.saturating_mul(5).saturating_add(n.saturating_mul(8));
        Ok((n.saturating_mul(n) / 4).min(listed(claimed)).saturating_add(listed(similar)))
    }
}

#[cfg(test)]
mod tests;
