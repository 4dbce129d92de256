//! Attacks of any code, in every call that the host makes.

use super::limits::{CPU_MS, MEMORY};
use super::{AttackCase, ExpectedEnd, broken, complete_body};
use crate::guest::{GeneratorGuest, Guest};

/// The host's sentence about a call that does not end.
pub(super) fn out_of_time() -> String {
    format!("stopped after {CPU_MS} ms of processor time (sandbox.cpu_ms_per_call)")
}

/// Name, words, an expression that never returns, the host's sentence, the limit.
pub(super) fn hazards() -> Vec<(&'static str, &'static str, &'static str, String, &'static str)> {
    let memory = format!("wanted more memory than {MEMORY} bytes (sandbox.memory_bytes)");
    vec![
        ("spin", "loops for ever", "(call $spin)", out_of_time(), "`cpu_ms_per_call`"),
        (
            "recurse",
            "calls itself for ever",
            "(call $recurse)",
            "used up its stack of 1048576 bytes (sandbox.stack_bytes)".to_owned(),
            "`stack_bytes`",
        ),
        (
            "grow",
            "takes memory in steps for ever",
            "(call $grow (i32.const 16))",
            memory.clone(),
            "`memory_bytes`",
        ),
        (
            "leap",
            "takes all memory at once",
            "(call $grow (i32.const 65000))",
            memory,
            "`memory_bytes`",
        ),
        (
            "table",
            "takes elements of a table for ever",
            "(call $table)",
            "wanted a table of more than 20000 elements (sandbox.table_elements)".to_owned(),
            "`table_elements`",
        ),
        (
            "trap",
            "traps",
            "(unreachable)",
            "trapped: wasm trap: wasm `unreachable` instruction executed".to_owned(),
            "the call's end",
        ),
    ]
}

pub(crate) fn list() -> Vec<AttackCase> {
    let mut list = Vec::new();
    for (hazard, words, code, sentence, caught) in hazards() {
        for call in ["describe", "open", "head", "part", "tail", "realloc", "post-return", "drop"] {
            let ends = match call {
                "describe" => ExpectedEnd::Rejected(format!("describe: {sentence}")),
                // The host throws an instance away and never calls the resource's destructor.
                "drop" => complete_body("head rows tail"),
                _ => ExpectedEnd::Broken(sentence.clone()),
            };
            let body = if ["post-return", "drop"].contains(&call) {
                format!("(drop {code})")
            } else {
                code.to_owned()
            };
            let guest = move |name: &str| Guest::named(name).does(call, &body).build();
            let caught =
                if call == "drop" { "never called: the instance is thrown away" } else { caught };
            list.push(AttackCase::new(
                &format!("{hazard}-in-{call}"),
                &format!("`{call}` {words}"),
                guest,
                ends,
                caught,
            ));
        }
        let starting = move |name: &str| {
            Guest::named(name).with(&format!("(start $start) (func $start (drop {code}))")).build()
        };
        let ends = ExpectedEnd::Rejected(format!("describe: {sentence}"));
        list.push(AttackCase::new(
            &format!("{hazard}-in-start"),
            &format!("the start function {words}"),
            starting,
            ends,
            caught,
        ));
        let late = move |name: &str| Guest::named(name).does("tail", code).build();
        let ends = ExpectedEnd::Cut(sentence.clone());
        list.push(
            AttackCase::new(
                &format!("late-{hazard}"),
                &format!("`tail` {words} after parts were sent"),
                late,
                ends,
                caught,
            )
            .repeated(),
        );
        if !["table", "trap"].contains(&hazard) {
            let tool = move |name: &str| GeneratorGuest::named(name).does(code).build();
            let does = format!("`generate` {words}");
            list.push(
                AttackCase::new(
                    &format!("{hazard}-in-generate"),
                    &does,
                    tool,
                    ExpectedEnd::Broken(sentence),
                    caught,
                )
                .generator(),
            );
        }
    }
    list.push(AttackCase::new(
        "second-describe",
        "`describe` says something else at its second call in one instance",
        |name| {
            let differs = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
                (if (i32.gt_u (global.get $calls) (i32.const 1)) (then (unreachable))) (i32.const 1024)";
            Guest::named(name).does("describe", differs).build()
        },
        complete_body("head rows tail"),
        "never called twice: each load asks an instance of its own",
    ));
    list.push(AttackCase::new(
        "kept-state",
        "counts its responses in a global",
        |name| {
            let first = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
                (i32.store8 (i32.const 512) (i32.add (i32.const 48) (global.get $calls))) (call $list (i32.const 512) (i32.const 5))";
            Guest::named(name).does("head", first).build()
        },
        complete_body("1ead rows tail"),
        "a fresh instance for each response",
    ));
    list.push(AttackCase::new(
        "grow-beyond-its-own-maximum",
        "`part` asks a hundred times for memory that its module forbids itself, and answers",
        |name| {
            let body = "(call $grow_in_vain (i32.const 500))
                (call $piece (i32.const 528) (i32.const 5) (i32.const 0) (i32.const 0))";
            Guest::named(name).with_fixed_memory().does("part", body).build()
        },
        complete_body("head rows tail"),
        "memory counts where a guest has it",
    ));
    list.push(AttackCase::new(
        "log-in-realloc",
        "calls the host while the host writes arguments",
        |name| {
            let body = "(call $log (i32.const 2) (i32.const 512) (i32.const 4)) (call $allocate (local.get 2) (local.get 3))";
            Guest::named(name).does("realloc", body).build()
        },
        broken("trapped: wasm trap: cannot leave component instance"),
        "the component model's rule of re-entrance",
    ));
    list
}
