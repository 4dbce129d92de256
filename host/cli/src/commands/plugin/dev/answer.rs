//! One answer of the local server, what it cost, and what is different from the one before.

use std::time::Duration;

use serde_json::{Value, json};

use super::milliseconds;

/// Lines of the answer that are compared, and lines of a difference that are shown.
const COMPARED_LINES: usize = 10_000;
const SHOWN_LINES: usize = 8;

/// An answer.
pub(super) struct ServedAnswer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    /// Time until its last byte.
    pub(super) took: Duration,
    /// Processor time and number of the plugin's calls for it, and the most memory of an instance.
    pub(super) cpu: Duration,
    pub(super) calls: u64,
    pub(super) memory_bytes: usize,
}

impl ServedAnswer {
    pub(super) fn facts(&self, changes: &[String], since_built: Duration) -> Value {
        json!({
            "status": self.status,
            "bytes": self.body.len(),
            "ms": milliseconds(self.took),
            "cpu_ms": milliseconds(self.cpu),
            "calls": self.calls,
            "memory_bytes": self.memory_bytes,
            "changed": changes,
            "ms_since_build": milliseconds(since_built),
        })
    }

    pub(super) fn render(&self, before: Option<&Self>, changes: &[String]) -> String {
        let was = |old: String, new: &str| {
            if old == new { String::new() } else { format!(" ({old} before)") }
        };
        let status = self.status.to_string();
        let bytes = self.body.len().to_string();
        let status_before =
            before.map_or(String::new(), |old| was(old.status.to_string(), &status));
        let bytes_before =
            before.map_or(String::new(), |old| was(old.body.len().to_string(), &bytes));
        let mut text = format!(
            "status {status}{status_before}, {bytes} bytes{bytes_before}, {} ms; {} calls took {} ms of processor and {} KiB",
            milliseconds(self.took),
            self.calls,
            milliseconds(self.cpu),
            self.memory_bytes >> 10,
        );
        for line in changes {
            text.push('\n');
            text.push_str(line);
        }
        if before.is_some_and(|old| old.body == self.body) {
            text.push_str("\nthe same bytes as before");
        }
        text
    }
}

/// Lines that went and came between what both answers begin and end with; none of an answer that is
/// no text.
pub(super) fn changed_lines(before: Option<&ServedAnswer>, now: &ServedAnswer) -> Vec<String> {
    fn lines(answer: &ServedAnswer) -> Option<Vec<&str>> {
        let text = std::str::from_utf8(&answer.body).ok()?;
        Some(text.lines().take(COMPARED_LINES).collect())
    }
    let (Some(old), Some(new)) = (before.map_or(Some(Vec::new()), lines), lines(now)) else {
        return Vec::new();
    };
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let side = |mark: &str, lines: &[&str]| {
        let shown = lines.iter().take(SHOWN_LINES).map(|line| format!("{mark} {line}"));
        let rest = lines.len().saturating_sub(SHOWN_LINES);
        let more = (rest > 0).then(|| format!("{mark} … and {rest} more lines"));
        shown.chain(more).collect::<Vec<_>>()
    };
    [side("-", &old[..old.len() - tail]), side("+", &new[..new.len() - tail])].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &[u8]) -> ServedAnswer {
        let zero = Duration::ZERO;
        ServedAnswer {
            status: 200,
            body: body.to_vec(),
            took: zero,
            cpu: zero,
            calls: 1,
            memory_bytes: 0,
        }
    }

    #[test]
    fn lines_that_both_begin_and_end_with_are_left_out() {
        let old = answer(b"a,b\n1,2\n3,4\n5,6\n");
        let changed = |body: &[u8]| changed_lines(Some(&old), &answer(body));
        assert_eq!(changed(b"a,b\n1,2\n3,9\n5,6\n"), ["- 3,4", "+ 3,9"]);
        assert_eq!(changed(b"a,b\n1,2\n5,6\n"), ["- 3,4"]);
        assert_eq!(changed(b"a,b\n1,2\n3,4\n5,6\n"), [""; 0]);
        assert_eq!(changed(b"\xff\xfe"), [""; 0], "no text");
        assert_eq!(changed_lines(None, &old).len(), 4);
        let long = answer("x\n".repeat(20).as_bytes());
        let shown = changed_lines(None, &long);
        assert_eq!((shown.len(), shown[8].as_str()), (9, "+ … and 12 more lines"));
        assert!(old.render(Some(&old), &[]).ends_with("the same bytes as before"));
        assert!(old.render(Some(&long), &[]).contains("16 bytes (40 before)"));
    }
}
