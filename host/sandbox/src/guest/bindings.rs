//! Host bindings of `yearbook:plugin@1.0.0`: the encoder world and what both worlds share at the
//! top, the generator world in a module. Generated from `wit/`; arguments are borrowed, so a
//! batch's buffers are copied once, into the guest.

wasmtime::component::bindgen!({
    path: "../../wit/1.0.0",
    world: "encoder-plugin",
    ownership: Borrowing { duplicate_if_necessary: true },
    imports: { default: trappable },
});

/// Host bindings of the generator world of `yearbook:plugin@1.0.0`. `types` and `log` are those of
/// the encoder world, so that one set of checks serves both.
pub(crate) mod generator {
    wasmtime::component::bindgen!({
        path: "../../wit/1.0.0",
        world: "generator-plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
        imports: { default: trappable },
        with: {
            "yearbook:plugin/types@1.0.0": crate::guest::bindings::yearbook::plugin::types,
            "yearbook:plugin/log@1.0.0": crate::guest::bindings::yearbook::plugin::log,
        },
    });
}

/// Host bindings of the reader world of `yearbook:plugin@1.1.0`.
pub(crate) mod reader {
    wasmtime::component::bindgen!({
        path: "../../wit/1.1.0",
        world: "reader-plugin",
        imports: { default: trappable },
    });
}
