//! Recursion at every stack that the settings allow: the guest is stopped, and the process goes on.
//! A thread with less stack than its guest would take the whole process with it, so each test that
//! fails here fails by an abort.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use futures::StreamExt;
use yearbook_releases::{ComponentFile, check};
use yearbook_sandbox::{
    Batches, ComponentRejection, GuestError, Limits, Plugin, Sandbox, SandboxConfig, Trap,
};
use yearbook_shares::CallerShare;
use yearbook_workers::Workers;

use crate::attack_arena::sandbox_limits;
use crate::exclusive;
use crate::guest::{GeneratorGuest, Guest, bare_request};
use crate::list::limits;

/// The least stack, the one that aborted processes, and the most.
const STACKS: [usize; 3] = [64 << 10, 2 << 20, 16 << 20];

/// Calls the host from every depth, so that the host runs at the end of the stack too.
const CHATTER: &str = "(func $chatter (result i32)
    (call $log (i32.const 0) (i32.const 512) (i32.const 4)) (i32.add (call $chatter) (i32.const 1)))";

fn rows() -> (Schema, RecordBatch) {
    let schema = Schema::new(vec![Field::new("n", DataType::Int64, false)]);
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..3));
    let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![column]).unwrap();
    (schema, batch)
}

/// A sandbox with so much stack for guests. Its workers have what every worker has: less than the
/// most.
fn with_stack(stack_bytes: usize) -> Arc<Sandbox> {
    let limits = Limits { stack_bytes, cpu_ms_per_call: 20_000, ..sandbox_limits() };
    Sandbox::new(&SandboxConfig { limits, ..SandboxConfig::default() }, Workers::new(2)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::await_holding_lock, reason = "each test has a runtime of its own")]
async fn a_guest_that_recurses_stops_itself_alone_at_every_stack_that_settings_allow() {
    let _alone = exclusive();
    let (schema, batch) = rows();
    for stack_bytes in STACKS {
        let sandbox = with_stack(stack_bytes);
        let stopped = |trap: &Trap| *trap == Trap::Stack(stack_bytes);
        // A description: on this thread, as where a host loads a release.
        let loaded =
            sandbox.load(&Guest::named("deep").does("describe", "(call $recurse)").build()).err();
        assert!(
            matches!(&loaded, Some(ComponentRejection::Trapped(trap)) if stopped(trap)),
            "{loaded:?}"
        );
        for body in ["(call $recurse)", "(call $chatter)"] {
            let component = Guest::named("deep").with(CHATTER).does("part", body).build();
            let encoder = sandbox.load_encoder(&component).unwrap();
            // A response: on a worker.
            let batches: Batches = futures::stream::iter([Ok(batch.clone())]).boxed();
            let error = encoder
                .encode(&CallerShare::default(), Arc::new(schema.clone()), &[], batches)
                .await
                .err();
            assert!(
                matches!(&error, Some(GuestError::Trapped { trap, .. }) if stopped(trap)),
                "{error:?}"
            );
            // A comparison, and a replay of what is left of it.
            let failed =
                encoder.trial(&schema, &[], std::slice::from_ref(&batch), false).unwrap_err();
            assert!(
                matches!(&failed.error, GuestError::Trapped { trap, .. } if stopped(trap)),
                "{failed}"
            );
            let again = sandbox.replay(&component, &failed.dump.unwrap()).unwrap();
            assert_eq!(again.failed.unwrap().failure.kind, "stack");
            let report =
                check(&sandbox, &ComponentFile::read(component, limits::COMPONENT).unwrap()).report;
            assert!(
                report.findings.iter().any(|finding| finding.wrong.contains("used up its stack")),
                "{report:?}"
            );
        }
        let Plugin::Generator(generator) =
            sandbox.load(&GeneratorGuest::named("deep").does("(call $recurse)").build()).unwrap()
        else {
            panic!("it is a generator")
        };
        let error = generator.generate(&CallerShare::default(), bare_request()).await.err();
        assert!(
            matches!(&error, Some(GuestError::Trapped { trap, .. }) if stopped(trap)),
            "{error:?}"
        );
    }
}

#[test]
fn a_stack_beyond_what_settings_allow_makes_no_sandbox() {
    let _alone = exclusive();
    for stack_bytes in [0, (64 << 10) - 1, (16 << 20) + 1, usize::MAX] {
        let config = SandboxConfig {
            limits: Limits { stack_bytes, ..sandbox_limits() },
            ..SandboxConfig::default()
        };
        let refused = Sandbox::new(&config, Workers::new(1)).err().unwrap().to_string();
        assert_eq!(
            refused,
            format!("sandbox.stack_bytes is {stack_bytes}; it may be from 65536 to 16777216")
        );
    }
}
