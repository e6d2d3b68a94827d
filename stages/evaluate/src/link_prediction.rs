//! How well vectors of nodes tell held-out links from other pairs.

use veilgraph_contract::{Auditor, Draws, HeldOut, Invalid, Progress, Stage, StageRng};
use veilgraph_graph::{Embeddings, LinkSample, Ranking};

use crate::{Error, Metrics, Params, metric, same_size};

/// Scores the vectors of all trials on the held-out pairs.
pub struct EvaluateLinkPrediction;

impl Stage for EvaluateLinkPrediction {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "link-prediction";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = Params;
    /// Every trial holds out links of its own.
    type Inputs = (Vec<HeldOut<LinkSample>>, Vec<Embeddings>);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (samples, trials): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let mut metrics = Metrics::about(&params.cell);
        if samples.len() != trials.len() {
            return Err(Invalid(format!("{} trials and links held out in {}", trials.len(), samples.len())).into());
        }
        for (trial, (embeddings, HeldOut(sample))) in (0..).zip(trials.iter().zip(&samples)) {
            same_size(embeddings.0.n_rows(), sample.n_nodes)?;
            let scores: Vec<_> = sample.pairs.iter().map(|&(i, j, is)| (embeddings.score(i, j), is)).collect();
            let ranking = Ranking::of(scores).ok_or_else(|| {
                let (links, pairs) = (sample.pairs.iter().filter(|pair| pair.2).count(), sample.pairs.len());
                Invalid(format!("{links} of the {pairs} held-out pairs are links; both kinds are needed"))
            })?;
            metrics.push(trial, &metric::LINK_PREDICTION_AUC, ranking.area_under_curve);
            metrics.push(trial, &metric::LINK_PREDICTION_AVERAGE_PRECISION, ranking.average_precision);
        }
        Ok((metrics,))
    }
}
