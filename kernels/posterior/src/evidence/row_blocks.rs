//! This module makes the evidence of a row block, and that of the whole graph from all row blocks.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use veilgraph_contract::{Artifact, Blocks, Column, Facts, Invalid, Stored, Streamed, until_error};

use super::LinkEvidence;
use crate::pair_table::nodes_per_block;

impl LinkEvidence {
    /// Evidence of claims alone that is made while it is written: `row(i)` gives the partners `(j, claims)` of each node
    /// `i` of `rows`; they ascend and exceed `i`. Nothing is said about other rows.
    #[must_use]
    pub fn streamed(
        n_nodes: usize,
        rows: Range<usize>,
        row: impl Fn(usize) -> Vec<(u32, u8)> + Send + Sync + 'static,
    ) -> Streamed<Self> {
        let n_claimed = rows.clone().into_par_iter().map(|i| row(i).len()).sum();
        let nodes = nodes_per_block(rows.len(), n_claimed);
        let n_blocks = rows.len().div_ceil(nodes);
        let make = move |block: usize| {
            let first = rows.start + block * nodes;
            let made: Vec<Vec<(u32, u8)>> = (first..(first + nodes).min(rows.end)).into_par_iter().map(&row).collect();
            let (mut lower, mut upper, mut claims) = (Vec::new(), Vec::new(), Vec::new());
            for (i, row) in (first..).zip(made) {
                lower.resize(lower.len() + row.len(), i as u32);
                upper.extend(row.iter().map(|pair| pair.0));
                claims.extend(row.iter().map(|pair| pair.1));
            }
            let bins = vec![0; claims.len()];
            vec![Column::U32(lower), Column::U32(upper), Column::U8(claims), Column::U8(bins)]
        };
        Streamed::new(facts_of_claims(n_nodes, n_claimed), n_blocks, make)
    }

    /// The evidence about the pairs whose lower node is in `rows`, from where the evidence of the graph is stored. Nothing
    /// is said about other pairs. Claims are listed, also where those of the graph would stand in planes.
    ///
    /// # Errors
    /// Fails when the rows cannot be read or break an invariant.
    pub fn of_rows(stored: &Stored<Self>, rows: Range<usize>) -> Result<Self, Invalid> {
        // Claims are listed where few are announced.
        let facts = stored.facts().clone().with("n_claimed", 0);
        until_error(stored.rows(rows.start as u32..rows.end as u32), |blocks| Self::from_blocks(&facts, blocks))?
    }

    /// The evidence of claims of a graph, from that of all its row blocks; it is written as if it had been made at once.
    ///
    /// # Errors
    /// Fails when the row blocks are of different graphs or hold similarities.
    pub fn joined(row_blocks: Vec<Stored<Self>>) -> Result<Streamed<Self>, Invalid> {
        let Some(first) = row_blocks.first() else { return Err(Invalid("there are no row blocks to join".to_owned())) };
        let n_nodes: usize = first.facts().get("n_nodes")?;
        let mut n_claimed: usize = 0;
        for stored in &row_blocks {
            let (n, bins): (usize, u8) = (stored.facts().get("n_nodes")?, stored.facts().get("n_bins")?);
            if n != n_nodes || bins != 0 {
                return Err(Invalid(format!("evidence of {n_nodes} nodes was expected, not of {n} with {bins} bins")));
            }
            n_claimed += stored.facts().get::<usize>("n_claimed")?;
        }
        let (row_blocks, nodes) = (Arc::new(row_blocks), nodes_per_block(n_nodes, n_claimed));
        let blocks = move || -> Blocks {
            let row_blocks = row_blocks.clone();
            let join = move |first: usize| -> Result<Vec<Column>, Invalid> {
                let rows = first as u32..(first + nodes).min(n_nodes) as u32;
                let mut joined =
                    [Column::U32(Vec::new()), Column::U32(Vec::new()), Column::U8(Vec::new()), Column::U8(Vec::new())];
                for block in row_blocks.iter().flat_map(|stored| stored.rows(rows.clone())) {
                    joined.iter_mut().zip(block?).try_for_each(|(joined, column)| joined.append(column))?;
                }
                Ok(joined.into())
            };
            Box::new((0..n_nodes).step_by(nodes).map(join))
        };
        Ok(Streamed::from_blocks(facts_of_claims(n_nodes, n_claimed), blocks))
    }
}

/// The facts of evidence without similarities.
fn facts_of_claims(n_nodes: usize, n_claimed: usize) -> Facts {
    let facts = Facts::default().with("n_nodes", n_nodes).with("n_claimed", n_claimed);
    facts.with("n_similar", 0).with("n_bins", 0)
}

#[cfg(test)]
mod tests;
