//! The advice as one page that needs nothing else.

use std::path::Path;

use anyhow::Context;
use minijinja::{Environment, context};

use super::recommendation::recommendations;
use super::{Advice, chart, words};
use crate::commands::export::draft_beside;

const PAGE: &str = include_str!("page.html");

/// Writes the page into a file that does not exist yet.
pub(super) fn write(advice: &Advice, path: &Path) -> anyhow::Result<()> {
    let base = advice.knowledge.base_rate();
    let (head, rows) = words::table(&advice.answers);
    let worth = advice.worth.as_ref().map(|worth| {
        let (head, rows) = words::worth_table(worth, &advice.answers);
        context! { head, rows, surrogates => words::surrogates(worth) }
    });
    // A name beside an environment says that the text is HTML, so that values are escaped.
    let mut environment = Environment::new();
    environment.add_template("advice.html", PAGE)?;
    let page = environment.get_template("advice.html")?.render(context! {
        preamble => words::preamble(&advice.knowledge),
        recommendations => recommendations(&advice.answers, advice.worth.as_ref()),
        figure => chart::svg(advice)?,
        mechanism => advice.answers.first().map(|answer| answer.question.mechanism.as_str()),
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
    // A link appears whole or not at all, and never in the place of another file.
    let draft = draft_beside(path)?;
    let written = std::fs::write(&draft, page).and_then(|()| std::fs::hard_link(&draft, path));
    let _ = std::fs::remove_file(&draft);
    written.with_context(wrong)
}
