//! The privacy ledger: one row per release, written before its noise is drawn, never changed.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use veilgraph_privacy::{Relation, Release};

/// A release with where it happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LedgerRow {
    /// Seconds since 1970.
    pub time: u64,
    /// Name of the config.
    pub experiment: String,
    /// Repetition; each is a release of its own.
    pub trial: u32,
    /// Keyed digest of the graph that was released about.
    pub graph: String,
    /// Key of the entry that holds the release.
    pub entry: String,
    /// `seeded`: reproducible, hence a simulation.
    pub randomness: String,
    /// Whether the release may leave the laboratory.
    pub deployable: bool,
    /// Mechanism, target, relation and cost.
    #[serde(flatten)]
    pub release: Release,
}

/// The ledger of a store.
pub(crate) struct Ledger {
    path: PathBuf,
}

impl Ledger {
    pub(crate) fn of(root: &Path) -> Self {
        Self { path: root.join("ledger.jsonl") }
    }

    /// Appends rows and waits until they are on the disk. Call it before drawing noise: a crash can
    /// then only count too much.
    ///
    /// A seeded entry that is made again has the same bytes: it is the same release, charged once.
    pub(crate) fn charge(&self, rows: &[LedgerRow]) -> anyhow::Result<()> {
        let wrong = || format!("{}: cannot write the privacy ledger; nothing was released", self.path.display());
        let charged = self.rows()?;
        if rows.iter().all(|row| charged.iter().any(|before| before.entry == row.entry)) {
            return Ok(());
        }
        let mut text = String::new();
        for row in rows {
            text += &serde_json::to_string(row).with_context(wrong)?;
            text.push('\n');
        }
        let mut file = OpenOptions::new().append(true).create(true).open(&self.path).with_context(wrong)?;
        file.lock().with_context(wrong)?;
        file.write_all(text.as_bytes()).with_context(wrong)?;
        file.sync_all().with_context(wrong)
    }

    /// All rows.
    pub(crate) fn rows(&self) -> anyhow::Result<Vec<LedgerRow>> {
        if !self.path.exists() {
            return Ok(Vec::new());
        }
        let text = std::fs::read_to_string(&self.path)
            .with_context(|| format!("{}: cannot read the privacy ledger", self.path.display()))?;
        let lines = text.lines().enumerate();
        let parse = |(line, row): (usize, &str)| {
            serde_json::from_str(row).with_context(|| {
                format!(
                    "{} line {}: not a row of the ledger; restore it from a copy, it must never be edited",
                    self.path.display(),
                    line + 1
                )
            })
        };
        lines.map(parse).collect()
    }
}

/// Total cost of releases by relation, in nats: basic composition.
pub(crate) fn totals<'a>(releases: impl IntoIterator<Item = &'a Release>) -> BTreeMap<Relation, f64> {
    let mut totals = BTreeMap::new();
    for release in releases {
        *totals.entry(release.relation).or_insert(0.0) += release.epsilon;
    }
    totals
}
