//! The name that somebody probably meant.

/// The end of a message about a name that nobody knows: a question about the one that was probably meant, if there is one.
#[must_use]
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    nearest(word, known).map_or(String::new(), |hint| format!("; did you mean `{hint}`?"))
}

/// The candidate most like `word`: at most two slips of the pen, or a third of a long word.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let slips = |candidate: &str| strsim::osa_distance(&word, &candidate.to_lowercase());
    let best = candidates.iter().min_by_key(|candidate| slips(candidate))?;
    let length = word.chars().count();
    (slips(best) < length && slips(best) <= 2.max(length / 3)).then_some(*best)
}
