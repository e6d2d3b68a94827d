//! What a release lets a server believe, from public knowledge alone: for the plan of a deployment, and for `advise`.

mod answer;
mod knowledge;
mod range;
mod verdict;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use veilgraph_contract::{Relation, Release, Subject};
use veilgraph_exposure::belief_after;
use veilgraph_privacy::composition::total_epsilon;

use crate::config::{Config, ConfigError};
use crate::confirm::confirm;
use crate::engine::outstanding_releases;
use crate::ledger::Ledger;
use crate::systems;
use crate::systems::evidence::Evidence;
use crate::task::Task;
pub use answer::{Answer, Question, plain};
pub(crate) use knowledge::StatedKnowledge;
pub use knowledge::{Given, Knowledge, SeenBefore, USUAL_SPREAD};
pub use range::Range;
pub use words::{
    between, between_at_most, bounded, in_nats, nats, odds_at_most, percent, percent_at_most, percents,
    percents_at_most, sentence, verdict,
};

/// One sentence for every release about links.
///
/// # Errors
/// When the public knowledge of the config is impossible.
pub fn sentences(config: &Config, tasks: &[Task]) -> Result<Vec<String>, ConfigError> {
    let is_about_links = |release: &&Release| matches!(release.subject, Subject::Links | Subject::Degrees);
    let mut cells: BTreeMap<(&str, &str), Vec<Release>> = BTreeMap::new();
    for task in tasks {
        for release in task.added_releases().iter().filter(is_about_links) {
            cells.entry((&task.cell, task.function)).or_default().push(release.clone());
        }
    }
    let Some(stated) = &config.privacy.public_knowledge else {
        return Ok(odds(cells.values().flatten()).into_iter().collect());
    };
    let knowledge = Knowledge::stated(stated)?;
    let models = knowledge.models()?;
    let line = config.privacy.at_most_belief.unwrap_or(DEFAULT_LINE);
    let sentence = |((_, function), releases): ((&str, &str), Vec<Release>)| {
        let seen = systems::links::evidence(function).unwrap_or(Evidence::Other).seen(&releases)?;
        let epsilon = seen.per_list_bit.unwrap_or(seen.per_link);
        let (mechanism, series) = (function.to_owned(), function.to_owned());
        let question = Question { mechanism, degree_fraction: None, series, epsilon, seen: Some(seen) };
        Some(words::sentence(&Answer::of(question, &knowledge, &models, line), knowledge.base_rate()))
    };
    let mut sentences: Vec<String> = cells.into_iter().filter_map(sentence).collect();
    if !sentences.is_empty() {
        sentences.push(ALONE.to_owned());
    }
    Ok(sentences)
}

/// What the sentences are not about.
const ALONE: &str = "These sentences are about each release alone. Whatever was released before about the same nodes adds to \
                     it: at_most_belief counts that, and `veilgraph ledger` lists it.";

/// The sentences, and whether a run would stop at the line of the config.
///
/// # Errors
/// When the public knowledge of the config is impossible, or the ledger cannot be read.
pub fn believed(ledger: &Ledger, config: &Config, tasks: &[Task]) -> anyhow::Result<Vec<String>> {
    let mut lines = sentences(config, tasks)?;
    let populations: BTreeSet<&str> = tasks.iter().map(|task| task.population.as_str()).collect();
    for population in populations.into_iter().filter(|population| !population.is_empty()) {
        let outstanding = outstanding_releases(ledger, tasks, population)?;
        // What says nothing of a link changes no belief in one.
        if total_epsilon(outstanding.iter().copied(), Relation::Edge) <= 0.0 {
            continue;
        }
        let spent = ledger.spent(population, &[], config.privacy.randomness)?;
        let nats_per_link = total_epsilon(spent.releases.iter().chain(outstanding), Relation::Edge);
        if let Some(crossed) = crossed_line(config, population, nats_per_link)? {
            lines.push(format!("`run` stops without --accept-belief: {crossed}"));
        }
    }
    Ok(lines)
}

/// Beliefs up to here are called deniable, where a config draws no line.
const DEFAULT_LINE: f64 = 0.5;

/// What is said of all reports together where nothing is known about the graph.
fn odds<'a>(releases: impl IntoIterator<Item = &'a Release>) -> Option<String> {
    let nats = total_epsilon(releases, Relation::Edge);
    (nats > 0.0).then(|| {
        format!(
            "All reports of this config together can multiply the odds that a link is there by up to {} (e to the power of {}), \
             and whatever was released before about the same nodes multiplies them further. State [privacy] public_knowledge = \
             {{ nodes = …, mean_degree = … }} to see what the server can come to believe.",
            words::odds_at_most(nats),
            words::nats(nats)
        )
    })
}

/// What crosses the line that the config draws, if reports that cost an undirected link `nats_per_link` do.
pub(crate) fn crossed_line(
    config: &Config,
    population: &str,
    nats_per_link: f64,
) -> Result<Option<String>, ConfigError> {
    let privacy = &config.privacy;
    let (Some(line), Some(stated)) = (privacy.at_most_belief, &privacy.public_knowledge) else { return Ok(None) };
    // Who knows the seed of a simulation knows everything anyway.
    if !config.is_deployment() {
        return Ok(None);
    }
    let belief = belief_after(Knowledge::stated(stated)?.base_rate().high, nats_per_link);
    Ok((belief > line).then(|| {
        format!(
            "after this release, the server could believe in a link of an average pair of `{population}` by up to {}, and \
             [privacy] at_most_belief is {}",
            digits(belief),
            digits(line)
        )
    }))
}

/// A share in percent, exact enough that two shares do not look equal.
fn digits(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// Stops where the line that the config draws is crossed, once everything that was released about the nodes costs a link
/// `nats_per_link`. Asks on a terminal.
///
/// # Errors
/// When the line is crossed and nobody accepts that, or the public knowledge of the config is impossible.
pub fn check_belief(config: &Config, population: &str, nats_per_link: f64, is_accepted: bool) -> anyhow::Result<()> {
    let Some(what) = crossed_line(config, population, nats_per_link)? else { return Ok(()) };
    let refusal =
        format!("{what}; nothing was released. Choose a smaller epsilon (`veilgraph advise`), or release nothing more");
    confirm(&format!("{what}. Release all the same?"), is_accepted, &refusal, "--accept-belief")
}
