//! The guides for authors of plugins, followed: every command that a page shows is run in a shell,
//! in the order of the page, and prints what the page says that it prints.

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

/// Follows a page of `docs`, whose first command makes the folder `project`.
fn follow(page: &str, project: &str) {
    let yearbook = Yearbook::new();
    yearbook.package("tiny", "2024-01-01,1\n2024-02-01,2.5\n");
    yearbook.run(&["publish", "tiny"]).ok();
    let key = yearbook.run(&["keys", "create", "--plan", "enterprise", "--json"]).ok().json();
    let mut command = yearbook.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    let mut server =
        ServeProcess(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line)
        .unwrap_or_else(|_| panic!("the server did not start; are plugins built?"));

    let page = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page),
    )
    .unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_yearbook")).parent().unwrap().display().to_string();
    let blocks = blocks(&page);
    assert!(blocks.len() > 5, "{} blocks", blocks.len());
    for (position, Block { command, prints }) in blocks.iter().enumerate() {
        // The page says so: all but the first command are run in the project's folder.
        let folder = if position == 0 { yearbook.path("") } else { yearbook.path(project) };
        let begun = Instant::now();
        loop {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(command).current_dir(&folder).stdin(Stdio::null());
            let path = format!("{binary}:{}", std::env::var("PATH").unwrap());
            shell.env("PATH", path).env("YEARBOOK_DATA_DIR", yearbook.path("yearbook-data"));
            shell
                .env("YEARBOOK", ready["listening"].as_str().unwrap())
                .env("KEY", key["key"].as_str().unwrap());
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
    }
}
