//! Trials that search a grid, so that those that are scored train one setting.

use veilgraph_contract::{Artifact, Private, Zone};
use veilgraph_graph::Labels;
use veilgraph_train::{ChooseSetting, HalveSettings, Params, Search, SearchGrid};

use super::{CLASSIFY, GRID, TABLE};
use crate::config::{ConfigError, MetricGroup};
use crate::plan::{Branch, Plan, Run};
use crate::systems::features;

/// Trials that search the grid, beside those that are scored; 0 where there is nothing to choose.
pub(in crate::systems) fn search_trials(plan: &mut Plan, data: &Branch) -> Result<u32, ConfigError> {
    let has = |name, zones: [Zone; 2]| zones.into_iter().any(|zone| data.has_named(name, zone));
    let has_labels = has(Labels::NAME, [Labels::ZONE, Private::<Labels>::ZONE]);
    let tasks = plan.config.values(TABLE, "task");
    let classifies = tasks.is_empty() || tasks.iter().any(|task| task.as_str() == Some(CLASSIFY));
    let can_train = classifies && has_labels && features::are_at_hand(plan, data);
    let cells = plan.config.cells::<Params>(TABLE, &GRID, Ok, |_| Ok(()))?.0;
    let is_grid = cells.iter().any(|cell| cell.params.settings().len() > 1);
    Ok(if can_train && is_grid && plan.wants(MetricGroup::Accuracy) { plan.config.search_trials } else { 0 })
}

/// Searches a grid in these trials, and chooses a setting.
pub(super) fn search(plan: &mut Plan, trials: &[Branch], params: &Params) -> Result<Branch, ConfigError> {
    let run = Run { table: TABLE, ..Run::default() };
    let over_trials = Run { is_over_trials: true, ..run };
    let halves = params.search == Search::Halving;
    // The first trial of halving is a race where there can be one. Every later one trains what it is given to the end.
    let params = &Params { search: if halves { Search::Full } else { params.search }, ..params.clone() };
    let races_first = halves && params.can_race();
    let first = &Params { search: if races_first { Search::Racing } else { params.search }, ..params.clone() };
    let mut searched: Vec<Branch> = Vec::new();
    let mut kept: Option<Branch> = None;
    let n_settings = params.settings().len();
    for (number, branch) in trials.iter().enumerate() {
        let mut branch = branch.clone();
        if let Some(kept) = &kept {
            branch.take("chosen_setting", kept);
        }
        let params = if number == 0 { first } else { params };
        searched.push(plan.run::<SearchGrid>(&[&branch], params, run)?.without(&["chosen_setting"]));
        // Of two settings one is chosen, and not kept for another trial.
        if halves && HalveSettings::n_left(n_settings, number) <= 2 {
            break;
        }
        if halves && number + 1 < trials.len() {
            let all: Vec<&Branch> = searched.iter().collect();
            let step = format!("kept-{}", number + 1);
            kept = Some(plan.run::<HalveSettings>(&all, params, Run { step: &step, ..over_trials })?);
        }
    }
    let all: Vec<&Branch> = searched.iter().collect();
    plan.run::<ChooseSetting>(&all, params, Run { step: "chosen", ..over_trials })
}
