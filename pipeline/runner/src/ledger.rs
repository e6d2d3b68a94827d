//! The privacy ledger: one row per release, written before its noise is drawn, never changed.
//!
//! Each row holds the hash of the line before it, so that an edited or missing row is noticed.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use veilgraph_contract::Randomness;
use veilgraph_privacy::{Epsilon, Relation, Release};

/// A release with where it happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LedgerRow {
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
    /// Keyed digest of the graph that was released about.
    pub graph: String,
    /// Key of the entry that holds the release.
    pub entry: String,
    /// `seeded`: reproducible, hence a simulation; `os`: a deployment.
    pub randomness: String,
    /// Whether the release may leave the laboratory.
    pub deployable: bool,
    /// Mechanism, target, relation and cost.
    #[serde(flatten)]
    pub release: Release,
}

/// What is about to be released.
pub(crate) struct Charge<'a> {
    pub experiment: &'a str,
    pub population: &'a str,
    pub trial: u32,
    pub graph: &'a str,
    pub entry: &'a str,
    pub randomness: Randomness,
    pub releases: &'a [Release],
}

/// How much may be spent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allowance {
    /// Most that all releases about the same nodes may cost, in nats per list bit.
    pub budget: Option<Epsilon>,
    /// The user accepts an overspend.
    pub spend: bool,
}

/// The ledger of a store.
pub(crate) struct Ledger {
    path: PathBuf,
}

impl Ledger {
    pub(crate) fn of(root: &Path) -> Self {
        Self { path: root.join("ledger.jsonl") }
    }

    /// Appends the rows of a release and waits until they are on the disk. Call it before drawing
    /// noise: a crash can then only count too much.
    ///
    /// A seeded entry that is made again has the same bytes: it is the same release, charged once.
    pub(crate) fn charge(&self, charge: &Charge, allowance: Allowance) -> anyhow::Result<()> {
        let wrong = || {
            format!(
                "{}: cannot write the privacy ledger, so nothing was released; free space (`veilgraph gc`) or make it writable, and run again",
                self.path.display()
            )
        };
        let existed = self.path.exists();
        ensure!(
            existed || !self.has_releases(),
            "{}: the privacy ledger is gone although releases exist; restore it from a copy, or begin with another --store",
            self.path.display()
        );
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.path).with_context(wrong)?;
        // Two processes must not both find the budget unspent.
        file.lock().with_context(wrong)?;
        let mut text = String::new();
        file.read_to_string(&mut text).with_context(wrong)?;
        let whole = whole_lines(&text);
        let rows = self.parse(whole)?;
        if rows.iter().any(|row| row.entry == charge.entry) {
            if charge.randomness == Randomness::Seeded {
                return Ok(());
            }
            ensure!(
                allowance.spend,
                "{}: this release was drawn before and its entry {} is damaged or gone; restore it from a copy, or accept \
                 a second release of the same data with --spend",
                self.path.display(),
                charge.entry
            );
        }
        allowance.check(charge, &rows)?;
        if whole.len() < text.len() {
            // A charge that a crash cut short: its noise was never drawn.
            file.set_len(whole.len() as u64).with_context(wrong)?;
        }
        let mut previous = whole.lines().last().map(hash).unwrap_or_default();
        let mut lines = String::new();
        for release in charge.releases {
            let line = serde_json::to_string(&charge.row(release, previous)).with_context(wrong)?;
            previous = hash(&line);
            lines += &line;
            lines.push('\n');
        }
        file.write_all(lines.as_bytes()).with_context(wrong)?;
        file.sync_all().with_context(wrong)?;
        if !existed && let Some(folder) = self.path.parent() {
            File::open(folder).and_then(|folder| folder.sync_all()).with_context(wrong)?;
        }
        Ok(())
    }

    /// All rows.
    pub(crate) fn rows(&self) -> anyhow::Result<Vec<LedgerRow>> {
        if !self.path.exists() {
            return Ok(Vec::new());
        }
        let text = std::fs::read_to_string(&self.path)
            .with_context(|| format!("{}: cannot read the privacy ledger", self.path.display()))?;
        self.parse(whole_lines(&text))
    }

    /// Rows of whole lines, each with the hash of the one before.
    fn parse(&self, text: &str) -> anyhow::Result<Vec<LedgerRow>> {
        let (mut rows, mut previous) = (Vec::new(), String::new());
        for (number, line) in (1..).zip(text.lines()) {
            let broken = |problem: &str| {
                let path = self.path.display();
                format!(
                    "{path} line {number}: {problem}; restore the privacy ledger from a copy, it must never be edited"
                )
            };
            let row: LedgerRow = serde_json::from_str(line).with_context(|| broken("not a row of the ledger"))?;
            ensure!(row.previous == previous, broken("it does not follow the line before it"));
            previous = hash(line);
            rows.push(row);
        }
        Ok(rows)
    }

    /// Whether the store holds entries of the stage that releases.
    fn has_releases(&self) -> bool {
        let releases = self.path.with_file_name("privatize");
        releases.read_dir().is_ok_and(|mut entries| entries.next().is_some())
    }
}

impl Charge<'_> {
    fn row(&self, release: &Release, previous: String) -> LedgerRow {
        LedgerRow {
            previous,
            time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            experiment: self.experiment.to_owned(),
            population: self.population.to_owned(),
            trial: self.trial,
            graph: self.graph.to_owned(),
            entry: self.entry.to_owned(),
            randomness: self.randomness.name().to_owned(),
            deployable: self.randomness == Randomness::Os && release.sound,
            release: release.clone(),
        }
    }
}

impl Allowance {
    /// Refuses a release that would cost more than is left.
    fn check(self, charge: &Charge, rows: &[LedgerRow]) -> anyhow::Result<()> {
        let Some(budget) = self.budget.filter(|_| !self.spend) else { return Ok(()) };
        let (spent, cost) =
            (spent(rows, charge.population, Some(charge.graph), charge.randomness), list_bit_cost(charge.releases));
        let left = budget.nats() - spent;
        ensure!(
            // Sums of decimals are off by some 1e-16.
            cost <= left + 1e-12 * budget.nats(),
            "a release of {cost} nats per list bit exceeds the budget: {spent} of {budget} nats are spent on `{}`, {left} remain; \
             lower epsilon, reuse the earlier release, or accept the overspend with --spend",
            charge.population,
            budget = budget.nats(),
        );
        Ok(())
    }
}

/// What releases about these nodes have cost, in nats per list bit: basic composition. Who is meant is
/// told by the name or by the graph, since a graph that changed a little is still about the same people.
pub(crate) fn spent(rows: &[LedgerRow], population: &str, graph: Option<&str>, randomness: Randomness) -> f64 {
    let about = |row: &&LedgerRow| row.population == population || Some(row.graph.as_str()) == graph;
    let mine = rows.iter().filter(about).filter(|row| row.randomness == randomness.name());
    list_bit_cost(mine.map(|row| &row.release))
}

/// Cost per list bit.
pub(crate) fn list_bit_cost<'a>(releases: impl IntoIterator<Item = &'a Release>) -> f64 {
    totals(releases).get(&Relation::ListBit).copied().unwrap_or(0.0)
}

/// Total cost of releases by relation, in nats: basic composition.
pub(crate) fn totals<'a>(releases: impl IntoIterator<Item = &'a Release>) -> BTreeMap<Relation, f64> {
    let mut totals = BTreeMap::new();
    for release in releases {
        *totals.entry(release.relation).or_insert(0.0) += release.epsilon;
    }
    totals
}

/// The text up to its last line end.
fn whole_lines(text: &str) -> &str {
    &text[..text.rfind('\n').map_or(0, |end| end + 1)]
}

fn hash(line: &str) -> String {
    blake3::hash(line.as_bytes()).to_hex().to_string()
}
