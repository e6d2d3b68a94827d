//! The classes that are declared beside a file of labels.

use serde::{Deserialize, Serialize};

use super::Params;
use super::check::wrong;
use crate::edges::MOST_CLASSES;
use crate::error::Error;

/// All classes that a label may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number of classes, or the list of their names")]
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
}

impl Params {
    /// Classes can be declared where a file gives labels, each once.
    pub(super) fn classes_are_those_of_labels(&self) -> Result<(), Error> {
        let Some(classes) = &self.classes else { return Ok(()) };
        if self.labels.is_none() {
            return Err(wrong(
                "`classes` is given, but `labels` is not",
                "name the file of labels, or remove `classes`",
            ));
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
