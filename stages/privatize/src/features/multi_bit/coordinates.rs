//! On how many features a node reports.

use serde::{Deserialize, Serialize};
use veilgraph_privacy::Epsilon;

use crate::Error;

/// Number of features on which a node reports; `coordinates` in a config.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Coordinates {
    /// `max(1, min(d, ⌊epsilon / 2.18⌋))`, as in the paper.
    #[default]
    Floor,
    /// The whole number at which the variance is least; the paper's rule misses it for some budgets.
    Best,
    /// All features, each with an equal part of the budget.
    All,
    /// This many, at least 1.
    Number(usize),
}

/// A number of features that nobody can report on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("coordinates = {0} is neither a number from 1 on nor one of \"floor\", \"best\" and \"all\"")]
pub struct CoordinatesError(String);

/// A number as a config writes it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(usize),
    Word(String),
}

impl Coordinates {
    /// The number for `n_features` features.
    ///
    /// # Errors
    /// When more features are asked for than there are.
    pub fn resolve(self, epsilon: Epsilon, n_features: usize) -> Result<usize, Error> {
        let within = |number: usize| number.min(n_features).max(1);
        let epsilon = epsilon.nats();
        match self {
            Self::Floor => Ok(within((epsilon / 2.18) as usize)),
            Self::Best => {
                // The variance falls and then rises with the number, and is least near this one.
                let near = (epsilon / 2.18) as usize;
                let candidates = [near, near.saturating_add(1)].map(within);
                let better = relative_variance(epsilon, candidates[1]) < relative_variance(epsilon, candidates[0]);
                Ok(candidates[usize::from(better)])
            }
            Self::All => Ok(n_features),
            Self::Number(number) if number > n_features => Err(Error::Coordinates(number, n_features)),
            Self::Number(number) => Ok(number),
        }
    }
}

/// The variance of an estimated feature in the middle of the range, up to a factor that does not depend on `number`:
/// `coth²(epsilon / (2 number)) / number`.
fn relative_variance(epsilon: f64, number: usize) -> f64 {
    let number = number as f64;
    (epsilon / (2.0 * number)).tanh().powi(-2) / number
}

impl TryFrom<Written> for Coordinates {
    type Error = CoordinatesError;

    fn try_from(written: Written) -> Result<Self, CoordinatesError> {
        match written {
            Written::Number(number) if number > 0 => Ok(Self::Number(number)),
            Written::Number(number) => Err(CoordinatesError(number.to_string())),
            Written::Word(word) if word == "floor" => Ok(Self::Floor),
            Written::Word(word) if word == "best" => Ok(Self::Best),
            Written::Word(word) if word == "all" => Ok(Self::All),
            Written::Word(word) => Err(CoordinatesError(format!("\"{word}\""))),
        }
    }
}

impl From<Coordinates> for Written {
    fn from(coordinates: Coordinates) -> Self {
        match coordinates {
            Coordinates::Floor => Self::Word("floor".to_owned()),
            Coordinates::Best => Self::Word("best".to_owned()),
            Coordinates::All => Self::Word("all".to_owned()),
            Coordinates::Number(number) => Self::Number(number),
        }
    }
}
