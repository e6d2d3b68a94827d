//! What every accuracy is read beside: floors that need no link, and the ceiling with the true ones.

use toml::Table;

use super::ConfigError;
use super::source::Source;
use crate::nearest::nearest;

/// A reference by its name, and the tables that are laid over the config for it.
struct Reference {
    name: &'static str,
    tables: &'static str,
}

const REFERENCES: [Reference; 5] = [
    Reference { name: "majority", tables: "privatize.links.mechanism = 'no-links'\ntrain.task = 'majority'" },
    Reference { name: "no-links", tables: "privatize.links.mechanism = 'no-links'\ntrain.model = 'mlp'" },
    Reference { name: "similar", tables: "privatize.links.mechanism = 'no-links'\nconstruct.variant = 'similar'" },
    Reference { name: "features-only", tables: "privatize.links.mechanism = 'no-links'\ntrain.task = 'beliefs'" },
    Reference { name: "non-private", tables: "privatize.links.mechanism = 'non-private'" },
];

/// The alternatives that the names of `references` stand for.
pub(super) fn tables(names: &[String], source: &Source) -> Result<Vec<Table>, ConfigError> {
    let mut tables: Vec<Table> = Vec::new();
    for name in names {
        let Some(reference) = REFERENCES.iter().find(|reference| reference.name == name) else {
            let known: Vec<&str> = REFERENCES.iter().map(|reference| reference.name).collect();
            let hint = nearest(name, &known).map_or(String::new(), |hint| format!("; did you mean `{hint}`?"));
            let problem = format!("`{name}` is none of {}{hint}", known.join(", "));
            return Err(source.at("references", &problem));
        };
        let mut table: Table = toml::from_str(reference.tables)
            .unwrap_or_else(|error| unreachable!("the tables of `{name}` are TOML: {error}"));
        table.insert("name".to_owned(), name.as_str().into());
        tables.push(table);
    }
    Ok(tables)
}
