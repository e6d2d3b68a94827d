//! The ledger and the store say the same: every release in the store has all its rows.

use anyhow::ensure;
use veilgraph_contract::Release;
use veilgraph_store::{Entry, Manifest, StoreKind};

use super::{Ledger, LedgerRow, RELEASING_STAGE, RELEASING_STAGES, statement};

impl Ledger {
    /// Refuses a store that holds a release without its rows, or with other ones: the ledger was emptied, shortened,
    /// rolled back or edited, or an entry was put there by hand.
    ///
    /// # Errors
    /// When a release and the rows of the ledger do not fit together, or the entries cannot be listed.
    pub fn reconcile(&self) -> anyhow::Result<()> {
        // A server keeps no account; whoever released keeps it.
        if self.store.kind() == StoreKind::ServerAlone {
            return Ok(());
        }
        for (stage, key) in self.store.keys(&RELEASING_STAGES)? {
            // A damaged manifest is found by whoever needs its entry.
            if let Ok(Some(entry)) = self.store.find(&stage, &key) {
                self.compare(&entry)?;
            }
        }
        Ok(())
    }

    fn compare(&self, entry: &Entry) -> anyhow::Result<()> {
        let state = self.state();
        let manifest = &entry.manifest;
        let has_rows = match &manifest.release {
            // Nodes keep their own accounts; what they sent is never an owner's release.
            Some(release) if release.collected && manifest.recipe.is_published() => true,
            Some(release) => {
                let places = state.entries.get(&release.charged_as).into_iter().flatten();
                let rows: Vec<&LedgerRow> = places.map(|&place| &state.rows[place]).collect();
                let function = manifest.recipe.task.clone().unwrap_or_default();
                let releases: Vec<&Release> = rows.iter().map(|row| &row.release).collect();
                rows.iter().all(|row| row.population == release.population)
                    && statement(&function, releases) == release.statement
            }
            // What was handed over of an entry of an earlier layout names no release; the entry itself is compared.
            None if manifest.recipe.is_published() => true,
            None => !holds_earlier_release(manifest) || state.entries.contains_key(&manifest.key),
        };
        ensure!(
            has_rows,
            "{}: the privacy ledger lacks the release in {}, or says something else about it; restore the ledger from a \
             copy (another --store would release again, and no ledger would count both)",
            self.path().display(),
            entry.folder().display()
        );
        Ok(())
    }
}

/// Whether an entry of layout 1 or 2 holds a release.
fn holds_earlier_release(manifest: &Manifest) -> bool {
    // In layout 1 every entry of `privatize` was one, but for the mechanism that sends nothing.
    let sends = manifest.recipe.params.get("mechanism").is_none_or(|mechanism| mechanism != "no-links");
    let is_of_layout_1 = manifest.recipe.task.is_none() && manifest.recipe.stage == RELEASING_STAGE;
    manifest.is_release || (is_of_layout_1 && sends)
}
