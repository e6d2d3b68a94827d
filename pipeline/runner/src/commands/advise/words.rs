//! Answers as people read them.

use comfy_table::{CellAlignment, Table, presets};

use super::Advice;
use super::answer::Answer;
use super::range::Range;
use super::worth_words;

/// What the closed forms leave out.
pub(super) const ASSUMPTIONS: &str = "Shares found are those of a server that reads degrees and reports and nothing else. \
                                      One that also reads features, labels and common neighbours finds what half a nat to a \
                                      nat more would show (docs/benchmarks/advise.md). The belief that is given as the most is \
                                      about a pair of which nothing else is known, to a server that knows all other links. \
                                      docs/choosing-epsilon.md explains every column.";

/// A share as a percentage, with as many digits as say something.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if share > 0.0 && percent < 0.001 {
        format!("{percent:.1e} %")
    } else if percent < 1.0 {
        // Two digits, wherever they stand.
        let decimals = if percent > 0.0 { (1.0 - percent.log10().floor()).max(0.0) as usize } else { 0 };
        format!("{percent:.decimals$} %")
    } else if percent < 10.0 {
        format!("{percent:.1} %")
    } else if share < 1.0 && percent >= 99.0 {
        // Nearly everything is not everything.
        format!("{:.1} %", (percent * 10.0).floor() / 10.0)
    } else {
        format!("{percent:.0} %")
    }
}

/// A range of shares.
pub(super) fn percents(range: Range) -> String {
    let (low, high) = (percent(range.low), percent(range.high));
    if low == high { low } else { format!("{} to {high}", low.trim_end_matches(" %")) }
}

/// The same within a sentence.
fn between(range: Range) -> String {
    let (low, high) = (percent(range.low), percent(range.high));
    if low == high { low } else { format!("between {low} and {high}") }
}

/// Nats with at most two decimals, or two digits if they are few.
pub(super) fn nats(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.005 {
        format!("{value:.1e}")
    } else {
        ((value * 100.0).round() / 100.0).to_string()
    }
}

/// A budget with its unit.
pub(super) fn in_nats(value: f64) -> String {
    if value == 1.0 { "1 nat".to_owned() } else { format!("{} nats", nats(value)) }
}

/// What is known about the graph, and what was asked.
pub(super) fn preamble(advice: &Advice) -> Vec<String> {
    let knowledge = &advice.knowledge;
    let base_rate = percents(knowledge.base_rate());
    let mut lines = vec![format!("Before any report, a pair is linked with probability {base_rate}.")];
    lines.extend(knowledge.all().iter().map(|known| format!("{}: {} ({})", known.what, known.range, known.source)));
    lines.push(format!("asked with: {}", advice.asked.join(" ")));
    lines
}

/// Headings and rows of the table of answers, with accuracies where networks were trained: on graphs that were drawn, if there
/// are such.
pub(super) fn table(advice: &Advice) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let worth = advice.worths.first();
    let mut head = vec![
        "mechanism",
        "epsilon",
        "per list bit",
        "per link",
        "per node",
        "average pair, all claim",
        "at most",
        "two hubs, all claim",
        "links found",
        "of hubs",
        "of leaves",
        "by two releases",
        "bytes a node",
    ];
    head.extend(worth.map(|_| "accuracy (floor to ceiling)"));
    head.push("in words");
    let row = |(place, answer): (usize, &Answer)| {
        let seen = answer.question.seen.as_ref();
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let share = |range: Range| if answer.is_bound() { bounded(range) } else { percents(range) };
        // A bound on all links is none on those of some.
        let part = |range: Range| if answer.is_bound() { "-".to_owned() } else { percents(range) };
        let mut cells = vec![
            answer.question.series.clone(),
            nats(answer.question.epsilon),
            or_dash(seen.and_then(|seen| seen.per_list_bit).map(nats)),
            or_dash(seen.map(|seen| nats(seen.per_link))),
            or_dash(seen.map(|seen| nats(seen.per_node(answer.nodes)))),
            or_dash(seen.map(|_| part(answer.all_claim))),
            percents(answer.at_most),
            percents(answer.hubs_after),
            share(answer.found),
            part(answer.found_of_hubs),
            part(answer.found_of_leaves),
            share(answer.found_twice),
            or_dash(answer.bytes.map(|bytes| format!("{bytes:.0}"))),
        ];
        cells.extend(worth.map(|worth| worth_words::accuracy(worth, place)));
        cells.push(verdict(answer));
        cells
    };
    (head, advice.answers.iter().enumerate().map(row).collect())
}

/// The verdict; where only a bound is known, it is about the worst that can be.
fn verdict(answer: &Answer) -> String {
    let words = answer.verdict.words();
    if answer.is_bound() { format!("at worst: {words}") } else { words.to_owned() }
}

/// The largest share, as a bound.
fn bounded(range: Range) -> String {
    format!("at most {}", percent(range.high))
}

/// The table as text.
pub(super) fn table_text(advice: &Advice) -> String {
    let (head, rows) = table(advice);
    text_of(head, rows)
}

pub(super) fn text_of(head: Vec<&'static str>, rows: Vec<Vec<String>>) -> String {
    let last = head.len() - 1;
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN).set_header(head).add_rows(rows);
    for column in 1..last {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// One answer as sentences.
pub(super) fn sentence(answer: &Answer, base: Range) -> String {
    let mechanism = &answer.question.series;
    let Some(seen) = &answer.question.seen else {
        return format!("{mechanism}: nothing about links leaves a node.");
    };
    if seen.per_link.is_infinite() {
        return format!("{mechanism}: {}. The server is told which pairs are linked.", verdict(answer));
    }
    let looks = match seen.signal.pair.len() {
        0 => "No list is sent, only degrees:".to_owned(),
        _ if seen.is_bound => "Whatever the reports say,".to_owned(),
        1 => "Where the report of a pair claims a link,".to_owned(),
        2 => "Where both ends of a pair claim a link,".to_owned(),
        looks => format!("Where all {looks} reports of a pair claim a link,"),
    };
    let reached = if seen.is_bound {
        format!("to {} at most", between(answer.at_most))
    } else {
        format!("to {}", between(answer.all_claim))
    };
    let found = if seen.is_bound {
        format!("{} of the links, and after a second release {}", bounded(answer.found), bounded(answer.found_twice))
    } else {
        format!(
            "{} of the links ({} of those of hubs, {} of those between nodes of few links), and after a second release {}",
            between(answer.found),
            between(answer.found_of_hubs),
            between(answer.found_of_leaves),
            between(answer.found_twice)
        )
    };
    let unsound =
        if seen.is_sound { "" } else { " The noise is drawn in floating point and leaks, so none of this holds." };
    format!(
        "{mechanism} at {}: {}. {looks} the server's belief about an average pair rises from {} {reached}, and about a pair of \
         two hubs from {} to {}. To a server that knows all other links, the reports can raise the belief about an average pair to {} \
         at most. A server that names as many pairs as there are links finds {found}.{unsound}",
        in_nats(answer.question.epsilon),
        verdict(answer),
        between(base),
        between(answer.hubs_before),
        between(answer.hubs_after),
        between(answer.at_most),
    )
}

/// The sentence for a consent form.
pub(super) fn consent(answer: &Answer, base: Range) -> String {
    let Some(seen) = &answer.question.seen else {
        return "Nothing about your contacts leaves your device.".to_owned();
    };
    if seen.per_link.is_infinite() {
        return "Your list of contacts is given away as it is.".to_owned();
    }
    let sender = if seen.per_list_bit.is_some() {
        "Your device sends a randomized version of your list of contacts, and the list itself stays with you."
    } else {
        "A trusted organization holds your list of contacts and publishes a randomized version of all lists together."
    };
    let of_hubs = if seen.is_bound { String::new() } else { format!(" ({})", between(answer.found_of_hubs)) };
    format!(
        "{sender} For two people about whom nothing else is known, this may raise our belief that they are in contact from {} to {} at \
         most. For people with very many contacts the belief starts higher; for two of them who both report the contact it is {}. We expect to name {} of all \
         contacts correctly, and the contacts of people with very many of them more often{of_hubs}. Each further collection adds to \
         this.",
        between(base),
        between(answer.at_most),
        between(answer.hubs_after),
        if seen.is_bound { bounded(answer.found) } else { between(answer.found) },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_the_digits_that_matter() {
        let texts = [0.0, 1e-6, 0.000_669, 0.0142, 0.657, 0.998_7, 0.999_99, 1.0].map(percent);
        assert_eq!(texts, ["0 %", "1.0e-4 %", "0.067 %", "1.4 %", "66 %", "99.8 %", "99.9 %", "100 %"]);
        assert_eq!(percents(Range { low: 0.1, high: 0.2 }), "10 to 20 %");
        assert_eq!(percents(Range { low: 0.2, high: 0.2 }), "20 %");
    }
}
