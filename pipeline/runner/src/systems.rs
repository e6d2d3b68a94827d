//! What follows what: data, then links, then learning. Each part asks the plan for the tables that it reads.

mod data;
mod learn;
mod links;

use crate::config::{Config, ConfigError};
use crate::plan::{Options, Plan};
use crate::task::Task;

pub(crate) use links::functions;

/// All runs of an experiment; each comes after those that it reads from.
pub(crate) fn plan(config: &Config, options: &Options) -> Result<Vec<Task>, ConfigError> {
    let mut plan = Plan::new(config, options);
    // Alternatives differ after the ingest alone.
    for data in data::ingest(&mut plan)? {
        for alternative in config.alternatives(&data.dataset, options.published)? {
            let name = alternative.alternative.clone().unwrap_or_default();
            plan.take_up(alternative);
            let mut data = data.clone();
            data.alternative = name;
            data.search_trials = learn::search_trials(&mut plan)?;
            let graphs = links::graphs(&mut plan, &data)?;
            learn::classify(&mut plan, &graphs)?;
        }
    }
    plan.finish(config, &links::fields_of_mechanisms())
}
