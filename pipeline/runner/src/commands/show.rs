//! `show`: an artifact through Polars.

use std::path::{Path, PathBuf};

use anyhow::Context;
use polars::prelude::{LazyFrame, PlRefPath, ScanArgsParquet};
use polars::sql::SQLContext;
use veilgraph_store::{Store, metadata_of};

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

/// A path, or a name below `runs/` without ending.
fn find(store: &Store, wanted: &Path) -> anyhow::Result<PathBuf> {
    let named = store.root().join("runs").join(wanted);
    let places = [wanted.to_owned(), named.clone(), PathBuf::from(format!("{}.parquet", named.display()))];
    places.iter().find(|path| path.is_file()).cloned().with_context(|| {
        let runs = store.root().join("runs");
        format!(
            "{}: there is no such artifact; look below {} or list entries with `veilgraph ls`",
            wanted.display(),
            runs.display()
        )
    })
}
