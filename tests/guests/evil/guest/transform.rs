//! A transform that chooses the first row of each batch, or does worse. It passes the column `date`
//! on and makes `rate` (`l`, 7); its needs, its output and its rows may be whatever the test wants.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::component_of;
use super::functions::{HAZARDS, MEMORY};
use super::image::{GuestHeap, segment};
use super::reader::GuestArray;

const TRANSFORM: &str = "yearbook:plugin/transform@1.2.0";

/// Offset of the strings, as [`GuestHeap`] has it.
const STRINGS: usize = 4096;

/// Functions that every transform may call. Answers stand from address 256 on: `$nothing` of `push`
/// and `finish`, `$fail` is each one's refusal.
const HELPERS: &str = r#"
  (func $opened (param $handle i32) (result i32)
    (i32.store8 (i32.const 256) (i32.const 0))
    (i32.store (i32.const 260) (local.get $handle))
    (i32.const 256))
  (func $nothing (result i32)
    (i32.store8 (i32.const 256) (i32.const 0))
    (i32.store8 (i32.const 260) (i32.const 0))
    (i32.const 256))
  (func $fail (param $kind i32) (param $at i32) (param $bytes i32) (result i32)
    (i32.store8 (i32.const 256) (i32.const 1))
    (i32.store8 (i32.const 260) (local.get $kind))
    (i32.store (i32.const 264) (local.get $at))
    (i32.store (i32.const 268) (local.get $bytes))
    (i32.store (i32.const 272) (local.get $at))
    (i32.store (i32.const 276) (local.get $bytes))
    (i32.const 256))
"#;

/// Needs as a transform says them.
#[derive(Default)]
pub(crate) struct GuestNeeds {
    /// Position and form: 0 plain, 1 coded, 2 days.
    pub(crate) columns: Vec<(u32, u32)>,
    pub(crate) groups: Option<Vec<u32>>,
    /// Count and unit, 5 being years.
    pub(crate) before: Option<(u32, u32)>,
    /// 0 none, 1 dates, 2 all.
    pub(crate) prime: u32,
    pub(crate) dates: [&'static str; 2],
}

/// A column of the output as a transform says it.
pub(crate) struct MadeColumn {
    pub(crate) name: Vec<u8>,
    /// 0 passed, 1 of a group, 2 made; and the position, or the kind of what is made: text,
    /// integer, number, boolean, date.
    pub(crate) source: (u32, u32),
    pub(crate) role: Option<Vec<u8>>,
    pub(crate) unit: Option<Vec<u8>>,
    pub(crate) values_of: Option<u32>,
}

/// Rows as a transform gives them.
pub(crate) struct GuestRows {
    pub(crate) rows: u32,
    pub(crate) take: Vec<u32>,
    pub(crate) groups: Vec<u32>,
    pub(crate) arrays: Vec<GuestArray>,
    pub(crate) buffers: Vec<Vec<u8>>,
}

/// A transform.
pub(crate) struct TransformGuest {
    pub(crate) name: String,
    pub(crate) needs: GuestNeeds,
    pub(crate) columns: Vec<MadeColumn>,
    /// 0 same, 1 chosen, 2 new.
    pub(crate) relation: u32,
    pub(crate) order: Vec<u32>,
    pub(crate) made: GuestRows,
    /// Bytes for the guest to use, at [`TransformGuest::EXTRA`].
    pub(crate) extra: Vec<u8>,
    bodies: BTreeMap<&'static str, String>,
}

impl MadeColumn {
    pub(crate) fn new(name: &str, source: (u32, u32)) -> Self {
        Self { name: name.into(), source, role: None, unit: None, values_of: None }
    }
}

impl TransformGuest {
    /// Offset of `extra`.
    pub(crate) const EXTRA: usize = STRINGS;

    /// One that does no harm yet.
    pub(crate) fn named(name: &str) -> Self {
        let bodies = [
            ("realloc", "(call $allocate (local.get 2) (local.get 3))"),
            ("describe", "(i32.const 1024)"),
            ("plan", "(i32.const 2048)"),
            ("open", "(call $opened (call $new (i32.const 7)))"),
            ("output", "(i32.const 2176)"),
            ("prime", "(call $nothing)"),
            ("push", "(i32.const 2304)"),
            ("finish", "(call $nothing)"),
            ("post-return", ""),
            ("drop", ""),
        ];
        Self {
            name: name.to_owned(),
            needs: GuestNeeds { columns: vec![(2, 0)], ..GuestNeeds::default() },
            columns: vec![MadeColumn::new("date", (0, 0)), MadeColumn::new("rate", (2, 1))],
            relation: 1,
            order: Vec::new(),
            made: GuestRows {
                rows: 1,
                take: vec![0],
                groups: Vec::new(),
                arrays: vec![GuestArray { length: 1, nulls: 0, buffers: 2, repeated: false }],
                buffers: vec![Vec::new(), 7_i64.to_le_bytes().to_vec()],
            },
            extra: Vec::new(),
            bodies: bodies.into_iter().map(|(call, body)| (call, body.to_owned())).collect(),
        }
    }

    /// Replaces what a call does: one of realloc, describe, plan, open, output, prime, push,
    /// finish, post-return, drop.
    pub(crate) fn does(mut self, call: &'static str, body: &str) -> Self {
        assert!(self.bodies.insert(call, body.to_owned()).is_some(), "{call}");
        self
    }

    /// Changes what it says or gives.
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
        description.extend(words(&[0]));
        heap.list(&mut description, &[], 0);
        heap.string(&mut description, b"Attacks the host.");
        let segments = [
            segment(1024, &description),
            segment(2048, &self.needs(&mut heap)),
            segment(2176, &self.output(&mut heap)),
            segment(2304, &self.rows(&mut heap)),
            segment(STRINGS, &heap.bytes),
        ];
        (segments.join("\n  "), STRINGS + heap.bytes.len())
    }

    fn needs(&self, heap: &mut GuestHeap) -> Vec<u8> {
        let GuestNeeds { columns, groups, before, prime, dates } = &self.needs;
        // It went well.
        let mut record = words(&[0]);
        let pairs: Vec<u32> = columns.iter().flat_map(|(column, form)| [*column, *form]).collect();
        heap.list(&mut record, &words(&pairs), columns.len());
        record.extend(words(&[u32::from(groups.is_some())]));
        let groups = groups.as_deref().unwrap_or_default();
        heap.list(&mut record, &words(groups), groups.len());
        let (count, unit) = before.unwrap_or_default();
        record.extend(words(&[u32::from(before.is_some()), count, unit, *prime]));
        dates.iter().for_each(|date| heap.string(&mut record, date.as_bytes()));
        record
    }

    fn output(&self, heap: &mut GuestHeap) -> Vec<u8> {
        let mut list = Vec::new();
        for MadeColumn { name, source, role, unit, values_of } in &self.columns {
            heap.string(&mut list, name);
            list.extend(words(&[source.0, source.1]));
            for text in [role, unit] {
                list.extend(words(&[u32::from(text.is_some())]));
                heap.string(&mut list, text.as_deref().unwrap_or_default());
            }
            list.extend(words(&[u32::from(values_of.is_some()), values_of.unwrap_or_default()]));
        }
        let mut record = Vec::new();
        heap.list(&mut record, &list, self.columns.len());
        record.extend(words(&[self.relation]));
        heap.list(&mut record, &words(&self.order), self.order.len());
        record
    }

    fn rows(&self, heap: &mut GuestHeap) -> Vec<u8> {
        let GuestRows { rows, take, groups, arrays, buffers } = &self.made;
        // It went well, and there are some.
        let mut record = words(&[0, 1, *rows]);
        heap.list(&mut record, &words(take), take.len());
        heap.list(&mut record, &words(groups), groups.len());
        let numbers: Vec<u32> = arrays
            .iter()
            .flat_map(|array| [array.length, array.nulls, array.buffers, u32::from(array.repeated)])
            .collect();
        heap.list(&mut record, &words(&numbers), arrays.len());
        let mut list = Vec::new();
        buffers.iter().for_each(|buffer| heap.string(&mut list, buffer));
        heap.list(&mut record, &list, buffers.len());
        record
    }

    /// The component.
    pub(crate) fn build(&self) -> Vec<u8> {
        let (data, heap) = self.data();
        let mut text = format!(
            r#"(module
  (import "yearbook:plugin/log@1.2.0" "write" (func $log (param i32 i32 i32)))
  (import "[export]{TRANSFORM}" "[resource-new]transforming" (func $new (param i32) (result i32)))
  (import "[export]{TRANSFORM}" "[resource-drop]transforming" (func $drop (param i32)))
  (memory (export "memory") {pages})
  (global $heap (mut i32) (i32.const {heap}))
  (global $calls (mut i32) (i32.const 0))
  {data}
  {HELPERS} {HAZARDS} {MEMORY}
"#,
            pages = heap / 65_536 + 2,
        );
        let method = |name: &str| format!("{TRANSFORM}#[method]transforming.{name}");
        let ints = |count: usize| format!("(param{}) (result i32)", " i32".repeat(count));
        let signatures = [
            ("realloc", "cabi_realloc".to_owned(), ints(4)),
            ("describe", format!("{TRANSFORM}#describe"), "(result i32)".to_owned()),
            ("plan", format!("{TRANSFORM}#plan"), ints(6)),
            ("open", format!("{TRANSFORM}#[static]transforming.open"), ints(8)),
            ("output", method("output"), ints(1)),
            ("prime", method("prime"), ints(8)),
            ("push", method("push"), ints(8)),
            ("finish", method("finish"), ints(1)),
            ("post-return", format!("cabi_post_{}", method("push")), "(param i32)".to_owned()),
            ("drop", format!("{TRANSFORM}#[dtor]transforming"), "(param i32)".to_owned()),
        ];
        for (call, export, signature) in signatures {
            let Some(body) = self.bodies.get(call) else { continue };
            let _ =
                writeln!(text, "  (func (export \"{export}\") {signature} (local $i i32) {body})");
        }
        text.push(')');
        component_of("wit/1.2.0", &text, "transform-plugin")
    }
}

/// Numbers as memory has them.
fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
