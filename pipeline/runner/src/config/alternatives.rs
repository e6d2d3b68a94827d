//! Tables that are laid over the others, one at a time: `[[compare]]`, and the cells of a published profile.

use serde::Deserialize;
use toml::{Table, Value};

use super::overlay::merge;
use super::profile::Profile;
use super::references::{self, HeldData};
use super::source::{Laid, Source, typed};
use super::{Config, ConfigError, NAME_RULE, is_name};
use crate::published::Published;
use crate::task::STAGES;

/// `[[compare]]` as it stands in the file.
#[derive(Deserialize)]
struct Alternatives {
    compare: Vec<Table>,
}

/// Takes the tables `[[compare]]` out of a file.
pub(super) fn taken_from(table: &mut Table, source: &Source) -> Result<Vec<Table>, ConfigError> {
    match table.remove("compare") {
        None => Ok(Vec::new()),
        Some(tables) => {
            let tables = Table::from_iter([("compare".to_owned(), tables)]);
            Ok(typed::<Alternatives>(tables, "", source)?.compare)
        }
    }
}

/// Whether alternatives may differ in a table: in those of every stage after the ingest that has parameters.
fn may_differ(key: &str) -> bool {
    STAGES.contains(&key) && key != "ingest" && key != "evaluate"
}

impl Config {
    /// The config once for each of its `[[compare]]` tables (as it is if there is none) and once for each of its
    /// references, which are the usual floors where nothing is said; or once for each cell of a published profile.
    pub(crate) fn alternatives(
        &self,
        dataset: &str,
        published: Option<&Published>,
        held: HeldData,
    ) -> Result<Vec<Self>, ConfigError> {
        if self.profile == Profile::Published {
            return self.published_cells(dataset, published);
        }
        let mut all = if self.whole.alternatives.is_empty() { vec![self.clone()] } else { Vec::new() };
        for (at, alternative) in self.whole.alternatives.iter().enumerate() {
            all.push(self.with_alternative(Some(at), alternative)?);
        }
        let is_usual_floor = self.references.is_none();
        let names = self.references.clone().unwrap_or_else(|| references::usual_floors(&all, held));
        for reference in references::tables(&names, &self.source)? {
            all.push(Self { is_usual_floor, ..self.with_alternative(None, &reference)? });
        }
        let mut names: Vec<&Option<String>> = all.iter().map(|config| &config.alternative).collect();
        names.sort_unstable();
        if let Some([Some(name), _]) = names.array_windows().find(|[a, b]| a == b) {
            return Err(self.error(
                "compare",
                &format!("two [[compare]] are named `{name}` (a reference counts as one); give each a name of its own"),
            ));
        }
        Ok(all)
    }

    /// The config with a table laid over it: the one number `at` of its `[[compare]]` tables, or one that stands in no file.
    fn with_alternative(&self, at: Option<usize>, alternative: &Table) -> Result<Self, ConfigError> {
        let error = |problem: &str| match at {
            Some(at) => self.source.at_item("compare", at, problem),
            None => self.error("compare", problem),
        };
        let mut over = alternative.clone();
        let name = match over.remove("name") {
            Some(Value::String(name)) if is_name(&name) => name,
            _ => {
                return Err(error(&format!("every [[compare]] needs a name; {NAME_RULE}")));
            }
        };
        if let Some(key) = over.keys().find(|key| !may_differ(key)) {
            let allowed: Vec<&str> = STAGES.into_iter().filter(|stage| may_differ(stage)).collect();
            let problem = format!("`{key}` of `{name}` is none of {}", allowed.join(", "));
            return Err(error(&problem));
        }
        let mut table = self.whole.table.clone();
        merge(&mut table, over);
        let source = Source { alternative: at.map(|at| Laid { at, name: name.clone() }), ..self.source.clone() };
        let config = Self::from_table(table, Vec::new(), source)?;
        let published = self.published.clone();
        Ok(Self { label: vec![name.clone()], alternative: Some(name), published, ..config })
    }
}
