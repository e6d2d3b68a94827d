//! What one budget of one mechanism lets a server believe.

use std::path::Path;

use serde_json::{Value, json};
use toml::Table;
use veilgraph_contract::Release;
use veilgraph_exposure::{DegreeModel, Exposure, Signal, belief_after, exposure};
use veilgraph_train::Device;
use veilgraph_runner::config::{Config, ConfigError};
use veilgraph_runner::plan::Options;
use veilgraph_runner::systems;
use veilgraph_runner::systems::evidence::Seen;

use super::knowledge::Knowledge;
use super::range::Range;
use super::verdict::Verdict;
use crate::cli::AdviseArguments;

/// What is asked: a mechanism with a budget.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub mechanism: String,
    /// Share of the budget for a noisy degree, as a config says it; none where the mechanism's own default is taken.
    pub degree_fraction: Option<toml::Value>,
    /// What questions of all budgets are called that differ in nothing else.
    pub series: String,
    pub epsilon: f64,
    /// What would be released; none where a mechanism says nothing about links.
    pub seen: Option<Seen>,
}

impl Question {
    /// Whether a network on such reports differs from the references.
    pub(super) fn is_trained(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.per_link.is_finite())
    }
}

/// The answer for one question.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub question: Question,
    /// Belief about a pair of the base rate, where every report says that it is linked.
    pub all_claim: Range,
    /// Belief about such a pair that reports cannot exceed, to a server that knows all other links.
    pub at_most: Range,
    /// Belief about a pair of hubs before any report about it, and where every report claims it.
    pub hubs_before: Range,
    pub hubs_after: Range,
    /// What the server finds, in the middle of what is known.
    pub middle: Exposure,
    /// Share of the links that the server finds, over the ends and the middle of what is known.
    pub found: Range,
    /// The same for links of hubs and for links of leaves.
    pub found_of_hubs: Range,
    pub found_of_leaves: Range,
    /// Share found after a second release of the same kind.
    pub found_twice: Range,
    /// Bytes that a node sends, where the format of reports says it.
    pub bytes: Option<f64>,
    pub verdict: Verdict,
    /// Number of nodes of the graph.
    pub nodes: u64,
}

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

/// The same as people read it.
fn plain(share: &toml::Value) -> String {
    share.as_str().map_or_else(|| share.as_float().unwrap_or_default().to_string(), str::to_owned)
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
    let config = table(vec![
        ("privacy", table(vec![("public_knowledge", public_knowledge)])),
        ("ingest", table(vec![("dataset", "synthetic".into()), ("synthetic", table(vec![("nodes", nodes)]))])),
        ("privatize", table(vec![("links", links.into())])),
    ]);
    let text = toml::to_string(&config).map_err(|error| ConfigError(error.to_string()))?;
    let config = Config::parse(Path::new("advise"), text, &arguments.sets)?;
    let options = Options { data_dir: None, published: None, until: Some("privatize"), device: Device::Cpu };
    let tasks = systems::plan(&config, &options)?;
    Ok(tasks.into_iter().flat_map(|task| task.releases).collect())
}

impl Answer {
    /// What follows from public knowledge.
    pub(super) fn of(question: Question, knowledge: &Knowledge, models: &[DegreeModel], at_most_belief: f64) -> Self {
        let asked = question.seen.as_ref().map(|seen| seen.signal.clone()).unwrap_or_default();
        // What was released before is seen too.
        let signal = asked.beside(&knowledge.seen_before);
        let exposures: Vec<Exposure> = models.iter().map(|model| exposure(model, &signal)).collect();
        let over = |of: fn(&Exposure) -> f64| Range::over(exposures.iter().map(of));
        let twice = signal.beside(&asked);
        let base = knowledge.base_rate();
        let believed = |nats: f64| Range { low: belief_after(base.low, nats), high: belief_after(base.high, nats) };
        let nats_of = |signal: &Signal| signal.pair.iter().map(|look| look.epsilon).sum::<f64>();
        let per_link = question.seen.as_ref().map_or(0.0, |seen| seen.per_link) + nats_of(&knowledge.seen_before);
        let (found, found_of_hubs) = (over(|exposed| exposed.found), over(|exposed| exposed.found_of_hubs));
        let hubs_after = over(|exposed| exposed.hubs_after);
        let is_bound = question.seen.as_ref().is_some_and(|seen| seen.is_bound);
        Self {
            all_claim: believed(nats_of(&signal)),
            at_most: believed(per_link),
            hubs_before: over(|exposed| exposed.hubs_before),
            hubs_after,
            middle: exposures[0],
            found,
            found_of_hubs,
            found_of_leaves: over(|exposed| exposed.found_of_leaves),
            found_twice: Range::over(models.iter().map(|model| exposure(model, &twice).found)),
            bytes: question.seen.as_ref().and_then(|seen| bytes(seen, knowledge)),
            // A bound on all links is none on those of hubs.
            verdict: Verdict::of(
                found.high,
                if is_bound { 0.0 } else { found_of_hubs.high },
                hubs_after.high,
                at_most_belief,
            ),
            nodes: knowledge.nodes,
            question,
        }
    }

    /// Whether only the cost of the reports is known, so that what is said is more than can happen.
    pub(super) fn is_bound(&self) -> bool {
        self.question.seen.as_ref().is_some_and(|seen| seen.is_bound)
    }

    /// As JSON.
    pub(super) fn json(&self) -> Value {
        let range = |range: Range| json!({"low": range.low, "high": range.high});
        let seen = self.question.seen.as_ref();
        // A bound on all links is none on some of them.
        let part = |found: Range| if self.is_bound() { Value::Null } else { range(found) };
        json!({
            "mechanism": self.question.mechanism,
            "degree_fraction": self.question.degree_fraction.as_ref().map(plain),
            "epsilon": self.question.epsilon,
            "nats_per_list_bit": seen.and_then(|seen| seen.per_list_bit),
            "nats_per_link": seen.map(|seen| seen.per_link),
            "nats_per_node": seen.map(|seen| seen.per_node(self.nodes)),
            "is_bound": self.is_bound(),
            "is_sound": seen.is_none_or(|seen| seen.is_sound),
            "belief_where_all_claim": range(self.all_claim),
            "belief_at_most": range(self.at_most),
            "belief_about_two_hubs": {"before": range(self.hubs_before), "where_all_claim": range(self.hubs_after)},
            "links_found": {"middle": self.middle.found, "low": self.found.low, "high": self.found.high},
            "links_of_hubs_found": part(self.found_of_hubs),
            "links_of_leaves_found": part(self.found_of_leaves),
            "likely_links": {"found": self.middle.likely.found, "precision": self.middle.likely.precision},
            "links_found_after_a_second_release": range(self.found_twice),
            "bytes_per_node": self.bytes,
            "verdict": self.verdict.name(),
        })
    }
}

/// Bytes of a report: the entropy of its noisy bits, which its code comes close to, and 40 bytes around them
/// (docs/report-format.md).
fn bytes(seen: &Seen, knowledge: &Knowledge) -> Option<f64> {
    const AROUND: f64 = 40.0;
    let bits = knowledge.nodes as f64 * seen.lists_of_bits? / 2.0;
    let density = knowledge.base_rate().middle();
    let entropy = seen.signal.pair.first().and_then(|look| look.entropy(density)).unwrap_or_default();
    Some(AROUND + bits * entropy / 8.0)
}
