//! Too many bytes, and sentences that forge, hide or flood.

use super::limits::OUTPUT;
use super::{AttackCase, ExpectedEnd, broken, complete_body};
use crate::guest::{Guest, Image};

/// Bytes at [`Image::EXTRA`] for the sentences below.
const SENTENCE: &str = "no\r\nHTTP/1.1 200 OK\r\n\u{1b}[2J<script>alert(1)</script>\u{202e}\"";

/// A guest with [`SENTENCE`] in its memory and these calls.
fn speaker(name: &str, call: &'static str, body: &str) -> Vec<u8> {
    let body = body.replace(
        "$SENTENCE",
        &format!("(i32.const {}) (i32.const {})", Image::EXTRA, SENTENCE.len()),
    );
    Guest::named(name).with_image(|says| says.extra = SENTENCE.into()).does(call, &body).build()
}

pub(crate) fn list() -> Vec<AttackCase> {
    let too_much =
        format!("returned more than {OUTPUT} bytes in one call (sandbox.output_bytes_per_call)");
    let clean = "no  HTTP/1.1 200 OK   [2J<script>alert(1)</script> \"";
    let escaped = "no\\r\\nHTTP/1.1 200 OK\\r\\n\\u{1b}[2J<script>alert(1)</script>\\u{202e}\\\"";
    let declined = |name: &str, does: &str, kind: u32| {
        let guest = move |name: &str| {
            speaker(name, "head", &format!("(call $fail (i32.const {kind}) $SENTENCE)"))
        };
        AttackCase::new(
            name,
            does,
            guest,
            ExpectedEnd::Declined(clean.to_owned()),
            "sentences are cut and cleaned",
        )
    };
    vec![
        AttackCase::new(
            "flood",
            "a head of 8 MiB, more than one call may return",
            |name| Guest::named(name).does("head", "(call $list (call $room (i32.const 128)) (i32.const 8388608))").build(),
            ExpectedEnd::Broken(too_much.clone()),
            "`output_bytes_per_call`",
        ),
        AttackCase::new(
            "amplify",
            "a part of 3 MiB for three rows",
            |name| {
                let body = "(call $piece (call $room (i32.const 48)) (i32.const 3145728) (i32.const 0) (i32.const 0))";
                Guest::named(name).does("part", body).build()
            },
            broken("returned 3145728 bytes for 1051811 that its input allows (sandbox.amplification)"),
            "`amplification`",
        ),
        AttackCase::new(
            "flood-halves",
            "a part of 8 MiB, and of its halves too",
            |name| {
                let body = "(call $piece (call $room (i32.const 128)) (i32.const 8388608) (i32.const 0) (i32.const 0))";
                Guest::named(name).does("part", body).build()
            },
            ExpectedEnd::Broken(too_much.clone()),
            "`output_bytes_per_call`; a part is halved once",
        ),
        AttackCase::new(
            "amplify-everywhere",
            "a mebibyte in every call, which any call may return whatever its input",
            |name| {
                let body = "(call $list (call $room (i32.const 16)) (i32.const 1048576))";
                Guest::named(name).does("head", body).does("part", body).does("tail", body).build()
            },
            ExpectedEnd::Long(3 << 20),
            "bounded: a mebibyte a call beyond what the rows allow",
        ),
        declined("sentence-schema", "declines the schema with control characters, HTML and a forged response", 0),
        declined("sentence-option", "declines an option with the same", 1),
        AttackCase::new(
            "sentence-internal",
            "reports a fault of its own with the same",
            |name| speaker(name, "head", "(call $fail (i32.const 2) $SENTENCE)"),
            ExpectedEnd::Broken(format!("reports: {clean}")),
            "sentences are cut and cleaned, clients get none of it",
        ),
        AttackCase::new(
            "sentence-long",
            "declines with a sentence of 3 MiB",
            |name| {
                let body = "(local.set $i (call $room (i32.const 48))) (memory.fill (local.get $i) (i32.const 65) (i32.const 3145728))
                    (call $fail (i32.const 0) (local.get $i) (i32.const 3145728))";
                Guest::named(name).does("head", body).build()
            },
            ExpectedEnd::Declined("A".repeat(1024)),
            "sentences are cut at 1 KiB",
        ),
        AttackCase::new(
            "sentence-flood",
            "declines with a sentence of 30 MB",
            |name| Guest::named(name).does("head", "(call $fail (i32.const 0) (call $room (i32.const 480)) (i32.const 30000000))").build(),
            ExpectedEnd::Broken(too_much),
            "`output_bytes_per_call`",
        ),
        AttackCase::new(
            "error-after-output",
            "parts were sent, then `tail` reports a fault",
            |name| speaker(name, "tail", "(call $fail (i32.const 2) $SENTENCE)"),
            ExpectedEnd::Cut(format!("reports: {clean}")),
            "a body ends only when the tail was sent",
        )
        .repeated(),
        AttackCase::new(
            "declined-after-output",
            "parts were sent, then `tail` declines the schema",
            |name| speaker(name, "tail", "(call $fail (i32.const 0) $SENTENCE)"),
            ExpectedEnd::Cut(clean.to_owned()),
            "a body ends only when the tail was sent",
        )
        .repeated(),
        AttackCase::new(
            "output-after-error",
            "`head` fails, `tail` would send and log",
            |name| {
                let tail = "(call $log (i32.const 4) (i32.const 512) (i32.const 4)) (call $list (i32.const 512) (i32.const 4))";
                Guest::named(name).does("head", "(call $fail (i32.const 2) (i32.const 512) (i32.const 4))").does("tail", tail).build()
            },
            broken("reports: head"),
            "nothing is called after an error",
        ),
        AttackCase::new(
            "log-forged",
            "logs terminal escapes and a forged line",
            |name| speaker(name, "head", "(call $log (i32.const 3) $SENTENCE) (call $list (i32.const 512) (i32.const 5))"),
            complete_body("head rows tail"),
            "messages are escaped",
        )
        .expect_log([format!("WARN {escaped}; plugin: log-forged")]),
        AttackCase::new(
            "log-long",
            "logs a message of 2 MiB of control characters",
            |name| {
                let body = "(local.set $i (call $room (i32.const 32))) (memory.fill (local.get $i) (i32.const 27) (i32.const 2097152))
                    (call $log (i32.const 3) (local.get $i) (i32.const 2097152)) (call $list (i32.const 512) (i32.const 5))";
                Guest::named(name).does("head", body).build()
            },
            complete_body("head rows tail"),
            "messages are cut at 4 KiB, escapes included",
        )
        .expect_log([format!("WARN {}; plugin: log-long", "\\u{1b}".repeat(4096 / 6))]),
        AttackCase::new(
            "log-huge",
            "logs a message of 30 MB",
            |name| {
                let body = "(call $log (i32.const 3) (call $room (i32.const 480)) (i32.const 30000000)) (unreachable)";
                Guest::named(name).does("head", body).build()
            },
            ExpectedEnd::Broken(format!("returned more than {OUTPUT} bytes in one call (sandbox.output_bytes_per_call)")),
            "`output_bytes_per_call`",
        ),
        AttackCase::new(
            "log-without-end",
            "logs for ever",
            |name| {
                let body = "(loop (call $log (i32.const 2) (i32.const 512) (i32.const 4)) (br 0)) (unreachable)";
                Guest::named(name).does("head", body).build()
            },
            ExpectedEnd::Broken(format!("stopped after {} ms of processor time (sandbox.cpu_ms_per_call)", super::limits::CPU_MS)),
            "64 lines a response, then `cpu_ms_per_call`",
        )
        .expect_log(
            std::iter::repeat_n("INFO head; plugin: log-without-end".to_owned(), 64)
                .chain(["WARN it logs more than 64 lines for one response; the rest is dropped; plugin: log-without-end".to_owned()]),
        ),
    ]
}
