//! One kind of error for all that can be wrong with data.

/// What is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {place}{problem}; {remedy}")]
pub struct Error {
    file: String,
    place: String,
    problem: String,
    remedy: String,
}

impl Error {
    /// An error in `file` at `place` (a line, row or field, or empty).
    pub fn new(file: &str, place: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: file.to_owned(), place: place.into(), problem: problem.into(), remedy: remedy.into() }
    }
}
