//! Small steps on the file system that either happen wholly or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

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

/// Creates a folder that admits nobody but its owner, with its parents.
///
/// # Errors
/// When the file system refuses.
pub fn create_private_folder(path: &Path) -> Result<(), StoreError> {
    create_folder(path, true)
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

/// Writes a file that is there wholly or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], private: bool) -> Result<(), StoreError> {
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let _ = fs::remove_file(&draft);
    write_synced(&draft, bytes, private)?;
    fs::rename(&draft, path).map_err(|error| StoreError::io("publish", path, error))?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// Moves a folder into place and waits until both folders know it.
pub(crate) fn publish_folder(from: &Path, to: &Path) -> Result<(), StoreError> {
    let parent = to.parent().unwrap_or(Path::new("."));
    sync_folder(from)?;
    fs::rename(from, to).map_err(|error| StoreError::io("publish", to, error))?;
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
    fs::read(path).map_err(|error| StoreError::io("read", path, error))
}

/// Removes a folder with all it holds, if it is there.
pub(crate) fn remove_folder(path: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("remove", path, error)),
        _ => Ok(()),
    }
}

/// Puts the folder `draft` in the place of `place`. `is_ours` tells which files (by their path inside the folder) this
/// program made: these and links are replaced. Whatever else a user put there is carried over.
///
/// # Errors
/// When the file system refuses; then what was at `place` is still there, or beside it.
pub fn replace_folder(draft: &Path, place: &Path, is_ours: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let old = place.with_file_name(format!(".{name}-old-{}", std::process::id()));
    match fs::rename(place, &old) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    match fs::rename(draft, place) {
        // Another process put its own there in between: it is as good.
        Err(_) if place.is_dir() => remove_ours(draft, &|_| true)?,
        other => other?,
    }
    if !old.is_dir() {
        return Ok(());
    }
    remove_ours(&old, is_ours)?;
    if old.is_dir() { carry_over(&old, place) } else { Ok(()) }
}

/// Removes the links and the files of `folder` for which `is_ours` holds (by their path inside the folder), and then
/// folders that are empty.
///
/// # Errors
/// When the file system refuses.
pub fn remove_ours(folder: &Path, is_ours: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    remove_inside(folder, folder, is_ours)
}

fn remove_inside(whole: &Path, folder: &Path, is_ours: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    for item in fs::read_dir(folder)? {
        let path = item?.path();
        if path.is_dir() && !path.is_symlink() {
            remove_inside(whole, &path, is_ours)?;
        } else if path.is_symlink() || is_ours(path.strip_prefix(whole).unwrap_or(&path)) {
            fs::remove_file(&path)?;
        }
    }
    match fs::remove_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other,
    }
}

/// Moves what is left in `from` to the same place in `to`, where nothing of that name stands.
fn carry_over(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for item in fs::read_dir(from)? {
        let path = item?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if target.is_dir() && path.is_dir() {
            carry_over(&path, &target)?;
        } else if !target.exists() {
            fs::rename(&path, &target)?;
        }
    }
    match fs::remove_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other,
    }
}
