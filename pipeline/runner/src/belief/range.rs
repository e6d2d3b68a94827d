//! Numbers of which only the ends are known.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A number of which only its ends are known.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Range {
    /// Least that it can be.
    pub low: f64,
    /// Most that it can be.
    pub high: f64,
}

/// A range as a config writes it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a number, or a list of the least and the largest that it can be")]
enum Written {
    Number(f64),
    Ends([f64; 2]),
}

impl Range {
    /// From the least to the largest of these numbers.
    pub fn over(values: impl Iterator<Item = f64>) -> Self {
        let nothing = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };
        values.fold(nothing, |range, value| Self { low: range.low.min(value), high: range.high.max(value) })
    }

    /// The middle by ratio: as far from one end as from the other, as a factor.
    #[must_use]
    pub fn middle(self) -> f64 {
        self.at(0.5)
    }

    /// A place between the ends, from 0 to 1, by ratio where both are positive.
    #[must_use]
    pub fn at(self, place: f64) -> f64 {
        if self.low == self.high {
            self.low
        } else if self.low > 0.0 {
            self.low * (self.high / self.low).powf(place)
        } else {
            self.low + (self.high - self.low) * place
        }
    }

    pub(crate) fn is_within(self, low: f64, high: f64) -> bool {
        low <= self.low && self.high <= high
    }
}

impl TryFrom<Written> for Range {
    type Error = String;
    fn try_from(written: Written) -> Result<Self, String> {
        let (low, high) = match written {
            Written::Number(number) => (number, number),
            Written::Ends([low, high]) => (low, high),
        };
        if !(low.is_finite() && high.is_finite()) {
            return Err(format!("{low} to {high} is no range of numbers"));
        }
        if low <= high {
            Ok(Self { low, high })
        } else {
            Err(format!("the range {low} to {high} ends before it begins"))
        }
    }
}

impl FromStr for Range {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| -> Result<f64, String> {
            let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| format!("`{text}` is neither a number nor a range such as `10-20`"))
        };
        let (low, high) = match text.split_once('-') {
            // A sign is no range.
            Some((low, high)) if !low.is_empty() && !low.ends_with(['e', 'E']) => (number(low)?, number(high)?),
            _ => (number(text)?, number(text)?),
        };
        if low > high { Err(format!("the range `{text}` ends before it begins")) } else { Ok(Self { low, high }) }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        // Three digits are more than anybody knows.
        let rounded = |value: f64| {
            let unit = if value == 0.0 { 1.0 } else { 10_f64.powf(value.abs().log10().floor() - 2.0) };
            if unit >= 1.0 { value.round() } else { (value / unit).round() / (1.0 / unit).round() }
        };
        let (low, high) = (rounded(self.low), rounded(self.high));
        if low == high { low.fmt(formatter) } else { write!(formatter, "{low} to {high}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_numbers_or_two_of_them() {
        assert_eq!("15".parse(), Ok(Range { low: 15.0, high: 15.0 }));
        assert_eq!("0.5-2".parse(), Ok(Range { low: 0.5, high: 2.0 }));
        assert_eq!("1e-3".parse(), Ok(Range { low: 1e-3, high: 1e-3 }));
        assert_eq!("-3".parse(), Ok(Range { low: -3.0, high: -3.0 }));
        for wrong in ["", "many", "3-1", "1-x", "nan", "inf"] {
            assert!(wrong.parse::<Range>().is_err(), "{wrong}");
        }
        assert!((Range { low: 2.0, high: 50.0 }.middle() - 10.0).abs() < 1e-9);
        assert_eq!(Range { low: 0.0, high: 1.0 }.middle(), 0.5);
        assert_eq!(Range { low: 7.449_66, high: 12_345.6 }.to_string(), "7.45 to 12346");
        assert_eq!(Range { low: 0.0012, high: 0.0012 }.to_string(), "0.0012");
    }
}
