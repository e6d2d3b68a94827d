//! `show`: an artifact through Polars.

use std::path::{Path, PathBuf};

use anyhow::Context;
use polars::prelude::{LazyFrame, PlRefPath, ScanArgsParquet};
use polars::sql::SQLContext;
use veilgraph_store::{Part, Store, metadata_of};

use crate::cli::ShowArguments;
use crate::output;

/// Prints metadata, schema and rows, or the answer to a query.
pub(crate) fn show(store: &Store, arguments: &ShowArguments) -> anyhow::Result<()> {
    let path = find(store, &arguments.artifact)?;
    let name = path.display();
    let unreadable = || format!("{name}: not a readable Parquet file; run `veilgraph verify`");
    let metadata = metadata_of(&path).with_context(unreadable)?;
    let text = path.to_str().with_context(|| format!("{name}: the path is not UTF-8"))?;
    let frame = LazyFrame::scan_parquet(PlRefPath::new(text), ScanArgsParquet::default()).with_context(unreadable)?;
    if let Some(query) = &arguments.sql {
        let mut context = SQLContext::new();
        context.register("artifact", frame);
        let answer = context.execute(query).and_then(LazyFrame::collect);
        let answer = answer.with_context(|| format!("`{query}` failed; the table is called `artifact`"))?;
        output::line(&answer.to_string());
        return Ok(());
    }
    output::line(&format!("{name}"));
    for (key, value) in metadata.iter().filter(|(key, _)| !key.starts_with("ARROW:")) {
        output::line(&format!("  {key:<24} {value}"));
    }
    let mut frame = frame;
    let schema = frame.collect_schema().with_context(unreadable)?;
    let columns: Vec<String> = schema.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
    output::line(&format!("  columns: {}", columns.join(", ")));
    let mut context = SQLContext::new();
    context.register("artifact", frame.clone());
    let rows = context
        .execute("SELECT COUNT(*) AS row_count FROM artifact")
        .and_then(LazyFrame::collect)
        .with_context(unreadable)?;
    output::line(&format!("{rows}"));
    let head = frame.limit(arguments.head).collect().with_context(unreadable)?;
    output::line(&head.to_string());
    Ok(())
}

/// A path, or a name below the `runs/` of any part, without ending.
pub(super) fn find(store: &Store, wanted: &Path) -> anyhow::Result<PathBuf> {
    let runs = || Part::ALL.iter().map(|part| store.part(*part).join("runs"));
    let named = runs().map(|runs| runs.join(wanted));
    let places = named.flat_map(|named| [named.clone(), PathBuf::from(format!("{}.parquet", named.display()))]);
    let found = std::iter::once(wanted.to_owned()).chain(places).find(|path| path.is_file());
    found.with_context(|| {
        let folders: Vec<String> = runs().filter(|runs| runs.is_dir()).map(|runs| runs.display().to_string()).collect();
        format!(
            "{}: there is no such artifact; look below {} or list entries with `veilgraph ls`",
            wanted.display(),
            if folders.is_empty() { store.root().display().to_string() } else { folders.join(", ") }
        )
    })
}
