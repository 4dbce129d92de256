//! Components that ask for more, that are none, or that are made to keep the compiler busy.

use super::limits::COMPONENT;
use super::{AttackCase, ExpectedEnd, rejected};
use crate::guest::{ENCODER, Guest, leb, section};

/// A component in the text format, installed as it stands.
fn text(
    name: &str,
    does: &str,
    wat: impl Fn() -> String + 'static,
    reason: &str,
    caught: &'static str,
) -> AttackCase {
    let guest = move |_: &str| wat::parse_str(wat()).unwrap_or_else(|error| panic!("{error}"));
    AttackCase::new(name, does, guest, rejected(reason), caught)
}

/// More in the core module of a guest that is good otherwise.
fn within(
    name: &str,
    does: &str,
    more: impl Fn() -> String + 'static,
    ends: ExpectedEnd,
    caught: &'static str,
) -> AttackCase {
    AttackCase::new(
        name,
        does,
        move |name: &str| Guest::named(name).with(&more()).build(),
        ends,
        caught,
    )
}

fn malformed(reason: &str) -> String {
    format!("not a WebAssembly component that can be compiled: {reason}")
}

fn interface(reason: &str) -> String {
    format!(
        "the component exports no encoder, generator, reader or transform of yearbook:plugin as documented: {reason}"
    )
}

fn imports(names: &str) -> String {
    format!("the component imports {names}; a plugin may import nothing but yearbook:plugin/log")
}

/// A component of so many instances of a module.
fn instances(count: usize, module: &str) -> String {
    let instances: String =
        (0..count).map(|n| format!("(core instance $i{n} (instantiate $m))")).collect();
    format!("(component (core module $m {module}) {instances})")
}

/// Components within components.
fn nested(depth: usize) -> Vec<u8> {
    let header = b"\0asm\x0d\0\x01\0";
    // Section 4 is a component.
    (0..depth).fold(header.to_vec(), |inner, _| [header.as_slice(), &section(4, &inner)].concat())
}

/// A component of one module with so many functions, each of this body.
fn functions(count: usize, body: &[u8]) -> Vec<u8> {
    let many = |item: &[u8]| [leb(count), item.repeat(count)].concat();
    let function = [leb(body.len()), body.to_vec()].concat();
    let sections =
        [section(1, b"\x01\x60\0\0"), section(3, &many(b"\0")), section(10, &many(&function))]
            .concat();
    [
        b"\0asm\x0d\0\x01\0".as_slice(),
        &section(1, &[b"\0asm\x01\0\0\0".as_slice(), &sections].concat()),
    ]
    .concat()
}

const IMPORTS: &str = "only `log` may be imported";
const EXPORTS: &str = "the interface's types";
const POOL: &str = "bounds on instances, memories and tables of a component";
const VALID: &str = "WebAssembly's own validation, with features off that no guest needs";
const SHAPE: &str =
    "bounds on what a component may be made of, before it is compiled (`sandbox::Shape`)";

pub(crate) fn list() -> Vec<AttackCase> {
    let none = || "(component)".to_owned();
    let mut list = vec![
        text(
            "wasi",
            "imports WASI's standard output",
            || r#"(component (import "wasi:cli/stdout@0.2.0" (instance)))"#.into(),
            &imports("wasi:cli/stdout@0.2.0"),
            IMPORTS,
        ),
        text(
            "import-forged",
            "imports a name with a terminal escape",
            || {
                "(component (import \"url=<https://a.example/\\1b[2J\\0d\\0aok>\" (instance)))"
                    .into()
            },
            &imports("url=<https://a.example/ [2J  ok>"),
            IMPORTS,
        ),
        text(
            "imports-many",
            "imports 5,000 functions",
            || {
                format!(
                    "(component {})",
                    (0..5000).map(|n| format!("(import \"f{n}\" (func))")).collect::<String>()
                )
            },
            &imports(&format!(
                "{}, 4980 more",
                (0..20).map(|n| format!("f{n}")).collect::<Vec<_>>().join(", ")
            )),
            IMPORTS,
        ),
        text(
            "import-in-types",
            "asks for a function under the name of the shared types",
            || {
                r#"(component (import "yearbook:plugin/types@1.1.0" (instance (export "read" (func)))))"#.into()
            },
            &interface(
                "component imports instance `yearbook:plugin/types@1.1.0`, but a matching implementation was not found in the linker: instance export `read` has the wrong type: function implementation is missing",
            ),
            EXPORTS,
        ),
        text(
            "exports-nothing",
            "exports nothing",
            none,
            &interface("no exported instance named `yearbook:plugin/encoder@1.1.0`"),
            EXPORTS,
        ),
        text(
            "exports-in-part",
            "exports the interface without its functions",
            || format!("(component (instance $i) (export \"{ENCODER}\" (instance $i)))"),
            &interface(
                "instance export `yearbook:plugin/encoder@1.1.0` does not have export `describe`",
            ),
            EXPORTS,
        ),
        text(
            "exports-other-types",
            "exports a `describe` that returns a number",
            || {
                format!(
                    r#"(component (core module $m (func (export "f") (result i32) (i32.const 7))) (core instance $c (instantiate $m))
                    (func $f (result u32) (canon lift (core func $c "f"))) (instance $i (export "describe" (func $f))) (export "{ENCODER}" (instance $i)))"#
                )
            },
            &interface(
                "instance export `yearbook:plugin/encoder@1.1.0` does not have export `[static]encoding.open`",
            ),
            EXPORTS,
        ),
        text(
            "core-module",
            "a core module",
            || "(module)".into(),
            &malformed(
                "failed to parse WebAssembly module: attempted to parse a wasm module with a component parser",
            ),
            VALID,
        ),
        AttackCase::new(
            "no-wasm",
            "a script",
            |_| b"#!/bin/sh\nrm -rf /\n".to_vec(),
            rejected(&malformed(
                "magic header not detected: bad magic number - expected=[     0x0,     0x61,     0x73,     0x6d, ] actual=[     0x23,     0x21,     0x2f,     0x62, ] (at offset 0x0)",
            )),
            VALID,
        ),
        AttackCase::new(
            "nothing",
            "no byte at all",
            |_| Vec::new(),
            rejected(&malformed("unexpected end-of-file (at offset 0x0)")),
            VALID,
        ),
        AttackCase::new(
            "huge",
            "a component one byte too large",
            |_| vec![0; COMPONENT + 1],
            ExpectedEnd::Rejected(format!(
                "the component has {} bytes; {COMPONENT} are allowed (sandbox.component_bytes)",
                COMPONENT + 1
            )),
            "`component_bytes`",
        ),
        text(
            "instances-many",
            "65 core instances",
            || instances(65, ""),
            &malformed(
                "The component transitively contains 65 core module instances, which exceeds the configured maximum of 64 in the pooling allocator",
            ),
            POOL,
        ),
        text(
            "memories-many",
            "two instances with a memory each",
            || instances(2, "(memory 1)"),
            &malformed(
                "The component transitively contains 2 Wasm linear memories, which exceeds the configured maximum of 1 in the pooling allocator",
            ),
            POOL,
        ),
        text(
            "tables-many",
            "five tables",
            || instances(5, "(table 1 funcref)"),
            &malformed(
                "The component transitively contains 5 tables, which exceeds the configured maximum of 4 in the pooling allocator",
            ),
            POOL,
        ),
        text(
            "memory-large",
            "a memory that begins with 4 GiB",
            || instances(1, "(memory 65536)"),
            &malformed(
                "module memory does not fit in pooling allocator requirements: memory index 0 is unsupported in this pooling allocator configuration: memory has a minimum byte size of 4294967296 which exceeds the limit of 0x2000000 bytes",
            ),
            "`memory_bytes`",
        ),
        text(
            "table-large",
            "a table that begins with ten million elements",
            || instances(1, "(table 10000000 funcref)"),
            &malformed(
                "module table does not fit in pooling allocator requirements: table index 0 has a minimum element size of 10000000 which exceeds the limit of 20000",
            ),
            "`table_elements`",
        ),
        text(
            "memory-64",
            "a memory of 64 bits",
            || instances(1, "(memory i64 1)"),
            &malformed(
                "failed to parse WebAssembly module: memory64 must be enabled for 64-bit memories (at offset 0x15)",
            ),
            VALID,
        ),
        text(
            "memory-shared",
            "a memory for threads",
            || instances(1, "(memory 1 1 shared)"),
            &malformed(
                "failed to parse WebAssembly module: threads must be enabled for shared memories (at offset 0x15)",
            ),
            VALID,
        ),
        text(
            "memories-in-one",
            "two memories in one module",
            || instances(1, "(memory 1) (memory 1)"),
            &malformed("failed to parse WebAssembly module: multiple memories (at offset 0x14)"),
            VALID,
        ),
        text(
            "simd-relaxed",
            "an instruction whose result depends on the host",
            || {
                instances(
                    1,
                    "(func (drop (f32x4.relaxed_madd (v128.const i64x2 0 0) (v128.const i64x2 0 0) (v128.const i64x2 0 0))))",
                )
            },
            &malformed(
                "failed to compile: wasm[0]::function[0]: WebAssembly translation error: Invalid input WebAssembly code at offset 87: relaxed SIMD support is not enabled",
            ),
            VALID,
        ),
        text(
            "collected",
            "a type for the garbage collector",
            || instances(1, "(type (struct (field i32)))"),
            &malformed(
                "failed to parse WebAssembly module: cannot define struct types when gc types are disabled (at offset 0x15)",
            ),
            VALID,
        ),
        AttackCase::new(
            "nested-deep",
            "components within components, 300 deep",
            |_| nested(300),
            rejected("the component has 257 components inside it; 256 are allowed"),
            SHAPE,
        ),
        AttackCase::new(
            "function-large",
            "a function of 10 MB",
            |_| functions(1, &[b"\0".as_slice(), &[0x01; 9_999_998], b"\x0b"].concat()),
            rejected("the component has 10000000 bytes in one function; 1048576 are allowed"),
            SHAPE,
        ),
        AttackCase::new(
            "functions-many",
            "a million functions",
            |_| functions(1_000_000, b"\0\x0b"),
            rejected("the component has 1000000 functions; 100000 are allowed"),
            SHAPE,
        ),
        text(
            "locals-many",
            "a function with 60,000 locals",
            || instances(1, &format!("(func (local {}))", "i32 ".repeat(60_000))),
            "the component has 60000 locals in one function; 20000 are allowed",
            SHAPE,
        ),
    ];
    for attack in [
        within(
            "blocks-deep",
            "blocks within blocks, 20,000 deep",
            || format!("(func {}{})", "block ".repeat(20_000), "end ".repeat(20_000)),
            super::complete_body("head rows tail"),
            "compiled without recursion",
        ),
        within(
            "branches-many",
            "a jump table of 60,000 entries",
            || {
                format!(
                    "(func (param i32) (block (br_table {} (local.get 0))))",
                    "0 ".repeat(60_000)
                )
            },
            super::complete_body("head rows tail"),
            "`component_bytes` bounds what is compiled",
        ),
        within(
            "expression-deep",
            "an expression of 50,000 operations, each on the one before",
            || format!("(func (result i32) i32.const 1 {})", "i32.eqz ".repeat(50_000)),
            super::complete_body("head rows tail"),
            "compiled without recursion",
        ),
    ] {
        list.push(attack);
    }
    list
}
