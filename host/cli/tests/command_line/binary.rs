//! Runs the binary in a folder of its own, without any setting of the machine that tests run on.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A working directory with its own data directory.
pub(crate) struct Yearbook {
    folder: TempDir,
}

/// Output of one run.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Yearbook {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.prepare(Command::new(env!("CARGO_BIN_EXE_yearbook")), arguments)
    }

    /// The same after commands of a shell, whose limits it inherits.
    pub(crate) fn command_after(&self, shell: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{shell} && exec \"$0\" \"$@\"")]);
        command.arg(env!("CARGO_BIN_EXE_yearbook"));
        self.prepare(command, arguments)
    }

    pub(crate) fn prepare(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars()
            .filter(|(name, _)| name.starts_with("YEARBOOK_") || name.starts_with("OTEL_"))
        {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> CommandOutput {
        CommandOutput::from_output(self.command(arguments).output().unwrap())
    }

    /// Runs where nothing takes what is printed: on a full disk, and after its reader went away.
    pub(crate) fn run_unheard(&self, arguments: &[&str]) -> [CommandOutput; 2] {
        let (_, gone) = std::io::pipe().unwrap();
        let mut unread = self.command(arguments);
        unread.stdout(gone);
        [self.command_after("exec >/dev/full", arguments), unread]
            .map(|mut command| CommandOutput::from_output(command.output().unwrap()))
    }

    /// Runs with variables.
    pub(crate) fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> CommandOutput {
        CommandOutput::from_output(
            self.command(arguments).envs(variables.iter().copied()).output().unwrap(),
        )
    }

    /// Writes a package of two columns, with these rows of CSV below the header.
    pub(crate) fn package(&self, name: &str, rows: &str) -> PathBuf {
        let fields = json!([{ "name": "date", "type": "date" }, { "name": "value", "type": "number", "unit": "index" }]);
        let descriptor = json!({
            "name": name,
            "title": "Tiny table",
            "licenses": [{ "name": "CC-BY-4.0" }],
            "sources": [{ "title": "Test agency", "path": "https://example.org/tiny" }],
            "resources": [{ "path": "rows.csv", "schema": { "fields": fields, "primaryKey": ["date"] } }],
            "yearbook": { "namespace": "tests", "date_filter_column": "date" },
        });
        self.write(&format!("{name}/rows.csv"), &format!("date,value\n{rows}"));
        self.write(&format!("{name}/datapackage.json"), &descriptor.to_string())
    }
}

impl CommandOutput {
    pub(crate) fn from_output(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Asserts that the run succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Asserts that the run failed without a word on standard output, and with no trace of the
    /// program's insides; returns standard error.
    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        for inside in ["panicked", "RUST_BACKTRACE", "Stack backtrace", "Os {", "Error("] {
            assert!(!self.stderr.contains(inside), "{}", self.stderr);
        }
        self.stderr
    }

    /// Standard output as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}
