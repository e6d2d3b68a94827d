//! Questions before what cannot be undone.

use std::io::{BufRead, IsTerminal, Write};

use anyhow::{bail, ensure};

use crate::output;

/// Asks on a terminal; elsewhere the acceptance must be given as the argument `argument`. `refusal` says what was not
/// done.
///
/// # Errors
/// When nobody accepts: `refusal`, and where there is no terminal, how to accept.
pub fn confirm(question: &str, is_accepted: bool, refusal: &str, argument: &str) -> anyhow::Result<()> {
    if is_accepted {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        bail!("{refusal}; accept it with {argument}");
    }
    output::error_line(&format!("{question} [y/N]"));
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    ensure!(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()), "{refusal}");
    Ok(())
}
