//! `show`: an artifact through Polars, and its lineage.

mod lineage;
mod past;
mod rows;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use polars::prelude::{DataFrame, LazyFrame};
use polars::sql::SQLContext;
use veilgraph_runner::nearest::did_you_mean;
use veilgraph_runner::output;
use veilgraph_runner::runs;
use veilgraph_store::{Part, Store, metadata_of};

use crate::cli::{ShowArguments, ShowFormat};
use crate::scan::scan_parquet;

/// Rows that are printed where nothing else is asked for.
const DEFAULT_HEAD: u32 = 10;

/// Prints metadata, schema and rows, or the answer to a query.
pub(crate) fn show(store: &Store, arguments: &ShowArguments) -> anyhow::Result<()> {
    if lineage::is_entry(&arguments.artifact) {
        ensure!(
            arguments.sql.is_none() && arguments.head.is_none(),
            "{}: this is the key of an entry, which may hold several artifacts; name one of them for its rows",
            arguments.artifact.display()
        );
        return lineage::print(store, &arguments.artifact, arguments.format);
    }
    if arguments.lineage {
        let entry = lineage::entry_of(&find(store, &arguments.artifact)?)?;
        return lineage::print(store, &entry, arguments.format);
    }
    let Some(path) = place(store, &arguments.artifact, "")? else {
        let names = names(store, &arguments.artifact)?;
        let below = below(&names, &arguments.artifact);
        ensure!(!below.is_empty(), no_such_artifact(&names, &arguments.artifact));
        below.iter().for_each(|name| output::line(name));
        return Ok(());
    };
    let name = path.display();
    match path.extension().and_then(OsStr::to_str) {
        Some("jsonl" | "json" | "csv" | "toml" | "html") => {
            bail!("{name}: this file is text, which any program for texts shows; `show` reads Parquet files")
        }
        Some("safetensors") => {
            bail!("{name}: this is a trained model, which `veilgraph predict` applies; `show` reads Parquet files")
        }
        _ => {}
    }
    let unreadable = || format!("{name}: not a readable Parquet file; run `veilgraph verify`");
    let metadata = metadata_of(&path).with_context(unreadable)?;
    let frame = scan_parquet(&path).with_context(unreadable)?;
    if let Some(query) = &arguments.sql {
        return rows::print(&answer(frame, query, arguments.head)?, arguments.format);
    }
    if arguments.format != ShowFormat::Table {
        let frame = arguments.head.map_or_else(|| frame.clone(), |head| frame.clone().limit(head));
        return rows::print(&frame.collect().with_context(unreadable)?, arguments.format);
    }
    output::line(&format!("{name}"));
    for (key, value) in metadata.iter().filter(|(key, _)| !key.starts_with("ARROW:")) {
        output::line(&format!("  {key:<24} {value}"));
    }
    let mut frame = frame;
    let schema = frame.collect_schema().with_context(unreadable)?;
    let columns: Vec<String> = schema.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
    output::line(&format!("  columns: {}", columns.join(", ")));
    let count = answer(frame.clone(), "SELECT COUNT(*) FROM artifact", None)?;
    let n_rows = count.columns()[0].get(0).with_context(unreadable)?.extract::<u64>().unwrap_or_default();
    output::line(&format!("  {n_rows} rows"));
    let head = frame.limit(arguments.head.unwrap_or(DEFAULT_HEAD)).collect().with_context(unreadable)?;
    rows::print(&head, ShowFormat::Table)
}

/// The answer to a query about an artifact, or its first rows.
pub(super) fn answer(frame: LazyFrame, query: &str, head: Option<u32>) -> anyhow::Result<DataFrame> {
    let mut context = SQLContext::new();
    context.register("artifact", frame);
    let answer = context.execute(query).map(|answer| match head {
        Some(head) => answer.limit(head),
        None => answer,
    });
    answer.and_then(LazyFrame::collect).with_context(|| format!("`{query}` failed; the table is called `artifact`"))
}

/// A path, or a name below the `runs/` of any part or of a run of the history: a file, a file without its ending, or the `file` of
/// a run of a stage.
pub(super) fn place(store: &Store, wanted: &Path, file: &str) -> anyhow::Result<Option<PathBuf>> {
    if wanted.is_file() {
        return Ok(Some(wanted.to_owned()));
    }
    let spelled =
        |name: &Path| [name.to_owned(), PathBuf::from(format!("{}.parquet", name.display())), name.join(file)];
    let mut of_last = Part::ALL.iter().flat_map(|part| spelled(&store.part(*part).join("runs").join(wanted)));
    if let Some(file) = of_last.find(|path| path.is_file()) {
        return Ok(Some(file));
    }
    let mut past = past::files(store, wanted)?;
    Ok(spelled(wanted).iter().find_map(|name| past.remove(name)))
}

/// The file of an artifact.
pub(super) fn find(store: &Store, wanted: &Path) -> anyhow::Result<PathBuf> {
    match place(store, wanted, "")? {
        Some(found) => Ok(found),
        None => bail!(no_such_artifact(&names(store, wanted)?, wanted)),
    }
}

/// Says that none of the artifacts `names` is called `wanted`.
fn no_such_artifact(names: &BTreeSet<String>, wanted: &Path) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let hint = did_you_mean(&wanted.to_string_lossy(), &names);
    format!(
        "{}: there is no such artifact{hint} (`veilgraph ls` lists runs, and `veilgraph show RUN` what one holds)",
        wanted.display()
    )
}

/// Those of the artifacts `names` that lie below `wanted`.
fn below<'a>(names: &'a BTreeSet<String>, wanted: &Path) -> Vec<&'a String> {
    let prefix = format!("{}/", wanted.to_string_lossy().trim_end_matches('/'));
    names.iter().filter(|name| name.starts_with(&prefix)).collect()
}

/// The readable names of all artifacts, with those of the run of the history with whose name `wanted` begins.
fn names(store: &Store, wanted: &Path) -> anyhow::Result<BTreeSet<String>> {
    let is_artifact = |file: &PathBuf| file.extension().is_some_and(|end| end == "parquet");
    let name = |file: &Path| file.with_extension("").display().to_string();
    let past = past::files(store, wanted)?.into_keys().filter(is_artifact);
    let mut names: BTreeSet<String> = past.map(|file| name(&file)).collect();
    let items = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|item| item.path()).collect()
    };
    for place in &runs::folders(store) {
        let Some(runs) = place.parent() else { continue };
        let files =
            items(place).iter().flat_map(|stage| items(stage)).flat_map(|label| items(&label)).collect::<Vec<_>>();
        for file in files.iter().filter(|file| is_artifact(file)) {
            if let Ok(inside) = file.strip_prefix(runs) {
                names.insert(name(inside));
            }
        }
    }
    Ok(names)
}
