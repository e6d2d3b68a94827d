//! What this build of the program is made of, as its `build.rs` found it.

use std::sync::OnceLock;

use serde::Serialize;

/// What differs from one build to the next although no line of this crate does.
pub struct Build {
    /// The commit of the working copy and whether it had changes; `unknown` outside git.
    pub commit: &'static str,
    /// Every crate below `stages/`.
    pub code: &'static [CodeOfCrate],
}

/// The code of the stage functions of one crate.
#[derive(Serialize)]
pub struct CodeOfCrate {
    /// The name of the crate.
    pub name: &'static str,
    /// Digest of its code and of the workspace crates below it.
    pub code: &'static str,
    /// Digest of the packages of `Cargo.lock` that these reach.
    pub dependencies: &'static str,
}

static BUILD: OnceLock<Build> = OnceLock::new();

/// States once what the program is made of.
pub fn state(build: Build) {
    // A second statement could only repeat the first: there is one program in a process.
    let _ = BUILD.set(build);
}

/// The commit that the program was built from; `unknown` where nobody stated it.
pub fn commit() -> &'static str {
    BUILD.get().map_or("unknown", |build| build.commit)
}

/// The code of every crate below `stages/`; none where nobody stated it.
pub fn stage_crates() -> &'static [CodeOfCrate] {
    BUILD.get().map_or(&[], |build| build.code)
}

/// Digest of a crate below `stages/` with the workspace crates below it, and of the packages that they reach.
#[must_use]
pub fn digests(crate_name: &str) -> (&'static str, &'static str) {
    if cfg!(test) {
        // Tests of this crate run without the program that digests code. Those of the commands do too, and must not come here.
        return ("code of a test", "dependencies of a test");
    }
    let row = stage_crates().iter().find(|row| row.name == crate_name);
    row.map_or_else(
        || unreachable!("there is no crate `{crate_name}` below stages/"),
        |row| (row.code, row.dependencies),
    )
}
