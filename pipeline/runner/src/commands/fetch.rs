//! `fetch`: a dataset from its original host.

use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::config::ConfigError;
use crate::datasets::{self, sha256};
use crate::output;

/// No file of a dataset is larger.
const MAX_BYTES: u64 = 1 << 30;

/// Downloads what is not there yet; a file is put in place only after its checksum was compared.
pub(crate) fn fetch(name: &str, data_dir: &Path, mirror: Option<&str>) -> anyhow::Result<()> {
    let dataset = datasets::named(name).map_err(ConfigError)?;
    output::line(&format!("{name}: {}\nlicence: {}", dataset.about, dataset.licence));
    let folder = dataset.ingest.get("folder").and_then(|folder| folder.as_str()).unwrap_or(name);
    let place = data_dir.join(folder);
    fs::create_dir_all(&place)
        .with_context(|| format!("{}: cannot create the folder; choose another --data-dir", place.display()))?;
    // Before anything is downloaded.
    for (file, source) in &dataset.files {
        let path = place.join(file);
        anyhow::ensure!(
            !path.exists() || fs::read(&path).is_ok_and(|bytes| sha256(&bytes) == source.sha256),
            "{}: there is another file of this name, which this program did not make; move it away, or choose another \
             --data-dir",
            path.display()
        );
    }
    for (file, source) in &dataset.files {
        let path = place.join(file);
        if fs::read(&path).is_ok_and(|bytes| sha256(&bytes) == source.sha256) {
            output::line(&format!("{file}: already there"));
            continue;
        }
        let url = match (mirror, &source.url) {
            (Some(mirror), _) => format!("{}/{folder}/{file}", mirror.trim_end_matches('/')),
            (None, Some(url)) => url.clone(),
            (None, None) => anyhow::bail!(
                "{file}: no host offers this file in this form; put it into {} yourself (configs/datasets.toml has its checksum)",
                place.display()
            ),
        };
        let bytes = download(&url)?;
        let found = sha256(&bytes);
        anyhow::ensure!(
            found == source.sha256,
            "{url}: checksum mismatch (SHA-256 {found}, expected {}); nothing was written, try again or use --mirror",
            source.sha256
        );
        let draft = path.with_extension(format!("draft-{}", std::process::id()));
        let written = fs::write(&draft, &bytes).and_then(|()| fs::rename(&draft, &path));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written
            .with_context(|| format!("{}: cannot write; free space or choose another --data-dir", path.display()))?;
        output::line(&format!("{file}: {} KiB", bytes.len() / 1024));
    }
    Ok(())
}

fn download(url: &str) -> anyhow::Result<Vec<u8>> {
    let answer =
        ureq::get(url).call().with_context(|| format!("{url}: cannot download; check the network or use --mirror"))?;
    let body = answer.into_body().with_config().limit(MAX_BYTES).read_to_vec();
    body.with_context(|| format!("{url}: the download broke off; try again"))
}
