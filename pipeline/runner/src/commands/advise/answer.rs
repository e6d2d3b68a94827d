//! What one budget of one mechanism lets a server believe.

use std::path::Path;

use serde_json::{Value, json};
use toml::Table;
use veilgraph_contract::Release;
use veilgraph_exposure::{DegreeModel, Exposure, Signal, belief_after, exposure};
use veilgraph_train::Device;

use super::knowledge::Knowledge;
use super::range::Range;
use super::verdict::Verdict;
use crate::cli::AdviseArguments;
use crate::config::{Config, ConfigError};
use crate::plan::Options;
use crate::systems;
use crate::systems::evidence::Seen;
use crate::task::Task;

/// What is asked: a mechanism with a budget.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub mechanism: String,
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
    let mut questions: Vec<Question> = Vec::new();
    for mechanism in &arguments.mechanism {
        for &epsilon in &arguments.epsilon {
            if questions.iter().any(|asked| asked.mechanism == *mechanism && asked.epsilon == epsilon) {
                continue;
            }
            let releases = releases(mechanism, epsilon, arguments, knowledge)?;
            let evidence = systems::links::evidence(mechanism);
            let seen = evidence.and_then(|evidence| evidence.seen(&releases));
            questions.push(Question { mechanism: mechanism.clone(), epsilon, seen });
        }
    }
    Ok(questions)
}

/// What a run with this mechanism and budget would release, as the plan of such a run says it.
fn releases(
    mechanism: &str,
    epsilon: f64,
    arguments: &AdviseArguments,
    knowledge: &Knowledge,
) -> Result<Vec<Release>, ConfigError> {
    let mut links =
        Table::from_iter([("mechanism".to_owned(), mechanism.into()), ("epsilon".to_owned(), epsilon.into())]);
    if mechanism == "blink" {
        links.insert("degree_fraction".to_owned(), "auto-with-bits".into());
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
    let releasing: Vec<_> = tasks.iter().filter(|task| !task.releases.is_empty()).collect();
    let is_again = |task: &&&Task| task.function == releasing[0].function && task.cell != releasing[0].cell;
    if let Some(other) = releasing.iter().find(is_again) {
        let problem = format!("--set makes several releases, `{}` among them; ask about one at a time", other.cell);
        return Err(ConfigError(problem));
    }
    Ok(releasing.into_iter().flat_map(|task| task.releases.clone()).collect())
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
            verdict: Verdict::of(found.high, found_of_hubs.high, hubs_after.high, at_most_belief),
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
        json!({
            "mechanism": self.question.mechanism,
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
            "links_of_hubs_found": range(self.found_of_hubs),
            "links_of_leaves_found": range(self.found_of_leaves),
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
