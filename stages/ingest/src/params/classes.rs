//! The classes that are declared beside a file of labels.

use serde::{Deserialize, Serialize};
use veilgraph_contract::Invalid;

use super::Params;
use super::check::wrong;
use crate::edges::MOST_CLASSES;
use crate::error::Error;

/// All classes that a label may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "the number of classes, such as 3, or the list of their names in quotes, such as [\"a\", \"b\"]; at most 65535"
)]
pub enum Classes {
    /// So many classes, which are called 0, 1, 2 and so on.
    Number(u16),
    /// The classes by name.
    Names(Vec<String>),
}

impl Classes {
    /// The names of all classes, in the order of their numbers.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Number(number) => (0..*number).map(|class| class.to_string()).collect(),
            Self::Names(names) => names.clone(),
        }
    }

    /// The class of each node by its declared number, where a format has numbered the classes by itself. `found` are their names.
    ///
    /// # Errors
    /// When a node has a class that is not declared.
    pub(crate) fn renumbered(&self, found: &[String], of_nodes: &[Option<u16>]) -> Result<Vec<Option<u16>>, Invalid> {
        let declared = self.names();
        let name = |class: u16| found.get(usize::from(class)).cloned().unwrap_or_else(|| class.to_string());
        let number = |&class: &Option<u16>| {
            let Some(name) = class.map(name) else { return Ok(None) };
            let place = declared.iter().position(|declared| *declared == name);
            let unknown =
                || Invalid(format!("the class `{name}` is not among the {} of `[ingest] classes`", declared.len()));
            place.map(|place| Some(place as u16)).ok_or_else(unknown)
        };
        of_nodes.iter().map(number).collect()
    }
}

/// Names of classes, if they have any: a class that is called by its number has no other name.
pub(crate) fn names_beside_numbers(names: Vec<String>) -> Vec<String> {
    let are_numbers = names.iter().enumerate().all(|(class, name)| *name == class.to_string());
    if are_numbers { Vec::new() } else { names }
}

impl Params {
    /// Classes can be declared where a file gives labels, each once.
    pub(super) fn classes_are_those_of_labels(&self) -> Result<(), Error> {
        let Some(classes) = &self.classes else { return Ok(()) };
        if !self.has_own_labels() {
            let problem = "`classes` is given, and there are no labels that it could belong to";
            let remedy = "give it beside `labels`, `archive` or format = \"ogb\", or remove it; a synthetic graph has \
                          [ingest.synthetic] classes";
            return Err(wrong(problem, remedy));
        }
        let names = classes.names();
        if names.len() < 2 || names.len() > MOST_CLASSES {
            let problem = format!("`classes` declares {} classes", names.len());
            return Err(wrong(problem, format!("declare 2 to {MOST_CLASSES}")));
        }
        if let Some(name) = names.iter().find(|name| name.trim() != name.as_str() || name.is_empty()) {
            return Err(wrong(format!("`classes` declares `{name}`"), "a class has a name without spaces around it"));
        }
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(wrong(format!("`classes` declares `{}` twice", pair[0]), "declare each class once")),
            None => Ok(()),
        }
    }
}
