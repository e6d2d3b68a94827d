//! The only place that prints.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::Mutex;

/// The first error of standard output.
static FAILURE: Mutex<Option<io::Error>> = Mutex::new(None);

/// A line of results on standard output.
pub fn line(text: &str) {
    write_line(&plain(text));
}

/// Lines for a program on standard output, such as JSON. They are written as they are where no terminal reads them.
pub fn data(text: &str) {
    if io::stdout().is_terminal() { line(text) } else { write_line(text) }
}

fn write_line(text: &str) {
    if let Err(error) = writeln!(io::stdout(), "{text}") {
        FAILURE.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
    }
}

/// Whether all results were written. A reader that went away (`| head`) is no error.
///
/// # Errors
/// When something could not be written, for example because a disk is full.
pub fn finish() -> io::Result<()> {
    let failure = FAILURE.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    match failure.map_or_else(|| io::stdout().flush(), Err) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// A line about the run on standard error.
pub fn error_line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", plain(text));
}

/// What an error says, and what caused it, one after the other. A cause that its error already quotes says nothing new.
pub fn causes(error: &anyhow::Error) -> Vec<String> {
    let mut causes: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if !causes.iter().any(|known| known.contains(cause.as_str())) {
            causes.push(cause);
        }
    }
    causes
}

/// A word as a shell reads it, for commands that are printed to be copied.
#[must_use]
pub fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The text with control characters written out: names from files must not command a terminal.
fn plain(text: &str) -> Cow<'_, str> {
    // Marks that turn the direction of text make a name look like another one.
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_command = |c: char| turns(c) || (c.is_control() && c != '\n' && c != '\t');
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if is_command(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_a_shell_needs_them() {
        assert_eq!(quote("artifacts/server-1"), "artifacts/server-1");
        assert_eq!([quote("a b"), quote("it's"), quote("$HOME"), quote("")], ["'a b'", "'it'\\''s'", "'$HOME'", "''"]);
    }

    #[test]
    fn control_characters_never_reach_a_terminal() {
        assert_eq!(plain("a \u{1b}[2J\u{7}b\u{9b}1m\r\n\tc"), "a \\u{1b}[2J\\u{7}b\\u{9b}1m\\r\n\tc");
        assert_eq!(plain("a\u{202e}b"), "a\\u{202e}b");
        assert!(matches!(plain("names: äöü\n"), Cow::Borrowed(_)));
    }
}
