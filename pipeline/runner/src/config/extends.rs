//! What a config says with everything that is laid under and over it: the configs that it extends, and `--set`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Table;

use super::overlay::{merge, overlay};
use super::source::{Source, typed};
use super::{ConfigError, text_of};

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
    let mut source = Source { path: path.to_owned(), text, overlaid: Vec::new() };
    let own: Table = toml::from_str(&source.text).map_err(|error| source.syntax(&error))?;
    let mut table = with_extended(own, &source, &mut Vec::new())?;
    for set in sets {
        if set.trim_start().starts_with("extends=") {
            let problem = "a config names what it extends in its file; lay single values over it with --set";
            return Err(ConfigError(format!("--set {set}: {problem}")));
        }
        source.overlaid.push(overlay(&mut table, set)?);
    }
    Ok((table, source))
}

/// The tables of the files that `own` extends, from the first to the last, and `own` laid over them. `above` holds the
/// files that led here.
fn with_extended(mut own: Table, source: &Source, above: &mut Vec<PathBuf>) -> Result<Table, ConfigError> {
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
        let inner = Source { path, text, overlaid: Vec::new() };
        let mut extended: Table = toml::from_str(&inner.text).map_err(|error| inner.syntax(&error))?;
        // The name of an experiment is its own.
        extended.remove("name");
        merge(&mut table, with_extended(extended, &inner, above)?);
    }
    above.pop();
    merge(&mut table, own);
    Ok(table)
}
