//! What one budget of one mechanism lets a server believe.

use serde_json::{Value, json};
use veilgraph_exposure::{DegreeModel, Exposure, Signal, belief_after, exposure};

use super::knowledge::Knowledge;
use super::range::Range;
use super::verdict::Verdict;
use crate::systems::evidence::Seen;

/// What is asked: a mechanism with a budget.
#[derive(Clone, Debug)]
pub struct Question {
    /// Name of the mechanism, as in a config.
    pub mechanism: String,
    /// Share of the budget for a noisy degree, as a config says it; none where the mechanism's own default is taken.
    pub degree_fraction: Option<toml::Value>,
    /// What questions of all budgets are called that differ in nothing else.
    pub series: String,
    /// Its budget, in nats, as a config says it.
    pub epsilon: f64,
    /// What would be released; none where a mechanism says nothing about links.
    pub seen: Option<Seen>,
}

impl Question {
    /// Whether a network on such reports differs from the references.
    #[must_use]
    pub fn is_trained(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.per_link.is_finite())
    }
}

/// The answer for one question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was asked.
    pub question: Question,
    /// Belief about a pair of the base rate, where every report says that it is linked.
    pub all_claim: Range,
    /// Belief about such a pair that reports cannot exceed, to a server that knows all other links.
    pub at_most: Range,
    /// Belief about a pair of hubs before any report about it.
    pub hubs_before: Range,
    /// Belief about a pair of hubs where every report claims it.
    pub hubs_after: Range,
    /// What the server finds, in the middle of what is known.
    pub middle: Exposure,
    /// Share of the links that the server finds, over the ends and the middle of what is known.
    pub found: Range,
    /// The same for links of hubs.
    pub found_of_hubs: Range,
    /// The same for links of leaves.
    pub found_of_leaves: Range,
    /// Share found after a second release of the same kind.
    pub found_twice: Range,
    /// Bytes that a node sends, where the format of reports says it.
    pub bytes: Option<f64>,
    /// What the budget protects, in a word.
    pub verdict: Verdict,
    /// Number of nodes of the graph.
    pub nodes: u64,
}

/// A share for degrees as people read it: a number, or the name of a rule.
pub fn plain(share: &toml::Value) -> String {
    share.as_str().map_or_else(|| share.as_float().unwrap_or_default().to_string(), str::to_owned)
}

impl Answer {
    /// What follows from public knowledge.
    #[must_use]
    pub fn of(question: Question, knowledge: &Knowledge, models: &[DegreeModel], at_most_belief: f64) -> Self {
        let asked = question.seen.as_ref().map(|seen| seen.signal.clone()).unwrap_or_default();
        // What was released before is seen too.
        let signal = asked.beside(&knowledge.seen_before.signal);
        let exposures: Vec<Exposure> = models.iter().map(|model| exposure(model, &signal)).collect();
        let over = |of: fn(&Exposure) -> f64| Range::over(exposures.iter().map(of));
        let twice = signal.beside(&asked);
        let base = knowledge.base_rate();
        let believed = |nats: f64| Range { low: belief_after(base.low, nats), high: belief_after(base.high, nats) };
        let nats_of = |signal: &Signal| signal.pair.iter().map(|look| look.epsilon).sum::<f64>();
        let per_link = question.seen.as_ref().map_or(0.0, |seen| seen.per_link) + knowledge.seen_before.per_link;
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
            // Where only the cost is known, the server may care for hubs alone.
            verdict: Verdict::of(
                found.high,
                if is_bound { over(|exposed| exposed.most_of_hubs).high } else { found_of_hubs.high },
                hubs_after.high,
                at_most_belief,
            ),
            nodes: knowledge.nodes,
            question,
        }
    }

    /// Whether only the cost of the reports is known, so that what is said is more than can happen.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.question.seen.as_ref().is_some_and(|seen| seen.is_bound)
    }

    /// As JSON.
    pub fn json(&self) -> Value {
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
