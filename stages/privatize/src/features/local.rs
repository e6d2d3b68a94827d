//! The stage function of a mechanism of features: every node speaks for itself.

use std::marker::PhantomData;

use rand::rngs::ChaCha20Rng;
use rayon::prelude::*;
use veilgraph_contract::{Cost, Draws, Owner, Private, Progress, Relation, Release, Stage, StageRng};
use veilgraph_graph::{DenseMatrix, FeatureMatrix, Features, SparseMatrix};
use veilgraph_privacy::composition::totals;
use veilgraph_privacy::{FeatureReportFacts, NoisyFeatures};

use super::ledger::{Stated, rows};
use super::params::{FeatureParams, Message};
use super::range::Range;
use super::view::FeatureView;
use crate::Error;

/// A mechanism in which every node reports on its own features.
pub trait FeatureMechanism: Sized + 'static {
    /// Name of the mechanism, as in `[privatize.features] mechanism` and in the facts of the reports.
    const NAME: &'static str;
    /// Name of its stage function.
    const TASK: &'static str;
    /// What the ledger calls the noise.
    const NOISE: &'static str;
    /// The parameters that this mechanism reads, and no others.
    type Params: FeatureParams;
    /// The mechanism at one budget, for one number of features and one range.
    type Encoder: FeatureEncoder;

    /// What the report of one node costs at a finite budget, known from the parameters alone.
    fn costs(params: &Self::Params) -> Vec<Stated>;

    /// The mechanism for `n_features` features, of which there is at least one, in `range`, at a finite budget.
    ///
    /// # Errors
    /// When the parameters cannot be used with this number of features.
    fn encoder(params: &Self::Params, n_features: usize, range: [f64; 2]) -> Result<Self::Encoder, Error>;

    /// What the reports cost: rows of the ledger. A control without information costs nothing, and what rests on the
    /// range of the data is not sound.
    #[must_use]
    fn releases(params: &Self::Params) -> Vec<Release> {
        rows::<Self>(params)
    }
}

/// How one node encodes its features.
pub trait FeatureEncoder: Send + Sync {
    /// Number of features on which a node reports.
    fn n_reported(&self) -> usize;

    /// The numbers `[offset, scale]` for which `offset + scale · value` is an unbiased estimate of a feature, where a
    /// feature without report has the value 0.
    fn rectification(&self) -> [f64; 2];

    /// The budget and whatever else changes what random words are used for.
    fn purpose(&self) -> String;

    /// What one node sends: `send(feature, value)` once for each feature that it reports on, in ascending order.
    fn report(&self, node: FeatureView, rng: &mut ChaCha20Rng, send: impl FnMut(u32, f32));
}

/// The stage function of a mechanism of features.
///
/// An infinite budget sends the features as they are, in or out of the range.
pub struct LocalFeatures<M>(PhantomData<fn() -> M>);

impl<M: FeatureMechanism> Stage for LocalFeatures<M> {
    const STAGE: &'static str = "privatize";
    const TASK: &'static str = M::TASK;
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = M::Params;
    type Inputs = (Private<Features>,);
    type Outputs = (NoisyFeatures,);
    type Error = Error;

    fn releases(params: &M::Params) -> Vec<Release> {
        M::releases(params)
    }

    fn check_params(params: &M::Params) -> Result<(), Error> {
        params.check()?;
        let declared = params.declared();
        if let (Some(dimension @ 1..), Range::Declared(range)) = (declared.dimension, declared.range)
            && !declared.hides_nothing()
        {
            encoder::<M>(params, dimension, range)?;
        }
        Ok(())
    }

    fn run(
        (Private(Features(features)),): Self::Inputs,
        params: &M::Params,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        params.check()?;
        let (declared, n_features) = (params.declared(), features.n_columns());
        match declared.dimension {
            _ if n_features == 0 => return Err(Error::NoFeatures),
            Some(dimension) if dimension != n_features => return Err(Error::Dimension(dimension, n_features)),
            None if params.needs_dimension() => return Err(Error::NoDimension(n_features)),
            _ => {}
        }
        let range = declared.range.ends(&features)?;
        let total = totals(&M::releases(params)).remove(&Relation::NodeFeatures);
        let facts = |[offset, scale]: [f64; 2]| FeatureReportFacts {
            mechanism: M::NAME.to_owned(),
            epsilon: total.as_ref().map_or(f64::INFINITY, Cost::epsilon),
            dp_delta: total.as_ref().map_or(0.0, Cost::dp_delta),
            range,
            offset,
            scale,
            sound: declared.range != Range::Data,
            randomness: rng.randomness(),
        };
        if declared.hides_nothing() {
            return Ok((NoisyFeatures {
                facts: facts([0.0, 1.0]),
                reports: as_they_are(features, range, declared.message)?,
            },));
        }
        let view = |node: usize| match declared.message {
            Message::Features => FeatureView::new(node as u32, n_features, features.row(node), range),
            Message::Constant => FeatureView::without_information(node as u32, n_features, range),
        };
        let is_valid = |node: usize| declared.clip || view(node).is_in_range();
        // The control does not look at the features, not even to refuse them.
        if declared.message == Message::Features && !(0..features.n_rows()).into_par_iter().all(is_valid) {
            return Err(Error::OutOfRange(range[0], range[1]));
        }
        let encoder = encoder::<M>(params, n_features, range)?;
        let purpose =
            format!("features {} {} of {n_features} in {range:?}, {:?}", M::NAME, encoder.purpose(), declared.message);
        let reports =
            encoded(&encoder, [features.n_rows(), n_features], view, |node| rng.stream(&purpose, node as u64))?;
        Ok((NoisyFeatures { facts: facts(encoder.rectification()), reports },))
    }
}

/// How nodes encode features, where the server can compute with what it makes of them.
///
/// # Errors
/// As for [`FeatureMechanism::encoder`], and when squares of estimates exceed the numbers in which networks are trained.
fn encoder<M: FeatureMechanism>(params: &M::Params, n_features: usize, range: [f64; 2]) -> Result<M::Encoder, Error> {
    let encoder = M::encoder(params, n_features, range)?;
    let [offset, scale] = encoder.rectification();
    let largest = range[0].abs().max(range[1].abs()).max(offset.abs() + scale.abs());
    if n_features as f64 * largest.powi(2) > f64::from(f32::MAX) {
        return Err(Error::LargeEstimates(largest));
    }
    Ok(encoder)
}

/// What all nodes send: a dense matrix where each reports on every feature.
fn encoded<'a>(
    encoder: &impl FeatureEncoder,
    [n_nodes, n_features]: [usize; 2],
    view: impl Fn(usize) -> FeatureView<'a> + Sync,
    stream: impl Fn(usize) -> ChaCha20Rng + Sync,
) -> Result<FeatureMatrix, Error> {
    if encoder.n_reported() == n_features {
        let mut values = vec![0.0; n_nodes * n_features];
        values.par_chunks_mut(n_features).enumerate().for_each(|(node, row)| {
            encoder.report(view(node), &mut stream(node), |feature, value| row[feature as usize] = value);
        });
        return Ok(FeatureMatrix::Dense(DenseMatrix::new(n_nodes, n_features, values)?));
    }
    let report = |node: usize| {
        let mut row = Vec::with_capacity(encoder.n_reported());
        encoder.report(view(node), &mut stream(node), |feature, value| row.push((feature, value)));
        row
    };
    let rows: Vec<Vec<(u32, f32)>> = (0..n_nodes).into_par_iter().map(report).collect();
    Ok(FeatureMatrix::Sparse { fill: 0.0, entries: SparseMatrix::from_rows(n_features, rows)? })
}

/// What nodes send without noise.
fn as_they_are(features: SparseMatrix, [lower, upper]: [f64; 2], message: Message) -> Result<FeatureMatrix, Error> {
    Ok(match message {
        Message::Features => FeatureMatrix::Sparse { fill: 0.0, entries: features },
        Message::Constant => {
            let rows = (0..features.n_rows()).map(|_| Vec::new());
            let entries = SparseMatrix::from_rows(features.n_columns(), rows)?;
            FeatureMatrix::Sparse { fill: f64::midpoint(lower, upper) as f32, entries }
        }
    })
}
