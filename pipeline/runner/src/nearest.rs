//! The name that somebody probably meant.

/// The candidate most like `word`: at most two slips of the pen, or a third of a long word.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let slips = |candidate: &str| strsim::osa_distance(&word, &candidate.to_lowercase());
    let best = candidates.iter().min_by_key(|candidate| slips(candidate))?;
    let length = word.chars().count();
    (slips(best) < length && slips(best) <= 2.max(length / 3)).then_some(*best)
}
