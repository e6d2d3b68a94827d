//! What one's own files are, by their names.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use toml::Table;
use veilgraph_ingest::decompressed_name;

use super::named_from;
use crate::cli::InitArguments;

/// Where a graph comes from.
pub(super) enum Source {
    /// Tables or arrays.
    Files(OwnFiles),
    /// An archive of NumPy with adjacency, features and labels.
    Archive(PathBuf),
    /// A folder with the files `ind.<name>.*`.
    Planetoid { folder: PathBuf, name: String },
    /// The unpacked archive of a dataset of the Open Graph Benchmark, and its split if it has one.
    Ogb { folder: PathBuf, scheme: Option<String> },
}

/// Tables or arrays, by what they hold.
#[derive(Default)]
pub(super) struct OwnFiles {
    edges: Option<PathBuf>,
    nodes: Option<PathBuf>,
    features: Option<PathBuf>,
    labels: Option<PathBuf>,
}

/// Words in the name of a file, and the field of `[ingest]` that it is then for.
const WORDS: [(&str, &[&str]); 4] = [
    ("features", &["feat", "attr"]),
    ("labels", &["label", "class", "target", "categor"]),
    ("edges", &["edge", "link", "graph", "adj", "friend", "follow"]),
    ("nodes", &["node", "user", "vert", "member", "people"]),
];

/// What the arguments name.
///
/// # Errors
/// When a file is absent, when its name does not say what it holds, or when two hold the same.
pub(super) fn source(arguments: &InitArguments) -> anyhow::Result<Source> {
    if let [place] = arguments.files.as_slice()
        && let Some(source) = whole_dataset(place)?
    {
        return Ok(source);
    }
    let mut files = OwnFiles {
        edges: arguments.edges.clone(),
        nodes: arguments.nodes.clone(),
        features: arguments.features.clone(),
        labels: arguments.labels.clone(),
    };
    for file in &arguments.files {
        let role = role(file, arguments)?;
        let place = match role {
            "features" => &mut files.features,
            "labels" => &mut files.labels,
            "nodes" => &mut files.nodes,
            _ => &mut files.edges,
        };
        if let Some(other) = place.replace(file.clone()) {
            let (file, other) = (file.display(), other.display());
            bail!(
                "{other} and {file} both look like {role}; say what they are: --edges FILE --features FILE --labels FILE"
            );
        }
    }
    let all = [&files.edges, &files.nodes, &files.features, &files.labels];
    for file in all.into_iter().flatten() {
        if !file.is_file() {
            bail!("{}: there is no such file; check the path", file.display());
        }
    }
    if files.edges.is_none() {
        bail!("no file of links is named; name it with --edges FILE");
    }
    if arguments.label_column.is_some() && files.labels.is_none() {
        // A file that describes nodes has their classes too; GraphML describes nodes and links.
        let describing = files.nodes.as_ref().or(files.features.as_ref()).or(files.edges.as_ref());
        files.labels = describing.cloned();
    }
    Ok(Source::Files(files))
}

/// A path that is a whole dataset by itself.
fn whole_dataset(place: &Path) -> anyhow::Result<Option<Source>> {
    if place.is_file() && is_archive(place) {
        return Ok(Some(Source::Archive(place.to_owned())));
    }
    if !place.is_dir() {
        return Ok(None);
    }
    let names = |folder: &Path| -> Vec<String> {
        let items = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = items.map(|item| item.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    if place.join("raw/num-node-list.csv.gz").is_file() {
        let is_scheme = |name: &String| place.join("split").join(name).join("train.csv.gz").is_file();
        let scheme = names(&place.join("split")).into_iter().find(is_scheme);
        return Ok(Some(Source::Ogb { folder: place.to_owned(), scheme }));
    }
    // PyTorch Geometric keeps the files of Planetoid in a folder `raw`.
    for folder in [place.to_owned(), place.join("raw")] {
        let found = names(&folder);
        let name = found.iter().find_map(|file| file.strip_prefix("ind.")?.strip_suffix(".allx"));
        if let Some(name) = name {
            return Ok(Some(Source::Planetoid { name: name.to_owned(), folder }));
        }
    }
    bail!(
        "{}: no dataset of Planetoid or of the Open Graph Benchmark lies in this folder; name the files in it one by one",
        place.display()
    )
}

/// Whether a file is an archive of several matrices, and not one sparse matrix.
fn is_archive(file: &Path) -> bool {
    let is_npz = file.extension().is_some_and(|end| end == "npz");
    // The names of the arrays stand in the archive as they are.
    let holds = |bytes: Vec<u8>, name: &str| bytes.windows(name.len()).any(|window| window == name.as_bytes());
    is_npz && std::fs::read(file).is_ok_and(|bytes| holds(bytes, "labels.npy"))
}

/// What a file is for.
fn role(file: &Path, arguments: &InitArguments) -> anyhow::Result<&'static str> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let parts: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
    let is_meant = |words: &&[&str]| words.iter().any(|word| parts.iter().any(|part| part.starts_with(word)));
    let by_word = WORDS.iter().find(|(_, words)| is_meant(words)).map(|(role, _)| *role);
    let is_only = arguments.files.len() == 1 && arguments.edges.is_none();
    let is_graph = decompressed_name(&name).ends_with(".graphml");
    match by_word {
        _ if is_graph => Ok("edges"),
        Some(role) => Ok(role),
        None if is_only => Ok("edges"),
        None => bail!(
            "{}: the name does not say what the file holds; say it with --edges, --features, --labels or --nodes before the \
             name",
            file.display()
        ),
    }
}

impl Source {
    /// The table `[ingest]` of a config in `folder`.
    ///
    /// # Errors
    /// When an argument is about tables, and the source has none.
    pub(super) fn table(&self, folder: &Path, arguments: &InitArguments) -> anyhow::Result<Table> {
        let names_columns = arguments.header.is_some() || arguments.label_column.is_some();
        ensure!(
            !names_columns || matches!(self, Self::Files(_)),
            "--header and --label-column are about tables, and a whole dataset has none; remove them"
        );
        let mut table = Table::new();
        let mut set = |field: &str, value: &str| table.insert(field.to_owned(), value.into());
        match self {
            Self::Files(files) => {
                let named = [
                    ("edges", &files.edges),
                    ("nodes", &files.nodes),
                    ("features", &files.features),
                    ("labels", &files.labels),
                ];
                for (field, file) in named {
                    if let Some(file) = file {
                        set(field, &named_from(folder, file));
                    }
                }
                if let Some(column) = &arguments.label_column {
                    set("label_column", column);
                }
                if let Some(header) = arguments.header {
                    table.insert("header".to_owned(), header.into());
                }
            }
            Self::Archive(archive) => {
                set("archive", &named_from(folder, archive));
            }
            Self::Planetoid { folder: place, name } => {
                set("format", "planetoid");
                set("folder", &named_from(folder, place));
                set("name", name);
            }
            Self::Ogb { folder: place, scheme } => {
                set("format", "ogb");
                set("folder", &named_from(folder, place));
                if let Some(scheme) = scheme {
                    let split = Table::from_iter([("scheme".to_owned(), scheme.as_str().into())]);
                    table.insert("split".to_owned(), split.into());
                }
            }
        }
        Ok(table)
    }
}
