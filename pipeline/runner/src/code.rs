//! Digests of the code that the stages are made of, computed by `build.rs`.

include!(concat!(env!("OUT_DIR"), "/code.rs"));

/// Digest of a stage's code, and of the packages it reaches.
pub(crate) fn digests(stage: &str) -> (&'static str, &'static str) {
    let row = CODE.iter().find(|row| row.0 == stage);
    row.map_or_else(|| unreachable!("stage `{stage}` has no crate"), |row| (row.1, row.2))
}
