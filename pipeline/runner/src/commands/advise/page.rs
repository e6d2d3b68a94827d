//! The advice as one page that needs nothing else.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use minijinja::{Environment, context};

use super::recommendation::recommendations;
use super::{Advice, chart, words};

const PAGE: &str = include_str!("page.html");

/// Writes the page into a file that does not exist yet.
pub(super) fn write(advice: &Advice, path: &Path) -> anyhow::Result<()> {
    let base = advice.knowledge.base_rate();
    let (head, rows) = words::table(&advice.answers);
    let worth = advice.worth.as_ref().map(|worth| {
        let (head, rows) = words::worth_table(worth, &advice.answers);
        context! { head, rows, nodes => worth.nodes, number => worth.majority.len() }
    });
    // A name beside an environment says that the text is HTML, so that values are escaped.
    let mut environment = Environment::new();
    environment.add_template("advice.html", PAGE)?;
    let page = environment.get_template("advice.html")?.render(context! {
        preamble => words::preamble(&advice.knowledge),
        recommendations => recommendations(&advice.answers, advice.worth.as_ref()),
        figure => chart::svg(advice)?,
        head,
        rows,
        worth,
        sentences => advice.answers.iter().map(|answer| words::sentence(answer, base)).collect::<Vec<_>>(),
        consent => advice
            .answers
            .iter()
            .map(|answer| {
                let question = &answer.question;
                let budget = format!("{} at {} nats", question.mechanism, words::nats(question.epsilon));
                [budget, words::consent(answer, base)]
            })
            .collect::<Vec<_>>(),
        assumptions => words::ASSUMPTIONS,
        version => env!("CARGO_PKG_VERSION"),
    })?;
    let wrong = || format!("{}: cannot write the page", path.display());
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).with_context(wrong)?;
    file.write_all(page.as_bytes()).with_context(wrong)
}
