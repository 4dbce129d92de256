//! A flood of log lines with terminal escapes and line breaks in them.

use yearbook_sdk::log::{Level, write};

pub(crate) fn run() {
    let line = "\u{1b}[2J\r\nforged line ".repeat(1000);
    for _ in 0..1000 {
        write(Level::Info, &line);
    }
}
