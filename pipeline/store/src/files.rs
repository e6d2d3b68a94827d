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
