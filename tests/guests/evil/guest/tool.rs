//! A generator that returns the files it was given, or does worse.

use wit_parser::abi::{AbiVariant, WasmType};

use super::functions::HAZARDS;
use super::image::{GuestHeap, segment};
use super::{component, interface};

const GENERATOR: &str = "yearbook:plugin/generator@1.1.0";

/// Offset of the strings, as [`GuestHeap`] has it.
const STRINGS: usize = 4096;

/// A generator.
pub(crate) struct GeneratorGuest {
    name: String,
    /// Path, media type and content.
    files: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>,
    generate: String,
    /// Bits of description and project that are turned over.
    damage: Vec<u8>,
}

impl GeneratorGuest {
    /// One that returns `README.md`.
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            files: Vec::new(),
            generate: "(i32.const 2048)".to_owned(),
            damage: Vec::new(),
        }
        .file(b"README.md")
    }

    /// Adds a file.
    pub(crate) fn file(self, path: &[u8]) -> Self {
        self.typed(path, b"text/plain", b"x")
    }

    /// Adds a file of this media type and content.
    pub(crate) fn typed(mut self, path: &[u8], media_type: &[u8], content: &[u8]) -> Self {
        self.files.push((path.into(), media_type.into(), content.into()));
        self
    }

    /// Replaces what `generate` does.
    pub(crate) fn does(mut self, body: &str) -> Self {
        self.generate = body.to_owned();
        self
    }

    /// Turns over bits of what it says of itself and, from byte 128, of what it returns.
    pub(crate) fn damaged(mut self, damage: &[u8]) -> Self {
        self.damage = damage.to_vec();
        self
    }

    /// The component.
    pub(crate) fn build(&self) -> Vec<u8> {
        let mut heap = GuestHeap { bytes: Vec::new() };
        let mut description = Vec::new();
        for text in [self.name.as_bytes(), b"1.0.0", b"Evil"] {
            heap.string(&mut description, text);
        }
        heap.list(&mut description, &[], 0);
        heap.string(&mut description, b"Attacks the host.");
        let mut files = Vec::new();
        for (path, media_type, content) in &self.files {
            [path, media_type, content].into_iter().for_each(|text| heap.string(&mut files, text));
        }
        // It went well, and: the files, no warnings.
        let mut project = vec![0; 4];
        heap.list(&mut project, &files, self.files.len());
        heap.list(&mut project, &[], 0);
        let (first, second) = self.damage.split_at(self.damage.len().min(128));
        description.iter_mut().zip(first).for_each(|(byte, damage)| *byte ^= damage);
        project.iter_mut().zip(second).for_each(|(byte, damage)| *byte ^= damage);
        let end = STRINGS + heap.bytes.len();
        let text = format!(
            r#"(module
  (memory (export "memory") {pages})
  (global $heap (mut i32) (i32.const {end}))
  {} {} {}
  {HAZARDS}
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 15)) (i32.const -16)))
    (global.set $heap (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func (export "{GENERATOR}#describe") (result i32) (i32.const 1024))
  (func (export "{GENERATOR}#generate")
    (param {}) (result i32) {}))"#,
            segment(1024, &description),
            segment(2048, &project),
            segment(STRINGS, &heap.bytes),
            parameters(),
            self.generate,
            pages = end / 65_536 + 16,
        );
        component(&text, "generator-plugin")
    }
}

/// Returns the parameters of `generate`: the whole request, flattened.
fn parameters() -> String {
    let (resolve, package) = interface("wit/1.1.0");
    let generator = resolve.packages[package].interfaces["generator"];
    let signature = resolve.wasm_signature(
        AbiVariant::GuestExport,
        &resolve.interfaces[generator].functions["generate"],
    );
    let names =
        signature.params.iter().map(|kind| if *kind == WasmType::I64 { "i64 " } else { "i32 " });
    names.collect()
}
