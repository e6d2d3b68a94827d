//! The file of the ledger: rows that follow each other, and beside it what the last charge was about to write.
//!
//! A charge first writes the file `ledger.head`, which holds the end of the ledger before the charge and the rows of the
//! charge, then appends the rows, and then notes the new end. A crash in between is completed by the next reader. A
//! ledger that ends anywhere else than where its last charge left it was shortened, rolled back or edited, and is
//! refused.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

/// Where the rows stand.
pub(super) struct Journal {
    rows: PathBuf,
    head: PathBuf,
    /// Where a store of an earlier layout has its ledger, without a head.
    earlier: PathBuf,
}

/// The end of the ledger before a charge, and the charge.
#[derive(Serialize, Deserialize)]
struct Head {
    /// Bytes of the ledger before the charge.
    length: u64,
    /// blake3 of these bytes.
    digest: String,
    /// Rows of the charge, one per line.
    pending: String,
}

/// The ledger, locked against other processes.
pub(super) struct Locked<'a> {
    journal: &'a Journal,
    file: File,
}

impl Journal {
    pub(super) fn new(owner: &Path, root: &Path) -> Self {
        Self {
            rows: owner.join(veilgraph_store::LEDGER),
            head: owner.join("ledger.head"),
            earlier: root.join(veilgraph_store::LEDGER),
        }
    }

    /// The file that the rows are read from.
    pub(super) fn path(&self) -> &Path {
        if !self.rows.exists() && self.earlier.exists() { &self.earlier } else { &self.rows }
    }

    /// All rows as text, those of a charge that a crash cut short included.
    pub(super) fn read(&self) -> anyhow::Result<String> {
        let path = self.path();
        if !path.exists() {
            let is_gone = self.head.exists();
            ensure!(!is_gone, "{}: the privacy ledger is gone; restore it from a copy", path.display());
            return Ok(String::new());
        }
        let unreadable = || format!("{}: cannot read the privacy ledger", path.display());
        let file = File::open(path).with_context(unreadable)?;
        file.lock_shared().with_context(unreadable)?;
        self.text_of(&file)
    }

    /// The same for whoever appends next.
    pub(super) fn lock(&self) -> anyhow::Result<Locked<'_>> {
        if let Some(folder) = self.rows.parent() {
            veilgraph_store::create_private_folder(folder)?;
        }
        self.move_earlier()?;
        let file = OpenOptions::new().read(true).append(true).create(true).open(&self.rows);
        let file = file.with_context(|| self.unwritable())?;
        // Two processes must not both find the budget unspent.
        file.lock().with_context(|| self.unwritable())?;
        Ok(Locked { journal: self, file })
    }

    /// Moves the ledger of an earlier layout to its place, with a head beside it.
    fn move_earlier(&self) -> anyhow::Result<()> {
        if self.rows.exists() || !self.earlier.exists() {
            return Ok(());
        }
        let file = OpenOptions::new().read(true).append(true).open(&self.earlier).with_context(|| self.unwritable())?;
        file.lock().with_context(|| self.unwritable())?;
        // Another process may have moved it while this one waited.
        if !self.rows.exists() {
            self.write_head(&self.text_of(&file)?, "")?;
            fs::rename(&self.earlier, &self.rows).with_context(|| self.unwritable())?;
        }
        Ok(())
    }

    fn write_head(&self, before: &str, pending: &str) -> anyhow::Result<()> {
        let head = Head { length: before.len() as u64, digest: digest(before), pending: pending.to_owned() };
        veilgraph_store::write_private_file(&self.head, &serde_json::to_vec(&head)?).with_context(|| self.unwritable())
    }

    fn unwritable(&self) -> String {
        format!(
            "{}: cannot write the privacy ledger, so nothing was released; free space (`veilgraph gc`) or make it writable, \
             and run again",
            self.rows.display()
        )
    }

    /// What the file and its head say together.
    fn text_of(&self, mut file: &File) -> anyhow::Result<String> {
        let path = self.path();
        let mut text = String::new();
        file.read_to_string(&mut text)
            .with_context(|| format!("{}: cannot read the privacy ledger", path.display()))?;
        if !self.head.exists() {
            // Only an earlier layout has a ledger without a head.
            let is_earlier = path == self.earlier || text.is_empty();
            ensure!(
                is_earlier,
                "{}: the end of the privacy ledger is gone; restore it from a copy with the ledger beside it",
                self.head.display()
            );
            return Ok(text);
        }
        let head = fs::read(&self.head).with_context(|| format!("{}: cannot read", self.head.display()))?;
        let head: Head = serde_json::from_slice(&head).with_context(|| {
            format!("{}: damaged; restore the privacy ledger from a copy, it must never be edited", self.head.display())
        })?;
        let before = text.get(..head.length as usize).filter(|before| digest(before) == head.digest);
        let is_as_left = before.is_some_and(|before| head.pending.starts_with(&text[before.len()..]));
        ensure!(
            is_as_left,
            "{}: the privacy ledger does not end where its last charge left it, so rows were removed or edited; restore \
             the privacy ledger from a copy, it must never be edited",
            path.display()
        );
        Ok(text[..head.length as usize].to_owned() + &head.pending)
    }
}

impl Locked<'_> {
    /// All rows; a charge that a crash cut short is completed.
    pub(super) fn read(&mut self) -> anyhow::Result<String> {
        let text = self.journal.text_of(&self.file)?;
        let length = self.file.metadata().with_context(|| self.journal.unwritable())?.len();
        let missing = &text[length as usize..];
        if !missing.is_empty() {
            self.append(missing)?;
        }
        Ok(text)
    }

    /// Appends the rows of a charge after `before`, which is all that [`Self::read`] gave, and waits until they are on
    /// the disk.
    pub(super) fn charge(&mut self, before: &str, rows: &str) -> anyhow::Result<()> {
        self.journal.write_head(before, rows)?;
        self.append(rows)?;
        // From now on a ledger without these rows is one that somebody shortened, and not one that a crash cut short.
        self.journal.write_head(&(before.to_owned() + rows), "")
    }

    fn append(&mut self, rows: &str) -> anyhow::Result<()> {
        let written = self.file.write_all(rows.as_bytes()).and_then(|()| self.file.sync_all());
        written.with_context(|| self.journal.unwritable())
    }
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
