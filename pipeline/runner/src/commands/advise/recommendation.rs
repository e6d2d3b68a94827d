//! Which budgets are worth something and still protect, and why.

use super::answer::Answer;
use super::surrogates::Worth;
use super::words::{nats, percent, points};

/// One sentence or two for each mechanism.
pub(super) fn recommendations(answers: &[Answer], worth: Option<&Worth>) -> Vec<String> {
    let mut mechanisms: Vec<&str> = answers.iter().map(|answer| answer.question.mechanism.as_str()).collect();
    mechanisms.dedup();
    mechanisms.into_iter().map(|mechanism| recommendation(mechanism, answers, worth)).collect()
}

fn recommendation(mechanism: &str, answers: &[Answer], worth: Option<&Worth>) -> String {
    let mut mine: Vec<(usize, &Answer)> =
        answers.iter().enumerate().filter(|(_, answer)| answer.question.mechanism == mechanism).collect();
    mine.sort_by(|a, b| a.1.question.epsilon.total_cmp(&b.1.question.epsilon));
    if mine.iter().all(|(_, answer)| answer.question.seen.is_none()) {
        return format!("With {mechanism}, nothing about links leaves a node.");
    }
    if mine.iter().all(|(_, answer)| !answer.question.is_trained()) {
        return format!("With {mechanism}, links are given away.");
    }
    // A larger budget never protects better, so the protecting ones are the first ones.
    let most = mine.iter().take_while(|(_, answer)| answer.verdict.protects()).last().map(|(_, answer)| answer);
    let protects = match most {
        Some(answer) => format!(
            "Up to {} nats of {mechanism}, most links stay deniable: a server without features and labels finds at most {} of them.",
            nats(answer.question.epsilon),
            percent(answer.found.high)
        ),
        None => format!(
            "None of these budgets of {mechanism} protects most links and those of hubs; ask about smaller ones with --epsilon."
        ),
    };
    let Some(worth) = worth else {
        return format!("{protects} What links are worth at these budgets was not estimated; add --surrogates 3.");
    };
    let gains = |place: usize| worth.gain(place).filter(|gain| gain.low > 0.0);
    let Some((first, gain)) = mine.iter().find_map(|&(place, answer)| Some((answer, gains(place)?))) else {
        return format!(
            "{protects} At none of these budgets do links help on every surrogate: what needs no links does as well, so \
             release nothing about them."
        );
    };
    let from = format!(
        "From {} nats on, links help on every surrogate (there by {} points of accuracy)",
        nats(first.question.epsilon),
        points(gain)
    );
    match most.filter(|most| most.question.epsilon >= first.question.epsilon) {
        Some(most) => format!(
            "{protects} {from}. Recommended: {} to {} nats.",
            nats(first.question.epsilon),
            nats(most.question.epsilon)
        ),
        None => format!(
            "{protects} {from}, and there the verdict is: {}. No budget among these is both useful and private: ask \
             about budgets between them, or release nothing about links.",
            first.verdict.words()
        ),
    }
}
