//! Page-rank vectors as they are released, and as rows that a network is trained over.

use rayon::prelude::*;
use veilgraph_contract::StageRng;
use veilgraph_noise::discrete_gaussian::{Sigma, discrete_gaussian};
use veilgraph_noise::discrete_laplace::{Rate, discrete_laplace};
use veilgraph_noise::exponential_choice::{Range, STEPS, choose};

use super::page_rank::{Graph, SHRINKAGE, TOLERANCE};
use super::{Settings, page_rank};
use crate::{Error, VectorRelease};

/// Largest entry of a vector that is chosen from, and largest norm of one that is given Gaussian noise, as published.
pub(crate) const LARGEST_ENTRY: f64 = 1e-3;
pub(crate) const LARGEST_NORM: f64 = 1e-2;

/// Positions of nodes with their weights.
pub(crate) type Row = Vec<(u32, f32)>;

/// One row for each node of the graph: of some nodes a released vector, of the others the node itself.
pub(crate) struct Rows {
    pub rows: Vec<Row>,
}

impl Rows {
    /// Releases the vectors of nodes taken at random. `noise` is the range of a choice in nats, or the multiplier of
    /// Gaussian noise; 0 releases them as they are.
    ///
    /// # Privacy
    /// The nodes are taken without looking at any data. What a vector costs says [`super::accounting`]; all noise on vectors
    /// is drawn in integers.
    pub(crate) fn new(graph: &Graph, settings: &Settings, noise: f64, rng: &StageRng) -> Result<Self, Error> {
        let n = graph.nodes.len();
        let (wanted, kept) = (settings.vectors as usize, settings.kept_entries as usize);
        // A small subgraph has fewer vectors and entries, which costs less than what was charged.
        let (wanted, kept) = (wanted.min(n), kept.min(n));
        let mut words = rng.stream("dpar: whose vectors are released", 0);
        let sources = rand::seq::index::sample(&mut words, n, wanted);
        let sources: Vec<u32> = sources.into_iter().map(|at| at as u32).collect();
        let release = |&source: &u32| -> Result<(u32, Row), Error> {
            let vector = page_rank(graph, source, settings.teleport, SHRINKAGE, TOLERANCE)?;
            let mut words = rng.stream("dpar: noise of a vector", u64::from(graph.nodes[source as usize]));
            let dense = |scale: f64, most: f64| {
                let mut dense = vec![0.0; n];
                vector.iter().for_each(|&(node, value)| dense[node as usize] = (value * scale).min(most).max(0.0));
                dense
            };
            let row = if noise == 0.0 {
                largest(&dense(1.0, f64::INFINITY), kept)
            } else {
                match settings.release {
                    VectorRelease::Gaussian => {
                        let norm = vector.iter().map(|entry| entry.1 * entry.1).sum::<f64>().sqrt();
                        let values = dense((LARGEST_NORM / norm).min(1.0), LARGEST_NORM);
                        largest(&with_gaussian(&values, noise, &mut words)?, kept)
                    }
                    release => chosen(&dense(1.0, LARGEST_ENTRY), kept, noise, release, &mut words)?,
                }
            };
            Ok((source, scaled_to_one(row)))
        };
        let released: Vec<(u32, Row)> = sources.par_iter().map(release).collect::<Result<_, Error>>()?;
        let mut rows: Vec<Row> = (0..n as u32).map(|node| vec![(node, 1.0)]).collect();
        released.into_iter().for_each(|(source, row)| rows[source as usize] = row);
        Ok(Self { rows })
    }

    /// The rows, with each node in at most `cap` of them. Its own row counts, whether the node is in it or not, for the
    /// row's class is the node's. Where a node is in too many, it leaves those in which it weighs least.
    pub(crate) fn capped(mut self, cap: u32) -> Self {
        let mut places: Vec<Vec<(u32, f32)>> = vec![Vec::new(); self.rows.len()];
        for (row, entries) in (0..).zip(&self.rows) {
            for &(node, weight) in entries.iter().filter(|entry| entry.0 != row) {
                places[node as usize].push((row, weight));
            }
        }
        for (node, mut found) in (0..).zip(places) {
            found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            for &(row, _) in found.iter().skip(cap as usize - 1) {
                self.rows[row as usize].retain(|entry| entry.0 != node);
            }
        }
        // A row that lost all its nodes is the node itself.
        for (row, entries) in (0..).zip(&mut self.rows) {
            if entries.is_empty() {
                entries.push((row, 1.0));
            }
        }
        self
    }
}

/// The `kept` largest entries.
fn largest(values: &[f64], kept: usize) -> Row {
    let mut order: Vec<usize> = (0..values.len()).filter(|&node| values[node] > 0.0).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    order.into_iter().take(kept).map(|node| (node as u32, values[node] as f32)).collect()
}

/// `values` with discrete Gaussian noise whose standard deviation is `noise` times the largest norm.
fn with_gaussian(values: &[f64], noise: f64, rng: &mut impl rand::Rng) -> Result<Vec<f64>, Error> {
    // Steps of one vector: as fine as exact sampling allows, and rounded towards zero.
    let steps = libm::exp2(libm::floor(libm::log2(Sigma::MOST as f64 / 2.0 / noise.max(1.0)))) / LARGEST_NORM;
    let sigma = Sigma::at_least(noise * LARGEST_NORM * steps).ok_or_else(|| {
        Error::Params(format!("noise of {noise} times a vector's norm cannot be drawn; raise epsilon"))
    })?;
    let noisy = |value: &f64| ((value * steps) as i64 + discrete_gaussian(sigma, rng)) as f64 / steps;
    Ok(values.iter().map(noisy).collect())
}

/// Nodes that were chosen by the exponential mechanism, with equal or with noisy weights.
fn chosen(
    values: &[f64],
    kept: usize,
    noise: f64,
    release: VectorRelease,
    rng: &mut impl rand::Rng,
) -> Result<Row, Error> {
    let range = Range::at_most(noise.min(Range::MOST)).ok_or_else(|| {
        Error::Params(format!("a choice with a range of {noise} nats cannot be drawn; lower epsilon"))
    })?;
    let scores: Vec<u32> = values.iter().map(|value| (value / LARGEST_ENTRY * f64::from(STEPS)) as u32).collect();
    let nodes = choose(&scores, kept, range, rng);
    if release == VectorRelease::Choice {
        return Ok(nodes.into_iter().map(|node| (node as u32, 1.0)).collect());
    }
    // All kept values together may move by `kept` times the largest entry, and cost as much as one choice.
    let rate = Rate::finely_at_most(range.nats() / (kept as f64 * f64::from(STEPS)))
        .ok_or_else(|| Error::Params(format!("Laplace noise for {noise} nats cannot be drawn; raise epsilon")))?;
    let mut weigh = |node: usize| (i64::from(scores[node]) + discrete_laplace(rate, rng)) as f32 / STEPS as f32;
    Ok(nodes.into_iter().map(|node| (node as u32, weigh(node))).collect())
}

/// Positive weights that add up to one; none is left where none is positive.
fn scaled_to_one(row: Row) -> Row {
    let positive: Row = row.into_iter().filter(|entry| entry.1 > 0.0).collect();
    let sum: f32 = positive.iter().map(|entry| entry.1).sum();
    positive.into_iter().map(|(node, weight)| (node, weight / sum)).collect()
}
