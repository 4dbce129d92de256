//! Parts that are empty, that remember and that leave too much behind; and what instances cost.

use super::limits::NOTES;
use super::{AttackCase, ExpectedEnd, complete_body};
use crate::guest::Guest;

/// Counts its calls in the fifth byte of the answer.
const COUNTING: &str = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i32.store8 (i32.const 532) (i32.add (i32.const 48) (global.get $calls)))";

const DEPENDS: &str =
    "a separator is promised, but an instance that sees one batch alone writes something else";

pub(crate) fn list() -> Vec<AttackCase> {
    vec![
        AttackCase::new(
            "empty-parts",
            "holds every row back and writes none",
            |name| {
                let body = "(call $piece (i32.const 528) (i32.const 0) (i32.const 0) (i32.const 0))";
                Guest::named(name).does("part", body).build()
            },
            complete_body("head tail"),
            "parts are as many as batches",
        )
        .repeated(),
        AttackCase::new(
            "hoard",
            "leaves 600 KiB for the tail at every part",
            |name| {
                let body = "(call $piece (i32.const 528) (i32.const 5) (call $room (i32.const 10)) (i32.const 614400))";
                Guest::named(name).does("part", body).build()
            },
            ExpectedEnd::Cut(format!("left notes of more than {NOTES} bytes for its tail (sandbox.note_bytes)")),
            "`note_bytes`",
        )
        .repeated(),
        AttackCase::new(
            "note-that-lies",
            "leaves a note of other bytes than it wrote",
            |name| {
                let body = "(call $piece (i32.const 528) (i32.const 5) (i32.const 0) (i32.const 256))";
                Guest::named(name).does("part", body).build()
            },
            complete_body("head rows tail"),
            "notes are bytes that only the same response's tail reads",
        ),
        AttackCase::new(
            "parts-that-count",
            "promises independent parts and numbers them",
            |name| {
                let body = format!("{COUNTING} (call $piece (i32.const 528) (i32.const 5) (i32.const 0) (i32.const 0))");
                Guest::named(name).does("part", &body).build()
            },
            complete_body("head rows1tail"),
            "`plugin check`",
        )
        .expect_finding(DEPENDS),
        AttackCase::new(
            "addresses-as-data",
            "promises independent parts and writes where its arguments lie",
            |name| {
                let body = "(i32.store (i32.const 528) (i32.or (i32.const 0x40404040) (i32.and (i32.const 0x0f0f0f0f) (local.get 2))))
                    (call $piece (i32.const 528) (i32.const 4) (i32.const 0) (i32.const 0))";
                Guest::named(name).does("part", body).build()
            },
            complete_body("head @C@@tail"),
            "`plugin check`",
        )
        .expect_finding(DEPENDS),
        AttackCase::new(
            "part-that-remembers-the-head",
            "promises independent parts and writes whether its instance made the head",
            |name| {
                let part = "(i32.store8 (i32.const 532) (i32.add (i32.const 48) (global.get $calls)))
                    (call $piece (i32.const 528) (i32.const 5) (i32.const 0) (i32.const 0))";
                let head = "(global.set $calls (i32.const 1)) (call $list (i32.const 512) (i32.const 5))";
                Guest::named(name).does("part", part).does("head", head).build()
            },
            complete_body("head rows1tail"),
            "`plugin check`",
        )
        .expect_finding(DEPENDS),
        AttackCase::new(
            "rows-one-by-one",
            "asks for parts of one row",
            |name| Guest::named(name).with_image(|says| says.part_rows = Some(1)).build(),
            complete_body("head rows tail"),
            "batches are joined, never split",
        ),
        AttackCase::new(
            "rows-without-end",
            "asks for parts of 4,294,967,295 rows",
            |name| Guest::named(name).with_image(|says| says.part_rows = Some(u32::MAX)).build(),
            ExpectedEnd::Whole("head rows tail".to_owned()),
            "parts are joined up to 16 MiB",
        ),
    ]
}
