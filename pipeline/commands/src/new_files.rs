//! Files and folders that must not exist yet: they are there wholly or not at all, and never in the place of another.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, ensure};
use veilgraph_store::mark_of_this_process;

/// The drafts that this process has not finished.
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn drafts() -> MutexGuard<'static, Vec<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the drafts of an interrupted command, and ends the process before any of them can get its name.
pub(crate) fn remove_drafts_and_exit(status: i32) -> ! {
    let drafts = drafts();
    for draft in drafts.iter() {
        let _ = if draft.is_dir() { fs::remove_dir_all(draft) } else { fs::remove_file(draft) };
    }
    std::process::exit(status)
}

/// Says what to do where a file or folder cannot be written.
pub(crate) fn cannot_write(path: &Path) -> String {
    format!("{}: cannot write; choose a free name, where there is room and this user may write", path.display())
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
    let wrong = || cannot_write(to);
    let published = |written| {
        let mut drafts = drafts();
        fs::rename(&draft, to).with_context(wrong)?;
        drafts.retain(|unfinished| *unfinished != draft);
        Ok(written)
    };
    write(&draft).and_then(published).inspect_err(|_| {
        let _ = fs::remove_dir_all(&draft);
    })
}

/// A path beside `to` at which nothing is yet. What stands there when the command is interrupted is removed.
pub(crate) fn draft_beside(to: &Path) -> anyhow::Result<PathBuf> {
    let name = to.file_name().with_context(|| format!("{}: name a folder", to.display()))?;
    // Containers and machines that share a folder may have processes of one number.
    let mark = mark_of_this_process().context("the operating system gives no random numbers")?;
    let draft = to.with_file_name(format!(".{}-{mark}", name.to_string_lossy()));
    ensure!(!draft.exists(), "{}: a half-written folder is in the way; remove it", draft.display());
    drafts().push(draft.clone());
    Ok(draft)
}
