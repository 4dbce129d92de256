//! Tests that ran and passed, read from what nextest, libtest and the scripts in `tests/` print.
//! Owns how their lines are understood.

use std::collections::HashSet;

/// Tests that ran so far.
#[derive(Debug, Default)]
pub(crate) struct ExecutedTests {
    /// Crate, modules and function of each, in this order.
    tests: HashSet<Vec<String>>,
    /// The test of libtest whose verdict is still to come: what it prints itself may stand between.
    begun: Option<Vec<String>>,
}

impl ExecutedTests {
    #[cfg(test)]
    pub(super) fn from_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut executed = Self::default();
        lines.into_iter().for_each(|line| executed.note(line));
        executed
    }

    /// Takes one line of output.
    pub(crate) fn note(&mut self, line: &str) {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("PASS [").or_else(|| line.strip_prefix("LEAK [")) {
            // `PASS [   0.005s] (12/99) yearbook-tests::all api::health::name`; older versions
            // have no counter.
            let words: Vec<&str> = rest.split_whitespace().collect();
            if let [.., binary, test] = words[..] {
                self.tests.insert(binary.split("::").chain(test.split("::")).map(folder).collect());
            }
        } else if let Some(names) = line.strip_prefix("executed: ") {
            self.tests.extend(
                names.split_whitespace().map(|name| name.split("::").map(folder).collect()),
            );
        } else if let Some((test, verdict)) =
            line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
        {
            // Doctests have spaces in their names and prove no rule.
            self.begun = (!test.contains(' ')).then(|| test.split("::").map(folder).collect());
            self.end(verdict);
        } else {
            self.end(line);
        }
    }

    /// True where a test of this name ran to its end; `errors::name` asks for one of a crate or
    /// module `errors`.
    pub(super) fn has(&self, name: &str) -> bool {
        let mut parts = name.rsplit("::");
        let function = parts.next().unwrap_or_default();
        let within: Vec<&str> = parts.collect();
        self.tests.iter().any(|test| {
            test.last().is_some_and(|last| last == function)
                && within.iter().all(|part| test.iter().any(|found| found == part))
        })
    }

    /// Number of tests.
    pub(super) fn len(&self) -> usize {
        self.tests.len()
    }

    fn end(&mut self, verdict: &str) {
        match verdict {
            "ok" => self.tests.extend(self.begun.take()),
            "FAILED" | "ignored" => self.begun = None,
            _ => {}
        }
    }
}

/// Crates are called after their folders.
fn folder(part: &str) -> String {
    part.strip_prefix("yearbook-").unwrap_or(part).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_is_known_by_crate_module_and_name() {
        let executed = ExecutedTests::from_lines([
            "        PASS [   0.005s] (  1/900) yearbook-json::rules conforms",
            "        PASS [   0.005s] yearbook-domain query::tests::empty_values",
            "        LEAK [   1.005s] yearbook-cli::command_line crash::leaks_a_child",
            "executed: readback::check_credit page::quiet",
        ]);
        for name in [
            "conforms",
            "json::conforms",
            "rules::conforms",
            "query::empty_values",
            "leaks_a_child",
            "readback::check_credit",
            "quiet",
        ] {
            assert!(executed.has(name), "{name}");
        }
        assert!(
            !executed.has("csv::conforms")
                && !executed.has("tests")
                && !executed.has("check")
                && !executed.has("")
        );
        assert_eq!(executed.len(), 5);
    }

    #[test]
    fn what_failed_was_ignored_or_is_another_line_did_not_run() {
        let executed = ExecutedTests::from_lines([
            "        FAIL [   0.005s] yearbook-json::rules failed",
            "        SLOW [> 60.000s] yearbook-json::rules slow",
            "     TIMEOUT [  60.005s] yearbook-json::rules late",
            "test tests::bad ... FAILED",
            "test tests::left_out ... ignored, the other half",
            "test src/lib.rs - Thing (line 7) ... ok",
            "executed: ",
            "ok",
        ]);
        assert_eq!(executed.len(), 0);
    }

    #[test]
    fn a_verdict_may_come_after_what_the_test_prints() {
        let executed = ExecutedTests::from_lines([
            "test tls::reached ... a line of its own",
            "another",
            "ok",
            "test broken ... said",
            "FAILED",
            "test good ... ok",
        ]);
        assert!(executed.has("tls::reached") && executed.has("good") && !executed.has("broken"));
    }
}
