//! The lineage of an entry: what it was made from, when and where, who uses it, and how it is made again.

mod joined;
mod making;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, bail};
use serde::Serialize;
use serde_json::Value;
use veilgraph_runner::output;
use veilgraph_runner::runs::{self, RunRecord};
use veilgraph_runner::task::STAGES;
use veilgraph_runner::{build, registry};
use veilgraph_store::{Entry, OutputRecord, Recipe, Store, StoreKind, is_key};

use crate::cli::ShowFormat;
use joined::{Input, Joined};
use making::Making;

/// Everything that is known about an entry.
#[derive(Serialize)]
struct Lineage {
    stage: String,
    key: String,
    /// When its files came into the store, in seconds since 1970.
    since: u64,
    /// What the logs say about the run that made it; nothing where no run of this store did, or a version that kept no keys.
    made: Option<Making>,
    /// Whether this program has the code that made it, so that it would make the same entry.
    same_code: Option<bool>,
    artifacts: Vec<Artifact>,
    used_by: Vec<Use>,
    read_by: Vec<EntryName>,
    make_again: Vec<String>,
    /// The entry itself, and everything that it was made from, each once.
    entries: Vec<Origin>,
}

/// A file of an entry.
#[derive(Serialize)]
struct Artifact {
    name: String,
    zone: String,
    bytes: u64,
    digest: String,
}

/// A run that used an entry, and what the entry is called there.
#[derive(Clone, Serialize)]
struct Use {
    run: String,
    label: String,
}

#[derive(Clone, Serialize)]
struct EntryName {
    stage: String,
    key: String,
}

/// What an entry was made from.
#[derive(Serialize)]
struct Origin {
    stage: String,
    key: String,
    function: Option<String>,
    side: String,
    settings: Value,
    seed: Option<u64>,
    trial: Option<u32>,
    code: String,
    dependencies: String,
    inputs: Vec<Input>,
}

/// Whether an artifact is asked for by the key of its entry.
pub(super) fn is_entry(wanted: &Path) -> bool {
    is_key(wanted) && wanted.iter().count() == 1 && !wanted.exists()
}

/// Prints the lineage of the entry of this key, or of the one that holds this file.
pub(super) fn print(store: &Store, wanted: &Path, format: ShowFormat) -> anyhow::Result<()> {
    let is_asked_for = |(stage, key): &(String, String)| {
        if is_entry(wanted) { wanted.as_os_str() == key.as_str() } else { wanted.ends_with(Path::new(stage).join(key)) }
    };
    let found = store
        .keys(&STAGES)?
        .into_iter()
        .find(is_asked_for)
        .and_then(|(stage, key)| store.find(&stage, &key).transpose());
    let entry = found.with_context(|| {
        format!("{}: no entry of this store has such a key (`veilgraph ls` lists them)", wanted.display())
    })??;
    let lineage = Lineage::of(store, entry)?;
    match format {
        ShowFormat::Json => output::data(&serde_json::to_string_pretty(&lineage)?),
        ShowFormat::Table => lineage.lines().iter().for_each(|line| output::line(line)),
        ShowFormat::Csv => bail!("--format csv is for rows; a lineage is printed for people, or with --format json"),
    }
    Ok(())
}

/// The folder of the entry that holds an artifact.
pub(super) fn entry_of(artifact: &Path) -> anyhow::Result<PathBuf> {
    let name = artifact.display();
    let path = artifact.canonicalize().with_context(|| format!("{name}: cannot be read"))?;
    let folder = path.parent().filter(|folder| is_key(folder)).with_context(|| {
        format!("{name}: this file belongs to no entry; a run writes it from the artifacts of its entries")
    })?;
    Ok(folder.to_owned())
}

impl Lineage {
    fn of(store: &Store, entry: Entry) -> anyhow::Result<Self> {
        let joined = Joined::of(store, entry)?;
        let entry = joined.root();
        let (recipe, key) = (&entry.manifest.recipe, &entry.manifest.key);
        let used_by = uses(store, &recipe.stage, key)?;
        let since = entry.written().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default().as_secs();
        let artifact = |(name, output): (&String, &OutputRecord)| Artifact {
            name: name.clone(),
            zone: output.zone.clone(),
            bytes: output.bytes,
            digest: output.digest.clone(),
        };
        Ok(Self {
            stage: recipe.stage.clone(),
            key: key.clone(),
            since,
            made: Making::of(store, key),
            same_code: has_same_code(recipe),
            artifacts: entry.manifest.outputs.iter().map(artifact).collect(),
            make_again: make_again(store, recipe, &used_by),
            used_by,
            read_by: joined.readers(),
            entries: joined.origins(),
        })
    }
}

/// The runs that used an entry: those of the history, the last ones first, and the last run of an experiment without one.
fn uses(store: &Store, stage: &str, key: &str) -> anyhow::Result<Vec<Use>> {
    let mut last: BTreeMap<String, Vec<RunRecord>> = BTreeMap::new();
    for place in &runs::folders(store) {
        last.entry(runs::name_of(place)).or_default().push(RunRecord::read(place)?);
    }
    let mut uses = Vec::new();
    for (name, last) in last {
        let of_record = |run: &str, record: &RunRecord| -> Vec<Use> {
            let found = record.named().filter(|entry| entry.stage == stage && entry.key == key);
            found.map(|entry| Use { run: run.to_owned(), label: entry.label.to_owned() }).collect()
        };
        let past = runs::runs_of(store, &name);
        let numbered = past.iter().enumerate();
        let before = uses.len();
        uses.extend(numbered.flat_map(|(at, run)| of_record(&format!("{name}@{}", at + 1), &run.record)));
        if uses.len() == before {
            uses.extend(last.iter().flat_map(|record| of_record(&name, record)));
        }
    }
    Ok(uses)
}

/// Whether this program has the code of a recipe; nothing where no code makes it.
fn has_same_code(recipe: &Recipe) -> Option<bool> {
    if !recipe.is_computed() {
        return None;
    }
    let function = registry::find(&recipe.stage, recipe.task.as_deref()?).ok();
    let digests = function.map(|function| build::digests(&function.crate_name()));
    Some(digests.is_some_and(|digests| digests == (recipe.code.as_str(), recipe.dependencies.as_str())))
}

/// What makes an entry again: commands, or a sentence where none does.
fn make_again(store: &Store, recipe: &Recipe, used_by: &[Use]) -> Vec<String> {
    let sentence = |text: &str| vec![text.to_owned()];
    if recipe.is_deployed() {
        return sentence("No run draws this release again. If it is lost, restore it from a copy, such as an export.");
    }
    if recipe.is_published() {
        return sentence("No run makes this: the owner handed it over. If it is lost, restore it from the export.");
    }
    let Some(Use { run, .. }) = used_by.iter().find(|used| used.run.contains('@')) else {
        return sentence("No run that is kept used it. A config with these settings makes it again.");
    };
    let side = if store.kind() == StoreKind::ServerAlone { " --side server" } else { "" };
    vec![
        format!("veilgraph config {run} > again.toml"),
        format!("veilgraph run again.toml --until {}{side}", recipe.stage),
    ]
}
