//! Standard output and standard error of one run: results for people or for machines, never mixed.
//! Owns how things look; knows nothing of what they mean.

mod detailed_error;
mod progress;
mod text_table;

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use serde_json::json;

pub use detailed_error::DetailedError;
pub use progress::PublishProgress;
pub use text_table::TextTable;

/// How a run speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Whether results are JSON (`--json`).
    pub json: bool,
}

impl Output {
    /// Prints the result of a command: `value` as one line of JSON, or `text` for people.
    ///
    /// # Errors
    /// When standard output cannot be written; a reader that went away is no error.
    pub fn print_result(
        self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        let line = if self.json { serde_json::to_string(value)? } else { text() };
        match writeln!(io::stdout().lock(), "{}", line.trim_end_matches('\n')) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(anyhow::Error::new(error).context("cannot write the result"))
            }
            _ => Ok(()),
        }
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

    /// Whether progress bars would be seen.
    #[must_use]
    pub fn shows_progress(self) -> bool {
        !self.json && io::stderr().is_terminal()
    }
}

/// The chain of an error, without what an outer sentence already quotes.
pub(crate) fn error_chain(error: &anyhow::Error) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if !sentences.iter().any(|outer| outer.contains(&cause)) {
            sentences.push(cause);
        }
    }
    sentences
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
