//! Host bindings of the generator world of `yearbook:plugin@1.0.0`. `types` and `log` are those of
//! the encoder world, so that one set of checks serves both.

wasmtime::component::bindgen!({
    path: "../../wit/1.0.0",
    world: "generator-plugin",
    ownership: Borrowing { duplicate_if_necessary: true },
    imports: { default: trappable },
    with: {
        "yearbook:plugin/types@1.0.0": crate::bindings::yearbook::plugin::types,
        "yearbook:plugin/log@1.0.0": crate::bindings::yearbook::plugin::log,
    },
});
