//! What this machine is called.

use std::sync::LazyLock;

/// The name of this machine.
#[must_use]
pub fn host() -> &'static str {
    static NAME: LazyLock<String> =
        LazyLock::new(|| sysinfo::System::host_name().unwrap_or_else(|| "localhost".to_owned()));
    &NAME
}
