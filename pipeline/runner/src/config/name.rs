//! What experiments and their alternatives may be called.

/// What can be a name, in words.
pub const NAME_RULE: &str =
    "a name has at most 200 letters, digits, `-`, `_` and `.`, does not begin with `.`, and is no path";

/// Whether a folder or a file may be called so, also with something before the name and an ending.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (1..=200).contains(&name.len()) && name.chars().all(is_plain) && !name.starts_with('.')
}
