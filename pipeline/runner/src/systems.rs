//! What follows what: data, features, labels, links, learning, then attacks. Each part asks the plan for the tables that it reads.

mod advised_fraction;
mod audit;
mod central;
mod choice;
mod data;
pub(crate) mod evidence;
mod features;
mod labels;
mod learn;
pub mod links;

use std::collections::BTreeSet;

use veilgraph_contract::Stage;
use veilgraph_evaluate::{
    EvaluateClasses, EvaluateFeatures, EvaluateGraph, EvaluateLinkPrediction, EvaluateLinks, EvaluateReleasedModel,
};
use veilgraph_graph::{Features, Labels};

use crate::config::sweep::fields_of;
use crate::config::{Check, Config, ConfigError, HeldData, MetricGroup};
use crate::function::Function;
use crate::ledger::statement;
use crate::plan::{Branch, KnownFields, Options, Plan};
use crate::task::{Task, position};
use audit::Attacked;
pub use central::CENTRAL;
pub use learn::GRID;

/// Stage functions that one mechanism alone has, and those of attacks.
pub(crate) fn functions() -> impl Iterator<Item = &'static Function> {
    features::functions()
        .chain(labels::FUNCTIONS)
        .chain(links::functions())
        .chain(central::functions())
        .chain(audit::functions())
}

/// All runs of an experiment; each comes after those that it reads from.
///
/// # Errors
/// When the config asks for what cannot be run: the message names file, line and remedy.
pub fn plan(config: &Config, options: &Options) -> Result<Vec<Task>, ConfigError> {
    let mut plan = Plan::new(config, options);
    config.checks.iter().filter_map(Check::doubt).for_each(|doubt| plan.warn(doubt));
    // Alternatives differ after the ingest alone.
    for data in data::ingest(&mut plan)? {
        for alternative in config.alternatives(&data.dataset, options.published, held_for_floors(&data, options))? {
            let name = alternative.alternative.clone().unwrap_or_default();
            plan.take_up(alternative);
            let mut data = data.clone();
            data.alternative = name;
            if central::is_asked_for(&plan)? {
                central::learn(&mut plan, &data)?;
                continue;
            }
            data.search_trials = learn::search_trials(&mut plan, &data)?;
            let mut graphs = Vec::new();
            for data in audit::planted(&mut plan, &data)? {
                for features in features::features(&mut plan, &data)? {
                    for labels in labels::labels(&mut plan, &features)? {
                        graphs.extend(links::graphs(&mut plan, &labels)?);
                    }
                }
            }
            let graphs = features::on_graphs(&mut plan, graphs)?;
            features::score(&mut plan, &graphs)?;
            let networks = learn::learn(&mut plan, &graphs)?;
            audit::audit(&mut plan, Attacked { graphs: &graphs, networks: &networks, ..Attacked::default() })?;
        }
    }
    check_named_scores(&mut plan, config, options)?;
    let mut tasks = plan.finish(config, &known_fields())?;
    if config.is_deployment() && !options.spend {
        mark_repeated_releases(&mut tasks);
    }
    Ok(tasks)
}

/// Marks what a deployment asks for twice about one population: that is one release, or the second is refused.
fn mark_repeated_releases(tasks: &mut [Task]) {
    let mut known = BTreeSet::new();
    for task in tasks.iter_mut().filter(|task| !task.releases.is_empty()) {
        task.repeats |= !known.insert((task.population.clone(), statement(task.function, &task.releases)));
    }
}

/// Tells of scores that the config names and that nothing in it makes. A deployment is refused, which would be told when it has paid.
fn check_named_scores(plan: &mut Plan, config: &Config, options: &Options) -> Result<(), ConfigError> {
    // Whoever pays for a part of a deployment wants the whole of it later.
    if !config.is_deployment() && !matches!(options.until, None | Some("evaluate")) {
        return Ok(());
    }
    for group in config.named_metrics() {
        let (is_made, name, needed) = match group {
            MetricGroup::Accuracy => (
                makes::<EvaluateClasses>(plan)
                    || makes::<EvaluateLinkPrediction>(plan)
                    || makes::<EvaluateReleasedModel>(plan),
                "accuracy",
                "labels, and features for networks",
            ),
            MetricGroup::LinkError => {
                (makes::<EvaluateLinks>(plan) || makes::<EvaluateGraph>(plan), "link-error", "links that are released")
            }
            MetricGroup::Density => {
                (makes::<EvaluateGraph>(plan), "density", "a graph that lists links, which no soft one does")
            }
            MetricGroup::FeatureError => {
                (makes::<EvaluateFeatures>(plan), "feature-error", "features that are reported")
            }
        };
        if is_made {
            continue;
        }
        let problem = format!(
            "nothing in this config makes the scores `{name}`, which need {needed}; leave `{name}` out, or add these"
        );
        if config.is_deployment() {
            return Err(config.error("evaluate.metrics", &problem));
        }
        plan.warn(format!("[evaluate] metrics: {problem}"));
    }
    Ok(())
}

/// Whether a run of the stage function `S` is planned.
fn makes<S: Stage>(plan: &Plan) -> bool {
    plan.tasks().iter().any(Task::is_of::<S>)
}

/// What the server holds, from which floors can be made; nothing where the plan ends before anything is trained.
fn held_for_floors(data: &Branch, options: &Options) -> HeldData {
    if options.until.is_some_and(|until| position(until) < position("train")) {
        return HeldData::default();
    }
    HeldData { labels: data.has::<Labels>(), features: data.has::<Features>() }
}

/// What the stage functions of all systems can read.
fn known_fields() -> KnownFields {
    let construct = [
        fields_of::<veilgraph_construct::Params>(),
        fields_of::<veilgraph_construct::CountsParams>(),
        fields_of::<veilgraph_similarity::SimilarGraphParams>(),
    ];
    KnownFields {
        mechanisms: links::fields_of_mechanisms(),
        tables: vec![
            ("ingest", fields_of::<veilgraph_ingest::Params>()),
            ("ingest.synthetic", fields_of::<veilgraph_ingest::SyntheticParams>()),
            (features::TABLE, features::fields_of_mechanisms()),
            (labels::TABLE, fields_of::<veilgraph_privatize::labels::Params>()),
            ("similarity", fields_of::<veilgraph_similarity::Params>()),
            ("estimate", fields_of::<veilgraph_estimate::Params>()),
            (features::ESTIMATE, fields_of::<veilgraph_estimate::features::SubstituteParams>()),
            ("construct", construct.concat()),
            (
                "train",
                [fields_of::<veilgraph_train::Params>(), learn::fields_of_learners(), central::fields()].concat(),
            ),
            (audit::TABLE, audit::fields_of_attacks()),
            ("train.links", fields_of::<veilgraph_train::LinkLearning>()),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_names_its_fields() {
        let known = known_fields();
        assert!(known.tables.iter().all(|(table, fields)| !fields.is_empty() || panic!("{table} names none")));
        let (_, construct) = known.tables.iter().find(|(table, _)| *table == "construct").expect("a table");
        assert_eq!(construct, &["variant", "edge_multiple", "edge_model", "similarity", "neighbours"]);
    }
}
