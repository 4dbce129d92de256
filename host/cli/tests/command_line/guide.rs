//! The guides for authors of plugins, followed: every command that a page shows is run in a shell,
//! in the order of the page, and prints what the page says that it prints. The lines of
//! `docs/plugins.md` make the service that they are tried on, but for its port.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::author::as_authors;
use crate::binary::{CommandOutput, Yearbook};
use crate::serve::ServeProcess;

/// A command and what it prints.
struct Block {
    command: String,
    prints: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let console = page.split("```console\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let block = |text: &str| {
        let (command, prints) = text.split_once('\n').unwrap_or((text, ""));
        Block {
            command: command
                .strip_prefix("$ ")
                .unwrap_or_else(|| panic!("no command: {text}"))
                .to_owned(),
            prints: prints.to_owned(),
        }
    };
    console.map(block).collect()
}

/// True where `text` is `pattern`, in which `…` stands for anything.
fn matches_pattern(text: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('…');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut open = false;
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
        open = piece.is_empty();
    }
    open || rest.is_empty()
}

#[test]
fn anything_stands_for_an_ellipsis_and_nothing_else_does() {
    for (text, pattern, expected) in [
        ("a1b", "a…b", true),
        ("ab", "a…b", true),
        ("a", "a…", true),
        ("ba", "a…", false),
        ("abc", "a…b", false),
        ("x", "", false),
    ] {
        assert_eq!(matches_pattern(text, pattern), expected, "{text} {pattern}");
    }
}

/// Compiles a plugin three times. Needs the built-in plugins.
#[test]
fn the_guide_leads_from_nothing_to_a_live_format_and_back() {
    follow("plugins.md", "lines");
}

/// Compiles a plugin twice. Needs the built-in plugins.
#[test]
fn the_guide_leads_from_nothing_to_a_live_transform_contract_16() {
    follow("write-a-transform.md", "scale");
}

/// Compiles a plugin twice. Needs the built-in plugins.
#[test]
fn the_guide_leads_from_nothing_to_a_live_adapter_contract_17() {
    follow("write-an-adapter.md", "pages");
}

/// Text of a page of `docs`.
fn read(page: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::read_to_string(docs.join(page)).unwrap()
}

/// The lines that make a service, without the last one, which serves.
fn setup() -> String {
    let page = read("plugins.md");
    let scripts = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let mut making = scripts.filter_map(|script| script.strip_suffix("\nyearbook serve &"));
    making.next().unwrap_or_else(|| panic!("no lines make a service")).to_owned()
}

/// A shell in `folder`, in which `yearbook` is the program under test.
fn shell(yearbook: &Yearbook, folder: &str, script: &str) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_yearbook")).parent().unwrap().display().to_string();
    let mut shell = yearbook.prepare(Command::new("sh"), &["-c", script]);
    shell.current_dir(yearbook.path(folder));
    shell.env("PATH", format!("{binary}:{}", std::env::var("PATH").unwrap()));
    shell
}

/// A server with what the page's lines make, and what they export.
struct Service {
    _server: ServeProcess,
    variables: [(&'static str, String); 3],
}

impl Service {
    fn start(yearbook: &Yearbook, project: &str) -> Self {
        let exported = r#"printf '%s\n' "$YEARBOOK_DATA_DIR" "$KEY""#;
        let script = format!("set -e\n{}\n{exported}", setup());
        let made = shell(yearbook, project, &script).output().unwrap();
        let made = CommandOutput::from_output(made).ok().stdout;
        let mut lines = made.lines().rev().map(str::to_owned);
        let (key, data) = (lines.next().unwrap(), lines.next().unwrap());
        assert!(key.starts_with("yb_"), "{made}");
        let mut command = yearbook.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
        command.env("YEARBOOK_DATA_DIR", &data).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = ServeProcess(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("the server did not start; are plugins built?"));
        let address = ready["listening"].as_str().unwrap().to_owned();
        let variables = [("YEARBOOK_DATA_DIR", data), ("KEY", key), ("YEARBOOK", address)];
        Self { _server: server, variables }
    }
}

/// Follows a page of `docs`, whose first command makes the folder `project`.
fn follow(page: &str, project: &str) {
    let yearbook = Yearbook::new();
    let mut service = None;
    let page = read(page);
    let blocks = blocks(&page);
    assert!(blocks.len() > 5, "{} blocks", blocks.len());
    for (position, Block { command, prints }) in blocks.iter().enumerate() {
        // The page says so: all but the first command are run in the project's folder.
        let folder = if position == 0 { "" } else { project };
        let begun = Instant::now();
        loop {
            let mut shell = shell(&yearbook, folder, command);
            if let Some(Service { variables, .. }) = &service {
                shell.envs(variables.iter().map(|(name, value)| (name, value)));
            }
            let said = CommandOutput::from_output(as_authors(&mut shell).output().unwrap());
            let printed = said.stdout.trim_end().to_owned();
            if said.code == Some(0) && (prints.is_empty() || matches_pattern(&printed, prints)) {
                break;
            }
            // A server follows within two seconds.
            let patience =
                if command.starts_with("curl") { Duration::from_secs(20) } else { Duration::ZERO };
            assert!(
                begun.elapsed() < patience,
                "$ {command}\n{printed}\n--- expected\n{prints}\n--- said\n{}",
                said.stderr
            );
            std::thread::sleep(Duration::from_millis(100));
        }
        service.get_or_insert_with(|| Service::start(&yearbook, project));
    }
}
