//! Standard output and standard error of one run: results for people or for machines, never mixed.
//! Owns the form of output; never touches its meaning.

mod progress;
mod refresh_progress;
mod text_table;

use std::fmt;
use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

pub use progress::PublishProgress;
pub use refresh_progress::RefreshProgress;
pub use text_table::TextTable;
pub(crate) use text_table::render_facts;

/// Form of a run's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// True for results in JSON (`--json`).
    pub json: bool,
}

impl Output {
    /// Prints the result of a command: `value` as one line of JSON, or `text` for people.
    ///
    /// # Errors
    /// Fails when standard output cannot be written; a reader that went away is no error.
    pub fn print_result(
        self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        match self.write_result(value, text)? {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritten(error)),
            _ => Ok(()),
        }
    }

    /// Prints the result of a command that is shown this once, such as a key: see
    /// [`Output::print_result`].
    ///
    /// # Errors
    /// Fails when standard output cannot be written, and where its reader went away.
    pub fn print_once(
        self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        self.write_result(value, text)?.map_err(unwritten)
    }

    fn write_result(
        self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<io::Result<()>> {
        let line = if self.json { serde_json::to_string(value)? } else { text() };
        Ok(writeln!(io::stdout().lock(), "{}", line.trim_end_matches('\n')))
    }

    /// Says something to the person at the terminal, on standard error; nothing with `--json`.
    pub fn note(self, text: &str) {
        if !self.json {
            let _ = writeln!(io::stderr().lock(), "{text}");
        }
    }

    /// Says on standard error why the command failed, and what led to it.
    pub fn print_error(self, error: &anyhow::Error) {
        let sentences = error_chain(error);
        let detailed = error.downcast_ref::<DetailedError>();
        let text = if self.json {
            let mut value = json!({ "error": sentences.join(": ") });
            if let (Some(members), Some(detailed)) = (value.as_object_mut(), detailed) {
                members.extend(detailed.members.clone());
            }
            value.to_string()
        } else {
            let details = detailed.map_or("", |detailed| detailed.text.as_str());
            format!("error: {}{details}", sentences.join("\n  because "))
        };
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// True where progress bars would be seen.
    #[must_use]
    pub fn shows_progress(self) -> bool {
        !self.json && io::stderr().is_terminal()
    }
}

fn unwritten(error: io::Error) -> anyhow::Error {
    anyhow::Error::new(error).context("cannot write the result")
}

/// Error whose details are shown in their own shape, below or beside its sentence.
#[derive(Clone, Debug)]
pub struct DetailedError {
    /// Sentence that says what failed.
    pub message: String,
    /// Text for people below the message; empty, or starts with a line break.
    pub text: String,
    /// Members for machines beside `error`.
    pub members: Map<String, Value>,
}

impl fmt::Display for DetailedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DetailedError {}

/// Sentences of an error and of its causes, without those that an outer sentence already quotes.
pub(crate) fn error_chain(error: &anyhow::Error) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if !sentences.iter().any(|outer| outer.contains(&cause)) {
            sentences.push(cause);
        }
    }
    sentences
}

/// Number with the name of the thing that it counts, in the plural unless it is 1.
pub(crate) fn pluralize(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// Cell of a table: a dash where there is no text.
pub(crate) fn or_dash(text: Option<&str>) -> String {
    text.filter(|text| !text.is_empty()).unwrap_or("-").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_is_quoted_already_is_not_said_twice() {
        let error = anyhow::anyhow!("disk full")
            .context("cannot write x: disk full")
            .context("cannot publish y");
        assert_eq!(error_chain(&error), ["cannot publish y", "cannot write x: disk full"]);
    }
}
