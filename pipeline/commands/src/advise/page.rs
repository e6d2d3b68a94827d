//! The advice as one page that needs nothing else.

use std::path::Path;

use anyhow::Context;
use minijinja::{Environment, Value, context};
use veilgraph_runner::belief::{in_nats, sentence};

use super::recommendation::recommendations;
use super::surrogates::Worth;
use super::{Advice, chart, words, worth_words};
use crate::new_files::{cannot_write, draft_beside};
use crate::report::STYLE;

const PAGE: &str = include_str!("page.html");

/// Writes the page into a file that does not exist yet.
pub(super) fn write(advice: &Advice, path: &Path) -> anyhow::Result<()> {
    let base = advice.knowledge.base_rate();
    let (head, rows) = words::table(advice);
    let worth = |worth: &Worth| {
        let (head, rows) = worth_words::worth_table(worth, &advice.answers);
        context! { head, rows, graphs => worth_words::graphs_in_words(worth) }
    };
    let figures: Vec<_> = chart::figures(advice)?.into_iter().map(on_page).collect();
    // A name beside an environment says that the text is HTML, so that values are escaped.
    let mut environment = Environment::new();
    environment.add_template("advice.html", PAGE)?;
    let page = environment.get_template("advice.html")?.render(context! {
        style => STYLE,
        preamble => words::preamble(advice),
        recommendations => recommendations(&advice.answers, &advice.worths),
        figures,
        head,
        rows,
        worths => advice.worths.iter().map(worth).collect::<Vec<_>>(),
        sentences => advice.answers.iter().map(|answer| sentence(answer, base)).collect::<Vec<_>>(),
        consent => advice
            .answers
            .iter()
            .map(|answer| {
                let question = &answer.question;
                let budget = format!("{} at {}", question.series, in_nats(question.epsilon));
                [budget, words::consent(answer, base)]
            })
            .collect::<Vec<_>>(),
        assumptions => words::ASSUMPTIONS,
        version => env!("CARGO_PKG_VERSION"),
    })?;
    let wrong = || cannot_write(path);
    // A link appears whole or not at all, and never in the place of another file.
    let draft = draft_beside(path)?;
    let written = std::fs::write(&draft, page).and_then(|()| std::fs::hard_link(&draft, path));
    let _ = std::fs::remove_file(&draft);
    written.with_context(wrong)
}

/// A figure with the names of its lines.
fn on_page(figure: chart::Figure) -> Value {
    let name = |name: chart::Name| context! { words => name.words, colour => name.colour, is_level => name.is_level };
    context! {
        drawing => figure.drawing,
        width => chart::SIZE.0,
        height => chart::SIZE.1,
        lines => figure.lines.into_iter().map(name).collect::<Vec<_>>(),
        caption => figure.caption,
        alternative => figure.alternative,
    }
}
