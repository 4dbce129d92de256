//! Memory and tables of a guest as its host counts them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_domain::{Digest, PluginKind};
use yearbook_workers::Workers;

use super::*;
use crate::observe::{DumpTarget, PluginMetrics};
use crate::{Sandbox, SandboxConfig};

const PAGE: usize = 64 << 10;

/// Memory of all guests, of this one, and its most so far.
fn counted(state: &HostState) -> [usize; 3] {
    [state.memory.used(), state.held, state.used.memory_bytes]
}

#[test]
fn memory_and_tables_count_where_a_guest_has_them_contract_3() {
    let limits = Limits { instances: 1, memory_bytes: 64 * PAGE, ..Limits::default() };
    let config = SandboxConfig { limits, ..SandboxConfig::default() };
    let sandbox = Sandbox::new(&config, Workers::new(1)).unwrap();
    let metrics = PluginMetrics::unregistered(PluginKind::Encoder, &Digest::compute(b""));
    let work = CallMetrics::new(Arc::new(metrics), DumpTarget::Disabled);
    let mut store = HostState::new_store(&sandbox.host, work, InputSize::new(1, 0, true));
    let state = store.data_mut();
    assert!(state.memory_growing(0, PAGE, Some(2 * PAGE)).unwrap());

    assert!(!state.memory_growing(PAGE, 3 * PAGE, Some(2 * PAGE)).unwrap());
    assert!(!state.memory_growing(PAGE, 65 * PAGE, Some(2 * PAGE)).unwrap());
    assert!(!state.table_growing(0, 30_000, Some(10)).unwrap());
    assert_eq!((counted(state), state.used.table_elements), ([PAGE; 3], 0));
    assert_eq!(state.denied, None, "what a guest forbids itself is no limit of the host");

    assert!(state.memory_growing(PAGE, 2 * PAGE, Some(2 * PAGE)).unwrap());
    for _ in 0..2 {
        state.memory_grow_failed(wasmtime::Error::msg("expected by this test")).unwrap();
        assert_eq!(counted(state), [PAGE; 3], "what nobody gave is given back once");
    }
    assert!(matches!(state.denied, Some(Trap::TotalMemory { .. })));

    assert!(!state.memory_growing(PAGE, 65 * PAGE, Some(4 << 30)).unwrap());
    assert_eq!(state.denied, Some(Trap::Memory(64 * PAGE)));
    drop(store);
    assert_eq!(sandbox.held_memory(), 0);
}
