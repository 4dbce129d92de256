//! Guests below any SDK: core modules as text, around which the component is made as for any guest.
//! A guest answers well until a function's body is replaced; then it answers with whatever bytes
//! the test wants.

mod functions;
mod image;
mod reader;
mod tool;
mod transform;

use std::collections::BTreeMap;
use std::fmt::Write;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{PackageId, Resolve};
use yearbook_domain::{Plan, PlanTable};
use yearbook_sandbox::GeneratorRequest;
use yearbook_tests::components::root;

use functions::{HAZARDS, MEMORY};
pub(crate) use image::{Image, ImageParameter, segment};
pub(crate) use reader::ReaderGuest;
pub(crate) use tool::GeneratorGuest;
pub(crate) use transform::{MadeColumn, TransformGuest};

/// The encoder interface.
pub(crate) const ENCODER: &str = "yearbook:plugin/encoder@1.1.0";

/// Functions that every encoder may call. Answers stand from address 256 on.
const HELPERS: &str = r#"
  (func $list (param $at i32) (param $bytes i32) (result i32)
    (i32.store8 (i32.const 256) (i32.const 0))
    (i32.store (i32.const 260) (local.get $at))
    (i32.store (i32.const 264) (local.get $bytes))
    (i32.store (i32.const 268) (i32.const 0))
    (i32.store (i32.const 272) (i32.const 0))
    (i32.const 256))
  (func $piece (param $at i32) (param $bytes i32) (param $note i32) (param $note_bytes i32)
    (result i32)
    (drop (call $list (local.get $at) (local.get $bytes)))
    (i32.store (i32.const 276) (local.get $note))
    (i32.store (i32.const 280) (local.get $note_bytes))
    (i32.const 256))
  (func $spliced (param $at i32) (param $bytes i32) (param $splices i32) (param $count i32)
    (result i32)
    (drop (call $list (local.get $at) (local.get $bytes)))
    (i32.store (i32.const 268) (local.get $splices))
    (i32.store (i32.const 272) (local.get $count))
    (i32.store (i32.const 276) (i32.const 0))
    (i32.store (i32.const 280) (i32.const 0))
    (i32.const 256))
  (func $views (param $at i32) (param $count i32) (result i32)
    (i32.store (i32.const 256) (local.get $at))
    (i32.store (i32.const 260) (local.get $count))
    (i32.const 256))
  (func $fail (param $kind i32) (param $at i32) (param $bytes i32) (result i32)
    (i32.store8 (i32.const 256) (i32.const 1))
    (i32.store8 (i32.const 260) (local.get $kind))
    (i32.store (i32.const 264) (local.get $at))
    (i32.store (i32.const 268) (local.get $bytes))
    (i32.const 256))
  (func $opened (param $handle i32) (result i32)
    (i32.store8 (i32.const 256) (i32.const 0))
    (i32.store (i32.const 260) (local.get $handle))
    (i32.const 256))
  (table $table 1 funcref)
  (func $table (result i32)
    (loop (br_if 0 (i32.ne (table.grow $table (ref.null func) (i32.const 1000)) (i32.const -1))))
    (unreachable))
  (func $grow_in_vain (param $pages i32) (local $i i32)
    (loop
      (drop (memory.grow (local.get $pages)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if 0 (i32.lt_u (local.get $i) (i32.const 100)))))
"#;

/// An encoder. Whole, it answers `head rows tail`, with `rows ` once a part.
pub(crate) struct Guest {
    /// Its description.
    pub(crate) says: Image,
    bodies: BTreeMap<&'static str, String>,
    more: String,
    /// Set where its memory declares that it never grows.
    fixed: bool,
}

impl Guest {
    /// One that does no harm yet. Its format is `name`.
    pub(crate) fn named(name: &str) -> Self {
        let bodies = [
            ("realloc", "(call $allocate (local.get 2) (local.get 3))"),
            ("describe", "(i32.const 1024)"),
            ("open", "(call $opened (call $new (i32.const 7)))"),
            ("views", "(call $views (i32.const 0) (i32.const 0))"),
            ("head", "(call $list (i32.const 512) (i32.const 5))"),
            ("part", "(call $piece (i32.const 528) (i32.const 5) (i32.const 0) (i32.const 0))"),
            ("tail", "(call $list (i32.const 544) (i32.const 4))"),
            ("post-return", ""),
            ("drop", ""),
        ];
        let bodies = bodies.into_iter().map(|(call, body)| (call, body.to_owned())).collect();
        Self { says: Image::from_format(name), bodies, more: String::new(), fixed: false }
    }

    /// The same, with `data` at [`Image::EXTRA`], for a guest that names ranges of its input or
    /// says what it wants to see.
    pub(crate) fn with_data(name: &str, data: Vec<u8>) -> Self {
        Self::named(name).with_image(|says| says.extra = data)
    }

    /// Replaces what a call does: one of realloc, describe, open, views, head, part, tail,
    /// post-return, drop.
    pub(crate) fn does(mut self, call: &'static str, body: &str) -> Self {
        assert!(self.bodies.insert(call, body.to_owned()).is_some(), "{call}");
        self
    }

    /// Adds to the module: functions, globals, a start function.
    pub(crate) fn with(mut self, more: &str) -> Self {
        self.more.push_str(more);
        self
    }

    /// Declares that its memory never grows.
    pub(crate) fn with_fixed_memory(mut self) -> Self {
        self.fixed = true;
        self
    }

    /// Changes what it says of itself.
    pub(crate) fn with_image(mut self, says: impl FnOnce(&mut Image)) -> Self {
        says(&mut self.says);
        self
    }

    /// The core module as text.
    pub(crate) fn text(&self) -> String {
        let (data, heap) = self.says.data();
        let pages = heap / 65_536 + 2;
        let most = if self.fixed { pages.to_string() } else { String::new() };
        let mut text = format!(
            r#"(module
  (import "yearbook:plugin/log@1.1.0" "write" (func $log (param i32 i32 i32)))
  (import "[export]{ENCODER}" "[resource-new]encoding" (func $new (param i32) (result i32)))
  (import "[export]{ENCODER}" "[resource-drop]encoding" (func $drop (param i32)))
  (memory (export "memory") {pages} {most})
  (global $heap (mut i32) (i32.const {heap}))
  (global $calls (mut i32) (i32.const 0))
  {data}
  (data (i32.const 512) "head ") (data (i32.const 528) "rows ") (data (i32.const 544) "tail")
  {HELPERS} {HAZARDS} {MEMORY}
"#
        );
        let signatures = [
            ("realloc", "cabi_realloc".to_owned(), "(param i32 i32 i32 i32) (result i32)"),
            ("describe", format!("{ENCODER}#describe"), "(result i32)"),
            (
                "open",
                format!("{ENCODER}#[static]encoding.open"),
                "(param i32 i32 i32 i32 i32 i32) (result i32)",
            ),
            ("views", format!("{ENCODER}#[method]encoding.views"), "(param i32) (result i32)"),
            ("head", format!("{ENCODER}#[method]encoding.head"), "(param i32) (result i32)"),
            (
                "part",
                format!("{ENCODER}#[method]encoding.part"),
                "(param i32 i32 i32 i32 i32 i32) (result i32)",
            ),
            (
                "tail",
                format!("{ENCODER}#[method]encoding.tail"),
                "(param i32 i32 i32) (result i32)",
            ),
            ("post-return", format!("cabi_post_{ENCODER}#[method]encoding.head"), "(param i32)"),
            ("drop", format!("{ENCODER}#[dtor]encoding"), "(param i32)"),
        ];
        for (call, export, signature) in signatures {
            let Some(body) = self.bodies.get(call) else { continue };
            let _ =
                writeln!(text, "  (func (export \"{export}\") {signature} (local $i i32) {body})");
        }
        let _ = writeln!(text, "{})", self.more);
        text
    }

    /// The component.
    pub(crate) fn build(&self) -> Vec<u8> {
        component(&self.text(), "encoder-plugin")
    }
}

/// The plugin interface of a folder.
fn interface(folder: &str) -> (Resolve, PackageId) {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(root().join(folder)).unwrap();
    (resolve, package)
}

/// A section of a component: its kind, its length, its bytes.
pub(crate) fn section(kind: u8, bytes: &[u8]) -> Vec<u8> {
    [&[kind], leb(bytes.len()).as_slice(), bytes].concat()
}

/// A number in LEB 128.
pub(crate) fn leb(mut number: usize) -> Vec<u8> {
    let mut digits = Vec::new();
    while number > 0x7f {
        digits.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
        number >>= 7;
    }
    digits.push(u8::try_from(number).unwrap());
    digits
}

/// Makes a component of a core module's text, as `cargo xtask plugins` does of a guest that cargo
/// built.
pub(crate) fn component(text: &str, world: &str) -> Vec<u8> {
    component_of("wit/1.1.0", text, world)
}

/// As [`component`], with the interface of a folder.
fn component_of(folder: &str, text: &str, world: &str) -> Vec<u8> {
    let mut module = wat::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (resolve, package) = interface(folder);
    let world = resolve.select_world(&[package], Some(world)).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default()
        .module(&module)
        .unwrap()
        .encode()
        .unwrap_or_else(|error| panic!("{error:#}"))
}

/// A request for no dataset, by nobody in particular.
pub(crate) fn bare_request() -> GeneratorRequest {
    GeneratorRequest {
        base_url: "https://data.example.org".to_owned(),
        plan: Plan::Free,
        limits: PlanTable::default().free,
        datasets: Vec::new(),
        options: Vec::new(),
    }
}
