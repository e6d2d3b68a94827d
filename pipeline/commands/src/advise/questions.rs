//! Questions of `advise`: every mechanism with every budget, and what each would release.

use std::path::Path;

use toml::Table;
use veilgraph_contract::Release;
use veilgraph_runner::belief::{Knowledge, Question, Range, plain};
use veilgraph_runner::config::{Config, ConfigError};
use veilgraph_runner::plan::Options;
use veilgraph_runner::systems;
use veilgraph_train::Device;

use crate::cli::AdviseArguments;

/// Every mechanism with every budget.
pub(super) fn questions(arguments: &AdviseArguments, knowledge: &Knowledge) -> Result<Vec<Question>, ConfigError> {
    let has_fraction = |mechanism: &str| systems::links::reads(mechanism, "degree_fraction");
    let is_known = |mechanism: &String| systems::links::evidence(mechanism).is_some();
    let are_known = arguments.mechanism.iter().all(is_known);
    let is_fraction_asked = !arguments.degree_fraction.is_empty();
    if are_known && is_fraction_asked && !arguments.mechanism.iter().any(|mechanism| has_fraction(mechanism)) {
        let problem = format!("--degree-fraction: {} pays for no noisy degree", arguments.mechanism.join(", "));
        return Err(ConfigError(problem));
    }
    if arguments.mechanism.iter().any(|mechanism| mechanism == "released") {
        let problem =
            "--mechanism: what another program draws is not known here; ask about the mechanism that drew the graph";
        return Err(ConfigError(problem.to_owned()));
    }
    let mut questions: Vec<Question> = Vec::new();
    for mechanism in &arguments.mechanism {
        let fractions = match arguments.degree_fraction.as_slice() {
            asked if !asked.is_empty() && has_fraction(mechanism) => {
                asked.iter().map(|text| Some(fraction(text))).collect()
            }
            _ if mechanism == "blink" => vec![Some(fraction("auto-with-bits"))],
            _ => vec![None],
        };
        for degree_fraction in &fractions {
            let series = match degree_fraction {
                Some(share) if is_fraction_asked => format!("{mechanism}, degree fraction {}", plain(share)),
                _ => mechanism.clone(),
            };
            for &epsilon in &arguments.epsilon {
                if questions.iter().any(|asked| asked.series == series && asked.epsilon == epsilon) {
                    continue;
                }
                let (mechanism, series, degree_fraction) = (mechanism.clone(), series.clone(), degree_fraction.clone());
                let mut question = Question { mechanism, degree_fraction, series, epsilon, seen: None };
                let releases = releases(&question, arguments, knowledge)
                    .map_err(|problem| ConfigError(format!("{}: {problem}", question.series)))?;
                let evidence = systems::links::evidence(&question.mechanism);
                question.seen = evidence.and_then(|evidence| evidence.seen(&releases));
                questions.push(question);
            }
        }
    }
    Ok(questions)
}

/// A share as a config says it: a number, or the name of a rule.
fn fraction(text: &str) -> toml::Value {
    text.parse::<f64>().map_or_else(|_| text.into(), toml::Value::Float)
}

/// What a run with this mechanism and budget would release, as the plan of such a run says it.
fn releases(
    question: &Question,
    arguments: &AdviseArguments,
    knowledge: &Knowledge,
) -> Result<Vec<Release>, ConfigError> {
    let Question { mechanism, epsilon, degree_fraction, .. } = question;
    let mut links = Table::from_iter([
        ("mechanism".to_owned(), mechanism.as_str().into()),
        ("epsilon".to_owned(), (*epsilon).into()),
    ]);
    if let Some(share) = degree_fraction {
        links.insert("degree_fraction".to_owned(), share.clone());
    }
    let table = |rows: Vec<(&str, toml::Value)>| -> toml::Value {
        rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Table>().into()
    };
    let ends = |range: Range| toml::Value::from(vec![range.low, range.high]);
    let nodes = toml::Value::from(i64::try_from(knowledge.nodes).unwrap_or(i64::MAX));
    let public_knowledge = table(vec![
        ("nodes", nodes.clone()),
        ("mean_degree", ends(knowledge.mean_degree.range)),
        ("degree_spread", ends(knowledge.degree_spread.range)),
    ]);
    // What a report costs depends on no link, so that few nodes need not be too few for the usual ones.
    let synthetic = table(vec![("nodes", nodes), ("classes", 2.into()), ("mean_degree", 0.1.into())]);
    let config = table(vec![
        ("privacy", table(vec![("public_knowledge", public_knowledge)])),
        ("ingest", table(vec![("dataset", "synthetic".into()), ("synthetic", synthetic)])),
        ("privatize", table(vec![("links", links.into())])),
    ]);
    let text = toml::to_string(&config).map_err(|error| ConfigError(error.to_string()))?;
    let config = Config::parse(Path::new("advise"), text, &arguments.sets)?;
    let options =
        Options { data_dir: None, published: None, until: Some("privatize"), device: Device::Cpu, spend: false };
    let tasks = systems::plan(&config, &options)?;
    Ok(tasks.into_iter().flat_map(|task| task.releases).collect())
}
