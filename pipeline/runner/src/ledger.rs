//! The privacy ledger: one row per release, written before its noise is drawn, never changed.
//!
//! Each row holds the hash of the line before it, so that an edited or missing row is noticed.

mod charge;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, ensure};
use veilgraph_contract::{Randomness, Release};
use veilgraph_store::{Found, Store};

use charge::spent;
pub(crate) use charge::{Allowance, Charge, LedgerRow, identity};

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
        if state.entries.contains(charge.entry) && charge.randomness == Randomness::Seeded {
            return Ok(());
        }
        if let Some(lost) = self.lost(&state, charge)
            && !allowance.spend
        {
            anyhow::bail!(
                "{}: this release was drawn before and its entry {lost} is damaged or gone; restore it from a copy, or \
                 accept a second release of the same data with --spend",
                self.path.display()
            );
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

    /// How many releases of deployments about these nodes say and cost the same, by what they say and cost.
    pub(crate) fn made_about(&self, population: &str) -> BTreeMap<String, usize> {
        let state = self.state();
        let mut by_entry: BTreeMap<&str, Vec<Release>> = BTreeMap::new();
        let is_mine = |row: &&LedgerRow| row.population == population && row.randomness == Randomness::Os.name();
        for row in state.rows.iter().filter(is_mine) {
            by_entry.entry(&row.entry).or_default().push(row.release.clone());
        }
        let mut made = BTreeMap::new();
        for releases in by_entry.values() {
            *made.entry(identity(releases)).or_insert(0) += 1;
        }
        made
    }

    /// Whether this process has charged nothing about these nodes yet.
    pub(crate) fn is_first_charge_about(&self, population: &str) -> bool {
        !self.state().charged.contains(population)
    }

    /// What releases about these nodes have cost, in nats per list bit: basic composition. Who is meant is told by the
    /// name or by the graph, since a graph that changed a little is still about the same people.
    pub(crate) fn spent(&self, population: &str, inputs: &[&str], of: Randomness) -> anyhow::Result<f64> {
        let mut state = self.state();
        if self.path.exists() {
            let mut file = File::open(&self.path).with_context(|| self.unreadable())?;
            self.catch_up(&mut state, &mut file)?;
        }
        Ok(spent(&state.rows, population, inputs, of))
    }

    /// The entry of a deployment that held what is about to be released again, and is damaged or gone.
    fn lost<'a>(&self, state: &'a ReadSoFar, charge: &'a Charge) -> Option<&'a str> {
        if charge.randomness == Randomness::Seeded {
            return None;
        }
        if state.entries.contains(charge.entry) {
            return Some(charge.entry);
        }
        // An entry of an earlier version has another key.
        let repeated =
            state.rows.iter().filter(|row| row.randomness == Randomness::Os.name() && charge.is_repeated_by(row));
        let is_gone = |row: &&LedgerRow| !matches!(self.store.sound("privatize", &row.entry), Ok(Found::Whole(_)));
        repeated.filter(is_gone).map(|row| row.entry.as_str()).next()
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

fn hash(line: &str) -> String {
    blake3::hash(line.as_bytes()).to_hex().to_string()
}
