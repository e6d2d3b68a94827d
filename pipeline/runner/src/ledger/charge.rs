//! What is charged to the ledger, and against which budget.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Randomness, Release};

use super::budgets::Budgets;
use crate::{build, registry};

/// A release with where it happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LedgerRow {
    /// Hash of the line before this one; empty for the first.
    pub previous: String,
    /// Seconds since 1970.
    pub time: u64,
    /// Name of the config.
    pub experiment: String,
    /// Whose data were released.
    pub population: String,
    /// Repetition; each is a release of its own.
    pub trial: u32,
    /// Keyed digest of the private data that the release is about: of the links, for releases about links.
    pub graph: String,
    /// Stage function that drew it. Rows of layouts before 3 have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Digest of what the server asked before the nodes reported; empty where it asked nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// The first release of a statement is 1, a second one is 2.
    #[serde(default = "first")]
    pub number: u32,
    /// Key of the entry that holds the release.
    pub entry: String,
    /// Digest of the list of names of the nodes. Simulations and rows of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// What charged it, and drew it unless its run was killed before it could: then the mark in `owner/drawn/` says what drew it.
    /// Simulations have it in their recipe, and rows of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// `seeded`: reproducible, hence a simulation; `os`: a deployment.
    pub randomness: String,
    /// Whether the release may leave the laboratory.
    pub deployable: bool,
    /// Noise, subject, relation and cost.
    #[serde(flatten)]
    pub release: Release,
}

/// The program that draws a release: where a sampler turns out to be wrong, the ledger tells which releases it has drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The version of veilgraph.
    pub version: String,
    /// The commit of the working copy and whether it had changes; `unknown` outside git.
    pub commit: String,
    /// Digest of the code of the mechanism and of the workspace crates below it.
    pub code: String,
    /// Digest of the packages that this code reaches.
    pub dependencies: String,
}

impl Program {
    /// This program, as it draws with a stage function.
    pub(crate) fn of(stage: &str, function: &str) -> anyhow::Result<Self> {
        let (code, dependencies) = build::digests(&registry::find(stage, function)?.crate_name());
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: build::commit().to_owned(),
            code: code.to_owned(),
            dependencies: dependencies.to_owned(),
        })
    }
}

/// What the ledger keeps of a deployment beside the release itself.
#[derive(Clone)]
pub(crate) struct Deployment {
    /// Digest of the names of the nodes.
    pub nodes: Option<String>,
    pub program: Program,
}

/// What is about to be released.
pub(crate) struct Charge<'a> {
    pub experiment: &'a str,
    pub population: &'a str,
    pub trial: u32,
    pub entry: &'a str,
    pub function: &'a str,
    pub question: &'a str,
    pub number: u32,
    pub randomness: Randomness,
    /// None in a simulation.
    pub deployment: Option<Deployment>,
    /// Each with the keyed digest of the private data that it is about.
    pub releases: Vec<(Release, String)>,
}

/// How much may be spent.
#[derive(Clone, Debug, Default)]
pub struct Allowance {
    /// Most that all releases about the same nodes may cost.
    pub budgets: Budgets,
    /// The user accepts an overspend.
    pub spend: bool,
    /// The user accepts that the server may believe more than the config says.
    pub accept_belief: bool,
}

impl Charge<'_> {
    /// Keyed digests of the private data that the releases are about.
    pub(crate) fn private_inputs(&self) -> Vec<&str> {
        self.releases.iter().map(|(_, input)| input.as_str()).collect()
    }

    /// The rows, without the hash of the line before.
    pub(super) fn rows(&self) -> impl Iterator<Item = LedgerRow> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        self.releases.iter().map(move |(release, graph)| LedgerRow {
            previous: String::new(),
            time,
            experiment: self.experiment.to_owned(),
            population: self.population.to_owned(),
            trial: self.trial,
            graph: graph.clone(),
            function: Some(self.function.to_owned()),
            question: self.question.to_owned(),
            number: self.number,
            entry: self.entry.to_owned(),
            nodes: self.deployment.as_ref().and_then(|deployment| deployment.nodes.clone()),
            program: self.deployment.as_ref().map(|deployment| deployment.program.clone()),
            randomness: self.randomness.name().to_owned(),
            deployable: self.randomness == Randomness::Os && release.sound,
            release: release.clone(),
        })
    }
}

impl Allowance {
    /// Whether a release can be refused for what it costs.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        !self.spend && !self.budgets.are_empty()
    }

    /// Refuses releases that would cost more than the `spent` ones have left. `what` names the releases in the message, with
    /// its verb.
    ///
    /// # Errors
    /// The message names the relation, what is spent, what remains, and the remedy.
    pub fn check(&self, what: &str, releases: &[&Release], spent: &Spent) -> anyhow::Result<()> {
        if self.is_limited() { self.budgets.check(what, releases, spent) } else { Ok(()) }
    }
}

/// What a release says and what it costs, as text: which stage function reports, and its rows.
pub fn statement<'a>(function: &str, releases: impl IntoIterator<Item = &'a Release>) -> String {
    format!("{function}: {}", rows_in_words(releases))
}

/// What releases say and cost, as text. Twelve digits of a cost count: two ways to write a budget may differ in the last.
pub(super) fn rows_in_words<'a>(releases: impl IntoIterator<Item = &'a Release>) -> String {
    let row = |release: &Release| {
        let (epsilon, dp_delta) = (release.cost.epsilon(), release.cost.dp_delta());
        let subject = release.subject.name();
        format!("{} on {subject}, {} {epsilon:.11e} {dp_delta:.11e}", release.noise, release.relation)
    };
    releases.into_iter().map(row).collect::<Vec<_>>().join("; ")
}

fn first() -> u32 {
    1
}

/// What was released about some nodes before.
pub struct Spent {
    /// The releases.
    pub releases: Vec<Release>,
    /// Whose data they are said to be.
    population: String,
    /// The other names under which some of the same data were released.
    others: BTreeSet<String>,
}

impl Spent {
    /// Nothing was released about `population`.
    #[must_use]
    pub fn nothing(population: &str) -> Self {
        Self { releases: Vec::new(), population: population.to_owned(), others: BTreeSet::new() }
    }

    /// Whose releases are counted.
    #[must_use]
    pub fn whose(&self) -> String {
        let others: Vec<String> = self.others.iter().map(|name| format!("`{name}`")).collect();
        match others.as_slice() {
            [] => format!("`{}`", self.population),
            others => format!("`{}`, whose data were also released as {}", self.population, others.join(" and ")),
        }
    }
}

/// What the rows about these nodes have released with this randomness; see [`super::Ledger::spent`].
pub(super) fn spent(rows: &[LedgerRow], population: &str, inputs: &[&str], randomness: Randomness) -> Spent {
    let mut spent = Spent::nothing(population);
    for row in rows.iter().filter(|row| row.randomness == randomness.name()) {
        if row.population == population || inputs.contains(&row.graph.as_str()) {
            spent.releases.push(row.release.clone());
            spent.others.insert(row.population.clone());
        }
    }
    spent.others.remove(population);
    spent
}
