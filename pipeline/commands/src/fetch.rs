//! `fetch`: a dataset from its original host, from those that keep copies, or from a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use veilgraph_runner::config::ConfigError;
use veilgraph_runner::datasets::{self, FileSource, sha256};
use veilgraph_runner::output;

/// No file of a dataset is larger.
const MAX_BYTES: u64 = 1 << 30;

/// Where files are taken from. Their checksums are compared, so that no place has to be trusted.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    /// Their original hosts, then those that keep copies.
    Hosts,
    /// Below an address.
    Mirror(&'a str),
    /// A folder on this machine.
    Folder(&'a Path),
}

/// A place of one file.
#[derive(Debug, PartialEq)]
enum Place {
    Url(String),
    File(PathBuf),
}

/// Brings what is not there yet; a file is put in place only after its checksum was compared.
pub(crate) fn fetch(name: &str, data_dir: &Path, origin: Origin) -> anyhow::Result<()> {
    let dataset = datasets::named(name).map_err(ConfigError)?;
    output::line(&format!("{name}: {}\nlicence: {}", dataset.about, dataset.licence));
    let folder = dataset.ingest.get("folder").and_then(|folder| folder.as_str()).unwrap_or(name);
    let place = data_dir.join(folder);
    // Before anything is downloaded.
    for (file, source) in &dataset.files {
        let path = place.join(file);
        anyhow::ensure!(
            !path.exists() || fs::read(&path).is_ok_and(|bytes| source.may_be(&bytes)),
            "{}: there is another file of this name, which this program did not make; move it away, or choose another \
             --data-dir",
            path.display()
        );
    }
    for (file, source) in &dataset.files {
        let path = place.join(file);
        if let Some(bytes) = fs::read(&path).ok().filter(|bytes| source.may_be(bytes)) {
            output::line(&format!("{file}: already there{}", unvouched(source, &bytes)));
            continue;
        }
        let places = origin.places(folder, file, source);
        anyhow::ensure!(
            !places.is_empty(),
            "{file}: no host offers this file in this form; put it into {} yourself, or name the folder that has it with \
             --from (configs/datasets.toml has its checksum)",
            place.display()
        );
        let bytes = first_sound(&places, source)?;
        write(&path, &bytes)?;
        output::line(&format!("{file}: {} KiB{}", bytes.len() / 1024, unvouched(source, &bytes)));
    }
    Ok(())
}

/// What to do about a file that has no checksum to be compared with: trust it on first use, and pin what it was.
fn unvouched(source: &FileSource, bytes: &[u8]) -> String {
    if source.sha256.is_some() {
        return String::new();
    }
    format!(
        "; its checksum is not known, so compare this one with what others got, and pin it in configs/datasets.toml: \
         sha256 = \"{}\"",
        sha256(bytes)
    )
}

impl Origin<'_> {
    /// The places of a file, in the order in which they are tried.
    fn places(self, folder: &str, file: &str, source: &FileSource) -> Vec<Place> {
        match (self, &source.url) {
            (Self::Mirror(mirror), _) => vec![Place::Url(format!("{}/{folder}/{file}", mirror.trim_end_matches('/')))],
            (Self::Folder(from), _) => vec![Place::File(from.join(folder).join(file)), Place::File(from.join(file))],
            (Self::Hosts, None) => Vec::new(),
            (Self::Hosts, Some(url)) => {
                // The archive knows a file by its checksum alone.
                let heritage = source
                    .sha256
                    .as_ref()
                    .map(|sha256| format!("https://archive.softwareheritage.org/api/1/content/sha256:{sha256}/raw/"));
                let all = [Some(url.clone()), jsdelivr(url), heritage];
                all.into_iter().flatten().map(Place::Url).collect()
            }
        }
    }
}

/// The copy that jsDelivr keeps of a file of a repository at GitHub, at the same commit.
fn jsdelivr(url: &str) -> Option<String> {
    let inside = url.strip_prefix("https://raw.githubusercontent.com/")?;
    let mut parts = inside.splitn(4, '/');
    let (owner, repository, commit, path) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    Some(format!("https://cdn.jsdelivr.net/gh/{owner}/{repository}@{commit}/{path}"))
}

/// The file from the first place that has it as it should be, or at all where its checksum is not known.
///
/// # Errors
/// When no place has it; the error says of each what was wrong.
fn first_sound(places: &[Place], source: &FileSource) -> anyhow::Result<Vec<u8>> {
    let mut problems: Vec<String> = Vec::new();
    for place in places {
        match place.bytes(source) {
            Ok(bytes) => return Ok(bytes),
            Err(problem) => problems.push(format!("{problem:#}")),
        }
    }
    anyhow::bail!("{}; nothing was written", problems.join("\n"))
}

impl Place {
    fn bytes(&self, source: &FileSource) -> anyhow::Result<Vec<u8>> {
        let (name, bytes) = match self {
            Self::Url(url) => (url.clone(), download(url)?),
            Self::File(path) => {
                let name = path.display().to_string();
                let bytes = fs::read(path).with_context(|| format!("{name}: cannot read the file"))?;
                (name, bytes)
            }
        };
        anyhow::ensure!(
            source.may_be(&bytes),
            "{name}: checksum mismatch (SHA-256 {}, expected {}); try again, or use --mirror or --from",
            sha256(&bytes),
            source.sha256.as_deref().unwrap_or_default()
        );
        Ok(bytes)
    }
}

/// Puts a file in its place, whole or not at all, and makes the folder for it.
fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .with_context(|| format!("{}: cannot create the folder; choose another --data-dir", folder.display()))?;
    let draft = path.with_extension(format!("draft-{}", veilgraph_store::mark_of_this_process()?));
    let written = fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written.with_context(|| format!("{}: cannot write; free space or choose another --data-dir", path.display()))
}

fn download(url: &str) -> anyhow::Result<Vec<u8>> {
    // A host that accepts a connection and stays silent must not keep the next place from being asked.
    let config = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(20)))
        .timeout_recv_response(Some(Duration::from_mins(1)))
        .build();
    let answer = ureq::Agent::new_with_config(config)
        .get(url)
        .call()
        .with_context(|| format!("{url}: cannot download; check the network, or use --mirror or --from"))?;
    let body = answer.into_body().with_config().limit(MAX_BYTES).read_to_vec();
    body.with_context(|| format!("{url}: the download broke off; try again"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_looked_for_at_its_host_and_where_copies_are_kept() {
        let source = |url: Option<&str>| FileSource { sha256: Some("ab12".to_owned()), url: url.map(str::to_owned) };
        let url = |text: &str| Place::Url(text.to_owned());
        let heritage = url("https://archive.softwareheritage.org/api/1/content/sha256:ab12/raw/");
        let at_github = "https://raw.githubusercontent.com/kimiyoung/planetoid/af6a/data/ind.cora.x";
        assert_eq!(
            Origin::Hosts.places("cora", "ind.cora.x", &source(Some(at_github))),
            [url(at_github), url("https://cdn.jsdelivr.net/gh/kimiyoung/planetoid@af6a/data/ind.cora.x"), heritage]
        );
        let elsewhere = "https://example.org/ind.cora.x";
        assert_eq!(Origin::Hosts.places("cora", "x", &source(Some(elsewhere))).len(), 2);
        let open = FileSource { sha256: None, url: Some(elsewhere.to_owned()) };
        assert_eq!(
            Origin::Hosts.places("cora", "x", &open),
            [url(elsewhere)],
            "no archive finds it without a checksum"
        );
        assert!(Origin::Hosts.places("cora", "x", &source(None)).is_empty());
        assert_eq!(Origin::Mirror("http://a/").places("cora", "x", &source(Some(at_github))), [url("http://a/cora/x")]);
        assert_eq!(
            Origin::Folder(Path::new("d")).places("cora", "x", &source(None)),
            [Place::File("d/cora/x".into()), Place::File("d/x".into())]
        );
    }

    #[test]
    fn every_dataset_at_github_has_a_copy_at_the_same_commit() {
        for (name, dataset) in datasets::all() {
            for url in dataset.files.values().filter_map(|source| source.url.as_deref()) {
                let copy = jsdelivr(url);
                assert_eq!(copy.is_some(), url.starts_with("https://raw.githubusercontent.com/"), "{name}: {url}");
                // A branch moves on, and a copy of it may be older than the file.
                let is_commit =
                    |commit: &str| commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
                let commit = copy.as_deref().and_then(|copy| copy.split('@').nth(1)?.split('/').next());
                assert!(commit.is_none_or(is_commit), "{name}: {url}");
            }
        }
    }
}
