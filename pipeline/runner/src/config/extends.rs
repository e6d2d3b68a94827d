//! What a config says with everything that is laid under and over it: the configs that it extends, and `--set`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};

use super::ConfigError;
use super::overlay::{merge, overlay};
use super::source::{Source, typed};
use super::text::text_of;

/// The field, and nothing else.
#[derive(Deserialize)]
struct Extends {
    extends: OneOrMore,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "extends is a path, or a list of paths")]
enum OneOrMore {
    One(PathBuf),
    More(Vec<PathBuf>),
}

/// Everything that a config says: the files that it extends, itself, and `sets` laid over them; and where its own text
/// stands.
pub(super) fn resolved(path: &Path, text: String, sets: &[String]) -> Result<(Table, Source), ConfigError> {
    let mut source = Source::new(path.to_owned(), text);
    let own: Table = toml::from_str(&source.text).map_err(|error| source.syntax(&error))?;
    let mut table = with_extended(own, &mut source, &mut Vec::new())?;
    for set in sets {
        let field = set.split('=').next().unwrap_or_default().trim();
        if ["extends", "privacy.store"].contains(&field) {
            let problem = "a config says what it extends, and where its store is, in its file";
            return Err(ConfigError(format!("--set {set}: {problem}")));
        }
        source.overlaid.push(overlay(&mut table, set)?);
    }
    source.resolved = table.clone();
    Ok((table, source))
}

/// Lets the path of the store begin in the folder of the file that names it: configs that extend the file share one ledger.
fn begin_store_here(table: &mut Table, file: &Path) {
    let store = table.get_mut("privacy").and_then(Value::as_table_mut).and_then(|privacy| privacy.get_mut("store"));
    if let Some(store) = store
        && let Some(path) = store.as_str()
        && let Ok(whole) = std::path::absolute(file.parent().unwrap_or(Path::new(".")).join(path))
    {
        *store = whole.display().to_string().into();
    }
}

/// The tables of the files that `own` extends, from the first to the last, and `own` laid over them. `source` keeps their
/// texts, and `above` holds the files that led here.
fn with_extended(mut own: Table, source: &mut Source, above: &mut Vec<PathBuf>) -> Result<Table, ConfigError> {
    let Some(value) = own.remove("extends") else { return Ok(own) };
    let field = Table::from_iter([("extends".to_owned(), value)]);
    let files = match typed::<Extends>(field, "", source)?.extends {
        OneOrMore::One(file) => vec![file],
        OneOrMore::More(files) => files,
    };
    above.push(source.path.clone());
    let mut table = Table::new();
    for file in files {
        let path = source.path.parent().map_or(file.clone(), |folder| folder.join(&file));
        let is_same = |other: &PathBuf| *other == path || other.canonicalize().ok() == path.canonicalize().ok();
        if above.iter().any(is_same) {
            return Err(source.at("extends", &format!("{} extends itself; remove the circle", path.display())));
        }
        let text = text_of(&path).map_err(|ConfigError(problem)| source.at("extends", &problem))?;
        let mut inner = source.extending(path, text);
        let mut extended: Table = toml::from_str(&inner.text).map_err(|error| inner.syntax(&error))?;
        // The name of an experiment is its own.
        extended.remove("name");
        begin_store_here(&mut extended, &inner.path);
        merge(&mut table, with_extended(extended, &mut inner, above)?);
        source.extended.push(inner);
    }
    above.pop();
    merge(&mut table, own);
    Ok(table)
}
