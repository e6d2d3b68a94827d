//! GraphSAGE of one layer, trained with DP-SGD over bounded neighbourhoods.

use veilgraph_accountant::{Composition, Occurrences, Step};
use veilgraph_contract::Relation;
use veilgraph_dp_sgd::Inputs;
use veilgraph_graph::SparseMatrix;

use crate::aggregation::Contributions;
use crate::data::SQUARED_FEATURE_NORM;
use crate::fitting::{Fit, Labelled, probabilities};
use crate::guarantee::Guarantee;
use crate::{Data, Error, Learned, Learner, Params, ReleasedModel, Training};

/// A network over each node's features beside the mean of its neighbours' features, in the inductive setting.
///
/// # Privacy
/// A node contributes to `max_degree` rows beside its own. It moves the clipped gradient of each of these rows by up to
/// twice the bound, and its own one by the bound.
///
/// # Source
/// Daigavane et al. (2021), Node-level differentially private graph neural networks, algorithm 1. Links of test nodes among
/// themselves are taken for public when the network is applied.
pub struct Sage;

impl Learner for Sage {
    const NAME: &'static str = "dp-sage";

    fn complete(params: Params) -> Params {
        let max_degree = Some(params.max_degree.unwrap_or(4));
        Params { max_degree, ..params.of_all_learners() }
    }

    fn guarantee(params: &Params) -> Result<Guarantee, Error> {
        let occurrences =
            Occurrences::Poisson { rate: params.sampling_rate, rows_of_others: params.max_degree.unwrap_or(1) };
        let steps = |noise_multiplier: f64| {
            Composition::of(Step::OccurrenceBounded { occurrences, noise_multiplier }, params.steps())
        };
        Guarantee::of_training(params, Relation::OwnData, steps)
    }

    fn most_inputs(_: &Params, n_features: usize) -> usize {
        2 * n_features
    }

    fn learn(data: &Data, training: &Training) -> Result<Learned, Error> {
        let Training { params, noise, rng, .. } = *training;
        let most = params.max_degree.filter(|_| noise[0] > 0.0);
        let list = |node: u32| data.neighbours_on_one_side(node);
        let contributions = Contributions::of_lists(data.n_nodes(), most, rng, list);
        let rows = beside_means(data, &contributions)?;
        let inputs = Inputs::Sparse(&rows);
        let labelled = Labelled::new(data, params);
        let fit = Fit { squared_norm: 2.0 * SQUARED_FEATURE_NORM, ..labelled.fit("sage", &inputs, noise[0]) };
        let network = fit.network(training)?;
        let probabilities = probabilities(&network, &inputs);
        Ok(Learned { model: ReleasedModel::default().with("sage", &network), probabilities })
    }
}

/// Each node's features, and beside them the mean of those who contribute to it.
fn beside_means(data: &Data, contributions: &Contributions) -> Result<SparseMatrix, Error> {
    let n_features = data.features.n_columns() as u32;
    let mut sum = vec![0.0_f32; n_features as usize];
    let row = |node: usize| -> Vec<(u32, f32)> {
        let entries = |node: usize| {
            let (columns, values) = data.features.row(node);
            columns.iter().copied().zip(values.iter().copied()).collect::<Vec<_>>()
        };
        let senders = contributions.senders(node);
        let mut touched = Vec::new();
        for &sender in senders {
            for (column, value) in entries(sender as usize) {
                touched.push(column);
                sum[column as usize] += value / senders.len() as f32;
            }
        }
        touched.sort_unstable();
        touched.dedup();
        let means = touched.into_iter().map(|column| (n_features + column, std::mem::take(&mut sum[column as usize])));
        entries(node).into_iter().chain(means.collect::<Vec<_>>()).collect()
    };
    Ok(SparseMatrix::from_rows(2 * n_features as usize, (0..data.n_nodes()).map(row).collect::<Vec<_>>())?)
}
