//! Whether a release was made before. A release is what it says, to whom it belongs and what it costs; which key its
//! entry has, and which code drew it, makes no difference.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use veilgraph_contract::{Randomness, Release};
use veilgraph_store::Entry;

use super::charge::{LedgerRow, rows_in_words};
use super::{Ledger, RELEASING_STAGE, statement};

/// A release of a deployment that says and costs what another one would.
#[derive(Clone)]
pub(crate) struct EarlierRelease {
    /// Key of its entry.
    pub entry: String,
    pub population: String,
    /// Keyed digests of the private data that were released; none in rows of an earlier layout.
    pub private_data: Option<Vec<String>>,
    /// Digest of what the server asked; none in rows of an earlier layout.
    pub question: Option<String>,
    /// The first release of its statement is 1.
    pub number: u32,
}

/// The entries of deployments, by what they say and cost.
#[derive(Default)]
pub(super) struct Deployed {
    by_statement: BTreeMap<String, BTreeSet<String>>,
    /// Entries of an earlier layout, whose rows do not say which function drew them.
    unnamed: BTreeSet<String>,
}

impl Deployed {
    /// Takes up an entry with all its rows so far, if it is one of a deployment.
    pub(super) fn insert(&mut self, rows: &[&LedgerRow]) {
        let deployed: Vec<&LedgerRow> = rows.iter().copied().filter(|row| is_deployed(row)).collect();
        let Some(first) = deployed.first() else { return };
        match &first.function {
            Some(function) => {
                let statement = statement(function, deployed.iter().map(|row| &row.release));
                self.by_statement.entry(statement).or_default().insert(first.entry.clone());
            }
            None => {
                self.unnamed.insert(first.entry.clone());
            }
        }
    }

    /// The entries that may say this, without order.
    fn that_may_say(&self, statement: &str) -> impl Iterator<Item = &String> {
        self.by_statement.get(statement).into_iter().flatten().chain(&self.unnamed)
    }
}

pub(super) fn is_deployed(row: &LedgerRow) -> bool {
    row.randomness == Randomness::Os.name()
}

impl Ledger {
    /// Releases of deployments that say and cost the same, about this population or about these private data, the last
    /// one first.
    pub(crate) fn earlier(
        &self,
        population: &str,
        private_data: &[String],
        function: &str,
        releases: &[Release],
    ) -> anyhow::Result<Vec<EarlierRelease>> {
        self.catch_up()?;
        let state = self.state();
        let wanted = statement(function, releases);
        let mut entries: Vec<(&String, &Vec<usize>)> =
            state.deployed.that_may_say(&wanted).map(|entry| (entry, &state.entries[entry])).collect();
        entries.sort_by_key(|(_, rows)| rows[0]);
        let mut found = Vec::new();
        for (entry, rows) in entries {
            let rows: Vec<&LedgerRow> = rows.iter().map(|&at| &state.rows[at]).filter(|row| is_deployed(row)).collect();
            let first = rows[0];
            let is_about = first.population == population
                || rows.iter().any(|row| !private_data.is_empty() && private_data.contains(&row.graph));
            if !is_about {
                continue;
            }
            let function_of_rows = match &first.function {
                Some(function) => Some(function.clone()),
                None => self.store.find(RELEASING_STAGE, entry)?.and_then(|entry| earlier_function(&entry)),
            };
            // A release that is gone and whose function nobody knows may be this one.
            let says_the_same = match function_of_rows {
                Some(name) => statement(&name, rows.iter().map(|row| &row.release)) == wanted,
                None => rows_in_words(rows.iter().map(|row| &row.release)) == rows_in_words(releases),
            };
            if says_the_same {
                let has_data = first.function.is_some();
                found.push(EarlierRelease {
                    entry: entry.clone(),
                    population: first.population.clone(),
                    private_data: has_data.then(|| rows.iter().map(|row| row.graph.clone()).collect()),
                    question: has_data.then(|| first.question.clone()),
                    number: first.number,
                });
            }
        }
        found.reverse();
        Ok(found)
    }
}

/// Today's name of the stage function that an entry of an earlier layout was made by.
fn earlier_function(entry: &Entry) -> Option<String> {
    let recipe = &entry.manifest.recipe;
    if let Some(task) = &recipe.task {
        return Some(task.clone());
    }
    // Recipes of layout 1 hold the parameters of all mechanisms and the mechanism's name among them; those of LDPGen
    // stand beside its round.
    let mechanism = recipe.params.get("links").unwrap_or(&recipe.params).get("mechanism").and_then(Value::as_str)?;
    Some(match (mechanism, recipe.params.get("round")) {
        (mechanism, Some(round)) => format!("{mechanism}-round-{round}"),
        ("solitude", None) => "rr".to_owned(),
        (mechanism, None) => mechanism.to_owned(),
    })
}
