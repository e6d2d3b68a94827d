//! Files that are complete or absent.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, bail, ensure};
use veilgraph_client::PublicParameters;

/// The parameters that a file holds.
pub(crate) fn read_parameters(path: &Path) -> anyhow::Result<PublicParameters> {
    let name = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read the parameters in {name}"))?;
    PublicParameters::from_text(&text).with_context(|| {
        format!("{name} holds no parameters of a release; take the file as the server published it, unedited")
    })
}

/// The list of numbers in a file. One that is not the one of the parameters is refused: its numbers may mean other people.
pub(crate) fn read_numbers(path: &Path, parameters: &PublicParameters) -> anyhow::Result<Vec<u8>> {
    let name = path.display();
    let bytes = fs::read(path).with_context(|| format!("cannot read the list of numbers in {name}"))?;
    let numbering = parameters.numbering().context(
        "the parameters have no line `numbering`, so nobody can tell whether other nodes have the same list of numbers; ask the server \
         for parameters with this line",
    )?;
    ensure!(
        blake3::hash(&bytes) == numbering,
        "{name} is not the list of numbers that the parameters were made for, so its numbers may mean other people; ask the server \
         for the list that belongs to these parameters"
    );
    Ok(bytes)
}

/// Writes a private file in `folder`, in place of the one of that name. Whenever the power fails, the old or the new
/// file is there.
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let (path, new) = (folder.join(name), folder.join(format!("{name}.new")));
    write_synced(&new, OpenOptions::new().create(true).truncate(true), bytes)
        .and_then(|()| fs::rename(&new, &path))
        .and_then(|()| sync_folder(folder))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Refuses a place for a report that holds something else than `report`, or that cannot hold a file. True if the report
/// is already there.
pub(crate) fn is_delivered(path: &Path, report: Option<&[u8]>) -> anyhow::Result<bool> {
    let name = path.display();
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = folder_of(path);
            let is_folder = fs::metadata(&folder).is_ok_and(|found| found.is_dir());
            ensure!(is_folder, "cannot write {name}: there is no folder {}; make it first", folder.display());
            ensure!(path.file_name().is_some(), "cannot write {name}: it is no name of a file");
            Ok(false)
        }
        Err(error) => Err(error).with_context(|| format!("cannot look at {name}")),
        Ok(found) => {
            let is_report = found.is_file()
                && report.is_some_and(|report| {
                    found.len() == report.len() as u64 && fs::read(path).is_ok_and(|bytes| bytes == report)
                });
            ensure!(is_report, "{name} exists and is not this report; nothing is overwritten, so name another file");
            Ok(true)
        }
    }
}

/// Writes a report where no file is, or nothing where this report is already.
pub(crate) fn deliver(path: &Path, report: &[u8]) -> anyhow::Result<()> {
    if is_delivered(path, Some(report))? {
        return Ok(());
    }
    let folder = folder_of(path);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.new", process::id()));
    let new = folder.join(name);
    let written = write_synced(&new, OpenOptions::new().create_new(true), report).and_then(|()| publish(&new, path));
    if written.is_err() {
        // What cannot be removed is a file that nobody reads.
        let _ = fs::remove_file(&new);
    }
    match written {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            if is_delivered(path, Some(report))? {
                Ok(())
            } else {
                bail!("{} came and went", path.display())
            }
        }
        written => written.and_then(|()| sync_folder(&folder)).with_context(|| {
            format!("cannot write {}; the report is kept, so that the same call writes it again", path.display())
        }),
    }
}

/// Gives a file its name unless the name is taken.
fn publish(new: &Path, path: &Path) -> std::io::Result<()> {
    match fs::hard_link(new, path) {
        Ok(()) => fs::remove_file(new),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // Some file systems know no links; nothing was there when we looked.
        Err(_) => fs::rename(new, path),
    }
}

fn write_synced(path: &Path, options: &mut OpenOptions, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = private(options).write(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A file that this user alone may read.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Makes names in a folder last.
pub(crate) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// The folder that holds `path`.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}
