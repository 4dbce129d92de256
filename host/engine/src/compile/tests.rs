//! The parent's side with programs that are no compilers; `host/cli/tests` has the real one.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use super::*;
use crate::component_cache;

/// Result of a child that runs this script.
fn with(script: &str, limits: &Limits) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("compiler");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
    let engine = Engine::default();
    // Larger than a pipe, so that a child that reads nothing is noticed.
    Compiler::ChildProcess(program)
        .compile(&engine, limits, &vec![0; 1 << 20])
        .map_err(|rejected| rejected.to_string())
}

#[test]
fn a_compiler_that_hangs_is_ended_at_its_deadline() {
    let begun = Instant::now();
    let limits = Limits { compile_ms: 20, ..Limits::default() };
    for script in ["exec /bin/sleep 60", "/bin/cat > /dev/null; exec /bin/sleep 60"] {
        let rejected = with(script, &limits).unwrap_err();
        assert!(rejected.contains("not done after 200 ms"), "{rejected}");
    }
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn only_a_whole_answer_of_a_child_that_ended_well_counts() {
    let answer = |script: &str| with(script, &Limits::default());
    assert_eq!(answer("/bin/cat > /dev/null; printf '+code'").unwrap(), b"code");
    assert!(
        answer("/bin/cat > /dev/null; printf -- '-it is nothing'")
            .unwrap_err()
            .contains("compiled: it is nothing")
    );
    for script in
        ["exit 1", "/bin/cat > /dev/null; printf '+code'; exit 1", "kill -KILL $$", "printf 'code'"]
    {
        let rejected = answer(script).unwrap_err();
        assert!(rejected.contains("sandbox.compile_memory_bytes"), "{script}: {rejected}");
    }
    let absent = Compiler::ChildProcess("/nowhere/yearbook".into()).compile(
        &Engine::default(),
        &Limits::default(),
        b"",
    );
    assert!(absent.unwrap_err().to_string().contains("does not start"));
}

#[test]
fn a_child_compiles_for_the_engine_that_serves_whatever_its_limits() {
    let limits =
        Limits { instances: 1, stack_bytes: 1 << 19, memory_bytes: 64 << 20, ..Limits::default() };
    let (serving, _) = crate::serving_engine(&limits, false).unwrap();
    assert_eq!(
        component_cache::engine_hash(&serving),
        component_cache::engine_hash(&crate::compiling_engine().unwrap())
    );
}
