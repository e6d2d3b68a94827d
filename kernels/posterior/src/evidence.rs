//! Which pairs were claimed, and by how many of their two nodes.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

/// Pairs that at least one of their nodes reported as linked, by rows of the lower node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkEvidence {
    offsets: Vec<usize>,
    partners: Vec<u32>,
    claims: Vec<u8>,
}

/// Claimed pairs together with their log odds of a link.
///
/// The logits are for readers of the artifact; whoever computes takes them from the posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredEvidence {
    /// The claimed pairs.
    pub evidence: LinkEvidence,
    /// One per claimed pair.
    pub logits: Vec<f64>,
}

impl LinkEvidence {
    /// Evidence from rows `(partner, claims)` of each node `i`: partners ascend and exceed `i`.
    ///
    /// # Errors
    /// When a partner is out of order or range, or claims are neither 1 nor 2; names the pair.
    pub fn from_rows(rows: impl IntoIterator<Item = Vec<(u32, u8)>>) -> Result<Self, Invalid> {
        let mut evidence = Self { offsets: vec![0], ..Self::default() };
        for (i, row) in rows.into_iter().enumerate() {
            let mut previous = i as u32;
            for (j, claims) in row {
                if j <= previous || !(1..=2).contains(&claims) {
                    return Err(Invalid(format!("pair ({i}, {j}) with {claims} claims is out of order or range")));
                }
                previous = j;
                evidence.partners.push(j);
                evidence.claims.push(claims);
            }
            evidence.offsets.push(evidence.partners.len());
        }
        let n_nodes = evidence.n_nodes();
        match evidence.partners.iter().find(|&&j| j as usize >= n_nodes) {
            Some(j) => Err(Invalid(format!("node {j} does not exist"))),
            None => Ok(evidence),
        }
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of claimed pairs.
    #[must_use]
    pub fn n_pairs(&self) -> usize {
        self.partners.len()
    }

    /// Partners above `i` with their claims, ascending.
    #[must_use]
    pub fn row(&self, i: usize) -> (&[u32], &[u8]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.partners[range.clone()], &self.claims[range])
    }

    /// All claimed pairs `(i, j, claims)`, sorted.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, u8)> + '_ {
        (0..self.n_nodes()).flat_map(|i| {
            let (partners, claims) = self.row(i);
            partners.iter().zip(claims).map(move |(&j, &claims)| (i as u32, j, claims))
        })
    }

    /// Claims of the pair `(i, j)`: 0, 1 or 2.
    #[must_use]
    pub fn claims(&self, i: u32, j: u32) -> u8 {
        let (partners, claims) = self.row(i.min(j) as usize);
        partners.binary_search(&i.max(j)).map_or(0, |at| claims[at])
    }
}

// Post-processing of the noisy reports.
impl Public for ScoredEvidence {}

impl Artifact for ScoredEvidence {
    const NAME: &'static str = "link_evidence";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("i", ColumnType::U32), ("j", ColumnType::U32), ("claims", ColumnType::U8), ("logit", ColumnType::F64)];

    fn facts(&self) -> Facts {
        Facts::default().with("n_nodes", self.evidence.n_nodes())
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        const NODES: usize = 1024;
        let evidence = &self.evidence;
        Box::new((0..evidence.n_nodes()).step_by(NODES).map(|first| {
            let last = (first + NODES).min(evidence.n_nodes());
            let range = evidence.offsets[first]..evidence.offsets[last];
            let lower = (first..last).flat_map(|i| vec![i as u32; evidence.row(i).0.len()]).collect();
            vec![
                Column::U32(lower),
                Column::U32(evidence.partners[range.clone()].to_vec()),
                Column::U8(evidence.claims[range.clone()].to_vec()),
                Column::F64(self.logits[range].to_vec()),
            ]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut rows = vec![Vec::new(); facts.get("n_nodes")?];
        let mut all_logits = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let lower: Vec<u32> = take(&mut columns)?;
            let upper: Vec<u32> = take(&mut columns)?;
            let claims: Vec<u8> = take(&mut columns)?;
            let logits: Vec<f64> = take(&mut columns)?;
            for ((i, j), claims) in lower.into_iter().zip(upper).zip(claims) {
                let row = rows.get_mut(i as usize).ok_or_else(|| Invalid(format!("node {i} does not exist")))?;
                row.push((j, claims));
            }
            all_logits.extend(logits);
        }
        Ok(Self { evidence: LinkEvidence::from_rows(rows)?, logits: all_logits })
    }
}
