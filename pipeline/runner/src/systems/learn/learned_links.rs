//! What cannot go before a network that learns its links.

use veilgraph_privacy::NoisyLabels;
use veilgraph_train::{LabelUse, Params};

use crate::config::ConfigError;
use crate::config::sweep::SweptCell;
use crate::plan::{Branch, Plan};

/// Refuses features and labels that would be averaged over links which a network has yet to learn.
pub(super) fn refuse_averages(plan: &Plan, graph: &Branch, cells: &[SweptCell<Params>]) -> Result<(), ConfigError> {
    let hops = graph.propagation.hops;
    if hops > 0 {
        let problem = format!(
            "solitude learns links while it trains, so that features cannot be averaged over them ({hops} hops) before; set \
             hops = 0, or leave solitude to a config of its own"
        );
        return Err(plan.config.error("estimate.features.hops", &problem));
    }
    // True labels have nothing to correct, so that they are not averaged.
    let is_noisy = graph.has::<NoisyLabels>();
    if is_noisy && cells.iter().any(|cell| cell.params.labels == LabelUse::Drop) {
        let problem = "`drop` averages reported labels over links, and solitude learns its links; leave one out";
        return Err(plan.config.error("train.labels", problem));
    }
    Ok(())
}
