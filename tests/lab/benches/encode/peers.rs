//! pyarrow, polars and DuckDB, in one process of Python that is asked a line at a time
//! (`tests/lab/peers/encode.py`).

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;
use yearbook_tests::components::root;

use super::Measured;
use super::tables::BenchTable;

/// The process; it ends with this value.
pub(crate) struct PeerEncoders {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
}

impl PeerEncoders {
    /// Starts it and gives it the table, with plain text.
    pub(crate) fn start(python: &OsStr, input: &BenchTable) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("table.arrows");
        super::arrow_rs::encode("arrow", &input.plain, &mut fs::File::create(&table).unwrap());
        let mut start = Command::new(python);
        start
            .arg(root().join("tests/lab/peers/encode.py"))
            .arg(&table)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = start.spawn().unwrap();
        let (questions, answers) =
            (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, questions, answers, folder }
    }

    /// One run of `times` encodings.
    pub(crate) fn measured(&mut self, format: &str, who: &str, times: usize) -> Measured {
        let answer = self.call(&format!("{format} {who} {times}"));
        if let Some(reason) = answer["cannot"].as_str() {
            return Err(reason.to_owned());
        }
        Ok((
            answer["seconds"].as_f64().unwrap(),
            usize::try_from(answer["bytes"].as_u64().unwrap()).unwrap(),
        ))
    }

    /// Reads an output back: `made`, or the peer's own where that is empty.
    pub(crate) fn check(&mut self, format: &str, who: &str, made: &[u8]) {
        let path: PathBuf = self.folder.path().join("made");
        let what = if made.is_empty() {
            who.to_owned()
        } else {
            fs::write(&path, made).unwrap();
            path.display().to_string()
        };
        let answer = self.call(&format!("check {format} {what}"));
        assert!(answer["same"] == true, "{who}: the {format} it made does not hold the table");
    }

    fn call(&mut self, question: &str) -> Value {
        writeln!(self.questions, "{question}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer)
            .unwrap_or_else(|error| panic!("{question}: {answer:?}: {error}"))
    }
}

impl Drop for PeerEncoders {
    fn drop(&mut self) {
        // Not a handshake: there is nothing in it that is worth waiting for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
