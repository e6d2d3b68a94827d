//! Guesses about features and labels from what nodes report.

use veilgraph_attack::{Canaries, PairScores, Record};
use veilgraph_contract::{Auditor, Draws, Invalid, NoParams, Progress, Stage, StageRng};
use veilgraph_privacy::{NoisyFeatures, NoisyLabels};

use super::plant_labels::other_class;
use super::{same_size, scored};
use crate::Error;

/// What the reports about features or labels say about each coin, as log odds.
pub struct GuessFromAttributes;

impl Stage for GuessFromAttributes {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "guess-from-attributes";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = NoParams;
    type Inputs = (Canaries, Option<NoisyFeatures>, Option<NoisyLabels>);
    type Outputs = (PairScores,);
    type Error = Error;

    fn run(
        (canaries, features, labels): Self::Inputs,
        _: &NoParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        Ok((match (canaries.record, features, labels) {
            (Record::Features, Some(features), _) => {
                same_size(features.reports.n_nodes(), &canaries)?;
                scored(&canaries, |node, _| odds_of_features(&features, node as usize))
            }
            (Record::Label, _, Some(labels)) => {
                let is_sent = |coin: &&(u32, u32, bool)| labels.labels.class(coin.0).is_some();
                if canaries.coins.iter().filter(is_sent).count() < canaries.coins.len() {
                    return Err(Invalid("a canary is about the label of a node that sent none".to_owned()).into());
                }
                scored(&canaries, |node, class| odds_of_label(&labels, node, class))
            }
            (record, ..) => return Err(Invalid(format!("no report says anything about canaries `{record}`")).into()),
        },))
    }
}

/// Log odds that all features of a node lie at the upper end of the range.
///
/// An unbiased estimate `x` of a feature in `[-1, 1]` that cost `ε` is worth `ε · clamp(x, -1, 1)`. These are the log odds
/// of randomized bits, whose estimates lie beyond 1, and of Laplace noise. Piecewise noise says nothing of values near the
/// middle, where these odds are not quite 0: the choice of coins to guess is then not the best one, and the bound holds all the same.
/// Gaussian noise (`dp_delta` above 0) has odds in proportion to `x`, of which only the sign is used, since all coins are guessed.
fn odds_of_features(reported: &NoisyFeatures, node: usize) -> f64 {
    let (facts, n_features) = (&reported.facts, reported.reports.n_features());
    let middle = f64::midpoint(facts.range[0], facts.range[1]);
    let half = (facts.range[1] - facts.range[0]) / 2.0;
    let row = reported.reports.row(node);
    // A feature without report stands for the middle of the range, whatever it is.
    let estimates: Vec<f64> =
        row.iter().map(|&value| (facts.offset + facts.scale * f64::from(value) - middle) / half).collect();
    let n_reported = estimates.iter().filter(|estimate| **estimate != 0.0).count().clamp(1, n_features.max(1));
    let worth = facts.epsilon.min(f64::from(f32::MAX)) / n_reported as f64;
    let most = if facts.dp_delta > 0.0 { f64::INFINITY } else { 1.0 };
    worth * estimates.iter().map(|estimate| estimate.clamp(-most, most)).sum::<f64>()
}

/// Log odds that a node has the class, and not the other one.
fn odds_of_label(reported: &NoisyLabels, node: u32, class: u32) -> f64 {
    let worth = reported.facts.epsilon.min(f64::from(f32::MAX));
    let other = other_class(class, reported.labels.n_classes());
    match reported.labels.class(node).map(u32::from) {
        Some(sent) if sent == class => worth,
        Some(sent) if sent == other => -worth,
        _ => 0.0,
    }
}
