//! The file of the ledger: rows that follow each other, and beside it what the last charge was about to write.
//!
//! A charge first writes the file `ledger.head`, which holds the end of the ledger before the charge and the rows of the
//! charge, then appends the rows, and then notes the new end. A crash in between is completed by the next reader. A
//! ledger that ends anywhere else than where its last charge left it was shortened, rolled back or edited, and is
//! refused.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

/// How far the ledger was read. What was read once is not read again, so that many charges take time in proportion to their
/// number; an edit of earlier rows while this program runs is noticed by the next one.
#[derive(Clone, Default)]
pub(super) struct Position {
    /// Bytes of whole lines.
    length: usize,
    /// Of these bytes.
    hasher: blake3::Hasher,
}

impl Position {
    /// The position after some more text.
    pub(super) fn after(&self, text: impl AsRef<[u8]>) -> Self {
        let text = text.as_ref();
        let mut hasher = self.hasher.clone();
        hasher.update(text);
        Self { length: self.length + text.len(), hasher }
    }

    fn digest(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }
}

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

    /// The rows after a position as text, those of a charge that a crash cut short included.
    pub(super) fn read(&self, from: &Position) -> anyhow::Result<String> {
        let path = self.path();
        if !path.exists() {
            let is_gone = self.head.exists();
            ensure!(
                !is_gone && from.length == 0,
                "{}: the privacy ledger is gone; restore it from a copy",
                path.display()
            );
            return Ok(String::new());
        }
        let unreadable = || cannot_read(path);
        let file = File::open(path).with_context(unreadable)?;
        file.lock_shared().with_context(unreadable)?;
        self.text_of(&file, from)
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
            let start = Position::default();
            self.write_head(&start.after(&self.text_of(&file, &start)?), "")?;
            fs::rename(&self.earlier, &self.rows).with_context(|| self.unwritable())?;
        }
        Ok(())
    }

    fn write_head(&self, before: &Position, pending: &str) -> anyhow::Result<()> {
        let head = Head { length: before.length as u64, digest: before.digest(), pending: pending.to_owned() };
        veilgraph_store::write_private_file(&self.head, &serde_json::to_vec(&head)?).with_context(|| self.unwritable())
    }

    fn unwritable(&self) -> String {
        format!(
            "{}: cannot write the privacy ledger, so nothing was released; free space (`veilgraph gc`) or make it writable, \
             and run again",
            self.rows.display()
        )
    }

    /// What the file and its head say together, after a position.
    fn text_of(&self, mut file: &File, from: &Position) -> anyhow::Result<String> {
        let path = self.path();
        let unreadable = || cannot_read(path);
        if file.metadata().with_context(unreadable)?.len() < from.length as u64 {
            return self.text_of_whole(file, from);
        }
        // A crash may have cut the last row anywhere, also inside a letter.
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from.length as u64)).with_context(unreadable)?;
        file.read_to_end(&mut bytes).with_context(unreadable)?;
        if !self.head.exists() {
            // Only an earlier layout has a ledger without a head.
            let is_earlier = path == self.earlier || from.length == 0 && bytes.is_empty();
            ensure!(
                is_earlier,
                "{}: the end of the privacy ledger is gone; restore it from a copy with the ledger beside it",
                self.head.display()
            );
            return String::from_utf8(bytes).with_context(unreadable);
        }
        let head = fs::read(&self.head).with_context(|| cannot_read(&self.head))?;
        let head: Head = serde_json::from_slice(&head).with_context(|| {
            format!("{}: damaged; restore the privacy ledger from a copy, it must never be edited", self.head.display())
        })?;
        let Some(unread) = (head.length as usize).checked_sub(from.length) else {
            return self.text_of_whole(file, from);
        };
        let before = bytes.get(..unread).filter(|before| from.after(before).digest() == head.digest);
        let is_as_left = before.is_some_and(|before| head.pending.as_bytes().starts_with(&bytes[before.len()..]));
        ensure!(
            is_as_left,
            "{}: the privacy ledger does not end where its last charge left it, so rows were removed or edited; restore \
             the privacy ledger from a copy, it must never be edited",
            path.display()
        );
        bytes.truncate(unread);
        Ok(String::from_utf8(bytes).with_context(unreadable)? + &head.pending)
    }

    /// The same after a position behind the last whole charge: rows of a charge that a crash cut short were read from its
    /// head. Everything is read again.
    fn text_of_whole(&self, file: &File, from: &Position) -> anyhow::Result<String> {
        let whole = self.text_of(file, &Position::default())?;
        let rest = whole.get(from.length..).with_context(|| {
            let path = self.path().display();
            format!("{path}: the privacy ledger was shortened while this program ran; restore it from a copy")
        })?;
        Ok(rest.to_owned())
    }
}

impl Locked<'_> {
    /// The rows after a position; a charge that a crash cut short is completed.
    pub(super) fn read(&mut self, from: &Position) -> anyhow::Result<String> {
        let text = self.journal.text_of(&self.file, from)?;
        let written = self.file.metadata().with_context(|| self.journal.unwritable())?.len() as usize;
        if written < from.length + text.len() {
            let whole = self.journal.text_of(&self.file, &Position::default())?;
            self.append(&whole.as_bytes()[written..])?;
            self.journal.write_head(&Position::default().after(&whole), "")?;
        }
        Ok(text)
    }

    /// Appends the rows of a charge at `end`, up to which [`Self::read`] has read, and waits until they are on the disk.
    pub(super) fn charge(&mut self, end: &Position, rows: &str) -> anyhow::Result<()> {
        self.journal.write_head(end, rows)?;
        self.append(rows.as_bytes())?;
        // From now on a ledger without these rows is one that somebody shortened, and not one that a crash cut short.
        self.journal.write_head(&end.after(rows), "")
    }

    fn append(&mut self, rows: &[u8]) -> anyhow::Result<()> {
        let written = self.file.write_all(rows).and_then(|()| self.file.sync_all());
        written.with_context(|| self.journal.unwritable())
    }
}

fn cannot_read(path: &Path) -> String {
    format!(
        "{}: cannot read this file of the privacy ledger; make it readable for whoever runs this, or restore it from a copy",
        path.display()
    )
}
