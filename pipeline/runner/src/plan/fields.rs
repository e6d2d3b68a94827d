//! Which fields a config gives, and which of them the stage functions of the plan read.

use std::collections::BTreeSet;

use crate::config::fields::ABOVE_TABLES;
use crate::config::{Config, ConfigError};
use crate::nearest::{did_you_mean, nearest};

/// Given and read fields over all alternatives of a plan.
#[derive(Clone, Default)]
pub(super) struct FieldsOfPlan {
    /// Tables of stages that the config has.
    tables: BTreeSet<String>,
    /// Fields with their tables, as the config gives them.
    given: BTreeSet<String>,
    /// Tables that a stage function asked for.
    asked: BTreeSet<String>,
    /// Fields that one has read.
    read: BTreeSet<String>,
    /// The same before a floor was planned that nobody asked for.
    before_floor: Option<Box<Self>>,
}

/// What the stage functions of all systems can read, whether or not a plan has them.
#[derive(Default)]
pub(crate) struct KnownFields {
    /// Names of mechanisms for links, each with the parameters that it reads.
    pub mechanisms: Vec<(&'static str, Vec<String>)>,
    /// Tables with the fields that some stage function reads.
    pub tables: Vec<(&'static str, Vec<String>)>,
}

impl FieldsOfPlan {
    /// An alternative begins. A reference reads whatever a config says, so what a floor has read that nobody asked for is
    /// forgotten again: it must excuse no mistake.
    pub(super) fn begin(&mut self, is_usual_floor: bool) {
        if let Some(before) = self.before_floor.take() {
            *self = *before;
        }
        if is_usual_floor {
            self.before_floor = Some(Box::new(self.clone()));
        }
    }

    pub(super) fn given(&mut self, table: &str, fields: &[String]) {
        self.tables.insert(table.to_owned());
        self.given.extend(fields.iter().cloned());
    }

    pub(super) fn read(&mut self, table: &str, fields: impl IntoIterator<Item = String>) {
        self.asked.insert(table.to_owned());
        self.read.extend(fields);
    }

    /// Refuses what the config says and no stage function reads. `known` says what other plans would read.
    ///
    /// What the file says for another choice than that of `--set` is no mistake.
    pub(super) fn check(&self, config: &Config, known: &KnownFields) -> Result<(), ConfigError> {
        if let Some(before) = &self.before_floor {
            return before.check(config, known);
        }
        let is_asked =
            |table: &str| self.asked.iter().any(|asked| asked == table || asked.starts_with(&format!("{table}.")));
        let is_mistaken = |table: &&String| !is_asked(table) && config.set_beside(table).is_none();
        if let Some(table) = self.tables.iter().find(is_mistaken) {
            let problem = format!(
                "no stage of this plan asks for [{table}]; remove the table, or choose a mechanism or an estimate that reads it"
            );
            return Err(config.error(table, &problem));
        }
        for field in self.given.difference(&self.read) {
            match config.set_beside(field) {
                Some(set) if known.has(field) => {
                    tracing::warn!("{field}: the config gives this field, and nothing reads it beside --set {set}");
                }
                _ => return Err(config.error(field, &unread(field, known))),
            }
        }
        Ok(())
    }
}

impl KnownFields {
    /// Whether some plan would read this field.
    fn has(&self, field: &str) -> bool {
        let (table, name) = field.rsplit_once('.').unwrap_or(("", field));
        // A field of a table that is itself one field of a mechanism.
        if !table.is_empty() && self.has(table) {
            return true;
        }
        let of_tables = self.tables.iter().filter(|(of, _)| *of == table).map(|(_, fields)| fields);
        let of_mechanisms = self.mechanisms.iter().filter(|_| table == "privatize.links").map(|(_, fields)| fields);
        of_tables.chain(of_mechanisms).flatten().any(|known| known == name)
    }
}

/// Why nobody reads a field, and what to do.
fn unread(field: &str, all: &KnownFields) -> String {
    let mechanisms = &all.mechanisms;
    let (table, name) = field.rsplit_once('.').unwrap_or(("", field));
    if ABOVE_TABLES.contains(&name) {
        return format!("`{name}` belongs above the first table; move its line there");
    }
    let of_table = || all.tables.iter().filter(|(of, _)| *of == table).flat_map(|(_, fields)| fields);
    if let Some(inner) = table.strip_prefix("privatize.") {
        let axes = ["links", "features", "labels"];
        if !axes.contains(&inner.split('.').next().unwrap_or(inner)) {
            let hint =
                nearest(inner, &axes).map_or(String::new(), |hint| format!("; did you mean `privatize.{hint}`?"));
            return format!("there is no table `{table}`{hint}");
        }
    }
    if ["privatize.features", "privatize.labels"].contains(&table) && of_table().any(|known| known == name) {
        return format!(
            "`{name}` is not read by the chosen mechanism; set `mechanism` to one that reads it, or remove it"
        );
    }
    if table == "privatize.links" {
        let readers: Vec<&str> =
            mechanisms.iter().filter(|(_, fields)| fields.iter().any(|known| known == name)).map(|row| row.0).collect();
        if !readers.is_empty() {
            return format!(
                "`{name}` is not read by the chosen mechanism (it is by {}); remove it, or choose another mechanism",
                readers.join(", ")
            );
        }
    }
    if of_table().any(|known| known == name) {
        return format!("`{name}` is not read by what this plan runs; remove it, or choose what reads it");
    }
    let of_mechanisms = mechanisms.iter().flat_map(|(_, fields)| fields).filter(|_| table == "privatize.links");
    let known: Vec<&str> = of_table().chain(of_mechanisms).map(String::as_str).collect();
    let hint = did_you_mean(name, &known);
    format!("unknown field `{name}`{hint}")
}
