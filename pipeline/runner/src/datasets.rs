//! Datasets known by name.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml::{Table, Value};

use crate::config::ConfigError;
use crate::nearest::did_you_mean;

const KNOWN: &str = include_str!("../../../configs/datasets.toml");

/// A dataset that `configs/datasets.toml` describes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// What the dataset is.
    pub about: String,
    /// The licence of the data.
    pub licence: String,
    /// The number of nodes, which is public: how a budget is best divided depends on it.
    pub n_nodes: Option<usize>,
    /// The number of features of a node, which is public: what a report about all of them costs depends on it.
    pub n_features: Option<usize>,
    /// Statistics by which `advise` finds the public graphs that resemble a private one, where nodes have classes.
    pub statistics: Option<Statistics>,
    /// The fields of `[ingest]` that its name stands for.
    pub ingest: Table,
    /// The files by name, with their checksums.
    #[serde(default)]
    pub files: BTreeMap<String, FileSource>,
}

/// What links and classes of a dataset are like.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statistics {
    /// The number of classes of the nodes.
    pub classes: u32,
    /// The mean number of links of a node.
    pub mean_degree: f64,
    /// The standard deviation of the degrees over their mean.
    pub degree_spread: f64,
    /// The share of the links that join nodes of one class, among those whose ends both have one.
    pub homophily: f64,
}

/// Where a file of a dataset comes from, and how it is recognized.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSource {
    /// The SHA-256 of the file as hexadecimal text; none where nobody could download the file when it was added.
    pub sha256: Option<String>,
    /// The address at its original host, if the file is hosted in this form.
    pub url: Option<String>,
}

/// Refuses a folder of data that is none.
///
/// # Errors
/// Names the folder and where it was given.
pub fn check_data_dir(data_dir: &Path) -> Result<(), ConfigError> {
    if data_dir.is_dir() {
        return Ok(());
    }
    Err(ConfigError(format!(
        "{}: there is no such folder; check --data-dir, or the variable DATA_DIR",
        data_dir.display()
    )))
}

impl Dataset {
    /// Whether all files are in this folder of data and have the right checksums: a file of the same name may be anybody's,
    /// and so may one whose checksum nobody knows.
    pub fn is_in(&self, data_dir: &Path) -> bool {
        let folder = self.ingest.get("folder").and_then(Value::as_str).unwrap_or_default();
        let is_right = |(file, source): (&String, &FileSource)| {
            std::fs::read(data_dir.join(folder).join(file))
                .is_ok_and(|bytes| source.sha256.is_some() && source.may_be(&bytes))
        };
        self.files.iter().all(is_right)
    }

    /// Whether nodes have features.
    #[must_use]
    pub fn has_features(&self) -> bool {
        self.n_features.is_some() || self.ingest.contains_key("features")
    }
}

impl FileSource {
    /// Whether these bytes may be the file: they have its checksum, or none is known.
    #[must_use]
    pub fn may_be(&self, bytes: &[u8]) -> bool {
        self.sha256.as_ref().is_none_or(|expected| *expected == sha256(bytes))
    }
}

/// All known datasets by name.
#[must_use]
pub fn all() -> BTreeMap<String, Dataset> {
    toml::from_str(KNOWN).unwrap_or_else(|error| unreachable!("a test reads configs/datasets.toml: {error}"))
}

/// The dataset `name`.
///
/// # Errors
/// When no dataset has this name: the message names one that is spelled alike, if there is any.
pub fn named(name: &str) -> Result<Dataset, String> {
    let mut known = all();
    known.remove(name).ok_or_else(|| {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let hint = did_you_mean(name, &names);
        format!("there is no dataset `{name}`{hint} (known: synthetic, {})", names.join(", "))
    })
}

/// Fields of `[ingest]` that say which files a graph is read from.
const OWN_FILES: [&str; 6] = ["edges", "archive", "name", "features", "labels", "format"];

/// The `[ingest]` table with a dataset's name replaced by what it stands for; the table's own fields win.
///
/// `split = "published"` becomes the file of the folder `published`, or the default split where it holds none.
///
/// # Errors
/// When the name is unknown, or when it is known and stands beside files that are not those of the dataset.
pub(crate) fn resolved(mut ingest: Table, published: Option<&Path>) -> Result<Table, String> {
    let own_files: Vec<&str> = OWN_FILES.into_iter().filter(|field| ingest.contains_key(*field)).collect();
    if let Some(name) = ingest.get("dataset").and_then(Value::as_str) {
        refuse_own_files(name, &ingest, &own_files)?;
    }
    if ingest.get("split").is_some_and(|split| split.as_str() == Some("published")) {
        let file = format!("split_{}.txt", ingest.get("dataset").and_then(Value::as_str).unwrap_or("synthetic"));
        if published.is_some_and(|folder| folder.join(&file).exists()) {
            ingest.insert("split".to_owned(), file.into());
        } else {
            tracing::warn!("there is no published split {file} (--published DIR); taking the default split");
            ingest.remove("split");
        }
    }
    let name = match ingest.get("dataset") {
        Some(Value::String(name)) if name != "synthetic" && own_files.is_empty() => name.clone(),
        _ => return Ok(ingest),
    };
    for (field, value) in named(&name)?.ingest {
        ingest.entry(field).or_insert(value);
    }
    Ok(ingest)
}

/// Tables would show one's own graph under the name of another, beside the figures published for that one.
fn refuse_own_files(name: &str, ingest: &Table, own_files: &[&str]) -> Result<(), String> {
    let is_synthetic = |field: &str| ingest.get(field).and_then(Value::as_str) == Some("synthetic");
    let beside: Vec<String> = own_files
        .iter()
        .filter(|&&field| !(name == "synthetic" && field == "format" && is_synthetic("format")))
        .map(|field| format!("`{field}`"))
        .collect();
    if beside.is_empty() || !(name == "synthetic" || all().contains_key(name)) {
        return Ok(());
    }
    let beside = beside.join(" and ");
    Err(format!("`{name}` is a known dataset; give your own files another name, or remove {beside}"))
}

/// The SHA-256 of `bytes` as hexadecimal text.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
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

    /// A file of Twitch may be anybody's, and no run takes it for the public graph unasked.
    #[test]
    fn a_file_without_a_checksum_may_be_any_and_stands_for_no_public_graph() {
        let (pinned, open) = (Some(sha256(b"right")), None);
        let [pinned, open] = [pinned, open].map(|sha256| FileSource { sha256, url: None });
        assert!(pinned.may_be(b"right") && !pinned.may_be(b"wrong"));
        assert!(open.may_be(b"right") && open.may_be(b"wrong"));
        let folder = tempfile::tempdir().expect("a folder");
        let twitch = named("twitch").expect("known");
        std::fs::create_dir(folder.path().join("twitch")).expect("a folder");
        for file in twitch.files.keys() {
            std::fs::write(folder.path().join("twitch").join(file), "anything").expect("written");
        }
        assert!(!twitch.is_in(folder.path()));
    }

    fn resolve(table: &str) -> Result<Table, String> {
        resolved(table.parse().expect("TOML"), None)
    }

    #[test]
    fn a_known_name_beside_own_files_is_refused() {
        for (table, beside) in [
            ("dataset = \"cora\"\nedges = \"mine.csv\"", "`edges`"),
            ("dataset = \"lastfm\"\nlabels = \"l.csv\"", "`labels`"),
            ("dataset = \"lastfm\"\nfeatures = \"f.csv\"", "`features`"),
            ("dataset = \"cora_ml\"\narchive = \"a.npz\"", "`archive`"),
            ("dataset = \"cora\"\nname = \"citeseer\"", "`name`"),
            ("dataset = \"cora\"\nformat = \"synthetic\"", "`format`"),
            ("dataset = \"synthetic\"\nedges = \"e.csv\"\nlabels = \"l.csv\"", "`edges` and `labels`"),
            ("dataset = \"synthetic\"\nformat = \"edges\"", "`format`"),
        ] {
            let problem = resolve(table).expect_err(table);
            let remedy = format!("give your own files another name, or remove {beside}");
            assert!(problem.contains("is a known dataset") && problem.ends_with(&remedy), "{table}: {problem}");
        }
    }

    #[test]
    fn a_known_name_keeps_its_files_and_the_fields_that_say_how_to_use_them() {
        let cora = resolve("dataset = \"cora\"\nbinarize = true\nfolder = \"elsewhere\"").expect("valid");
        assert_eq!((cora["name"].as_str(), cora["folder"].as_str()), (Some("cora"), Some("elsewhere")));
        assert_eq!(cora["binarize"].as_bool(), Some(true));
        for own in ["edges = \"e.csv\"", "labels = \"l.csv\"", "format = \"synthetic\""] {
            let table = format!("dataset = \"mine\"\n{own}");
            assert_eq!(resolve(&table), Ok(table.parse().expect("TOML")), "one's own name stands for nothing");
        }
        let synthetic = "dataset = \"synthetic\"\nformat = \"synthetic\"";
        assert_eq!(resolve(synthetic), Ok(synthetic.parse().expect("TOML")));
        assert!(resolve("dataset = \"corra\"").expect_err("unknown").contains("did you mean `cora`"));
    }
}
