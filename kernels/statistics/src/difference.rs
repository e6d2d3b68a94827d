//! The difference of two methods that were scored in the same trials.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::summary::student_quantile;
use crate::{ALPHA, Summary};

/// How much more one method scores than another, over the trials that both have.
///
/// Trials share their split, their graph and the seed of their initial weights, so that the difference within a trial
/// varies less than either score does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Number of shared trials.
    pub trials: usize,
    /// Mean difference.
    pub mean: f64,
    /// Half width of the 95 % interval of the mean (Student's t); not a number for one trial.
    pub half_width: f64,
    /// Two-sided p-value of the paired t-test that there is no difference; absent for one trial. Where every trial shows the
    /// same difference, no spread is left to test by, and it is that of the sign test: 2^(1 − n), or 1 where none shows any.
    pub p_value: Option<f64>,
}

impl Difference {
    /// The difference of `ours` and `theirs`, both by trial; `None` where they share no trial.
    #[must_use]
    pub fn of(ours: &BTreeMap<u32, f64>, theirs: &BTreeMap<u32, f64>) -> Option<Self> {
        let summary = Summary::of(&paired_differences(ours, theirs))?;
        Some(Self {
            trials: summary.trials,
            mean: summary.mean,
            half_width: summary.half_width,
            p_value: p_value(&summary, largest(ours).max(largest(theirs))),
        })
    }

    /// Half width of the interval where this is one of `number` differences whose intervals hold together with 95 % (Bonferroni).
    #[must_use]
    pub fn half_width_among(&self, number: usize) -> f64 {
        let quantile = |alpha: f64| student_quantile(self.trials, alpha);
        self.half_width * quantile(ALPHA / number.max(1) as f64) / quantile(ALPHA)
    }
}

/// How much more `ours` scores than `theirs` in each trial that both have.
#[must_use]
pub fn paired_differences(ours: &BTreeMap<u32, f64>, theirs: &BTreeMap<u32, f64>) -> Vec<f64> {
    ours.iter().filter_map(|(trial, score)| Some(score - theirs.get(trial)?)).collect()
}

/// The largest size of a score.
fn largest(scores: &BTreeMap<u32, f64>) -> f64 {
    scores.values().fold(0.0, |most, score| most.max(score.abs()))
}

/// Two-sided p-value of the t-test that the mean is 0, for differences of scores that are at most `largest` in size.
fn p_value(summary: &Summary, largest: f64) -> Option<f64> {
    if summary.trials < 2 {
        return None;
    }
    let n = summary.trials as f64;
    let standard_error = summary.standard_deviation / n.sqrt();
    // Scores are rounded, which leaves a spread of this size among differences that are equal.
    let rounding = 1e-12 * largest;
    if standard_error <= rounding {
        return Some(if summary.mean.abs() <= rounding { 1.0 } else { (1.0 - n).exp2() });
    }
    let law = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    Some(2.0 * law.sf((summary.mean / standard_error).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One node more of 48,603 in every trial: the differences are equal but for the rounding of the scores.
    #[test]
    fn equal_differences_are_told_by_the_size_of_the_scores() {
        let scores =
            |hits: [u32; 5]| -> BTreeMap<u32, f64> { (0..).zip(hits.map(|hits| f64::from(hits) / 48_603.0)).collect() };
        let theirs = [33_001, 33_417, 34_222, 31_999, 35_555];
        let difference = Difference::of(&scores(theirs.map(|hits| hits + 1)), &scores(theirs)).expect("shared");
        assert_eq!(difference.p_value, Some(0.0625), "that of the sign test");
        let none = Difference::of(&scores(theirs), &scores(theirs)).expect("shared");
        assert_eq!(none.p_value, Some(1.0));
        let spread =
            Difference::of(&scores([33_101, 33_557, 34_302, 32_119, 35_645]), &scores(theirs)).expect("shared");
        assert!(spread.p_value.is_some_and(|p| p < 0.01), "{spread:?}");
    }
}
