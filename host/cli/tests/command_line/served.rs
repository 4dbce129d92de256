//! A running server with a key for it and all of its log.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::binary::Yearbook;
use crate::serve::ServeProcess;

/// A server of a folder of its own.
pub(crate) struct CliServer {
    yearbook: Yearbook,
    server: ServeProcess,
    pub(crate) address: String,
    /// The admin listener, where the variables ask for one.
    pub(crate) admin: Option<String>,
    pub(crate) key: String,
}

impl CliServer {
    /// With these variables and a table `tiny` of two rows.
    pub(crate) fn start(variables: &[(&str, &str)]) -> Self {
        Self::start_after(":", variables)
    }

    /// The same after commands of a shell, whose limits it inherits.
    pub(crate) fn start_after(shell: &str, variables: &[(&str, &str)]) -> Self {
        let yearbook = Yearbook::new();
        yearbook.package("tiny", "2024-01-01,1\n2024-02-01,2.5\n");
        yearbook.run(&["publish", "tiny"]).ok();
        let key = yearbook.run(&["keys", "create", "--plan", "pro", "--json"]).ok().json();
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--json"];
        let mut command = yearbook.command_after(shell, &arguments);
        let log = std::fs::File::create(yearbook.path("log")).unwrap();
        command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(log);
        let mut server = ServeProcess(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("the server did not start; are plugins built?"));
        let address =
            ready["listening"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        let admin = ready["admin"].as_str().map(str::to_owned);
        Self { yearbook, server, address, admin, key: key["key"].as_str().unwrap().to_owned() }
    }

    /// The answer to a GET of `path`, head and body, with these header lines and the key.
    pub(crate) fn get(&self, path: &str, headers: &[&str]) -> String {
        let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        let Self { address, key, .. } = self;
        self.raw(format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {key}\r\nConnection: close\r\n{lines}\r\n").as_bytes())
    }

    /// The folder that it runs in.
    pub(crate) fn folder(&self) -> &Yearbook {
        &self.yearbook
    }

    /// Whatever is answered to these bytes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        // The server may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Identifier of its process.
    pub(crate) fn id(&self) -> u32 {
        self.server.0.id()
    }

    /// Sends it a signal, `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }

    /// Stops it as an operator would; all of its log.
    pub(crate) fn stop(mut self) -> String {
        self.signal("TERM");
        assert_eq!(self.server.0.wait().unwrap().code(), Some(0));
        std::fs::read_to_string(self.yearbook.path("log")).unwrap()
    }
}
