//! What this node has reported, so that it never pays twice without knowing, and never draws again what it has paid.
//!
//! A state folder holds `lock`, which one call at a time holds and which is empty until the node has reported; `secret`,
//! 32 random bytes that key the digests of lists; and `releases`, which is replaced as a whole. It begins as `releases`
//! without any release, then the secret, so that a folder of which a file was lost is told from a new one.

mod record;

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};

pub(crate) use self::record::{Record, Release};
use crate::files;

const LOCK: &str = "lock";
const RELEASES: &str = "releases";
const SECRET: &str = "secret";

/// What to do about a folder of which something was lost.
const REMEDY: &str =
    "restore the folder as it was after its last report, for from an older copy a report would be drawn and paid twice";

/// A state folder that no other call uses at the same time.
pub(crate) struct State {
    folder: PathBuf,
    secret: [u8; 32],
    pub(crate) record: Record,
    /// Locked as long as it is open.
    lock: File,
}

impl State {
    /// Opens a state folder or makes one, and waits for a call that uses it.
    pub(crate) fn open(folder: &Path) -> anyhow::Result<Self> {
        make_folder(folder)?;
        let lock = lock(folder)?;
        let (releases, secret) = (read(folder, RELEASES)?, read(folder, SECRET)?);
        let name = folder.display();
        ensure!(
            releases.is_some() || secret.is_none(),
            "{name} has lost its file `{RELEASES}`, and nobody knows what this node has reported; {REMEDY}"
        );
        ensure!(
            releases.is_some() || !has_reported(&lock),
            "{name} has lost its files `{RELEASES}` and `{SECRET}`, and nobody knows what this node has reported; {REMEDY}"
        );
        let record = match &releases {
            Some(text) => Record::parse(text).with_context(|| {
                format!("{name}/{RELEASES} is damaged, and nobody knows what this node has reported; {REMEDY}")
            })?,
            None => Record::default(),
        };
        ensure!(
            secret.is_some() || record.releases.is_empty(),
            "{name} holds releases and has lost its file `{SECRET}`, so nobody can tell whether the list has changed; \
             {REMEDY}"
        );
        if releases.is_none() {
            files::replace(folder, RELEASES, record.to_text()?.as_bytes())?;
        }
        let secret = match secret {
            Some(bytes) => {
                record::secret_of(&bytes, &record).with_context(|| format!("{name}/{SECRET} is damaged; {REMEDY}"))?
            }
            None => new_secret(folder)?,
        };
        Ok(Self { folder: folder.to_owned(), secret, record, lock })
    }

    /// Whether `folder` is this one.
    pub(crate) fn holds(&self, folder: &Path) -> bool {
        let (here, there) = (fs::canonicalize(&self.folder), fs::canonicalize(folder));
        matches!((here, there), (Ok(here), Ok(there)) if here == there)
    }

    /// A digest of a list that tells nothing to whoever lacks the secret of this folder.
    pub(crate) fn digest_of(&self, list: &[u32]) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        list.iter().for_each(|other| {
            hasher.update(&other.to_le_bytes());
        });
        hasher.finalize().to_hex().to_string()
    }

    /// Records what is about to leave the device.
    pub(crate) fn save(&mut self) -> anyhow::Result<()> {
        self.record.secret = Some(record::check_of(&self.secret));
        // A lock that is not empty tells that this node has reported, whatever else is lost.
        std::io::Write::write_all(&mut &self.lock, b"reported\n")
            .context("cannot mark the lock of the state folder")?;
        files::replace(&self.folder, RELEASES, self.record.to_text()?.as_bytes())
    }
}

/// Bytes of the operating system's generator.
pub(crate) fn random_bytes() -> anyhow::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("the operating system gives no random bytes: {error}"))?;
    Ok(bytes)
}

fn new_secret(folder: &Path) -> anyhow::Result<[u8; 32]> {
    let secret = random_bytes()?;
    files::replace(folder, SECRET, &secret)?;
    Ok(secret)
}

fn make_folder(folder: &Path) -> anyhow::Result<()> {
    let name = folder.display();
    match private_folder().create(folder) {
        Ok(()) => files::sync_folder(&files::folder_of(folder)).with_context(|| format!("cannot make {name}"))?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => {
            return Err(error).with_context(|| format!("cannot make the state folder {name}; its parent must exist"));
        }
    }
    let found = fs::metadata(folder).with_context(|| format!("cannot look at {name}"))?;
    ensure!(found.is_dir(), "{name} is no folder; name another state folder");
    ensure!(
        !is_open_to_others(&found),
        "others may enter {name}, which keeps secrets of this node; run `chmod 700` on it"
    );
    let mut names = fs::read_dir(folder).with_context(|| format!("cannot read {name}"))?;
    let is_ours = |name: &str| [LOCK, RELEASES, SECRET].contains(&name.strip_suffix(".new").unwrap_or(name));
    let is_foreign = names.any(|item| item.is_ok_and(|item| !item.file_name().to_str().is_some_and(is_ours)));
    ensure!(!is_foreign, "{name} holds other files than those of a state folder; name a folder of its own");
    Ok(())
}

#[cfg(unix)]
fn private_folder() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(not(unix))]
fn private_folder() -> fs::DirBuilder {
    fs::DirBuilder::new()
}

#[cfg(unix)]
pub(crate) fn is_open_to_others(found: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 != 0
}

#[cfg(not(unix))]
pub(crate) fn is_open_to_others(_: &fs::Metadata) -> bool {
    false
}

/// Whether a report was recorded under this lock.
fn has_reported(lock: &File) -> bool {
    lock.metadata().is_ok_and(|file| file.len() > 0)
}

fn lock(folder: &Path) -> anyhow::Result<File> {
    let path = folder.join(LOCK);
    let open = || -> std::io::Result<File> {
        let file = files::private(OpenOptions::new().create(true).truncate(false).write(true)).open(&path)?;
        file.lock()?;
        Ok(file)
    };
    open().with_context(|| format!("cannot lock {}", path.display()))
}

fn read(folder: &Path, name: &str) -> anyhow::Result<Option<Vec<u8>>> {
    match fs::read(folder.join(name)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", folder.join(name).display())),
    }
}
