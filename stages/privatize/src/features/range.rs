//! The range of a feature: declared, or taken from the data.

use serde::{Deserialize, Serialize};
use veilgraph_graph::SparseMatrix;

use crate::Error;

/// The least and the largest value that a feature can have; `range` in a config.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Range {
    /// Declared, without a look at the data: `[lower, upper]`, finite, `lower < upper`.
    Declared([f64; 2]),
    /// The least and the largest value of all nodes. No node can know them alone, so nothing that follows is sound.
    Data,
}

/// A range that no feature can have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RangeError {
    /// The ends are not in order.
    #[error(
        "range = [{0}, {1}] is empty; write two numbers of which the first is smaller, such as [0, 1], or \"data\""
    )]
    Ends(f64, f64),
    /// Another word than `data`.
    #[error("range = \"{0}\" is neither two numbers nor \"data\"")]
    Word(String),
}

/// A range as a config writes it.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a range is two numbers such as [0, 1], or \"data\"")]
enum Written {
    Ends([f64; 2]),
    Word(String),
}

impl Range {
    /// The ends of the range; `features` are looked at only where the range is that of the data.
    ///
    /// # Errors
    /// When all features of the data have the same value.
    pub(super) fn ends(self, features: &SparseMatrix) -> Result<[f64; 2], Error> {
        let Self::Declared(ends) = self else {
            let ends = features.ends().map(f64::from);
            return if ends[0] < ends[1] { Ok(ends) } else { Err(Error::OneValue) };
        };
        Ok(ends)
    }
}

impl Default for Range {
    fn default() -> Self {
        Self::Declared([0.0, 1.0])
    }
}

impl TryFrom<Written> for Range {
    type Error = RangeError;

    fn try_from(written: Written) -> Result<Self, RangeError> {
        match written {
            Written::Ends([lower, upper]) if lower < upper && (upper - lower).is_finite() => {
                Ok(Self::Declared([lower, upper]))
            }
            Written::Ends([lower, upper]) => Err(RangeError::Ends(lower, upper)),
            Written::Word(word) if word == "data" => Ok(Self::Data),
            Written::Word(word) => Err(RangeError::Word(word)),
        }
    }
}

impl From<Range> for Written {
    fn from(range: Range) -> Self {
        match range {
            Range::Declared(ends) => Self::Ends(ends),
            Range::Data => Self::Word("data".to_owned()),
        }
    }
}
