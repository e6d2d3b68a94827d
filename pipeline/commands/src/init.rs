//! `init`: looks at one's own files, and writes a config for them.

mod guess;
mod text;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use veilgraph_contract::{Progress, RawFile, Stage, StageRng};
use veilgraph_graph::{Features, Split};
use veilgraph_ingest::{Ingest, Normalize, Params};
use veilgraph_runner::config::{ConfigError, NAME_RULE, is_name, read_value};
use veilgraph_runner::output;

use super::plan::print_cost;
use crate::cli::{InitArguments, RunArguments};
use crate::experiment;
use crate::new_files::{cannot_write, write_new};

/// What is public in the files.
struct Found {
    n_nodes: usize,
    n_features: Option<usize>,
    /// Whether all features are 0 or 1.
    has_bits: bool,
    /// What the classes are called.
    classes: Vec<String>,
    /// Numbers of nodes that train, validate and test.
    splits: [usize; 3],
    nodes_from_links: bool,
}

/// Reads the files as a run would, says what they hold, and writes a config. Nothing is written where a run would fail.
pub(crate) fn init(arguments: &InitArguments) -> anyhow::Result<()> {
    let to = &arguments.to;
    ensure!(!to.exists(), "{}: exists already; name another file with --to", to.display());
    ensure!(
        to.file_stem().and_then(OsStr::to_str).is_some_and(is_name),
        "{}: an experiment takes its name from the file of its config, without the ending; {NAME_RULE}",
        to.display()
    );
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(folder.is_dir(), "{}: there is no such folder; make it first", folder.display());
    let source = guess::source(arguments)?;
    let ingest = source.table(folder, arguments)?;
    let found = look(&ingest, folder)?;
    say(&found, ingest.contains_key("split"));
    let config = text::config(&ingest, &found);
    write_new(to, config.as_bytes()).with_context(|| cannot_write(to))?;
    // A config that could not run must not be left behind.
    let prepared = experiment::prepare_one(&RunArguments::of(to.clone())).inspect_err(|_| {
        let _ = fs::remove_file(to);
    });
    let (config, tasks) =
        prepared.context("the config that was written for these files cannot run; please report this")?;
    print_cost(&config, &tasks);
    let quoted = output::quote(&to.display().to_string());
    output::line(&format!(
        "{}: written. Every line of it may be changed (docs/config.md). `veilgraph plan {}` says what would run, `veilgraph \
         run {}` runs it, and then `veilgraph report {}` writes a page",
        to.display(),
        quoted,
        quoted,
        quoted
    ));
    Ok(())
}

/// What `[ingest]` makes of the files.
fn look(ingest: &toml::Table, folder: &Path) -> anyhow::Result<Found> {
    let params: Params = read_value(toml::Value::Table(ingest.clone()))
        .map_err(|error| ConfigError(error.inner().message().to_owned()))?;
    let inside = params.folder.as_deref().map_or(folder.to_owned(), |inner| folder.join(inner));
    let mut raw = Vec::new();
    for name in params.files()? {
        let path = inside.join(&name);
        let bytes = fs::read(&path).with_context(|| format!("{}: cannot read the file", path.display()))?;
        raw.push(RawFile { name, bytes });
    }
    // As they stand in the file.
    let params = Params { normalize: Normalize::None, ..params };
    let rng = StageRng::new(0, Ingest::STAGE, 0);
    let made = Ingest::run((raw,), &params, &rng, &Progress::none()).context(
        "no graph can be made of these files; correct them, or say what each of them is (`veilgraph init --help`)",
    )?;
    let (nodes, _, features, ..) = made;
    let count = |split| nodes.members(split).len();
    let classes = if nodes.class_names.is_empty() {
        (0..nodes.n_classes).map(|class| class.to_string()).collect()
    } else {
        nodes.class_names.clone()
    };
    Ok(Found {
        n_nodes: nodes.splits.len(),
        n_features: features.as_ref().map(|features| features.0.n_columns()),
        has_bits: features.is_none_or(|Features(matrix)| {
            (0..matrix.n_rows()).all(|row| matrix.row(row).1.iter().all(|&value| value == 1.0))
        }),
        classes,
        splits: [count(Split::Train), count(Split::Validation), count(Split::Test)],
        nodes_from_links: nodes.nodes_from_links,
    })
}

/// Says what is public of the graph. How many links it has is not.
fn say(found: &Found, has_split: bool) {
    const MOST_NAMED: usize = 8;
    let features = found.n_features.map_or("no features".to_owned(), |count| format!("{count} features"));
    let mut classes = match found.classes.len() {
        0 => "no classes".to_owned(),
        count => format!(
            "{count} classes ({}",
            found.classes.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ")
        ),
    };
    if found.classes.len() > MOST_NAMED {
        classes += ", …";
    }
    if !found.classes.is_empty() {
        classes += ")";
    }
    output::line(&format!("found: {} nodes, {features}, {classes}", found.n_nodes));
    if !found.classes.is_empty() {
        let [train, validation, test] = found.splits;
        let how = if has_split { "as the dataset splits them" } else { "drawn at random" };
        output::line(&format!("       {train} nodes train, {validation} validate, {test} test, {how}"));
    }
    if found.nodes_from_links {
        output::line(
            "       the set of nodes is taken from the links, so it is not independent of them; before a deployment, name a \
             file of all nodes in `nodes`",
        );
    }
}

/// The path of a file as a config in `folder` names it.
fn named_from(folder: &Path, file: &Path) -> String {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (folder, file) = (whole(folder), whole(file));
    file.strip_prefix(&folder).map_or(file.clone(), PathBuf::from).display().to_string()
}
