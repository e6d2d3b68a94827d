//! Which budgets are worth something and still protect, and why.

use veilgraph_runner::belief::{Answer, in_nats, nats, percent_at_most};

use super::surrogates::{Help, Origin, Worth};
use super::worth_words::points;

/// Some sentences for each mechanism.
pub(super) fn recommendations(answers: &[Answer], worths: &[Worth]) -> Vec<String> {
    let mut series: Vec<&str> = answers.iter().map(|answer| answer.question.series.as_str()).collect();
    series.dedup();
    series.into_iter().map(|series| recommendation(series, answers, worths)).collect()
}

/// The answers for one mechanism by budget, each with its place among all.
type Budgets<'a> = Vec<(usize, &'a Answer)>;

fn recommendation(series: &str, answers: &[Answer], worths: &[Worth]) -> String {
    let mut mine: Budgets = answers.iter().enumerate().filter(|(_, answer)| answer.question.series == series).collect();
    mine.sort_by(|a, b| a.1.question.epsilon.total_cmp(&b.1.question.epsilon));
    if mine.iter().all(|(_, answer)| answer.question.seen.is_none()) {
        return format!("With {series}, nothing about links leaves a node.");
    }
    if mine.iter().all(|(_, answer)| !answer.question.is_trained()) {
        return format!("With {series}, links are given away.");
    }
    let is_sound = |answer: &Answer| answer.question.seen.as_ref().is_none_or(|seen| seen.is_sound);
    if !mine.iter().all(|(_, answer)| is_sound(answer)) {
        return format!(
            "Not recommended: the cost of {series} does not hold as executed, so nothing is known of what it protects."
        );
    }
    // A larger budget never protects better, so the protecting ones are the first ones.
    let most = mine.iter().take_while(|(_, answer)| answer.verdict.protects()).last().map(|(_, answer)| *answer);
    let protects = match most {
        Some(answer) => format!(
            "Up to {} of {series}, most links stay deniable: a server without features and labels finds at most {} of them.",
            in_nats(answer.question.epsilon),
            percent_at_most(answer.found.high)
        ),
        None => format!(
            "None of these budgets of {series} protects most links and those of hubs; ask about smaller ones with --epsilon."
        ),
    };
    // Surrogates that are drawn match what is known, and public graphs are like it at best: the first ones decide.
    let Some((decisive, others)) = worths.split_first() else {
        return format!("{protects} What links are worth at these budgets was not estimated; add --surrogates 3.");
    };
    let mut sentences = vec![protects, what_helps(decisive, &mine, most)];
    sentences.extend(others.iter().map(|other| beside(other, &mine)));
    sentences.join(" ")
}

/// The smallest budget from which on links help on every graph. One that helps below one that does not is left to chance.
fn first_help<'a>(worth: &Worth, mine: &Budgets<'a>) -> Option<(usize, &'a Answer)> {
    mine.iter().rev().take_while(|(place, _)| worth.help(*place) == Help::Everywhere).last().copied()
}

/// The graphs of a table within a sentence.
fn graphs(worth: &Worth) -> String {
    match (worth.origin, worth.graphs.len()) {
        (Origin::Drawn { .. }, 1) => "on the one surrogate that was drawn".to_owned(),
        (Origin::Drawn { .. }, number) => format!("on each of {number} surrogates that were drawn"),
        (Origin::Public, 1) => format!("on the public graph {}", worth.graphs[0]),
        (Origin::Public, _) => format!("on each of the public graphs {}", worth.graphs.join(", ")),
    }
}

/// What is gained, and what follows from it for the budgets up to the largest that protects.
fn what_helps(worth: &Worth, mine: &Budgets, most: Option<&Answer>) -> String {
    let graphs = graphs(worth);
    let Some((place, first)) = first_help(worth, mine) else {
        return format!(
            "At none of these budgets do links help {graphs}: what needs no links does as well, so release nothing about them."
        );
    };
    let gain = worth.gain(place).map(points).unwrap_or_default();
    let from = format!(
        "From {} on, links help {graphs} (there by {gain} points of accuracy)",
        in_nats(first.question.epsilon)
    );
    let Some(most) = most else {
        return format!(
            "{from}. No budget among these is both useful and private: ask about smaller ones, or release nothing."
        );
    };
    let (low, high) = (first.question.epsilon, most.question.epsilon);
    if low == high {
        format!("{from}. Recommended: {}.", in_nats(low))
    } else if low < high {
        format!("{from}. Recommended: {} to {}.", nats(low), in_nats(high))
    } else {
        format!(
            "{from}, and there the verdict is: {}. No budget among these is both useful and private: ask about budgets \
             between {} and {}, or release nothing about links.",
            first.verdict.words(),
            nats(high),
            in_nats(low)
        )
    }
}

/// The same in short, for graphs that do not decide.
fn beside(worth: &Worth, mine: &Budgets) -> String {
    let graphs = graphs(worth);
    match first_help(worth, mine) {
        Some((_, first)) => {
            format!("Not counted for that: links help {graphs} from {} on.", in_nats(first.question.epsilon))
        }
        None => format!("Not counted for that: links help {graphs} at none of these budgets."),
    }
}
