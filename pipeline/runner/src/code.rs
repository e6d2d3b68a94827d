//! Digests of the code that stage functions are made of, computed by `build.rs`.

include!(concat!(env!("OUT_DIR"), "/code.rs"));

/// Digest of a crate below `stages/` with the workspace crates below it, and of the packages that they reach.
pub(crate) fn digests(crate_name: &str) -> (&'static str, &'static str) {
    let row = CODE.iter().find(|row| row.0 == crate_name);
    row.map_or_else(|| unreachable!("there is no crate `{crate_name}` below stages/"), |row| (row.1, row.2))
}
