//! The privacy ledger: one row per release, written before its noise is drawn, never changed.
//!
//! Each row holds the hash of the line before it, so that an edited or missing row is noticed.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Randomness, Relation, Release};
use veilgraph_privacy::Epsilon;
use veilgraph_privacy::composition::total_epsilon;
use veilgraph_store::Store;

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
    /// Keyed digest of the private data that the release is about: of the links, for releases about links.
    pub graph: String,
    /// Key of the entry that holds the release.
    pub entry: String,
    /// `seeded`: reproducible, hence a simulation; `os`: a deployment.
    pub randomness: String,
    /// Whether the release may leave the laboratory.
    pub deployable: bool,
    /// Noise, subject, relation and cost.
    #[serde(flatten)]
    pub release: Release,
}

/// What is about to be released.
pub(crate) struct Charge<'a> {
    pub experiment: &'a str,
    pub population: &'a str,
    pub trial: u32,
    pub entry: &'a str,
    pub randomness: Randomness,
    /// Each with the keyed digest of the private data that it is about.
    pub releases: Vec<(Release, String)>,
}

/// How much may be spent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allowance {
    /// Most that all releases about the same nodes may cost, in nats per list bit.
    pub budget: Option<Epsilon>,
    /// The user accepts an overspend.
    pub spend: bool,
}

/// The ledger of a store. It is read once; later only what other processes have added is.
pub(crate) struct Ledger {
    store: Store,
    path: PathBuf,
    read: Mutex<ReadSoFar>,
}

/// What was read of the file.
#[derive(Default)]
struct ReadSoFar {
    /// Bytes of whole lines.
    length: u64,
    /// Number of lines.
    lines: usize,
    /// Hash of the last line.
    last: String,
    rows: Vec<LedgerRow>,
    entries: BTreeSet<String>,
    /// Populations that this process has charged.
    charged: BTreeSet<String>,
}

impl Ledger {
    /// The ledger of `store`, which need not have one yet.
    pub(crate) fn open(store: &Store) -> anyhow::Result<Self> {
        let path = store.root().join("ledger.jsonl");
        let ledger = Self { store: store.clone(), path, read: Mutex::default() };
        if ledger.path.exists() {
            let mut file = File::open(&ledger.path).with_context(|| ledger.unreadable())?;
            ledger.catch_up(&mut ledger.state(), &mut file)?;
        }
        Ok(ledger)
    }

    /// Appends the rows of a release and waits until they are on the disk. Call it before drawing noise: a crash can
    /// then only count too much.
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
            existed || !self.store.has_releases()?,
            "{}: the privacy ledger is gone although releases exist; restore it from a copy, or begin with another --store",
            self.path.display()
        );
        let mut state = self.state();
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.path).with_context(wrong)?;
        // Two processes must not both find the budget unspent.
        file.lock().with_context(wrong)?;
        let is_torn = self.catch_up(&mut state, &mut file)?;
        if state.entries.contains(charge.entry) {
            ensure!(
                charge.randomness == Randomness::Seeded || allowance.spend,
                "{}: this release was drawn before and its entry {} is damaged or gone; restore it from a copy, or accept \
                 a second release of the same data with --spend",
                self.path.display(),
                charge.entry
            );
            if charge.randomness == Randomness::Seeded {
                return Ok(());
            }
        }
        allowance.check(charge, &state.rows)?;
        if is_torn {
            // A charge that a crash cut short: its noise was never drawn.
            file.set_len(state.length).with_context(wrong)?;
        }
        let mut lines = String::new();
        let mut previous = state.last.clone();
        for row in charge.rows() {
            let row = LedgerRow { previous, ..row };
            let line = serde_json::to_string(&row).with_context(wrong)?;
            previous = hash(&line);
            lines += &line;
            lines.push('\n');
        }
        file.write_all(lines.as_bytes()).with_context(wrong)?;
        file.sync_all().with_context(wrong)?;
        if !existed && let Some(folder) = self.path.parent() {
            File::open(folder).and_then(|folder| folder.sync_all()).with_context(wrong)?;
        }
        state.charged.insert(charge.population.to_owned());
        self.take_in(&mut state, &lines)
    }

    /// All rows.
    pub(crate) fn rows(&self) -> Vec<LedgerRow> {
        self.state().rows.clone()
    }

    /// Whether the release that an entry holds was charged.
    pub(crate) fn has(&self, entry: &str) -> bool {
        self.state().entries.contains(entry)
    }

    /// Whether this process has charged nothing about these nodes yet.
    pub(crate) fn is_first_charge_about(&self, population: &str) -> bool {
        !self.state().charged.contains(population)
    }

    /// What releases about these nodes have cost, in nats per list bit: basic composition. Who is meant is told by the
    /// name or by the graph, since a graph that changed a little is still about the same people.
    pub(crate) fn spent(&self, population: &str, graph: Option<&str>, of: Randomness) -> anyhow::Result<f64> {
        let mut state = self.state();
        if self.path.exists() {
            let mut file = File::open(&self.path).with_context(|| self.unreadable())?;
            self.catch_up(&mut state, &mut file)?;
        }
        Ok(spent(&state.rows, population, graph, of))
    }

    fn state(&self) -> MutexGuard<'_, ReadSoFar> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unreadable(&self) -> String {
        format!("{}: cannot read the privacy ledger", self.path.display())
    }

    /// Reads what was added to the file; whether its last line is torn.
    fn catch_up(&self, state: &mut ReadSoFar, file: &mut File) -> anyhow::Result<bool> {
        let length = file.metadata().with_context(|| self.unreadable())?.len();
        ensure!(
            length >= state.length,
            "{}: the privacy ledger was shortened while this program ran; restore it from a copy, it must never be edited",
            self.path.display()
        );
        let mut text = String::new();
        file.seek(SeekFrom::Start(state.length)).with_context(|| self.unreadable())?;
        file.read_to_string(&mut text).with_context(|| self.unreadable())?;
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        self.take_in(state, whole)?;
        Ok(whole.len() < text.len())
    }

    /// Takes whole lines in, each of which holds the hash of the one before.
    fn take_in(&self, state: &mut ReadSoFar, text: &str) -> anyhow::Result<()> {
        for line in text.lines() {
            let number = state.lines + 1;
            let broken = |problem: &str| {
                let path = self.path.display();
                format!(
                    "{path} line {number}: {problem}; restore the privacy ledger from a copy, it must never be edited"
                )
            };
            let row: LedgerRow = serde_json::from_str(line).with_context(|| broken("not a row of the ledger"))?;
            ensure!(row.previous == state.last, broken("it does not follow the line before it"));
            state.last = hash(line);
            state.lines = number;
            state.entries.insert(row.entry.clone());
            state.rows.push(row);
        }
        state.length += text.len() as u64;
        Ok(())
    }
}

impl Charge<'_> {
    /// The rows, without the hash of the line before.
    fn rows(&self) -> impl Iterator<Item = LedgerRow> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        self.releases.iter().map(move |(release, graph)| LedgerRow {
            previous: String::new(),
            time,
            experiment: self.experiment.to_owned(),
            population: self.population.to_owned(),
            trial: self.trial,
            graph: graph.clone(),
            entry: self.entry.to_owned(),
            randomness: self.randomness.name().to_owned(),
            deployable: self.randomness == Randomness::Os && release.sound,
            release: release.clone(),
        })
    }
}

impl Allowance {
    /// Refuses a release that would cost more than is left.
    fn check(self, charge: &Charge, rows: &[LedgerRow]) -> anyhow::Result<()> {
        let Some(budget) = self.budget.filter(|_| !self.spend) else { return Ok(()) };
        let graph = charge.releases.first().map(|(_, graph)| graph.as_str());
        let spent = spent(rows, charge.population, graph, charge.randomness);
        let cost = total_epsilon(charge.releases.iter().map(|(release, _)| release), Relation::ListBit);
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

/// See [`Ledger::spent`].
fn spent(rows: &[LedgerRow], population: &str, graph: Option<&str>, randomness: Randomness) -> f64 {
    let about = |row: &&LedgerRow| row.population == population || Some(row.graph.as_str()) == graph;
    let mine = rows.iter().filter(about).filter(|row| row.randomness == randomness.name());
    total_epsilon(mine.map(|row| &row.release), Relation::ListBit)
}

fn hash(line: &str) -> String {
    blake3::hash(line.as_bytes()).to_hex().to_string()
}
