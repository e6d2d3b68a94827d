//! Answers as people read them.

use comfy_table::{CellAlignment, Table, presets};
use veilgraph_runner::belief::{
    Answer, Range, between, between_at_most, bounded, nats, percents, percents_at_most, verdict,
};

use super::Advice;
use super::worth_words;

/// What the closed forms leave out.
pub(super) const ASSUMPTIONS: &str = "Shares found are those of a server that reads degrees and reports and nothing else. \
                                      One that also reads features, labels and common neighbours finds what half a nat to a \
                                      nat more would show (docs/benchmarks/advise.md). The belief that is given as the most is \
                                      about a pair of which nothing else is known, to a server that knows all other links. \
                                      docs/choosing-epsilon.md explains every column.";

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
            percents_at_most(answer.at_most),
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

/// The sentence for a consent form.
pub(super) fn consent(answer: &Answer, base: Range) -> String {
    let Some(seen) = &answer.question.seen else {
        return "Nothing about your contacts leaves your device.".to_owned();
    };
    if seen.per_link.is_infinite() {
        return "Your list of contacts is given away as it is.".to_owned();
    }
    if !seen.is_sound {
        return "No promise can be made: the cost of these reports does not hold as executed.".to_owned();
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
        between_at_most(answer.at_most),
        between(answer.hubs_after),
        if seen.is_bound { bounded(answer.found) } else { between(answer.found) },
    )
}
