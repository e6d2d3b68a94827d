//! Answers as people read them.

use comfy_table::{CellAlignment, Table, presets};

use super::answer::Answer;
use super::knowledge::Knowledge;
use super::range::Range;
use super::surrogates::Worth;

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
    } else if share < 1.0 && percent > 99.0 {
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

/// What is known about the graph.
pub(super) fn preamble(knowledge: &Knowledge) -> Vec<String> {
    let mut lines = vec![format!(
        "{} nodes{}. Before any report, a pair is linked with probability {}.",
        knowledge.nodes,
        knowledge.classes.map_or(String::new(), |classes| format!(", {classes} classes")),
        percents(knowledge.base_rate())
    )];
    lines.extend(knowledge.all().map(|known| format!("{}: {} ({})", known.what, known.range, known.source)));
    lines
}

/// Headings and rows of the table of answers.
pub(super) fn table(answers: &[Answer]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let head = vec![
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
        "in words",
    ];
    let row = |answer: &Answer| {
        let seen = answer.question.seen.as_ref();
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let share = |range: Range| if answer.is_bound() { bounded(range) } else { percents(range) };
        // A bound on all links is none on those of some.
        let part = |range: Range| if answer.is_bound() { "-".to_owned() } else { percents(range) };
        vec![
            answer.question.mechanism.clone(),
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
            answer.verdict.words().to_owned(),
        ]
    };
    (head, answers.iter().map(row).collect())
}

/// The largest share, as a bound.
fn bounded(range: Range) -> String {
    format!("at most {}", percent(range.high))
}

/// Headings and rows of the table of accuracies on surrogates.
pub(super) fn worth_table(worth: &Worth, answers: &[Answer]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let head = vec!["what is trained", "epsilon", "accuracy", "gain over the floor", "in words"];
    let level = |(name, values): (&str, &[f64])| {
        (!values.is_empty()).then(|| [name, "-", &spread(values), "-", "-"].map(str::to_owned).to_vec())
    };
    let floors = worth.floors();
    let without_links = [
        ("the most frequent class", worth.majority.as_slice()),
        ("a network on features alone", worth.without_links.as_slice()),
        ("believed classes, no links", worth.beliefs.as_slice()),
        ("the best without links (floor)", floors.as_slice()),
    ];
    let mut rows: Vec<Vec<String>> = without_links.into_iter().filter_map(level).collect();
    for (&place, values) in &worth.with_links {
        let question = &answers[place].question;
        let gain = worth.gain(place);
        let in_words = match gain {
            Some(gain) if gain.low > 0.0 => "links help",
            Some(gain) if gain.high <= 0.0 => "what needs no links does as well",
            _ => "links help on some surrogates",
        };
        let (mechanism, epsilon) = (question.mechanism.clone(), nats(question.epsilon));
        rows.push(vec![mechanism, epsilon, spread(values), gain.map_or("-".to_owned(), points), in_words.to_owned()]);
    }
    rows.extend(level(("the true links (ceiling)", worth.non_private.as_slice())));
    (head, rows)
}

/// A gain or loss of accuracy, in points.
pub(super) fn points(gain: Range) -> String {
    let (low, high) = (format!("{:+.1}", 100.0 * gain.low), format!("{:+.1}", 100.0 * gain.high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// Accuracies as their mean, with the least and the largest.
fn spread(values: &[f64]) -> String {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let range = Range::over(values.iter().copied());
    let (mean, span) = (percent(mean), percents(range));
    if mean == span { mean } else { format!("{mean} ({span})") }
}

/// The accuracies as text.
pub(super) fn worth_text(worth: &Worth, answers: &[Answer]) -> String {
    let (head, rows) = worth_table(worth, answers);
    format!("Accuracy of networks on {}:\n{}", surrogates(worth), text_of(head, rows))
}

/// The surrogates as a phrase.
pub(super) fn surrogates(worth: &Worth) -> String {
    let (drawn, public) = (worth.drawn, worth.public_graphs.len());
    let mut kinds = Vec::new();
    if drawn > 0 {
        let plural = if drawn == 1 { "surrogate" } else { "surrogates" };
        kinds.push(format!("{drawn} {plural} of {} nodes", worth.nodes));
    }
    if public > 0 {
        let plural = if public == 1 { "public graph" } else { "public graphs" };
        kinds.push(format!("{public} {plural} ({})", worth.public_graphs.join(", ")));
    }
    let interval = if drawn + public == 1 { "which gives no interval" } else { "least and largest in parentheses" };
    format!("{}, {interval}", kinds.join(" and "))
}

/// The table as text.
pub(super) fn table_text(answers: &[Answer]) -> String {
    let (head, rows) = table(answers);
    text_of(head, rows)
}

fn text_of(head: Vec<&'static str>, rows: Vec<Vec<String>>) -> String {
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
    let mechanism = &answer.question.mechanism;
    let Some(seen) = &answer.question.seen else {
        return format!("{mechanism}: nothing about links leaves a node.");
    };
    if seen.per_link.is_infinite() {
        return format!("{mechanism}: {}. The server is told which pairs are linked.", answer.verdict.words());
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
        "{mechanism} at {} nats: {}. {looks} the server's belief about an average pair rises from {} {reached}, and about a pair of \
         two hubs from {} to {}. To a server that knows all other links, the reports can raise the belief about an average pair to {} \
         at most. A server that names as many pairs as there are links finds {found}.{unsound}",
        nats(answer.question.epsilon),
        answer.verdict.words(),
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
