//! Output by reference: splices that name what the guest may not have, too much of it or too often,
//! and views that fit nothing.

use super::limits::OUTPUT;
use super::{AttackCase, broken, complete_body};
use crate::guest::{Guest, Image};

/// Views that hold every buffer back, as bytes: plain, padding, the case, its payload.
const LENGTHS: [u8; 16] = [1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// A guest whose every part is `rows ` with `splices`: at, buffer, offset, length.
fn splicing(name: &str, splices: &[[u32; 4]]) -> Vec<u8> {
    let bytes: Vec<u8> = splices.iter().flatten().flat_map(|part| part.to_le_bytes()).collect();
    let part = format!(
        "(call $spliced (i32.const 528) (i32.const 5) (i32.const {}) (i32.const {}))",
        Image::EXTRA,
        splices.len()
    );
    Guest::with_data(name, bytes).does("part", &part).build()
}

/// A guest whose `views` returns a list of `count` at an address, which holds `data`.
fn viewing(name: &str, data: &[u8], count: usize) -> Vec<u8> {
    let views = format!("(call $views (i32.const {}) (i32.const {count}))", Image::EXTRA);
    Guest::with_data(name, data.to_vec()).does("views", &views).build()
}

/// An attack whose piece the host refuses.
fn refused(name: &str, does: &str, splices: &'static [[u32; 4]], rule: &str) -> AttackCase {
    let ends = broken(&format!("returned a piece whose {rule} (encoder.splice in the interface)"));
    AttackCase::new(
        name,
        does,
        move |name| splicing(name, splices),
        ends,
        "every splice is checked",
    )
}

pub(crate) fn list() -> Vec<AttackCase> {
    vec![
        refused(
            "splice-out-of-range",
            "names a byte behind the end of a buffer",
            &[[0, 1, 0, 5], [1, 1, 1000, 1]],
            "splice 1 ends at 1001 of buffer 1, which has 12 bytes",
        ),
        refused(
            "splice-that-overflows",
            "names a range whose end does not fit in 32 bits",
            &[[0, 1, u32::MAX, u32::MAX]],
            "splice 0 ends at 8589934590 of buffer 1, which has 12 bytes",
        ),
        refused(
            "splice-of-nothing",
            "names a range without bytes",
            &[[0, 1, 0, 0]],
            "splice 0 is empty",
        ),
        refused(
            "splice-behind-the-end",
            "puts a range behind more bytes than it wrote",
            &[[6, 1, 0, 1]],
            "splice 0 stands at 6, and the piece has 5 bytes",
        ),
        refused(
            "splices-descending",
            "puts a range before the one that precedes it",
            &[[3, 1, 0, 1], [2, 1, 0, 1]],
            "splice 1 stands at 2, before the one that precedes it at 3",
        ),
        refused(
            "splice-of-another-instance",
            "names a buffer that its batch does not have",
            &[[0, 70_000, 0, 1]],
            "splice 0 names buffer 70000, and the batch has 12",
        ),
        AttackCase::new(
            "splice-of-an-earlier-batch",
            "numbers buffers over all batches, so that a number lies beyond its own batch",
            |name| {
                // Stateless, so that the failure's dump fails again: the number after the last.
                let part = format!(
                    "(i32.store (i32.const {at}) (i32.add (local.get 5) (i32.const 1)))
                    (call $spliced (i32.const 528) (i32.const 5) (i32.const {splice}) (i32.const 1))",
                    splice = Image::EXTRA,
                    at = Image::EXTRA + 4,
                );
                let splice = [0_u32, 0, 0, 1].iter().flat_map(|part| part.to_le_bytes()).collect();
                Guest::with_data(name, splice).does("part", &part).build()
            },
            broken(
                "returned a piece whose splice 0 names buffer 13, and the batch has 12 (encoder.splice in the interface)",
            ),
            "an index is one of the call's own batch",
        ),
        AttackCase::new(
            "splices-overlapping",
            "names the same 12 bytes 60,000 times",
            |name| splicing(name, &[[5, 1, 0, 12]; 60_000]),
            broken(
                "returned 1680005 bytes for 1051811 that its input allows (sandbox.amplification)",
            ),
            "`amplification`",
        ),
        AttackCase::new(
            "splices-by-the-million",
            "returns a million splices",
            |name| {
                let part = "(call $spliced (i32.const 528) (i32.const 5) (call $room (i32.const 250)) (i32.const 1000000))";
                Guest::named(name).does("part", part).build()
            },
            broken(&format!(
                "returned more than {OUTPUT} bytes in one call (sandbox.output_bytes_per_call)"
            )),
            "`output_bytes_per_call`",
        ),
        AttackCase::new(
            "part-of-splices-alone",
            "writes no byte of its own, and bytes of a buffer in any order",
            |name| {
                let splices: Vec<u8> = [[0_u32, 4, 6, 8], [0, 4, 0, 6]]
                    .iter()
                    .flatten()
                    .flat_map(|part| part.to_le_bytes())
                    .collect();
                let part = format!(
                    "(call $spliced (i32.const 0) (i32.const 0) (i32.const {}) (i32.const 2))",
                    Image::EXTRA
                );
                Guest::with_data(name, splices).does("part", &part).build()
            },
            complete_body("head CornwallAlberttail"),
            "ranges may overlap, and count as bytes",
        ),
        AttackCase::new(
            "views-of-too-many-columns",
            "returns a thousand views",
            |name| viewing(name, &LENGTHS.repeat(1_000), 1_000),
            broken("has views for 1000 columns, and the schema has 3 (encoding.views)"),
            "views are counted",
        ),
        AttackCase::new(
            "views-by-the-million",
            "returns a million views",
            |name| {
                let views = "(call $views (call $room (i32.const 250)) (i32.const 1000000))";
                Guest::named(name).does("views", views).build()
            },
            broken(&format!(
                "returned more than {OUTPUT} bytes in one call (sandbox.output_bytes_per_call)"
            )),
            "`output_bytes_per_call`",
        ),
        AttackCase::new(
            "views-that-lie",
            "returns views of a kind that there is not",
            |name| viewing(name, &[9; 48], 3),
            broken("trapped: unexpected discriminant: 9"),
            "the interface's types",
        ),
        AttackCase::new(
            "views-without-values",
            "wants lengths alone, and names every range outside of them",
            |name| {
                let part = format!(
                    "(call $spliced (i32.const 528) (i32.const 5) (i32.const {}) (i32.const 1))",
                    Image::EXTRA + 48
                );
                let mut data = LENGTHS.repeat(3);
                data.extend([0_u32, 1, 8, 100].iter().flat_map(|part| part.to_le_bytes()));
                let views = format!("(call $views (i32.const {}) (i32.const 3))", Image::EXTRA);
                Guest::with_data(name, data).does("views", &views).does("part", &part).build()
            },
            broken(
                "returned a piece whose splice 0 ends at 108 of buffer 1, which has 16 bytes (encoder.splice in the interface)",
            ),
            "every splice is checked",
        ),
        AttackCase::new(
            "spin-in-views",
            "`views` loops for ever",
            |name| Guest::named(name).does("views", "(call $spin)").build(),
            broken("stopped after 60 ms of processor time (sandbox.cpu_ms_per_call)"),
            "`cpu_ms_per_call`",
        ),
    ]
}
