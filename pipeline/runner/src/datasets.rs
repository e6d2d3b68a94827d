//! Datasets known by name.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml::{Table, Value};

use crate::config::nearest;

const KNOWN: &str = include_str!("../../../configs/datasets.toml");

/// A dataset of `configs/datasets.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dataset {
    /// What it is.
    pub about: String,
    /// Licence of the data.
    pub licence: String,
    /// Fields of `[ingest]` that it stands for.
    pub ingest: Table,
    /// Files with their checksums.
    #[serde(default)]
    pub files: BTreeMap<String, FileSource>,
}

/// A file of a dataset.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileSource {
    /// SHA-256 as hexadecimal text.
    pub sha256: String,
    /// Where its original host has it, if it is hosted in this form.
    pub url: Option<String>,
}

/// All datasets by name.
pub(crate) fn all() -> BTreeMap<String, Dataset> {
    toml::from_str(KNOWN).unwrap_or_else(|error| unreachable!("a test reads configs/datasets.toml: {error}"))
}

/// The dataset `name`.
pub(crate) fn named(name: &str) -> Result<Dataset, String> {
    let mut known = all();
    known.remove(name).ok_or_else(|| {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let hint = nearest(name, &names).map_or(String::new(), |hint| format!("; did you mean `{hint}`?"));
        format!("there is no dataset `{name}`{hint} (known: synthetic, {})", names.join(", "))
    })
}

/// The `[ingest]` table with a dataset's name replaced by what it stands for; the table's own fields win.
///
/// `split = "published"` becomes the file of the folder `published`, or the default split where it holds none.
pub(crate) fn resolved(mut ingest: Table, published: Option<&Path>) -> Result<Table, String> {
    if ingest.get("split").is_some_and(|split| split.as_str() == Some("published")) {
        let file = format!("split_{}.txt", ingest.get("dataset").and_then(Value::as_str).unwrap_or("synthetic"));
        if published.is_some_and(|folder| folder.join(&file).exists()) {
            ingest.insert("split".to_owned(), file.into());
        } else {
            tracing::warn!("there is no published split {file} (--published DIR); taking the default split");
            ingest.remove("split");
        }
    }
    let own_files = ["format", "edges", "archive"].iter().any(|field| ingest.contains_key(*field));
    let name = match ingest.get("dataset") {
        Some(Value::String(name)) if name != "synthetic" && !own_files => name.clone(),
        _ => return Ok(ingest),
    };
    for (field, value) in named(&name)?.ingest {
        ingest.entry(field).or_insert(value);
    }
    Ok(ingest)
}

/// SHA-256 as hexadecimal text.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dataset_is_a_valid_ingest_table() {
        for (name, dataset) in all() {
            let params: veilgraph_ingest::Params = Value::Table(dataset.ingest).try_into().expect(&name);
            let files = params.files().expect(&name);
            assert!(files.iter().all(|file| dataset.files.contains_key(file)), "{name}: {files:?}");
        }
    }
}
