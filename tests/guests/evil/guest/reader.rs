//! A reader that makes one row of each chunk, or does worse. It gives the columns `value` (`l`, 7)
//! and `name` (`u`, `seven`).

use std::collections::BTreeMap;
use std::fmt::Write;

use super::component;
use super::functions::{HAZARDS, MEMORY};
use super::image::{GuestHeap, segment};

const READER: &str = "yearbook:plugin/reader@1.1.0";

/// Offset of the strings, as [`GuestHeap`] has it.
const STRINGS: usize = 4096;

/// Functions that every reader may call. Answers stand from address 256 on: `$done` of `open` and
/// `push`, `$nothing` of `pull`, `$unknown` of `columns`; `$fail` is each one's refusal, with the
/// place line 7.
const HELPERS: &str = r#"
  (func $opened (param $handle i32) (result i32)
    (i32.store8 (i32.const 256) (i32.const 0))
    (i32.store (i32.const 264) (local.get $handle))
    (i32.const 256))
  (func $done (result i32) (i32.store8 (i32.const 256) (i32.const 0)) (i32.const 256))
  (func $nothing (result i32) (i32.store8 (i32.const 264) (i32.const 0)) (call $done))
  (func $unknown (result i32) (call $done))
  (func $row (result i32)
    (if (i32.eqz (global.get $pending)) (then (return (call $nothing))))
    (global.set $pending (i32.const 0))
    (i32.const 2176))
  (func $fail (param $kind i32) (param $at i32) (param $bytes i32) (result i32)
    (memory.fill (i32.const 256) (i32.const 0) (i32.const 64))
    (i32.store8 (i32.const 256) (i32.const 1))
    (i32.store8 (i32.const 264) (local.get $kind))
    (if (i32.lt_u (local.get $kind) (i32.const 2))
      (then
        (i32.store8 (i32.const 272) (i32.const 1))
        (i64.store (i32.const 280) (i64.const 7))
        (i32.store (i32.const 312) (local.get $at))
        (i32.store (i32.const 316) (local.get $bytes)))
      (else
        (i32.store (i32.const 272) (local.get $at))
        (i32.store (i32.const 276) (local.get $bytes))))
    (i32.const 256))
"#;

/// A column as a reader gives it, in bytes that need not be text.
pub(crate) struct GuestColumn {
    pub(crate) name: Vec<u8>,
    pub(crate) format: Vec<u8>,
    pub(crate) role: Option<Vec<u8>>,
    pub(crate) unit: Option<Vec<u8>>,
    pub(crate) description: Option<Vec<u8>>,
}

/// An array as a reader gives it.
pub(crate) struct GuestArray {
    pub(crate) length: u32,
    pub(crate) nulls: u32,
    pub(crate) buffers: u32,
    pub(crate) repeated: bool,
}

/// A batch as a reader gives it.
pub(crate) struct GuestBatch {
    pub(crate) rows: u32,
    pub(crate) arrays: Vec<GuestArray>,
    pub(crate) buffers: Vec<Vec<u8>>,
}

/// A reader.
pub(crate) struct ReaderGuest {
    name: String,
    pub(crate) columns: Vec<GuestColumn>,
    pub(crate) batch: GuestBatch,
    /// Bytes for the guest to use, at [`ReaderGuest::EXTRA`].
    pub(crate) extra: Vec<u8>,
    bodies: BTreeMap<&'static str, String>,
}

impl GuestColumn {
    fn new(name: &str, format: &str) -> Self {
        let (name, format) = (name.into(), format.into());
        Self { name, format, role: None, unit: None, description: None }
    }
}

impl ReaderGuest {
    /// Offset of `extra`.
    pub(crate) const EXTRA: usize = STRINGS;

    /// One that does no harm yet. Its format is `name`.
    pub(crate) fn named(name: &str) -> Self {
        let bodies = [
            ("realloc", "(call $allocate (local.get 2) (local.get 3))"),
            ("describe", "(i32.const 1024)"),
            ("open", "(call $opened (call $new (i32.const 7)))"),
            ("push", "(global.set $pending (i32.const 1)) (call $done)"),
            ("columns", "(i32.const 2048)"),
            ("pull", "(call $row)"),
            ("post-return", ""),
            ("drop", ""),
        ];
        let array = |buffers| GuestArray { length: 1, nulls: 0, buffers, repeated: false };
        let offsets = [0_i32, 5].iter().flat_map(|offset| offset.to_le_bytes()).collect();
        let values = 7_i64.to_le_bytes().to_vec();
        Self {
            name: name.to_owned(),
            columns: vec![GuestColumn::new("value", "l"), GuestColumn::new("name", "u")],
            batch: GuestBatch {
                rows: 1,
                arrays: vec![array(2), array(3)],
                buffers: vec![Vec::new(), values, Vec::new(), offsets, b"seven".to_vec()],
            },
            extra: Vec::new(),
            bodies: bodies.into_iter().map(|(call, body)| (call, body.to_owned())).collect(),
        }
    }

    /// Replaces what a call does: one of realloc, describe, open, push, columns, pull, post-return,
    /// drop.
    pub(crate) fn does(mut self, call: &'static str, body: &str) -> Self {
        assert!(self.bodies.insert(call, body.to_owned()).is_some(), "{call}");
        self
    }

    /// Changes what it gives.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Data segments, and the first address behind them.
    fn data(&self) -> (String, usize) {
        let mut heap = GuestHeap { bytes: self.extra.clone() };
        let mut description = Vec::new();
        for text in [self.name.as_bytes(), b"1.0.0", b"Evil"] {
            heap.string(&mut description, text);
        }
        heap.list(&mut description, &[], 0);
        heap.string(&mut description, b"x");
        heap.string(&mut description, b"Attacks the host.");
        let mut list = Vec::new();
        for column in &self.columns {
            heap.string(&mut list, &column.name);
            heap.string(&mut list, &column.format);
            for text in [&column.role, &column.unit, &column.description] {
                list.extend(u32::from(text.is_some()).to_le_bytes());
                heap.string(&mut list, text.as_deref().unwrap_or_default());
            }
        }
        // There are some: the columns.
        let mut columns = 1_u32.to_le_bytes().to_vec();
        heap.list(&mut columns, &list, self.columns.len());
        let GuestBatch { rows, arrays, buffers } = &self.batch;
        let mut list = Vec::new();
        for GuestArray { length, nulls, buffers, repeated } in arrays {
            for number in [*length, *nulls, *buffers, u32::from(*repeated)] {
                list.extend(number.to_le_bytes());
            }
        }
        // It went well, and there is one: the batch.
        let mut batch = [0_u32, 0, 1, *rows].iter().flat_map(|n| n.to_le_bytes()).collect();
        heap.list(&mut batch, &list, arrays.len());
        let mut list = Vec::new();
        buffers.iter().for_each(|buffer| heap.string(&mut list, buffer));
        heap.list(&mut batch, &list, buffers.len());
        let segments = [
            segment(1024, &description),
            segment(2048, &columns),
            segment(2176, &batch),
            segment(STRINGS, &heap.bytes),
        ];
        (segments.join("\n  "), STRINGS + heap.bytes.len())
    }

    /// The component.
    pub(crate) fn build(&self) -> Vec<u8> {
        let (data, heap) = self.data();
        let mut text = format!(
            r#"(module
  (import "yearbook:plugin/log@1.1.0" "write" (func $log (param i32 i32 i32)))
  (import "[export]{READER}" "[resource-new]reading" (func $new (param i32) (result i32)))
  (import "[export]{READER}" "[resource-drop]reading" (func $drop (param i32)))
  (memory (export "memory") {pages})
  (global $heap (mut i32) (i32.const {heap}))
  (global $pending (mut i32) (i32.const 0))
  (global $calls (mut i32) (i32.const 0))
  {data}
  {HELPERS} {HAZARDS} {MEMORY}
"#,
            pages = heap / 65_536 + 2,
        );
        let method = |name: &str| format!("{READER}#[method]reading.{name}");
        let signatures = [
            ("realloc", "cabi_realloc".to_owned(), "(param i32 i32 i32 i32) (result i32)"),
            ("describe", format!("{READER}#describe"), "(result i32)"),
            (
                "open",
                format!("{READER}#[static]reading.open"),
                "(param i32 i32 i32 i32) (result i32)",
            ),
            ("push", method("push"), "(param i32 i32 i32 i32) (result i32)"),
            ("columns", method("columns"), "(param i32) (result i32)"),
            ("pull", method("pull"), "(param i32) (result i32)"),
            ("post-return", format!("cabi_post_{}", method("pull")), "(param i32)"),
            ("drop", format!("{READER}#[dtor]reading"), "(param i32)"),
        ];
        for (call, export, signature) in signatures {
            let Some(body) = self.bodies.get(call) else { continue };
            let _ =
                writeln!(text, "  (func (export \"{export}\") {signature} (local $i i32) {body})");
        }
        text.push(')');
        component(&text, "reader-plugin")
    }
}
