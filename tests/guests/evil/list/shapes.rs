//! Answers that are no answers: addresses and lengths beyond memory, wrong discriminants, text that
//! is none, handles that were never made.

use super::limits::OUTPUT;
use super::{AttackCase, ExpectedEnd, broken, complete_body};
use crate::guest::Guest;

/// An attack by replacing one call.
fn in_call(
    name: &str,
    does: &str,
    call: &'static str,
    body: &'static str,
    ends: ExpectedEnd,
) -> AttackCase {
    AttackCase::new(
        name,
        does,
        move |name| Guest::named(name).does(call, body).build(),
        ends,
        "the host's reading of answers",
    )
}

pub(crate) fn list() -> Vec<AttackCase> {
    let mut list = Vec::new();
    for (name, does, call, body, said) in [
        (
            "list-beyond",
            "a list that ends behind its memory",
            "head",
            "(call $list (i32.const 0xffff) (i32.const 1000000))",
            "list pointer/length out of bounds of memory",
        ),
        (
            "list-at-the-end",
            "a list at the last address there can be",
            "head",
            "(call $list (i32.const -1) (i32.const 2))",
            "list pointer/length out of bounds of memory",
        ),
        (
            "list-negative",
            "a list of 4,294,967,295 bytes",
            "head",
            "(call $list (i32.const 512) (i32.const -1))",
            "list pointer/length out of bounds of memory",
        ),
        (
            "list-wraps",
            "a list whose address and length add up to nothing",
            "head",
            "(call $list (i32.const -64) (i32.const 64))",
            "list pointer/length out of bounds of memory",
        ),
        (
            "answer-beyond",
            "an answer behind its memory",
            "head",
            "(i32.const -16)",
            "pointer out of bounds of memory",
        ),
        (
            "answer-misaligned",
            "an answer at an odd address",
            "head",
            "(i32.const 257)",
            "return pointer not aligned",
        ),
        (
            "answer-unknown",
            "an answer that is neither good nor an error",
            "head",
            "(i32.store8 (i32.const 256) (i32.const 7)) (i32.const 256)",
            "invalid expected discriminant",
        ),
        (
            "error-unknown",
            "an error of a kind that there is not",
            "head",
            "(call $fail (i32.const 9) (i32.const 512) (i32.const 4))",
            "unexpected discriminant: 9",
        ),
        (
            "error-beyond",
            "an error whose sentence ends behind its memory",
            "head",
            "(call $fail (i32.const 0) (i32.const 512) (i32.const -1))",
            "string pointer/length out of bounds of memory",
        ),
        (
            "error-not-text",
            "an error whose sentence is not UTF-8",
            "head",
            "(i32.store8 (i32.const 600) (i32.const 255)) (call $fail (i32.const 0) (i32.const 600) (i32.const 1))",
            "invalid utf-8 sequence of 1 bytes from index 0",
        ),
        (
            "note-beyond",
            "a note behind its memory",
            "part",
            "(call $piece (i32.const 512) (i32.const 4) (i32.const -8) (i32.const 8))",
            "list pointer/length out of bounds of memory",
        ),
        (
            "part-negative",
            "a part of 4,294,967,295 bytes",
            "part",
            "(call $piece (i32.const 512) (i32.const -1) (i32.const 0) (i32.const 0))",
            "list pointer/length out of bounds of memory",
        ),
        (
            "handle-unknown",
            "a handle that was never made",
            "open",
            "(call $opened (i32.const 77))",
            "unknown handle index 77",
        ),
        (
            "handle-zero",
            "the handle 0",
            "open",
            "(call $opened (i32.const 0))",
            "unknown handle index 0",
        ),
        (
            "handle-dropped",
            "a handle that it has dropped",
            "open",
            "(local.set $i (call $new (i32.const 7))) (call $drop (local.get $i)) (call $opened (local.get $i))",
            "unknown handle index 1",
        ),
        (
            "handle-dropped-twice",
            "drops a handle twice",
            "open",
            "(local.set $i (call $new (i32.const 7))) (call $drop (local.get $i)) (call $drop (local.get $i)) (call $opened (call $new (i32.const 7)))",
            "unknown handle index 1",
        ),
        (
            "handles-without-end",
            "makes handles for ever",
            "open",
            "(loop (drop (call $new (i32.const 7))) (br 0)) (unreachable)",
            "cannot allocate another handle: store handle limit exceeded",
        ),
        (
            "realloc-beyond",
            "room for arguments behind its memory",
            "realloc",
            "(i32.const -8)",
            "realloc return: beyond end of memory",
        ),
        (
            "realloc-misaligned",
            "room for arguments at an odd address",
            "realloc",
            "(i32.const 4097)",
            "realloc return: result not aligned",
        ),
        (
            "log-beyond",
            "a message behind its memory",
            "head",
            "(call $log (i32.const 2) (i32.const -1) (i32.const 9)) (unreachable)",
            "string pointer/length out of bounds of memory",
        ),
        (
            "log-unknown",
            "a message of a severity that there is not",
            "head",
            "(call $log (i32.const 99) (i32.const 512) (i32.const 4)) (unreachable)",
            "unexpected discriminant: 99",
        ),
        (
            "log-not-text",
            "a message that is not UTF-8",
            "head",
            "(i32.store8 (i32.const 600) (i32.const 255)) (call $log (i32.const 2) (i32.const 600) (i32.const 1)) (unreachable)",
            "invalid utf-8 sequence of 1 bytes from index 0",
        ),
        (
            "log-negative",
            "a message of 4,294,967,295 bytes",
            "head",
            "(call $log (i32.const 2) (i32.const 512) (i32.const -1)) (unreachable)",
            "string pointer/length out of bounds of memory",
        ),
    ] {
        list.push(in_call(name, does, call, body, broken(&format!("trapped: {said}"))));
    }
    list.push(in_call(
        "realloc-overlap",
        "the same room for every argument",
        "realloc",
        "(i32.const 65536)",
        complete_body("head rows tail"),
    ));
    list.push(AttackCase::new(
        "list-of-millions",
        "a description with 500,000 parameters",
        |name| {
            let body = "(i32.store (i32.const 1080) (i32.const 65536)) (i32.store (i32.const 1084) (i32.const 500000)) (i32.const 1024)";
            Guest::named(name).with("(start $more) (func $more (drop (memory.grow (i32.const 300))))").does("describe", body).build()
        },
        ExpectedEnd::Rejected(format!("describe: returned more than {OUTPUT} bytes in one call (sandbox.output_bytes_per_call)")),
        "`output_bytes_per_call`",
    ));
    list
}
