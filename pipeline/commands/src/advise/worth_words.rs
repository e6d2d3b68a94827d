//! Accuracies on surrogates as people read them.

use veilgraph_runner::belief::{Answer, Range, nats, percent, percents};

use super::surrogates::{Help, Origin, Worth};
use super::words::text_of;

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
        let in_words = match worth.help(place) {
            Help::Everywhere => "links help",
            Help::Nowhere => "what needs no links does as well",
            Help::Somewhere => "links help on some of the graphs",
        };
        let (series, epsilon) = (question.series.clone(), nats(question.epsilon));
        rows.push(vec![series, epsilon, spread(values), gain.map_or("-".to_owned(), points), in_words.to_owned()]);
    }
    rows.extend(level(("the true links (ceiling)", worth.non_private.as_slice())));
    (head, rows)
}

/// A gain or loss of accuracy, in points.
pub(super) fn points(gain: Range) -> String {
    let (low, high) = (format!("{:+.1}", 100.0 * gain.low), format!("{:+.1}", 100.0 * gain.high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// What a network makes of a budget on average over the graphs, beside what needs no link and what the true links give.
pub(super) fn accuracy(worth: &Worth, place: usize) -> String {
    let Some(values) = worth.with_links.get(&place) else { return "-".to_owned() };
    let floor = percent(mean(&worth.floors()));
    let ceiling = match worth.non_private.as_slice() {
        [] => String::new(),
        values => format!(" to {}", percent(mean(values))),
    };
    format!("{} ({floor}{ceiling})", percent(mean(values)))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Accuracies as their mean, with the least and the largest.
fn spread(values: &[f64]) -> String {
    let range = Range::over(values.iter().copied());
    let (mean, span) = (percent(mean(values)), percents(range));
    if mean == span { mean } else { format!("{mean} ({span})") }
}

/// The accuracies as text.
pub(super) fn worth_text(worth: &Worth, answers: &[Answer]) -> String {
    let (head, rows) = worth_table(worth, answers);
    format!("Accuracy of networks on {}:\n{}", graphs_in_words(worth), text_of(head, rows))
}

/// The graphs of a table as a phrase, and what its ranges are.
pub(super) fn graphs_in_words(worth: &Worth) -> String {
    let names = worth.graphs.join(", ");
    let (number, interval) = (worth.graphs.len(), ", least and largest in parentheses");
    match (worth.origin, number) {
        (Origin::Drawn { nodes }, 1) => format!("one surrogate of {nodes} nodes, drawn to match what is known"),
        (Origin::Drawn { nodes }, _) => {
            format!("{number} surrogates of {nodes} nodes, drawn to match what is known{interval}")
        }
        (Origin::Public, 1) => format!("the public graph at hand that is nearest to what is known ({names})"),
        (Origin::Public, _) => {
            format!("the {number} public graphs at hand that are nearest to what is known ({names}){interval}")
        }
    }
}

/// The same within a sentence.
pub(super) fn graphs_in_short(worth: &Worth) -> &'static str {
    match worth.origin {
        Origin::Drawn { .. } => "the surrogates that were drawn",
        Origin::Public => "the public graphs",
    }
}
