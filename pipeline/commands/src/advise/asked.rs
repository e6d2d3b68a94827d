//! What the arguments of `advise` say about a graph.

use std::collections::BTreeMap;

use veilgraph_runner::belief::{Given, Knowledge, Range, SeenBefore, USUAL_SPREAD};
use veilgraph_runner::config::ConfigError;
use veilgraph_runner::nearest::did_you_mean;

use super::released::Released;
use crate::cli::AdviseArguments;

/// Names of what a source can be given for.
const NAMES: [&str; 6] = ["nodes", "mean-degree", "degree-spread", "classes", "homophily", "features-accuracy"];

/// What the arguments say, and what is assumed where they say nothing. `released` is what an earlier release tells.
pub(super) fn asked(arguments: &AdviseArguments, released: Option<Released>) -> Result<Knowledge, ConfigError> {
    let mut given = Given {
        nodes: arguments.nodes.unwrap_or_default(),
        mean_degree: arguments.mean_degree,
        degree_spread: arguments.degree_spread,
        classes: arguments.classes,
        homophily: arguments.homophily,
        features_accuracy: arguments.features_accuracy,
        sources: sources(&arguments.sources)?,
    };
    check_sources(&given)?;
    let mut seen_before = SeenBefore::default();
    if let Some(Released { name, nodes, mean_degree, spread, reports }) = released {
        seen_before = reports;
        given.nodes = nodes;
        given.sources.insert("nodes".to_owned(), format!("as in {name}"));
        if given.mean_degree.is_none() {
            // Estimates of few nodes or at small budgets are a fifth off and more.
            given.mean_degree = Some(Range { low: mean_degree / 1.25, high: mean_degree * 1.25 });
            given.sources.insert("mean-degree".to_owned(), format!("a quarter around what {name} estimates"));
        }
        if given.degree_spread.is_none() {
            // Estimates that are drawn towards their mean spread less than the degrees, and noisy ones spread more.
            let (low, high) = (spread.min(USUAL_SPREAD.low), spread.max(USUAL_SPREAD.high));
            given.degree_spread = Some(Range { low, high });
            let source = format!("as in public graphs, widened to the degrees that {name} estimates");
            given.sources.insert("degree-spread".to_owned(), source);
        }
    }
    let mut knowledge = Knowledge::of(&given)?;
    knowledge.seen_before = seen_before;
    Ok(knowledge)
}

/// A source without its number would be lost.
fn check_sources(given: &Given) -> Result<(), ConfigError> {
    let lacks = |name: &str| match name {
        "mean-degree" => given.mean_degree.is_none(),
        "degree-spread" => given.degree_spread.is_none(),
        "classes" => given.classes.is_none(),
        "homophily" => given.homophily.is_none(),
        "features-accuracy" => given.features_accuracy.is_none(),
        _ => given.nodes == 0,
    };
    match given.sources.keys().find(|name| lacks(name)) {
        Some(name) => Err(ConfigError(format!("--source {name}: give --{name} as well"))),
        None => Ok(()),
    }
}

/// Sources by what they are given for.
fn sources(given: &[String]) -> Result<BTreeMap<String, String>, ConfigError> {
    let parse = |text: &String| {
        let (name, source) = text
            .split_once('=')
            .ok_or_else(|| ConfigError(format!("--source `{text}`: write a name, `=` and a text")))?;
        if !NAMES.contains(&name) {
            let hint = did_you_mean(name, &NAMES);
            return Err(ConfigError(format!(
                "--source: nothing is called `{name}` (there are {}){hint}",
                NAMES.join(", ")
            )));
        }
        Ok((name.to_owned(), source.to_owned()))
    };
    let mut sources = BTreeMap::new();
    for text in given {
        let (name, source) = parse(text)?;
        if source.trim().is_empty() {
            return Err(ConfigError(format!("--source {name}: say where the number comes from, or leave it out")));
        }
        if sources.insert(name.clone(), source).is_some() {
            return Err(ConfigError(format!("--source {name} is given twice; give one text")));
        }
    }
    Ok(sources)
}
