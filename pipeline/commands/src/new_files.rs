//! Files and folders that must not exist yet: they are there wholly or not at all, and never in the place of another.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, ensure};

/// The drafts that this process began; those that have got their name are no longer there.
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the drafts that an interrupted command has not finished.
pub(crate) fn remove_drafts() {
    for draft in DRAFTS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = if draft.is_dir() { fs::remove_dir_all(draft) } else { fs::remove_file(draft) };
    }
}

/// Writes a file that must not exist yet, nor a link of its name.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Like any new file, it is readable as far as the user's mask allows.
    let mut draft = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)?;
    draft.write_all(bytes)?;
    draft.persist_noclobber(path)?;
    Ok(())
}

/// Writes a folder: `write` fills a draft beside it.
pub(crate) fn write_whole_folder<T>(to: &Path, write: impl FnOnce(&Path) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let draft = draft_beside(to)?;
    let wrong = || format!("{}: cannot write the folder", to.display());
    let written = write(&draft).and_then(|written| fs::rename(&draft, to).map(|()| written).with_context(wrong));
    written.inspect_err(|_| {
        let _ = fs::remove_dir_all(&draft);
    })
}

/// A path beside `to` at which nothing is yet. What stands there when the command is interrupted is removed.
pub(crate) fn draft_beside(to: &Path) -> anyhow::Result<PathBuf> {
    let name = to.file_name().with_context(|| format!("{}: name a folder", to.display()))?;
    let draft = to.with_file_name(format!(".{}-{}", name.to_string_lossy(), std::process::id()));
    ensure!(!draft.exists(), "{}: a half-written folder is in the way; remove it", draft.display());
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner).push(draft.clone());
    Ok(draft)
}
