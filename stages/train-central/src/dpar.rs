//! DPAR: noisy personalized page-rank vectors of some nodes decide whose features each node's prediction adds up; the network
//! is trained with DP-SGD over these rows.

mod accounting;
mod page_rank;
mod vectors;

use rand::RngExt;
use veilgraph_contract::Relation;
use veilgraph_dp_sgd::{Inputs, Network, Samples, softmax};

use crate::fitting::{Fit, Labelled};
use crate::guarantee::{FLOATING, Guarantee};
use crate::{Data, Error, Learned, Learner, Params, ReleasedModel, Training};
use page_rank::{Graph, page_rank};
use vectors::{Row, Rows};

/// Noisy page-rank vectors, and a network that is trained over them.
///
/// # Privacy
/// All that blanking a node may change is counted: every vector (each may move at all its entries), and the clipped
/// gradients of at most `column_cap` rows, its own among them. The paper states less; the module `accounting` says what.
///
/// # Source
/// Zhang et al. (2024), DPAR: decoupled graph neural networks with node-level differential privacy.
pub struct Dpar;

/// How often predictions are passed on over links when the model is applied, as published.
const STEPS_OF_PREDICTION: usize = 2;

/// The least probability with which a walk returns to its source.
const LEAST_TELEPORT: f64 = 1e-3;

impl Learner for Dpar {
    const NAME: &'static str = "dpar";

    fn complete(params: Params) -> Params {
        let accounting = params.accounting.unwrap_or_default();
        let is_sound = accounting == crate::Accounting::Sound;
        Params {
            accounting: Some(accounting),
            release: Some(params.release.unwrap_or_default()),
            vectors: Some(params.vectors.unwrap_or(70)),
            kept_entries: Some(params.kept_entries.unwrap_or(2)),
            column_cap: Some(params.column_cap.unwrap_or(4)),
            subgraph: Some(params.subgraph.unwrap_or(if is_sound { 1.0 } else { 0.09 })),
            vector_share: Some(params.vector_share.unwrap_or(0.5)),
            teleport: Some(params.teleport.unwrap_or(0.25)),
            ..params.of_all_learners()
        }
    }

    fn guarantee(params: &Params) -> Result<Guarantee, Error> {
        params.check()?;
        let settings = Settings::new(params)?;
        let noise = accounting::noise(params, &settings)?;
        Ok(Guarantee {
            relation: Relation::Node,
            noise: "page-rank vectors by noisy choice or Gaussian, Gaussian on sampled gradients",
            multipliers: vec![noise.vectors, noise.gradients],
            cost: accounting::cost(params, &settings, noise)?,
            claimed_epsilon: Some(accounting::claimed(params, &settings, noise)?),
            is_exact: false,
            why: FLOATING.to_owned(),
        })
    }

    fn learn(data: &Data, training: &Training) -> Result<Learned, Error> {
        let Training { params, noise, rng, .. } = *training;
        let settings = Settings::new(params)?;
        let mut coins = rng.stream("dpar: subgraph", 0);
        let kept: Vec<(u32, u16)> = data
            .training
            .iter()
            .copied()
            .filter(|_| settings.subgraph >= 1.0 || coins.random::<f64>() < settings.subgraph)
            .collect();
        let graph = Graph::among(data, kept.iter().map(|node| node.0));
        let rows = Rows::new(&graph, &settings, noise[0], rng)?.capped(settings.column_cap);
        let mut samples = Samples::default();
        for (row, &(_, class)) in rows.rows.iter().zip(&kept) {
            samples.push(&graph.named(row), class);
        }
        if samples.is_empty() {
            return Err(Error::Params(format!("subgraph = {} kept no training node; raise it", settings.subgraph)));
        }
        let inputs = Inputs::Sparse(&data.features);
        let labelled = Labelled::new(data, params);
        let fit = Fit { samples: &samples, ..labelled.fit("dpar", &inputs, noise[1]) };
        let network = fit.network(training)?;
        let probabilities = passed_on(data, &network, settings.teleport);
        Ok(Learned { model: ReleasedModel::default().with("dpar", &network), probabilities })
    }
}

/// What DPAR reads of `[train]`, complete.
pub(crate) struct Settings {
    release: crate::VectorRelease,
    vectors: f64,
    kept_entries: f64,
    column_cap: u32,
    subgraph: f64,
    vector_share: f64,
    teleport: f64,
}

impl Settings {
    fn new(params: &Params) -> Result<Self, Error> {
        let complete = Dpar::complete(params.clone());
        let share = |name: &str, value: Option<f64>, may_be_one: bool| {
            let value = value.unwrap_or(1.0);
            if value > 0.0 && (value < 1.0 || (may_be_one && value == 1.0)) {
                Ok(value)
            } else {
                Err(Error::Params(format!("{name} = {value} is not between 0 and 1")))
            }
        };
        let teleport = share("teleport", complete.teleport, false)?;
        if teleport < LEAST_TELEPORT {
            return Err(Error::Params(format!(
                "teleport = {teleport} is below {LEAST_TELEPORT}, from which on page-rank vectors are found in time"
            )));
        }
        Ok(Self {
            release: complete.release.unwrap_or_default(),
            vectors: f64::from(complete.vectors.unwrap_or(1)),
            kept_entries: f64::from(complete.kept_entries.unwrap_or(1)),
            column_cap: complete.column_cap.unwrap_or(1),
            subgraph: share("subgraph", complete.subgraph, true)?,
            vector_share: share("vector_share", complete.vector_share, false)?,
            teleport,
        })
    }
}

/// Predictions for every node: log odds that are passed on over links among nodes that were not trained on, with links of
/// each node to itself. Links of those nodes are taken for public.
fn passed_on(data: &Data, network: &Network, teleport: f64) -> Vec<f32> {
    let inputs = Inputs::Sparse(&data.features);
    let mut hidden = Vec::new();
    let own: Vec<Vec<f32>> = (0..data.n_nodes()).map(|row| network.logits(&inputs, row, &mut hidden)).collect();
    let (stays, goes) = (teleport as f32, 1.0 - teleport as f32);
    let mut current = own.clone();
    for _ in 0..STEPS_OF_PREDICTION {
        let next = (0..data.n_nodes() as u32).map(|node| {
            let mut neighbours = data.neighbours_on_one_side(node);
            neighbours.push(node);
            let share = goes / neighbours.len() as f32;
            let mut row: Vec<f32> = own[node as usize].iter().map(|value| stays * value).collect();
            for other in neighbours {
                row.iter_mut().zip(&current[other as usize]).for_each(|(sum, value)| *sum += share * value);
            }
            row
        });
        current = next.collect();
    }
    current.iter_mut().for_each(|row| softmax(row));
    current.into_iter().flatten().collect()
}

impl Graph {
    /// A row with the nodes' numbers in the whole graph.
    fn named(&self, row: &Row) -> Vec<(u32, f32)> {
        row.iter().map(|&(node, weight)| (self.nodes[node as usize], weight)).collect()
    }
}

#[cfg(test)]
mod tests;
