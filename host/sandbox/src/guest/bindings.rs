//! Host bindings of the plugin interface, generated from `wit/`: at the top the encoder world of
//! 1.1.0 and all that worlds share, in modules the encoder world of 1.0.0 and the generator world.
//! Arguments are borrowed, so a batch's buffers are copied once, into the guest.
//!
//! `types` and `log` of 1.0.0 are those of 1.1.0, which has every type of the older one: a linker
//! gives `log@1.1.0` to a component that imports `log@1.0.0`, as semantic versioning allows.

wasmtime::component::bindgen!({
    path: "../../wit/1.1.0",
    world: "encoder-plugin",
    ownership: Borrowing { duplicate_if_necessary: true },
    imports: { default: trappable },
});

/// Host bindings of the encoder world of `yearbook:plugin@1.0.0`.
pub(crate) mod v1_0 {
    wasmtime::component::bindgen!({
        path: "../../wit/1.0.0",
        world: "encoder-plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
        imports: { default: trappable },
        with: {
            "yearbook:plugin/types@1.0.0": crate::guest::bindings::yearbook::plugin::types,
            "yearbook:plugin/log@1.0.0": crate::guest::bindings::yearbook::plugin::log,
        },
    });
}

/// Host bindings of the generator world, which is the same in both versions: an export
/// `generator@1.0.0` is found by the name of 1.1.0.
pub(crate) mod generator {
    wasmtime::component::bindgen!({
        path: "../../wit/1.1.0",
        world: "generator-plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
        imports: { default: trappable },
        with: {
            "yearbook:plugin/types@1.1.0": crate::guest::bindings::yearbook::plugin::types,
            "yearbook:plugin/log@1.1.0": crate::guest::bindings::yearbook::plugin::log,
        },
    });
}

/// Host bindings of the reader world, which 1.1.0 is the first to have.
pub(crate) mod reader {
    wasmtime::component::bindgen!({
        path: "../../wit/1.1.0",
        world: "reader-plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
        imports: { default: trappable },
        with: {
            "yearbook:plugin/types@1.1.0": crate::guest::bindings::yearbook::plugin::types,
            "yearbook:plugin/log@1.1.0": crate::guest::bindings::yearbook::plugin::log,
        },
    });
}
