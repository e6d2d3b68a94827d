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

/// The answer for one question.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub question: Question,
    /// Belief about a pair of the base rate, where every report says that it is linked.
    pub all_claim: Range,
    /// Belief about such a pair that no reading of the reports can exceed.
    pub at_most: Range,
    /// What the server finds, in the middle of what is known.
    pub middle: Exposure,
    /// Share of the links that the server finds, over all that is possible.
    pub found: Range,
    /// The same for links of hubs and for links of leaves.
    pub found_of_hubs: Range,
    pub found_of_leaves: Range,
    /// Share found in the middle after a second release of the same kind.
    pub found_twice: f64,
    /// Bytes that a node sends, where the format of reports says it.
    pub bytes: Option<f64>,
    pub verdict: Verdict,
}

/// Every mechanism with every budget.
pub(super) fn questions(arguments: &AdviseArguments, nodes: u64) -> Result<Vec<Question>, ConfigError> {
    let mut questions = Vec::new();
    for mechanism in &arguments.mechanism {
        for &epsilon in &arguments.epsilon {
            let releases = releases(mechanism, epsilon, arguments, nodes)?;
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
    nodes: u64,
) -> Result<Vec<Release>, ConfigError> {
    let mut links =
        Table::from_iter([("mechanism".to_owned(), mechanism.into()), ("epsilon".to_owned(), epsilon.into())]);
    if mechanism == "blink" {
        links.insert("degree_fraction".to_owned(), "auto-with-bits".into());
    }
    let synthetic = Table::from_iter([("nodes".to_owned(), toml::Value::from(nodes as i64))]);
    let ingest =
        Table::from_iter([("dataset".to_owned(), "synthetic".into()), ("synthetic".to_owned(), synthetic.into())]);
    let privatize = Table::from_iter([("links".to_owned(), links.into())]);
    let config = Table::from_iter([("ingest".to_owned(), ingest.into()), ("privatize".to_owned(), privatize.into())]);
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
        let nothing = Signal::default();
        let signal = question.seen.as_ref().map_or(&nothing, |seen| &seen.signal);
        let exposures: Vec<Exposure> = models.iter().map(|model| exposure(model, signal)).collect();
        let over = |of: fn(&Exposure) -> f64| Range::over(exposures.iter().map(of));
        let base = knowledge.base_rate();
        let believed = |nats: f64| Range { low: belief_after(base.low, nats), high: belief_after(base.high, nats) };
        let claimed: f64 = signal.pair.iter().map(|look| look.epsilon).sum();
        let per_link = question.seen.as_ref().map_or(0.0, |seen| seen.per_link);
        let (found, found_of_hubs) = (over(|exposed| exposed.found), over(|exposed| exposed.found_of_hubs));
        let at_most = believed(per_link);
        Self {
            all_claim: believed(claimed),
            at_most,
            middle: exposures[0],
            found,
            found_of_hubs,
            found_of_leaves: over(|exposed| exposed.found_of_leaves),
            found_twice: exposure(&models[0], &signal.twice()).found,
            bytes: question.seen.as_ref().and_then(|seen| bytes(seen, knowledge.nodes)),
            verdict: Verdict::of(found.high, found_of_hubs.high, at_most.high, at_most_belief),
            question,
        }
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
            "is_bound": seen.is_some_and(|seen| seen.is_bound),
            "belief_where_all_claim": range(self.all_claim),
            "belief_at_most": range(self.at_most),
            "links_found": {"middle": self.middle.found, "low": self.found.low, "high": self.found.high},
            "links_of_hubs_found": range(self.found_of_hubs),
            "links_of_leaves_found": range(self.found_of_leaves),
            "likely_links": {"found": self.middle.likely.found, "precision": self.middle.likely.precision},
            "links_found_after_a_second_release": self.found_twice,
            "bytes_per_node": self.bytes,
            "verdict": self.verdict.name(),
        })
    }
}

/// Bytes of a report: the entropy of its noisy bits, which its code comes close to, and 40 bytes around them
/// (docs/report-format.md).
fn bytes(seen: &Seen, nodes: u64) -> Option<f64> {
    const AROUND: f64 = 40.0;
    let lists = seen.lists_of_bits?;
    let entropy = seen.signal.pair.first().and_then(|look| look.entropy()).unwrap_or_default();
    Some(AROUND + nodes as f64 * lists / 2.0 * entropy / 8.0)
}
