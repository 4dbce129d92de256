//! Host bindings of the plugin interface, generated from `wit/`: at the top the encoder world and
//! all that worlds share, in modules the other worlds. Arguments are borrowed, so a batch's buffers
//! are copied once, into the guest.

wasmtime::component::bindgen!({
    path: "../../wit/1.1.0",
    world: "encoder-plugin",
    ownership: Borrowing { duplicate_if_necessary: true },
    imports: { default: trappable },
    additional_derives: [PartialEq],
});

/// Host bindings of the generator world.
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

/// Host bindings of the reader world.
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

/// Host bindings of the transform world: its `log` and `types` have the shapes of 1.1.0.
pub(crate) mod transform {
    wasmtime::component::bindgen!({
        path: "../../wit/1.2.0",
        world: "transform-plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
        imports: { default: trappable },
        additional_derives: [PartialEq],
        with: {
            "yearbook:plugin/types@1.2.0": crate::guest::bindings::yearbook::plugin::types,
            "yearbook:plugin/log@1.2.0": crate::guest::bindings::yearbook::plugin::log,
        },
    });
}

/// Host bindings of the codelists world, which an encoder exports beside its own.
pub(crate) mod codelists {
    wasmtime::component::bindgen!({
        path: "../../wit/1.2.0",
        world: "codelists-plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
        imports: { default: trappable },
        with: {
            "yearbook:plugin/log@1.2.0": crate::guest::bindings::yearbook::plugin::log,
            "yearbook:plugin/statistics@1.2.0": crate::guest::bindings::transform::yearbook::plugin::statistics,
        },
    });
}

/// Host bindings of the adapter world. Facts are made piece by piece and kept for the next call, so
/// they are owned.
#[expect(missing_docs, reason = "the folder of the interface documents them")]
pub(crate) mod adapter {
    wasmtime::component::bindgen!({
        path: "../../wit/1.2.0",
        world: "adapter-plugin",
        ownership: Owning,
        imports: { default: trappable },
        additional_derives: [serde::Serialize, serde::Deserialize, PartialEq],
        with: {
            "yearbook:plugin/log@1.2.0": crate::guest::bindings::yearbook::plugin::log,
        },
    });
}
