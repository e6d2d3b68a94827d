//! The privacy ledger: one row per release and relation, written before its noise is drawn, never changed.
//!
//! Each row holds the hash of the line before it, and a file beside the ledger says where it ends, so that an edited or
//! missing row is noticed.

mod budgets;
mod charge;
mod drawn;
mod earlier;
mod journal;
mod lost;
mod reconcile;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, ensure};
use veilgraph_contract::Randomness;
use veilgraph_store::{Part, Store};

pub(crate) use budgets::Budgets;
use charge::spent;
pub use charge::{Allowance, LedgerRow, Program, Spent, statement};
pub(crate) use charge::{Charge, Deployment};
use drawn::is_marked;
pub(crate) use drawn::{mark_drawn, unmark_drawn, was_drawn};
use earlier::Deployed;
pub(crate) use earlier::EarlierRelease;
use journal::{Journal, Position};
pub use lost::LostReleases;

/// The stage whose entries hold releases.
const RELEASING_STAGE: &str = "privatize";
/// All stages whose functions may release: a curator releases models.
const RELEASING_STAGES: [&str; 2] = [RELEASING_STAGE, "train"];

/// The ledger of a store. It is read once; later only what other processes have added is.
pub struct Ledger {
    store: Store,
    journal: Journal,
    read: Mutex<ReadSoFar>,
    judged_plans: Mutex<JudgedPlans>,
}

/// What was found about the whole plan of this process, by population, or why it may not be released.
pub(crate) type JudgedPlans = BTreeMap<String, Result<Judged, String>>;

/// A plan that may be released.
#[derive(Clone, Copy)]
pub(crate) enum Judged {
    /// Nobody has to be protected from a simulation: whoever knows its seed knows everything anyway.
    Simulation,
    /// Everything that was and will be released costs a link so many nats, and that was found to be acceptable.
    Deployment {
        /// The nats.
        nats_per_link: f64,
    },
}

/// What was read of the file.
#[derive(Default)]
struct ReadSoFar {
    end: Position,
    /// Hash of the last line.
    last: String,
    rows: Vec<LedgerRow>,
    /// The rows of each entry, by their place.
    entries: BTreeMap<String, Vec<usize>>,
    deployed: Deployed,
}

impl Ledger {
    /// The ledger of `store`, which need not have one yet.
    ///
    /// # Errors
    /// When the ledger is gone, damaged or cannot be read.
    pub fn open(store: &Store) -> anyhow::Result<Self> {
        let journal = Journal::new(&store.part(Part::Owner), store.root());
        let ledger = Self { store: store.clone(), journal, read: Mutex::default(), judged_plans: Mutex::default() };
        ledger.catch_up()?;
        Ok(ledger)
    }

    /// Appends the rows of a release and waits until they are on the disk. Call it before drawing noise: a crash can
    /// then only count too much.
    ///
    /// An entry that was charged and never drawn, and a seeded entry that is made again with the same bytes, are the
    /// release that was charged. `check` may ask what is spent by then, and refuse; no other process can charge anything before that is
    /// settled.
    pub(crate) fn charge(
        &self,
        charge: &Charge,
        check: impl Fn(&dyn Fn() -> Spent) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut state = self.state();
        let mut locked = self.journal.lock()?;
        let text = locked.read(&state.end)?;
        self.take_in(&mut state, &text)?;
        let charged = state.entries.get(charge.entry).map_or(0, Vec::len);
        if charged >= charge.releases.len() {
            return Ok(());
        }
        check(&|| spent(&state.rows, charge.population, &charge.private_inputs(), charge.randomness))?;
        let mut lines = String::new();
        let mut previous = state.last.clone();
        // Of a seeded release some rows may be there: earlier versions did not complete a charge that a crash cut short.
        for row in charge.rows().skip(charged) {
            let row = LedgerRow { previous, ..row };
            let line = serde_json::to_string(&row)?;
            previous = hash(&line);
            lines += &line;
            lines.push('\n');
        }
        locked.charge(&state.end, &lines)?;
        self.take_in(&mut state, &lines)
    }

    /// Writes the rows of a charge that a crash cut short into the ledger: until then they stand in its head alone.
    pub(crate) fn complete_charge(&self) -> anyhow::Result<()> {
        let mut state = self.state();
        let text = self.journal.lock()?.read(&state.end)?;
        self.take_in(&mut state, &text)
    }

    /// All rows.
    pub fn rows(&self) -> Vec<LedgerRow> {
        self.state().rows.clone()
    }

    /// Whether a release of so many rows was charged for the entry `entry`.
    pub(crate) fn has(&self, entry: &str, rows: usize) -> bool {
        self.state().entries.get(entry).is_some_and(|found| found.len() >= rows)
    }

    /// What was found about the whole plan, by population. A plan is judged before its first charge, by whoever holds this.
    pub(crate) fn judged_plans(&self) -> MutexGuard<'_, JudgedPlans> {
        self.judged_plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The releases about these nodes so far. Who is meant is told by the name or by the private data, since a graph that
    /// changed a little is still about the same people.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn spent(&self, population: &str, inputs: &[&str], of: Randomness) -> anyhow::Result<Spent> {
        self.catch_up()?;
        Ok(spent(&self.state().rows, population, inputs, of))
    }

    /// The other populations that were released with the same names of nodes.
    pub(crate) fn populations_of_the_same_nodes(&self, charge: &Charge) -> BTreeSet<String> {
        let nodes = charge.deployment.as_ref().and_then(|deployment| deployment.nodes.as_ref());
        let state = self.state();
        let same = state.rows.iter().filter(|row| nodes.is_some() && row.nodes.as_ref() == nodes);
        same.map(|row| row.population.clone()).filter(|population| population != charge.population).collect()
    }

    /// Where the rows stand.
    pub(crate) fn path(&self) -> PathBuf {
        self.journal.path().to_owned()
    }

    fn state(&self) -> MutexGuard<'_, ReadSoFar> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what was added to the file.
    pub(crate) fn catch_up(&self) -> anyhow::Result<()> {
        let mut state = self.state();
        let new = self.journal.read(&state.end)?;
        self.take_in(&mut state, &new)
    }

    /// Takes in the text that follows what was read before.
    fn take_in(&self, state: &mut ReadSoFar, new: &str) -> anyhow::Result<()> {
        let path = self.journal.path().display().to_string();
        let mut entries = BTreeSet::new();
        for line in new.lines() {
            let number = state.rows.len() + 1;
            let broken = |problem: &str| {
                format!(
                    "{path} line {number}: {problem}; restore the privacy ledger from a copy, it must never be edited"
                )
            };
            let row: LedgerRow = serde_json::from_str(line).with_context(|| broken("not a row of the ledger"))?;
            ensure!(row.previous == state.last, broken("it does not follow the line before it"));
            state.last = hash(line);
            state.entries.entry(row.entry.clone()).or_default().push(number - 1);
            entries.insert(row.entry.clone());
            state.rows.push(row);
        }
        state.end = state.end.after(new);
        for entry in entries {
            let rows = state.entries[&entry].iter().map(|&at| &state.rows[at]).collect::<Vec<_>>();
            state.deployed.insert(&rows);
        }
        Ok(())
    }
}

fn hash(line: &str) -> String {
    blake3::hash(line.as_bytes()).to_hex().to_string()
}
