//! Small steps on the file system that either happen wholly or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use blake3::Hasher;

use crate::error::StoreError;

/// Creates `path` and its parents; `private` folders admit nobody but their owner.
pub(crate) fn create_folder(path: &Path, private: bool) -> Result<(), StoreError> {
    let mode = if private { 0o700 } else { 0o755 };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(path)
        .map_err(|error| StoreError::io("create the folder", path, error))
}

/// The same, and waits until the names of new folders are on the disk: what is published below must not be lost with them.
pub(crate) fn create_lasting_folder(path: &Path, private: bool) -> Result<(), StoreError> {
    let new: Vec<&Path> = path.ancestors().take_while(|folder| !folder.is_dir()).collect();
    create_folder(path, private)?;
    let parents = new.iter().filter_map(|folder| folder.parent());
    parents.map(|folder| if folder == Path::new("") { Path::new(".") } else { folder }).try_for_each(sync_folder)
}

/// Creates a folder that admits nobody but its owner, with its parents.
///
/// # Errors
/// When the file system refuses.
pub fn create_private_folder(path: &Path) -> Result<(), StoreError> {
    create_lasting_folder(path, true)
}

/// Writes a file that nobody but its owner may read; it is there wholly or not at all.
///
/// # Errors
/// When the file system refuses.
pub fn write_private_file(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_whole(path, bytes, true)
}

/// Lets everybody read a folder that was private while it was filled.
pub(crate) fn open_folder(path: &Path) -> Result<(), StoreError> {
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, open).map_err(|error| StoreError::io("open the folder", path, error))
}

/// Refuses a private folder that others may enter.
pub(crate) fn refuse_if_open(path: &Path) -> Result<(), StoreError> {
    let mode = fs::metadata(path).map_err(|error| StoreError::io("read", path, error))?.permissions().mode();
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(StoreError::Open { path: path.to_owned(), mode: mode & 0o777 }),
    }
}

/// A file while it is written, with the digest of what has been written.
pub(crate) struct NewFile {
    file: File,
    hasher: Hasher,
    length: u64,
}

impl NewFile {
    /// Creates a file that must not exist yet.
    pub(crate) fn create(path: &Path, private: bool, hasher: Hasher) -> Result<Self, StoreError> {
        let mode = if private { 0o600 } else { 0o644 };
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
        Ok(Self { file: file.map_err(|error| StoreError::io("write", path, error))?, hasher, length: 0 })
    }

    /// Waits until the file is on the disk; its digest and length.
    pub(crate) fn finish(self, path: &Path) -> Result<(String, u64), StoreError> {
        self.file.sync_all().map_err(|error| StoreError::io("write", path, error))?;
        Ok((self.hasher.finalize().to_hex().to_string(), self.length))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.file.write(bytes)?;
        self.hasher.update(&bytes[..length]);
        self.length += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a new file and waits until it is on the disk.
pub(crate) fn write_synced(path: &Path, bytes: &[u8], private: bool) -> Result<(), StoreError> {
    let mut file = NewFile::create(path, private, Hasher::new())?;
    file.write_all(bytes).map_err(|error| StoreError::io("write", path, error))?;
    file.finish(path).map(|_| ())
}

/// A name of this process that no other one has: those of containers and machines that share a folder may have its number.
///
/// # Errors
/// When the operating system gives no random numbers.
pub fn mark_of_this_process() -> io::Result<&'static str> {
    static MARK: OnceLock<String> = OnceLock::new();
    if let Some(mark) = MARK.get() {
        return Ok(mark);
    }
    let mut drawn = [0; 8];
    getrandom::fill(&mut drawn)?;
    Ok(MARK.get_or_init(|| format!("{:016x}", u64::from_le_bytes(drawn))))
}

/// Writes a file that is there wholly or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], private: bool) -> Result<(), StoreError> {
    // Two threads may write the same file at once.
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let mark = mark_of_this_process().map_err(|error| StoreError::io("name a draft of", path, error))?;
    let draft = path.with_extension(format!("draft-{mark}-{number}"));
    write_synced(&draft, bytes, private)?;
    fs::rename(&draft, path).map_err(|error| StoreError::io("publish", path, error))?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// Moves a folder into place and waits until both folders know it. Files that stand there under other names stay.
pub(crate) fn publish_folder(from: &Path, to: &Path) -> Result<(), StoreError> {
    let parent = to.parent().unwrap_or(Path::new("."));
    sync_folder(from)?;
    replace_folder(from, to, &|_| false).map_err(|error| StoreError::io("publish", to, error))?;
    sync_folder(parent)
}

/// Waits until the names in a folder are on the disk.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| StoreError::io("sync the folder", path, error))
}

/// Digest of a file, read piece by piece.
pub(crate) fn digest(mut file: &File, path: &Path, mut hasher: Hasher) -> Result<String, StoreError> {
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece).map_err(|error| StoreError::io("read", path, error))? {
            0 => return Ok(hasher.finalize().to_hex().to_string()),
            length => hasher.update_rayon(&piece[..length]),
        };
    }
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    let read = open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|error| StoreError::io("read", path, error))?;
    Ok(bytes)
}

/// Opens a file for reading, if it is a plain one: a link leads elsewhere, and a pipe never ends.
///
/// # Errors
/// When the file system refuses, or what is there is no plain file.
pub fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("this is no plain file")) }
}

/// Whether a link, a pipe or a folder stands in the place of a file.
pub(crate) fn is_no_plain_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| !found.is_file())
}

/// Removes a folder with all it holds, if it is there.
pub(crate) fn remove_folder(path: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("remove", path, error)),
        _ => Ok(()),
    }
}

/// Puts the folder `draft` in the place of `place`. `is_ours` tells which files and links (by their path inside the folder)
/// this program made: these are replaced, and so is whatever has the name of a file of `draft`. Everything else that a user
/// put there is carried over, links as links.
///
/// # Errors
/// When the file system refuses, when `place` is a link, or when something of the user's stands where `draft` has a folder;
/// then what was at `place` is still there.
pub fn replace_folder(draft: &Path, place: &Path, is_ours: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    if place.is_symlink() {
        return Err(io::Error::other(format!("{} is a link, and what it leads to is not ours", place.display())));
    }
    if !place.is_dir() {
        return fs::rename(draft, place);
    }
    carry_over(place, place, draft, is_ours)?;
    let here = rustix::fs::CWD;
    if rustix::fs::renameat_with(here, draft, here, place, rustix::fs::RenameFlags::EXCHANGE).is_ok() {
        // What was there is now at `draft`, and all of it that is not ours is at `place` too.
        return remove_ours(draft, &|_| true);
    }
    // Not every file system can exchange two folders at once.
    let aside = draft.with_extension("old");
    fs::rename(place, &aside)?;
    fs::rename(draft, place)?;
    remove_ours(&aside, &|_| true)
}

/// Removes the files and links of `folder` for which `is_ours` holds (by their path inside the folder), and then folders
/// that are empty. No link is followed.
///
/// # Errors
/// When the file system refuses.
pub fn remove_ours(folder: &Path, is_ours: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    remove_inside(folder, folder, is_ours)
}

/// Removes what is ours of a folder, if it is there and no link.
pub(crate) fn remove_ours_if_there(folder: &Path, is_ours: &dyn Fn(&Path) -> bool) -> Result<(), StoreError> {
    if folder.is_symlink() || !folder.is_dir() {
        return Ok(());
    }
    remove_ours(folder, is_ours).map_err(|error| StoreError::io("remove", folder, error))
}

fn remove_inside(whole: &Path, folder: &Path, is_ours: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    for item in fs::read_dir(folder)? {
        let path = item?.path();
        if path.is_dir() && !path.is_symlink() {
            remove_inside(whole, &path, is_ours)?;
        } else if is_ours(path.strip_prefix(whole).unwrap_or(&path)) {
            fs::remove_file(&path)?;
        }
    }
    match fs::remove_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other,
    }
}

/// Gives `draft` a second name for every file below `folder` that is not ours (a copy, where the file system has no second
/// names), and a copy of every such link, at the same place inside.
fn carry_over(whole: &Path, folder: &Path, draft: &Path, is_ours: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    for item in fs::read_dir(folder)? {
        let path = item?.path();
        let inside = path.strip_prefix(whole).unwrap_or(&path);
        let to = draft.join(inside);
        let is_folder = |path: &Path| path.is_dir() && !path.is_symlink();
        let is_free = to.symlink_metadata().is_err();
        match (is_folder(&path), is_folder(&to)) {
            (true, is_there) if is_there || is_free => carry_over(whole, &path, draft, is_ours)?,
            (false, _) if is_ours(inside) => {}
            (false, false) if is_free => {
                fs::create_dir_all(to.parent().unwrap_or(draft))?;
                match fs::read_link(&path) {
                    Ok(target) => symlink(target, &to)?,
                    // Not every file system has second names for a file; what is no plain file has no copy.
                    Err(_) => fs::hard_link(&path, &to)
                        .or_else(|error| if path.is_file() { fs::copy(&path, &to).map(|_| ()) } else { Err(error) })?,
                }
            }
            // The draft has a file of this name.
            (false, false) => {}
            _ => {
                let path = path.display();
                return Err(io::Error::other(format!("{path} is in the way and not ours; move it elsewhere")));
            }
        }
    }
    Ok(())
}
