//! How far a score may be from a claimed value.

use serde::Deserialize;
use veilgraph_runner::config::ConfigError;

use super::Mode;

/// How far a score may be from what is claimed, in the unit of tables or as a share of it; the larger of both counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tolerance {
    quick: f64,
    fixed: f64,
    full: f64,
    share: f64,
}

/// The same as it stands in the file: one number, or numbers by mode.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
pub(super) enum ToleranceText {
    Always(f64),
    ByMode(ToleranceTable),
}

/// A mode that is not named has the number of `fixed`.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToleranceTable {
    quick: Option<f64>,
    fixed: f64,
    full: Option<f64>,
    #[serde(default)]
    share: f64,
}

impl Tolerance {
    /// The numbers of a file.
    ///
    /// # Errors
    /// A number that is negative or no number would never hold, or always.
    pub(super) fn checked(text: ToleranceText) -> Result<Self, ConfigError> {
        let tolerance = match text {
            ToleranceText::Always(number) => Self { quick: number, fixed: number, full: number, share: 0.0 },
            ToleranceText::ByMode(ToleranceTable { quick, fixed, full, share }) => {
                Self { quick: quick.unwrap_or(fixed), fixed, full: full.unwrap_or(fixed), share }
            }
        };
        let Self { quick, fixed, full, share } = tolerance;
        if [quick, fixed, full, share].iter().all(|number| *number >= 0.0 && number.is_finite()) {
            Ok(tolerance)
        } else {
            Err(ConfigError("a `tolerance` is a finite number, and not below 0".to_owned()))
        }
    }

    /// What it allows around a value.
    pub(super) fn of(self, mode: Mode, expected: f64) -> f64 {
        let number = match mode {
            Mode::Quick => self.quick,
            Mode::Fixed => self.fixed,
            Mode::Full => self.full,
        };
        number.max(self.share * expected.abs())
    }
}
