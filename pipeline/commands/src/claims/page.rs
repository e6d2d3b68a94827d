//! The verdicts as a page.

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};

use super::verdict::Verdict;
use super::{Checked, in_number, skipped};
use crate::report::STYLE;

const PAGE: &str = include_str!("page.html");

pub(super) fn written(checked: &[Checked], command: &str) -> anyhow::Result<String> {
    let number = |verdict: Verdict| checked.iter().filter(|checked| checked.finding.verdict == verdict).count();
    // Several claims share the time of their experiment.
    let mut experiments: Vec<(&str, f64)> =
        checked.iter().map(|checked| (checked.experiment, checked.seconds)).collect();
    experiments.dedup_by_key(|experiment| experiment.0);
    let seconds: f64 = experiments.iter().map(|experiment| experiment.1).sum();
    let judged: Vec<&Checked> = checked.iter().filter(|one| one.finding.verdict != Verdict::Skipped).collect();
    let left_out = skipped(checked);
    let mut environment = Environment::new();
    environment.add_template("claims.html", PAGE)?;
    let page = environment.get_template("claims.html")?.render(context! {
        style => STYLE,
        judged => judged.iter().map(|one| Value::from(Serde(*one))).collect::<Vec<_>>(),
        left_out => left_out.iter().map(|(experiment, why, number)| format!("{} of {experiment}: {why}", in_number(*number))).collect::<Vec<_>>(),
        held => number(Verdict::Holds),
        failed => number(Verdict::Fails),
        undecided => number(Verdict::Undecided),
        skipped => number(Verdict::Skipped),
        minutes => (seconds / 6.0).round() / 10.0,
        command,
        provenance => crate::report::program_and_machine(),
    })?;
    Ok(page)
}
