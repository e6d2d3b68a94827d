//! Releases that are gone: charged and drawn, and nothing is left that a run could publish.

use std::collections::{BTreeMap, BTreeSet};

use super::charge::rows_in_words;
use super::earlier::is_deployed;
use super::{Ledger, LedgerRow, RELEASING_STAGES, is_marked, statement};

/// Keys of releases of deployments that are gone.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LostReleases {
    /// The last ones of their statements about their populations: a run that asks for them is refused.
    pub last: Vec<String>,
    /// Those after which a release of the same statement about the same population was drawn.
    pub replaced: Vec<String>,
}

/// Whose release it is, and what it says and costs.
type About<'a> = (&'a str, String);

impl Ledger {
    /// The releases of deployments that are gone.
    ///
    /// # Errors
    /// When the ledger or the folders of the store cannot be read.
    pub fn lost_releases(&self) -> anyhow::Result<LostReleases> {
        self.catch_up()?;
        let state = self.state();
        let mut drawn: BTreeMap<About, BTreeMap<u32, &str>> = BTreeMap::new();
        for (entry, places) in &state.entries {
            let rows: Vec<&LedgerRow> =
                places.iter().map(|&at| &state.rows[at]).filter(|row| is_deployed(row)).collect();
            if let Some(first) = rows.first()
                && is_marked(&self.store, entry)
            {
                let releases = rows.iter().map(|row| &row.release);
                // Rows of an earlier layout do not say which function drew them.
                let says = match &first.function {
                    Some(function) => statement(function, releases),
                    None => rows_in_words(releases),
                };
                drawn.entry((&first.population, says)).or_default().insert(first.number, entry);
            }
        }
        // A draft becomes an entry in one step, so that whoever looks for drafts first misses neither.
        let has_draft = |entry: &str| RELEASING_STAGES.iter().any(|stage| self.store.has_draft(stage, entry));
        let drafts: BTreeSet<&str> =
            drawn.values().flat_map(BTreeMap::values).copied().filter(|entry| has_draft(entry)).collect();
        let there: BTreeSet<String> = self.store.keys(&RELEASING_STAGES)?.into_iter().map(|(_, key)| key).collect();
        let mut lost = LostReleases::default();
        for releases in drawn.values() {
            let last = releases.last_key_value().map(|(number, _)| *number);
            for (number, entry) in releases {
                if there.contains(*entry) || drafts.contains(entry) {
                    continue;
                }
                let gone = if Some(*number) == last { &mut lost.last } else { &mut lost.replaced };
                gone.push((*entry).to_owned());
            }
        }
        Ok(lost)
    }
}
